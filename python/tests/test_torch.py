"""`torch.compile(..., backend="fusion")` against eager."""

from __future__ import annotations

import json
import math

import pytest
from torch_backend import check, close, run, torch, under

import torch.nn.functional as F  # noqa: E402  (after the check for torch)
from torch_models import GPT, ResNet18  # noqa: E402

import fusion  # noqa: E402
import fusion.torch  # noqa: E402

HALVES = [torch.float16, torch.bfloat16]
FLOATS = [torch.float32, torch.float64, *HALVES]
INTS = [torch.int64, torch.int32, torch.int8, torch.uint8]
TYPES = [*FLOATS, *INTS, torch.bool]


@pytest.fixture(autouse=True)
def seed():
    seed = torch.seed() % 2**31
    print("seed", seed)
    torch.manual_seed(seed)


def numbers(dtype, *shape, low=1.0, high=8.0):
    return (torch.rand(*shape) * (high - low) + low).to(dtype)


# Elementwise. A graph with many results costs no more to compile than one.

UNARY = (
    "exp exp2 expm1 log log2 log10 log1p sqrt rsqrt reciprocal sin cos tan asin acos "
    "atan sinh cosh tanh asinh atanh erf erfc sigmoid floor ceil round trunc abs neg "
    "sign isnan isinf isfinite square frac"
).split()


@pytest.mark.parametrize("dtype", FLOATS, ids=str)
def test_unary(target, dtype):
    x = numbers(dtype, 5, 7, low=0.05, high=0.95)
    functions = [getattr(torch, name) for name in UNARY]
    check(target, lambda x: [f(x) for f in functions], x)


def test_unary_of_special_values(target):
    x = torch.tensor([0.0, -0.0, math.inf, -math.inf, math.nan, 1.5, -2.5, 3e38])
    exact = "sqrt reciprocal floor ceil round trunc abs neg sign isnan isinf isfinite"
    functions = [getattr(torch, name) for name in exact.split()]
    check(target, lambda x: [f(x) for f in functions], x, tolerance=1e-6)


def test_unary_of_integers(target):
    x = torch.randint(0, 9, (11,))
    names = "exp sqrt sigmoid sin floor round abs neg sign isnan isfinite".split()
    functions = [getattr(torch, name) for name in names]
    check(target, lambda x: [f(x) for f in functions], x)


@pytest.mark.parametrize("dtype", FLOATS, ids=str)
def test_activations(target, dtype):
    names = (
        "relu relu6 gelu silu mish softplus hardswish hardsigmoid elu leaky_relu "
        "hardtanh logsigmoid selu celu softsign"
    ).split()
    functions = [getattr(F, name) for name in names]
    functions += [
        lambda x: F.gelu(x, approximate="tanh"),
        lambda x: F.elu(x, 0.5),
        lambda x: F.softplus(x, 2, 5),
    ]
    check(target, lambda x: [f(x) for f in functions], torch.randn(40).to(dtype) * 3)


BINARY = {
    "add": torch.add,
    "sub": torch.sub,
    "mul": torch.mul,
    "div": torch.div,
    "floor_divide": torch.floor_divide,
    "remainder": torch.remainder,
    "fmod": torch.fmod,
    "maximum": torch.maximum,
    "minimum": torch.minimum,
    "trunc_divide": lambda x, y: torch.div(x, y, rounding_mode="trunc"),
    "eq": torch.eq,
    "lt": torch.lt,
    "ge": torch.ge,
    "logical_and": torch.logical_and,
    "logical_xor": torch.logical_xor,
    "where": lambda x, y: torch.where(x > 3, x, y),
}


def defined(f, *args):
    """Whether eager has `f` for these arguments."""
    try:
        f(*args)
    except RuntimeError:
        return False
    return True


@pytest.mark.parametrize("dtype", TYPES, ids=str)
def test_promotion_of_two_tensors(target, dtype):
    x = numbers(dtype, 4, 5)
    others = [numbers(other, 5, high=3.0) for other in TYPES]
    pairs = [
        (f, i) for f in BINARY.values() for i, y in enumerate(others) if defined(f, x, y)
    ]
    check(target, lambda x, *ys: [f(x, ys[i]) for f, i in pairs], x, *others)


