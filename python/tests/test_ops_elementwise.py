"""Elementwise functions against numpy."""

import math

import numpy as np
import pytest

import fusion

# Where float32 functions of two sound libraries may differ.
F32 = dict(rtol=3e-6, atol=1e-6)

DOMAINS = {
    "log": (1e-3, 50),
    "log2": (1e-3, 50),
    "log10": (1e-3, 50),
    "log1p": (-0.9, 50),
    "sqrt": (0, 50),
    "arcsin": (-1, 1),
    "arccos": (-1, 1),
    "arccosh": (1, 50),
    "arctanh": (-0.99, 0.99),
    "tan": (-1.5, 1.5),
}
UFUNCS = [
    "exp",
    "exp2",
    "expm1",
    "log",
    "log2",
    "log10",
    "log1p",
    "sqrt",
    "cbrt",
    "sin",
    "cos",
    "tan",
    "arcsin",
    "arccos",
    "arctan",
    "sinh",
    "cosh",
    "tanh",
    "arcsinh",
    "arccosh",
    "arctanh",
    "floor",
    "ceil",
    "trunc",
    "rint",
    "abs",
    "negative",
    "sign",
    "square",
    "isnan",
    "isinf",
    "isfinite",
    "signbit",
    "reciprocal",
]


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("name", UFUNCS)
def test_unary(check, rng, name, dtype):
    low, high = DOMAINS.get(name, (-8, 8))
    x = rng.uniform(low, high, (5, 37)).astype(dtype)
    tolerance = F32 if dtype is np.float32 else dict(rtol=1e-12, atol=1e-12)
    check(getattr(np, name), x, **tolerance)


@pytest.mark.parametrize(
    "name",
    [
        "exp",
        "log",
        "sqrt",
        "tanh",
        "abs",
        "sign",
        "negative",
        "floor",
        "isnan",
        "isfinite",
    ],
)
def test_special_values(check, name):
    x = np.array([0.0, -0.0, np.inf, -np.inf, np.nan, 1e-45, -1.5, 3e38], np.float32)
    check(getattr(np, name), x, **F32)


@pytest.mark.parametrize(
    "name, function",
    [
        ("erf", math.erf),
        ("erfc", math.erfc),
        ("rsqrt", lambda v: 1 / math.sqrt(abs(v))),
    ],
)
def test_functions_numpy_lacks(check, rng, name, function):
    x = rng.uniform(0.1, 3, 50)
    check(getattr(fusion, name), x, want=np.vectorize(function), rtol=1e-12)


BINARY = [
    "add",
    "subtract",
    "multiply",
    "divide",
    "floor_divide",
    "remainder",
    "fmod",
    "minimum",
    "maximum",
    "hypot",
    "arctan2",
    "copysign",
    "equal",
    "not_equal",
    "less",
    "less_equal",
    "greater",
    "greater_equal",
    "logaddexp",
]


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("name", BINARY)
def test_binary(check, rng, name, dtype):
    x = rng.uniform(-5, 5, (3, 1, 11)).astype(dtype)
    y = np.round(rng.uniform(-5, 5, (4, 11))).astype(dtype)
    check(getattr(np, name), x, y, rtol=5e-6 if dtype is np.float32 else 1e-12)


@pytest.mark.parametrize("dtype", [np.int8, np.int16, np.int32, np.int64, np.uint8])
@pytest.mark.parametrize(
    "name",
    [
        "add",
        "subtract",
        "multiply",
        "floor_divide",
        "remainder",
        "fmod",
        "minimum",
        "maximum",
        "bitwise_and",
        "bitwise_or",
        "bitwise_xor",
        "equal",
        "less",
    ],
)
def test_integers(check, rng, name, dtype):
    info = np.iinfo(dtype)
    x = rng.integers(info.min, info.max, 200, dtype=dtype, endpoint=True)
    y = rng.integers(info.min, info.max, 200, dtype=dtype, endpoint=True)
    if name in ("floor_divide", "remainder", "fmod"):
        y[y == 0] = 3
        x[(x == info.min) & (y == np.array(-1).astype(dtype))] = 7
    check(getattr(np, name), x, y)


