"""Accuracy of the CPU's mathematical functions, in units in the last place.

Operands are every 2003rd float32, so NaNs, infinities and subnormals too, and
the values where formulas change. The reference is numpy in a wider type.
"""

import numpy as np
import pytest

import fusion

# The bounds that lib/Conversion/ExpandMath.h states.
ULP = {
    "exp": 0.9,
    "exp2": 0.9,
    "expm1": 1.6,
    "tanh": 1.6,
    "log": 0.9,
    "log1p": 0.9,
    "log2": 0.51,
    "log10": 0.51,
    "sin": 1.6,
    "cos": 1.6,
}

SPECIAL = np.array(
    [
        0.0,
        -0.0,
        1.0,
        -1.0,
        np.inf,
        -np.inf,
        np.nan,
        2.0,
        0.5,
        1000.0,
        1e-45,
        -1e-45,
        1.1754944e-38,
        1.1754942e-38,
        3.4028235e38,
        -3.4028235e38,
        88.72283,
        88.72284,
        -103.97208,
        -103.97209,
        -87.33655,
        128.0,
        -149.0,
        -150.0,
        0.55,
        0.925,
        4.0,
        20.0,
        1e5,
        100001.0,
        -100001.0,
        1e10,
        1e38,
    ],
    np.float32,
)


def float32_sample(step=2003):
    bits = np.arange(0, 2**32, step, dtype=np.uint64).astype(np.uint32)
    return np.concatenate([SPECIAL, bits.view(np.float32)])


def error_in_ulp(got, want):
    """|got - want| in units in the last place of `got`'s type at `want`; zero
    for equal special values, infinity for unequal ones."""
    info = np.finfo(got.dtype)
    with np.errstate(all="ignore"):
        rounded = want.astype(got.dtype)
        exponent = np.frexp(np.where(np.isfinite(want), want, 1))[1]
        ulp = np.ldexp(
            want.dtype.type(1), np.maximum(exponent, info.minexp + 1) - info.nmant - 1
        )
        error = np.abs(got.astype(want.dtype) - want) / ulp
        # Past the largest number an ulp more is infinity, and rounding there
        # may go either way.
        overflow = np.isinf(rounded) & (np.abs(got) >= info.max)
        same = (np.isnan(got) & np.isnan(want)) | (got == rounded)
        error = np.where(same | (overflow & ((got > 0) == (want > 0))), 0, error)
        error = np.where(np.isnan(error), np.inf, error)
        # The sign of a zero counts.
        zeros = (got == 0) & (rounded == 0)
        wrong_sign = zeros & (np.signbit(got) != np.signbit(rounded))
    return np.where(wrong_sign, np.inf, error)


def check(got, want, bound, operands):
    error = error_in_ulp(got, want)
    worst = int(np.argmax(error))
    assert error[worst] <= bound, (
        f"{error[worst]:.3f} ulp at {[x[worst] for x in operands]}: "
        f"{got[worst]} instead of {want[worst]}"
    )


@pytest.mark.parametrize("name", ULP)
def test_float32(name):
    x = float32_sample()
    got = fusion.jit(getattr(fusion, name), target="cpu")(x)
    with np.errstate(all="ignore"):
        want = getattr(np, name)(x.astype(np.float64))
    check(np.asarray(got), want, ULP[name], [x])


def test_erf_float32():
    torch = pytest.importorskip("torch")
    x = float32_sample()
    got = fusion.jit(fusion.erf, target="cpu")(x)
    want = torch.erf(torch.from_numpy(x).double()).numpy()
    check(np.asarray(got), want, 1.1, [x])


def test_pow_float32():
    rng = np.random.default_rng(7)
    n = 200_000
    base = np.exp(rng.uniform(-80, 80, n)) * rng.choice([-1, 1], n)
    near_one = 1 + rng.normal(size=n) * 1e-3
    exponent = rng.normal(size=n) * np.exp(rng.uniform(-3, 3, n))
    whole = rng.integers(-40, 40, n)
    pairs = np.meshgrid(SPECIAL, np.append(SPECIAL, [3, -3, 1.5, 16777217]))
    x = np.concatenate([pairs[0].ravel(), base, near_one, base])
    y = np.concatenate([pairs[1].ravel(), exponent, exponent * 100, whole])
    x, y = x.astype(np.float32), y.astype(np.float32)
    got = fusion.jit(fusion.pow, target="cpu")(x, y)
    with np.errstate(all="ignore"):
        want = np.power(x.astype(np.float64), y.astype(np.float64))
    check(np.asarray(got), want, 0.51, [x, y])


@pytest.mark.parametrize("name", ["sigmoid", "silu"])
def test_sigmoids_float32(name):
    # Where the exponential is subnormal, silu has its relative error.
    x = float32_sample()
    x = x[np.abs(x) <= 87]
    got = fusion.jit(getattr(fusion, name), target="cpu")(x)
    wide = x.astype(np.float64)
    want = 1 / (1 + np.exp(-wide)) * (wide if name == "silu" else 1)
    check(np.asarray(got), want, 4, [x])


def test_gelu_float32():
    """The sum 1 + erf cancels in the tail: the error is an ulp of x / 2."""
    torch = pytest.importorskip("torch")
    x = np.linspace(-10, 10, 100_003, dtype=np.float32)
    got = np.asarray(fusion.jit(fusion.gelu, target="cpu")(x))
    wide = x.astype(np.float64)
    want = wide / 2 * torch.erfc(torch.from_numpy(-wide / np.sqrt(2))).numpy()
    assert np.all(np.abs(got - want) <= np.spacing(np.abs(x)))


@pytest.mark.parametrize(
    "name",
    [
        "exp",
        "exp2",
        "expm1",
        "log",
        "log1p",
        "log2",
        "log10",
        "sin",
        "cos",
        "tan",
        "sinh",
        "cosh",
        "tanh",
        "asinh",
        "atan",
    ],
)
def test_float64(name):
    # The functions of libm: glibc's own worst is 2.2 ulp.
    x = np.random.default_rng(3).normal(size=20_001)
    x = np.concatenate([x, x * 1e-10, SPECIAL.astype(np.float64)])
    got = fusion.jit(getattr(fusion, name), target="cpu")(x)
    with np.errstate(all="ignore"):
        want = getattr(np, name.replace("asinh", "arcsinh").replace("atan", "arctan"))(
            x.astype(np.longdouble)
        )
    check(np.asarray(got), want, 2.5, [x])


@pytest.mark.parametrize("name", ["exp", "tanh", "log1p", "sin", "erf"])
def test_tail_equals_body(name):
    """A value's result does not depend on its place in the array."""
    x = np.random.default_rng(5).normal(size=1000).astype(np.float32) * 5
    function = fusion.jit(getattr(fusion, name), target="cpu")
    whole = np.asarray(function(x))
    for length in (1, 7, 17, 63):
        np.testing.assert_array_equal(np.asarray(function(x[:length])), whole[:length])


def test_powers_of_ten_are_exact():
    x = np.float32(10.0) ** np.arange(11, dtype=np.float32)
    got = fusion.jit(fusion.log10, target="cpu")(x)
    np.testing.assert_array_equal(np.asarray(got), np.arange(11))