@pytest.mark.parametrize("dtype", TYPES, ids=str)
def test_promotion_with_numbers_and_0d(target, dtype):
    x = numbers(dtype, 4, 5)
    zero_d = [torch.tensor(2), torch.tensor(1.5), torch.tensor(2.5, dtype=torch.half)]
    others = [2, 1.5, 0.1, True]
    pairs = [
        (f, y)
        for name, f in BINARY.items()
        for y in others
        if name not in ("maximum", "minimum") and defined(f, x, y)
    ]
    tensors = [
        (f, i) for f in BINARY.values() for i, y in enumerate(zero_d) if defined(f, x, y)
    ]
    check(
        target,
        lambda x, *ys: [f(x, y) for f, y in pairs] + [f(x, ys[i]) for f, i in tensors],
        x,
        *zero_d,
    )


@pytest.mark.parametrize("dtype", HALVES, ids=str)
def test_half_steps_round_once(target, dtype):
    x, y = numbers(dtype, 64), numbers(dtype, 64)

    def f(x, y):
        return (
            torch.add(x, y, alpha=0.3),
            torch.addcmul(x, y, y, value=0.3),
            torch.lerp(x, y, 0.3),
            x * 0.1,
            3 - x,
        )

    close(run(target, f, *move(target, x, y)), f(*move(target, x, y)), tolerance=1e-8)


def move(target, *tensors):
    return [x.cuda() if target == "cuda" else x for x in tensors]


def test_powers(target):
    exponents = (2, 3, 0.5, -0.5, -1, -2, 1, 0, 2.5, -3)
    x = numbers(torch.float32, 9, low=0.5, high=2.0)

    def f(x):
        results = [x**e for e in exponents] + [x.half() ** e for e in exponents]
        return [*results, 2**x, torch.pow(x, x), torch.arange(4, device=x.device) ** 3]

    check(target, f, x)


def test_bits(target):
    x, s = torch.randint(-100, 100, (20,)), torch.randint(0, 70, (20,))
    names = "bitwise_and bitwise_or bitwise_xor bitwise_left_shift bitwise_right_shift"
    functions = [getattr(torch, name) for name in names.split()]

    def f(x, s):
        results = [g(x, s) for g in functions]
        results += [g(x.to(torch.uint8), (s % 9).to(torch.uint8)) for g in functions]
        return [*results, ~x, ~(x > 0), torch.logical_not(x)]

    check(target, f, x, s)


def test_choice(target):
    x, y = torch.randn(4, 6), torch.rand(6)

    def f(x, y):
        return (
            torch.where(x > 0, x, 0.5),
            x.masked_fill(x > 0, -1e9),
            x.clamp(-0.5, 0.5),
            x.clamp(min=0.1),
            torch.clamp(x, min=y),
            torch.arange(6, device=x.device).clamp(1.5, 3),
            torch.nan_to_num(torch.log(x) / 0),
        )

    check(target, f, x, y)


@pytest.mark.parametrize("dtype", TYPES, ids=str)
def test_conversions(target, dtype):
    x = numbers(dtype, 9, low=0.0)
    check(target, lambda x: [x.to(other) for other in TYPES if other != dtype], x)


# Reductions.


@pytest.mark.parametrize("dtype", FLOATS, ids=str)
@pytest.mark.parametrize("name", "sum mean prod amax amin var std".split())
def test_reductions(target, name, dtype):
    f = getattr(torch, name)
    x = torch.randn(3, 4, 5).to(dtype)

    def g(x):
        results = [f(x, dim=1), f(x, dim=-1, keepdim=True), f(x)]
        return results if name == "prod" else [*results, f(x, dim=(0, 2))]

    check(target, g, x)


def test_reductions_of_integers(target):
    x = torch.randn(3, 4, 5)

    def f(x):
        kinds = (x * 3).int(), x > 0, (x.abs() * 3).to(torch.uint8)
        results = [
            getattr(torch, name)(y, dim=0)
            for name in "sum prod amax amin any all".split()
            for y in kinds
        ]
        return [*results, x.int().float().mean(), torch.count_nonzero(x > 0, 1)]

    check(target, f, x)


