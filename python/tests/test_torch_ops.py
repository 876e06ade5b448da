"""The ops of `torch.compile(..., backend="fusion")` against eager."""

from __future__ import annotations

import math

import pytest
from torch_backend import check, close, move, run, seed, torch  # noqa: F401

F = torch.nn.functional

HALVES = [torch.float16, torch.bfloat16]
FLOATS = [torch.float32, torch.float64, *HALVES]
INTS = [torch.int64, torch.int32, torch.int8, torch.uint8]
TYPES = [*FLOATS, *INTS, torch.bool]


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
    # On a GPU eager divides by 6 with a constant of float32.
    tolerance = 1e-7 if target == "cuda" and dtype is torch.float64 else None
    x = torch.randn(40).to(dtype) * 3
    check(target, lambda x: [f(x) for f in functions], x, tolerance=tolerance)


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
    except (RuntimeError, TypeError):
        return False
    return True


@pytest.mark.parametrize("dtype", TYPES, ids=str)
def test_promotion_of_two_tensors(target, dtype):
    x = numbers(dtype, 30, 20)  # enough for quotients that round to an integer
    others = [numbers(other, 20, high=3.0) for other in TYPES]
    pairs = [
        (f, i)
        for f in BINARY.values()
        for i, y in enumerate(others)
        if defined(f, x, y)
    ]
    check(target, lambda x, *ys: [f(x, ys[i]) for f, i in pairs], x, *others)


@pytest.mark.parametrize("dtype", TYPES, ids=str)
def test_promotion_with_numbers_and_0d(target, dtype):
    x = numbers(dtype, 30, 20)
    zero_d = [torch.tensor(2), torch.tensor(1.5), torch.tensor(2.5, dtype=torch.half)]
    others = [2, 1.5, 0.1, True]
    pairs = [
        (f, y)
        for name, f in BINARY.items()
        for y in others
        if name not in ("maximum", "minimum") and defined(f, x, y)
    ]
    tensors = [
        (f, i)
        for f in BINARY.values()
        for i, y in enumerate(zero_d)
        if defined(f, x, y)
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
            torch.add(x, y, alpha=0.25),  # eager rounds it to a half on the CPU
            torch.addcmul(x, y, y, value=0.3),
            torch.lerp(x, y, 0.3),
            x * 0.1,
            3 - x,
        )

    close(run(target, f, *move(target, x, y)), f(*move(target, x, y)), tolerance=1e-8)


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

    # Eager rounds each of up to 60 products of halves, fusion the last.
    half = name == "prod" and torch.finfo(dtype).bits == 16
    check(target, g, x, tolerance=30 * torch.finfo(dtype).eps if half else None)


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

    # The numbers that are assigned are tensors on the CPU.
    numbers = ["aten.lift_fresh_copy.default", "aten.fill.Tensor"]
    check(target, f, x, eager=numbers if target == "cuda" else ())


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
            F.conv1d(x[:, :, 0], w[:, :, 0], None, 1, 1),
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


# Elements chosen by indices.


def test_indices(target):
    x = torch.randn(7, 11, 5)
    rows = torch.randint(0, 7, (4, 3))
    along = torch.randint(0, 11, (6, 9, 5))

    def f(x, rows, along):
        return (
            torch.gather(x, 1, along),
            torch.index_select(x, 2, rows[0] % 5),
            F.embedding(rows, x[:, :, 0]),
            x[rows],
            x[:, rows - 7],
            torch.gather(torch.softmax(x, 1), 1, along[:, :1]) + 1,
        )

    check(target, f, x, rows, along)


@pytest.mark.parametrize("dtype", [torch.float16, torch.int8, torch.bool], ids=str)
def test_indices_of_types(target, dtype):
    x = (torch.randn(9, 6) * 3).to(dtype)
    i = torch.arange(8)
    check(target, lambda x, i: (x[i], torch.gather(x, 0, i[:, None])), x, i)


def test_cross_entropy_forms(target):
    x, weight = torch.randn(6, 50), torch.rand(50) + 0.5
    labels = torch.randint(0, 50, (6,))
    labels[2] = -100

    def f(x, labels, weight):
        return [
            F.cross_entropy(x, labels, weight=w, reduction=r)
            for w in (None, weight)
            for r in ("none", "mean", "sum")
        ]

    check(target, f, x, labels, weight)
    pixels, classes = torch.randn(2, 5, 3, 4), torch.randint(0, 5, (2, 3, 4))
    check(target, lambda x, t: F.cross_entropy(x, t), pixels, classes)
