"""What the tests of `torch.compile(..., backend="fusion")` share."""

from __future__ import annotations

import contextlib
import warnings
from unittest import mock

import pytest

torch = pytest.importorskip("torch")

import fusion.torch  # noqa: E402
from fusion.torch import compiled  # noqa: E402
from fusion.verification import reference  # noqa: E402

# Relative to the largest element of a result: a few roundings of each type.
TOLERANCE = {
    torch.float64: 1e-11,
    torch.float32: 1e-5,
    torch.float16: 4e-3,
    torch.bfloat16: 2e-2,
}


class ReferenceExecutable:
    """Stands in for an executable, and evaluates op by op."""

    report: dict = {"kernels": []}

    def __init__(self, text, **_):
        self.text = text
        self.handle = self

    def run(self, args, out, **_):
        for tensor, value in zip(out, reference(self.text, args)):
            tensor.copy_(torch.as_tensor(value).reshape(tensor.shape))
        return out


@pytest.fixture(autouse=True)
def seed():
    """Fresh data in every run; the seed is printed where a test fails."""
    seed = torch.seed() % 2**31
    print("seed", seed)
    torch.manual_seed(seed)
    # What eager gives is the measure: no shortened float32.
    torch.backends.cudnn.allow_tf32 = False
    torch.backends.cuda.matmul.allow_tf32 = False


@contextlib.contextmanager
def under(target):
    """Compiles for `target`: one of conftest's."""
    torch._dynamo.reset()
    fusion.torch.reset()
    with warnings.catch_warnings():
        # A part left to eager because the compiler failed is a failure here.
        warnings.filterwarnings("error", message="fusion left")
        if target == "reference":
            with mock.patch.object(compiled, "compile", ReferenceExecutable):
                yield {}
        else:
            yield {} if target == "cuda" else {"target": target}


def move(target, *tensors):
    return [x.cuda() if target == "cuda" else x for x in tensors]


def run(target, f, *args, dynamic=None):
    """The result of `f`, a function or a module, compiled for `target`."""
    with under(target) as options:
        compiled_f = torch.compile(
            f, backend="fusion", options=options or None, dynamic=dynamic
        )
        with torch.no_grad():
            return compiled_f(*args)


def close(got, want, tolerance=None):
    """Equal results of eager and fusion: types, shapes and strides too."""
    if isinstance(want, (tuple, list)):
        assert len(got) == len(want)
        for a, b in zip(got, want):
            close(a, b, tolerance)
        return
    assert got.dtype == want.dtype, f"{got.dtype} is not {want.dtype}"
    assert got.shape == want.shape
    if not want.is_floating_point():
        assert torch.equal(got, want), f"{got} is not {want}"
        return
    tolerance = TOLERANCE[want.dtype] if tolerance is None else tolerance
    finite = want[want.isfinite()].double().abs()
    scale = max(finite.max().item(), 1e-30) if finite.numel() else 0.0
    torch.testing.assert_close(
        got, want, rtol=0, atol=scale * tolerance, equal_nan=True
    )


def check(target, f, *args, tolerance=None, eager=(), dynamic=None):
    """`f` gives the same under fusion as in eager; `eager` lists the ops that
    may be left to eager, by name, "aten.cumsum.default".
    """
    args = move(target, *args)
    if target == "cuda" and isinstance(f, torch.nn.Module):
        f = f.cuda()
    with torch.no_grad():
        want = f(*args)
    got = run(target, f, *args, dynamic=dynamic)
    close(got, want, tolerance)
    report = fusion.torch.report()
    left = {op.op for op in report.eager}
    assert left == set(eager), str(report)
    assert report.graphs
    return got