def test_extrema_and_their_indices(target):
    x = torch.randn(3, 4, 5)

    def f(x):
        return [
            result
            for name in ("max", "min")
            for result in (
                getattr(torch, name)(x),
                *getattr(torch, name)(x, 1),
                *getattr(torch, name)((x * 2).int(), -1, keepdim=True),
                getattr(torch, f"arg{name}")(x),
                getattr(torch, f"arg{name}")(x, 1, keepdim=True),
            )
        ]

    check(target, f, x)


def test_norms_and_moments(target):
    x = torch.randn(3, 4, 5)

    def f(x):
        return (
            torch.logsumexp(x, 1),
            torch.linalg.vector_norm(x, dim=1),
            torch.linalg.vector_norm(x, 1, dim=1),
            *torch.var_mean(x, (1, 2)),
            *torch.std_mean(x, 1),
            torch.var(x, 0, correction=0),
            F.normalize(x, dim=1),
            F.cosine_similarity(x, x + 1, dim=1),
        )

    check(target, f, x)


# Views.


def test_views(target):
    x = torch.randn(3, 4, 6)

    def f(x):
        y = x + 1
        y[:, 1:3] = 5
        y[0] = 2
        return (
            (x.view(12, 6) + 1).t().contiguous(),
            x.permute(2, 0, 1) * 2,
            x[1:, ::2, -3:] + 1,
            x[1] * x[:, 2].sum(),
            *[a + 1 for a in x.split((1, 3), 1)],
            *[a.exp() for a in x.chunk(3, -1)],
            sum(x.unbind(1)),
            torch.cat([x, x.exp(), x.half()], 1),
            torch.stack([x, x.exp()], 1),
            x[:, :1].expand(3, 4, 6) + x,
            x.unsqueeze(1) + x.unsqueeze(2),
            F.pad(x, (1, 2, 0, 3), value=7.0),
            F.pad(x + 1, (-1, 2, 0, -3)),
            x.flip(0, 2) + 1,
            x.roll((1, -2), (0, 2)) + 1,
            x.roll(3) + 1,
            x.repeat(2, 1, 3, 1),
            x.repeat_interleave(2, 1),
            torch.tril(x) * 2,
            x + torch.arange(6, device=x.device) + torch.ones_like(x[0]),
            torch.select_scatter(x, x[:, 0], 1, 2) + 1,
            F.pixel_shuffle(x.reshape(1, 12, 3, 2) + 1, 2),
            y,
        )

    check(target, f, x)


def test_views_alone_stay_views(target):
    def f(x):
        y = x * 2
        return y, y.t(), x[1:]

    x = torch.randn(4, 6)
    _, y, z = check(target, f, x)
    assert not y.is_contiguous()
    if target != "cuda":
        assert z.data_ptr() == x[1:].data_ptr()


def test_enlarging(target):
    x = torch.randn(1, 2, 3, 4)

    def f(x):
        return (
            F.interpolate(x, scale_factor=2) + 1,
            F.interpolate(x, scale_factor=(2, 3)) * 2,
            F.interpolate(x, size=(9, 8)) * 2,
        )

    check(target, f, x)


# Layers.


@pytest.mark.parametrize("dtype", FLOATS, ids=str)
def test_products(target, dtype):
    x, w, b = (torch.randn(*s).to(dtype) for s in ((3, 4, 5), (7, 5), (7,)))

    def f(x, w, b):
        return (
            F.linear(x, w, b),
            torch.mm(x[0], w.t()),
            torch.bmm(x, x.transpose(1, 2)),
            torch.baddbmm(x[:, :, :4], x, x.transpose(1, 2), beta=0.5, alpha=2),
            torch.addmm(b, x[0], w.t(), beta=0.3, alpha=1.5),
            torch.matmul(x, w.t()),
            torch.mv(w, x[0, 0]),
            torch.einsum("bij,kj->bik", x, w),
        )

    check(target, f, x, w, b)


def test_products_of_integers(target):
    if target == "cuda":
        pytest.skip("eager has none on the GPU")
    check(target, torch.mm, torch.randint(-9, 9, (3, 4)), torch.randint(-9, 9, (4, 5)))


