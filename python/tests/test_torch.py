"""`torch.compile(..., backend="fusion")`: models, layouts, reports."""

from __future__ import annotations

import json

import pytest
from torch_backend import check, close, move, run, seed, torch, under  # noqa: F401

import fusion
import fusion.torch
from torch_models import GPT, ResNet18

F = torch.nn.functional


# Models.


def test_resnet(target):
    if target == "emulator":
        pytest.skip("too slow there")
    model = ResNet18(width=8, classes=10).eval()
    x = torch.randn(2, 3, 32, 32)
    check(target, model, x, tolerance=1e-4)


def test_resnet_channels_last(target):
    if target == "emulator":
        pytest.skip("too slow there")
    form = torch.channels_last
    model = ResNet18(width=8, classes=10).eval().to(memory_format=form)
    x = torch.randn(2, 3, 32, 32).contiguous(memory_format=form)
    check(target, model, x, tolerance=1e-4)


def test_gpt(target):
    model = GPT(layers=1).eval()
    tokens = torch.randint(0, 97, (2, 8))
    check(target, model, tokens, tolerance=1e-4)


def test_gpt_with_torch_attention(target):
    model = GPT(layers=1, sdpa=True).eval()
    tokens = torch.randint(0, 97, (2, 8))
    if target == "cuda":
        model, tokens = model.cuda(), tokens.cuda()
    got = run(target, model, tokens)
    close(got, model(tokens).detach(), tolerance=1e-4)
    left = {op.op.split(".")[1]: op for op in fusion.torch.report().eager}
    attention = [op for name, op in left.items() if "attention" in name]
    assert len(attention) == 1 and "fused kernel" in attention[0].reason


def test_training_step(target):
    model = torch.nn.Sequential(
        torch.nn.Linear(8, 16), torch.nn.GELU(), torch.nn.LayerNorm(16),
        torch.nn.Linear(16, 5),
    )  # fmt: skip
    x, labels = torch.randn(6, 8), torch.randint(0, 5, (6,))
    if target == "cuda":
        model, x, labels = model.cuda(), x.cuda(), labels.cuda()

    def loss(x, labels):
        return F.cross_entropy(model(x), labels)

    loss(x, labels).backward()
    want = [p.grad.clone() for p in model.parameters()]
    model.zero_grad()
    # The backward graph is compiled when it first runs.
    with under(target) as options:
        step = torch.compile(loss, backend="fusion", options=options or None)
        step(x, labels).backward()
    close([p.grad for p in model.parameters()], want, tolerance=1e-4)
    kinds = [graph.kind for graph in fusion.torch.report().graphs]
    assert kinds == ["forward", "backward"]
    assert not fusion.torch.report().eager, str(fusion.torch.report())


# Layouts of arguments.


def test_strided_arguments(target):
    x = torch.randn(12, 16)
    views = x.t(), x[::2, 1:9], x[0].expand(6, 16), x[:, 3]
    for view in views:
        check(target, lambda x: (x + x, x.sum(0)), view)


@pytest.mark.parametrize("offset", [1, 2, 3])
def test_alignment_of_one_call_says_nothing_of_the_next(target, offset):
    base = torch.randn(1030)
    if target == "cuda":
        base = base.cuda()
    with under(target) as options, torch.no_grad():
        f = torch.compile(
            lambda x: x * 2 + 1, backend="fusion", options=options or None
        )
        for start in (0, offset, 4, offset + 8):
            x = base[start : start + 1000]
            close(f(x), x * 2 + 1)
        (part,) = fusion.torch.report().graphs[0].partitions
        assert len(part.reports) == 2


def test_strides_of_results(target):
    x = torch.randn(2, 3, 4, 5)
    form = torch.channels_last

    def f(x):
        y = x.contiguous(memory_format=form)
        return y + 1, x.permute(3, 1, 0, 2) * 2, (x + 1).transpose(1, 2).clone()

    for a, b in zip(check(target, f, x), f(x)):
        assert a.stride() == b.stride()