def test_floor_divide_is_exact(check):
    # The quotient rounded first gives 10, 5 and 30.
    a, b = np.array([1, 0.5, 6]), np.array([0.1, 0.1, 0.2])
    check(lambda a, b: a // b, a, b)
    check(lambda a, b: a // b, a.astype(np.float32), b.astype(np.float32))
    special = np.array([np.nan, np.inf, -np.inf])
    check(lambda a: a // 1.0, special)


def test_integer_division_by_zero_is_defined(run):
    zero = np.zeros(2, np.int64)
    quotient, rest = run(lambda x, y: (x // y, x % y), np.array([5, -5]), zero)
    assert quotient.tolist() == rest.tolist() == [0, 0]


def test_shifts_past_the_width(run):
    x = np.array([1000, -1000, 1])
    counts = np.array([64, 70, 3])
    left, right = run(lambda x, n: (x << n, x >> n), x, counts)
    assert left.tolist() == [0, 0, 8]
    assert right.tolist() == [0, -1, 0]


def test_uint8_stays_eight_bits(run):
    x = np.array([128, 6, 200], np.uint8)
    total, negated, small = run(lambda x: ((x + x).astype(fusion.int16), -x, -x < 4), x)
    assert total.tolist() == [0, 12, 144]
    assert negated.tolist() == [128, 250, 56]
    assert not small.any()


def test_negative_zero_survives(run):
    x = np.array([-0.5, -0.1, -0.9], np.float32)
    got = run(lambda x: fusion.reciprocal(np.ceil(x) + np.zeros(3, np.float32)), x)
    assert np.all(got == np.inf)  # -0.0 + 0.0 is 0.0


@pytest.mark.parametrize(
    "function",
    [
        lambda x: x**2,
        lambda x: x**3,
        lambda x: x**0.5,
        lambda x: 2**x,
        lambda x: x**-1.0,
        lambda x: 1 / x,
        lambda x: 1 - x,
        lambda x: 7 % x,
        lambda x: 7 // x,
        lambda x: abs(-x),
        lambda x: +x,
    ],
)
def test_operators_with_numbers(check, rng, function):
    check(function, rng.uniform(0.5, 4, 33), rtol=1e-12)


def test_comparison_with_a_number_out_of_range(check):
    x = np.array([0, 200], np.uint8)
    check(lambda x: (x > -1, x < 300, x == 1000), x)


def test_logic(check, rng):
    x, y = rng.integers(0, 3, (2, 50))
    check(
        lambda x, y: (
            np.logical_and(x, y),
            np.logical_or(x, y),
            np.logical_xor(x, y),
            np.logical_not(x),
        ),
        x,
        y,
    )
    check(lambda x, y: (x > 0) & ~(y > 0) | (x == y), x, y)


def test_where_and_clip(check, rng):
    x = rng.normal(size=(6, 7)).astype(np.float32)
    check(lambda x: np.where(x > 0, x, -1), x)
    check(lambda x: np.clip(x, -0.5, 0.5), x)
    check(lambda x: np.clip(x, None, x[0]), x)
    x[0, 0] = np.nan
    check(lambda x: np.clip(x, 0, 1), x)


def test_nan_to_num(check):
    x = np.array([np.nan, np.inf, -np.inf, 1.5], np.float32)
    check(np.nan_to_num, x)
    check(lambda x: np.nan_to_num(x, nan=7), x)


def test_round_with_decimals(check, rng):
    x = rng.uniform(-100, 100, 50)
    check(lambda x: np.round(x, 2), x, rtol=1e-12)
    check(lambda x: np.round(x, -1), x, rtol=1e-12)
    check(np.round, np.array([0.5, 1.5, 2.5, -0.5]))


@pytest.mark.parametrize(
    "source",
    [np.float64, np.float32, np.float16, np.int64, np.int8, np.uint8, np.bool_],
)
@pytest.mark.parametrize(
    "target_type", [np.float32, np.float16, np.int32, np.int8, np.uint8, np.bool_]
)
def test_conversion(check, rng, source, target_type):
    x = rng.integers(0, 100, 40).astype(source)
    check(lambda x: x.astype(target_type), x)


def test_conversion_of_floats_saturates(run):
    x = np.array([1e20, -1e20, np.nan, 300.7, -3.9])
    got = run(lambda x: (x.astype(np.int32), x.astype(np.uint8)), x)
    assert got[0].tolist() == [2**31 - 1, -(2**31), 0, 300, -3]
    assert got[1].tolist() == [255, 0, 0, 255, 0]


def test_half_rounds_after_every_op(run):
    # Kept in float32, 5000 * 5000 would not overflow.
    x = np.array([5000.0], np.float32)
    got = run(
        lambda x: (x.astype(np.float16) * x.astype(np.float16)).astype(np.float32), x
    )
    assert got[0] == np.inf


def test_long_chain(check, rng):
    x = rng.normal(size=(17, 129)).astype(np.float32)

    def f(x):
        for i in range(12):
            x = np.tanh(x * 1.1 + 0.1 * i)
        return x

    check(f, x, rtol=2e-5, atol=2e-6)


@pytest.mark.parametrize(
    "name, formula",
    [
        ("sigmoid", lambda x: 1 / (1 + np.exp(-x))),
        ("silu", lambda x: x / (1 + np.exp(-x))),
        ("relu", lambda x: np.maximum(x, 0)),
        ("relu6", lambda x: np.clip(x, 0, 6)),
        ("softplus", lambda x: np.log1p(np.exp(x))),
        ("mish", lambda x: x * np.tanh(np.log1p(np.exp(x)))),
        ("hardsigmoid", lambda x: np.clip(x + 3, 0, 6) / 6),
        ("hardswish", lambda x: x * np.clip(x + 3, 0, 6) / 6),
        ("elu", lambda x: np.where(x > 0, x, np.expm1(x))),
        ("leaky_relu", lambda x: np.where(x > 0, x, 0.01 * x)),
        ("logsigmoid", lambda x: -np.log1p(np.exp(-x))),
        ("softsign", lambda x: x / (1 + abs(x))),
        ("gelu", lambda x: x * 0.5 * (1 + np.vectorize(math.erf)(x / math.sqrt(2)))),
    ],
)
def test_activations(check, rng, name, formula):
    x = rng.uniform(-6, 6, (9, 31))
    check(getattr(fusion, name), x, want=formula, rtol=1e-7, atol=1e-9)
    check(
        getattr(fusion, name),
        x.astype(np.float32),
        rtol=1e-4,
        atol=1e-5,
        want=lambda x: formula(x).astype(np.float32),
    )


def test_gelu_by_tanh(check, rng):
    def formula(x):
        inner = math.sqrt(2 / math.pi) * (x + 0.044715 * x**3)
        return x / 2 * (1 + np.tanh(inner))

    check(
        lambda x: fusion.gelu(x, approximate="tanh"),
        rng.uniform(-6, 6, 99),
        want=formula,
        rtol=1e-9,
    )