@pytest.mark.parametrize("dtype", FLOATS, ids=str)
def test_softmax_and_norms(target, dtype):
    x, w = torch.randn(3, 4, 5).to(dtype), torch.rand(4, 5).to(dtype) + 0.1

    def f(x, w):
        return (
            x.softmax(-1),
            x.log_softmax(1),
            F.layer_norm(x, (5,), w[0], w[1]),
            F.layer_norm(x, (4, 5)),
            F.rms_norm(x, (5,), w[0], 1e-5),
            F.group_norm(x, 2, w[:, 0], w[:, 1]),
            F.batch_norm(x, w[:, 0], w[:, 1], w[:, 2], w[:, 3]),
            F.instance_norm(x),
        )

    check(target, f, x, w)


@pytest.mark.parametrize("channels_last", [False, True])
@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16], ids=str)
def test_convolution_and_pooling(target, dtype, channels_last):
    form = torch.channels_last if channels_last else torch.contiguous_format
    shapes = (2, 4, 9, 8), (6, 4, 3, 3), (6, 2, 3, 3), (4, 1, 3, 3)
    x, w, grouped, depthwise = (
        torch.randn(*s).to(dtype).contiguous(memory_format=form) for s in shapes
    )

    def f(x, w, grouped, depthwise):
        return (
            F.relu(F.conv2d(x, w, w[:, 0, 0, 0], 2, 1)),
            F.conv2d(x, grouped, None, 1, "same", groups=2),
            F.conv2d(x, depthwise, None, 1, 2, 2, 4),
            F.conv1d(x[0], w[:, :, 0], None, 1, 1),
            F.max_pool2d(x, 3, 2, 1),
            F.max_pool2d(x, 2, 2, ceil_mode=True),
            F.avg_pool2d(x, 3, 2, 1),
            F.avg_pool2d(x, 3, 2, 1, ceil_mode=True, count_include_pad=False),
            F.adaptive_avg_pool2d(x, 1),
            F.adaptive_avg_pool2d(x, (3, 4)),
        )

    check(target, f, x, w, grouped, depthwise)


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16], ids=str)
def test_losses(target, dtype):
    x, w = torch.randn(8, 10).to(dtype), torch.rand(10).to(dtype)
    labels = torch.randint(0, 10, (8,))
    labels[2] = -100

    def f(x, w, labels):
        return (
            F.cross_entropy(x, labels),
            F.cross_entropy(x, labels, w),
            F.cross_entropy(x, labels, reduction="none"),
            F.cross_entropy(x, labels, reduction="sum", label_smoothing=0.1),
            F.mse_loss(x, x + 1),
            F.binary_cross_entropy_with_logits(x, (x > 0).to(x.dtype)),
        )

    check(target, f, x, w, labels)


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
    check(target, model, tokens, tolerance=1e-4, eager=["aten.embedding.default"])


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
        f = torch.compile(lambda x: x * 2 + 1, backend="fusion", options=options or None)
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
            x[i] + 1,
            F.conv_transpose2d(x[None, None], x[None, None]) + 1,
            torch.complex(x, x).real + 1,
        )

    run(target, f, *move(target, torch.randn(4, 4), torch.tensor([1, 2])))
    reasons = {op.op: op.reason for op in fusion.torch.report().eager}
    assert "sorting" in reasons["aten.sort.default"]
    assert "by index" in reasons["aten.index.Tensor"]
    assert "transposed" in reasons["aten.convolution.default"]
    assert any("complex" in op and reason for op, reason in reasons.items())


def test_verification(target):
    if target == "reference":
        pytest.skip("it is what verification compares with")
    x = torch.randn(4, 8)
    x = x.cuda() if target == "cuda" else x
    with under(target) as options, torch.no_grad():
        f = torch.compile(
            lambda x: x.softmax(-1), backend="fusion", options={**options, "verify": True}
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

    (entry,) = {e.value for e in entry_points(group="torch_dynamo_backends")} & {
        "fusion.torch:backend"
    }
    assert entry
    assert "fusion" in torch._dynamo.list_backends()