def test_zero_size_and_rank_zero(target):
    check(target, lambda x: (x.exp() + 1, x.sum(), x.sum(1)), torch.randn(3, 0))
    check(target, lambda x, y: (x * y + 1, x.sum()), torch.tensor(2.0), torch.ones(3))


def test_mutation_of_arguments(target):
    x = torch.randn(8)
    if target == "cuda":
        x = x.cuda()
    y = x.clone()

    def f(x):
        x.mul_(2).add_(1)
        return x.sum()

    close(run(target, f, x), f(y))
    close(x, y)


def test_results_that_alias(target):
    def f(x):
        y = x + 1
        return y, y.view(-1), x

    x = torch.randn(3, 4)
    y, flat, same = run(target, f, x)
    assert flat.data_ptr() == y.data_ptr()
    assert same is x


def test_dynamic_sizes_are_compiled_one_by_one(target):
    def f(x):
        return x.softmax(-1) + x.shape[0]

    with under(target) as options, torch.no_grad():
        g = torch.compile(f, backend="fusion", options=options or None, dynamic=True)
        for rows in (3, 5, 3):
            x = torch.randn(rows, 8)
            x = x.cuda() if target == "cuda" else x
            close(g(x), f(x))
    report = fusion.torch.report()
    assert len(report.graphs) == 2
    assert "symbolic" in report.graphs[0].notes[0]


# Reports and options.


def test_report(target):
    def f(x):
        return torch.cumsum(torch.relu(x + 1).sum(1), 0) * 2

    check(target, f, torch.randn(4, 8), eager=["aten.cumsum.default"])
    report = fusion.torch.report()
    (op,) = report.eager
    assert "scan" in op.reason
    assert op.location.startswith(__file__)
    assert "aten.cumsum.default" in str(report)
    (graph,) = report.graphs
    assert graph.kind == "inference"
    assert sorted(op for part in graph.partitions for op in part.ops) == [
        "aten.add.Tensor",
        "aten.mul.Tensor",
        "aten.relu.default",
        "aten.sum.dim_IntList",
    ]
    assert json.loads(json.dumps(report.data()))[0]["eager"][0]["op"] == op.op
    if target != "reference":
        assert len(graph.kernels) == 2
        assert "relu" in graph.kernels[0]["ops"] + graph.kernels[1]["ops"]
        assert "kernels: " in str(graph.partitions[0].explanation)
    fusion.torch.reset()
    assert not fusion.torch.report().graphs


def test_reasons(target):
    def f(x, i):
        return (
            torch.sort(x)[0] + 1,
            x[i, i] + 1,
            F.conv_transpose2d(x[None, None], x[None, None]) + 1,
            torch.complex(x, x).real + 1,
        )

    run(target, f, *move(target, torch.randn(4, 4), torch.tensor([1, 2])))
    reasons = {op.op: op.reason for op in fusion.torch.report().eager}
    assert "sorting" in reasons["aten.sort.default"]
    assert "several indices" in reasons["aten.index.Tensor"]
    assert "transposed" in reasons["aten.convolution.default"]
    assert any("complex" in op and reason for op, reason in reasons.items())


def test_verification(target):
    if target == "reference":
        pytest.skip("it is what verification compares with")
    x = torch.randn(4, 8)
    x = x.cuda() if target == "cuda" else x
    with under(target) as options, torch.no_grad():
        f = torch.compile(
            lambda x: x.softmax(-1),
            backend="fusion",
            options={**options, "verify": True},
        )
        close(f(x), x.softmax(-1))


@pytest.mark.parametrize(
    "arguments", [{"options": {"taget": "cpu"}}, {"mode": "max-autotune"}]
)
def test_unknown_options(arguments):
    torch._dynamo.reset()
    f = torch.compile(lambda x: x + 1, backend="fusion", **arguments)
    with pytest.raises(Exception, match="has no option"):
        f(torch.ones(3))


def test_backend_is_found_by_name():
    from importlib.metadata import entry_points

    entries = entry_points(group="torch_dynamo_backends", name="fusion")
    assert {entry.value for entry in entries} == {"fusion.torch:backend"}
    assert "fusion" in torch._dynamo.list_backends()
