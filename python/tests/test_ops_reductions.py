"""Reductions and searches against numpy."""

import numpy as np
import pytest

import fusion

AXES = [None, 0, 1, -1, (0, 2), (1, 2), ()]


@pytest.fixture
def x(rng):
    return rng.normal(size=(7, 13, 19))


@pytest.mark.parametrize("keepdims", [False, True])
@pytest.mark.parametrize("axis", AXES)
@pytest.mark.parametrize("name", ["sum", "prod", "min", "max", "mean", "var", "std"])
def test_float64(check, x, name, axis, keepdims):
    check(
        lambda x: getattr(np, name)(x, axis=axis, keepdims=keepdims),
        x,
        rtol=1e-10,
        atol=1e-12,
    )


@pytest.mark.parametrize("axis", [None, 0, 1, -1])
@pytest.mark.parametrize(
    "name", ["sum", "max", "mean", "var", "std", "argmax", "argmin"]
)
def test_float32(check, x, name, axis):
    check(
        lambda x: getattr(np, name)(x, axis=axis),
        x.astype(np.float32),
        rtol=2e-5,
        atol=2e-5,
    )


@pytest.mark.parametrize("axis", [None, 0, (1, 2)])
@pytest.mark.parametrize("name", ["any", "all", "count_nonzero"])
def test_bools(check, rng, name, axis):
    x = rng.random((5, 6, 7)) > 0.9
    check(
        lambda x: getattr(np, name)(x, axis=axis),
        x,
        want=lambda x: np.asarray(getattr(np, name)(x, axis=axis)),
    )
    check(
        lambda x: getattr(np, name)(x, axis=axis),
        x.astype(np.float32),
        want=lambda x: np.asarray(getattr(np, name)(x, axis=axis)),
    )


@pytest.mark.parametrize("dtype", [np.int8, np.int32, np.int64, np.bool_])
@pytest.mark.parametrize("name", ["sum", "max", "min", "mean", "argmax", "prod"])
def test_integers(check, rng, name, dtype):
    x = rng.integers(-3, 4, (5, 40)).astype(dtype)
    check(lambda x: getattr(np, name)(x, axis=1), x, rtol=1e-12)


@pytest.mark.parametrize("shape", [(1, 1), (3, 1000), (1000, 3), (2, 40_000), (1, 7)])
@pytest.mark.parametrize("axis", [0, 1])
def test_many_shapes(check, rng, shape, axis):
    x = rng.normal(size=shape).astype(np.float32)
    check(lambda x: np.sum(np.exp(-x * x), axis=axis), x, rtol=1e-4)


def test_half_accumulates_wide(check, rng):
    x = rng.uniform(0, 1, (4, 5000)).astype(np.float16)
    want = x.astype(np.float64).mean(1).astype(np.float16)
    check(lambda x: np.mean(x, axis=1), x, want=lambda _: want, rtol=1e-3)


def test_nan_wins(run):
    x = np.array([[1, np.nan, 3], [4, 5, 6]], np.float32)
    low, high, where_low, where_high = run(
        lambda x: (np.min(x, 1), np.max(x, 1), np.argmin(x, 1), np.argmax(x, 1)), x
    )
    assert np.isnan(low[0]) and np.isnan(high[0]) and low[1] == 4 and high[1] == 6
    assert where_low.tolist() == [1, 0] and where_high.tolist() == [1, 2]


def test_first_of_equals_wins(run, rng):
    x = np.zeros((3, 5000), np.float32)
    x[0, [77, 4000]] = 1
    x[1, [4999, 4998]] = 1
    assert run(lambda x: np.argmax(x, 1), x).tolist() == [77, 4998, 0]
    assert run(lambda x: np.argmax(x, 0), x.T).tolist() == [77, 4998, 0]


def test_nothing_to_reduce(check):
    x = np.zeros((0, 3), np.float32)
    check(lambda x: (np.sum(x, 0), np.prod(x, 0), np.any(x, 0), np.all(x, 0)), x)
    check(lambda x: np.mean(x, 0), x)
    check(lambda x: np.argmin(x, 1).reshape(0, 1), x)


def test_rank_zero(check):
    x = np.array(5.0)
    check(lambda x: (np.sum(x), np.max(x), np.mean(x), np.flip(x)), x)


def test_std_far_from_one(check):
    x = np.array([1, 2, 4, 9], np.float32)
    for scale in (1e30, 1e-30):
        scaled = (x * scale).astype(np.float32)
        want = np.asarray(np.float32(scaled.astype(np.float64).std()))
        check(lambda x: fusion.std(x), scaled, want=lambda _: want, rtol=1e-5)


def test_variance_far_from_zero(check, rng):
    x = (rng.normal(size=10_000) + 1e5).astype(np.float32)
    want = np.asarray(np.float32(x.astype(np.float64).var()))
    check(lambda x: fusion.var(x), x, want=lambda _: want, rtol=1e-5)


def test_correction(check, x):
    check(lambda x: np.var(x, axis=1, ddof=1), x, rtol=1e-10)
    check(
        lambda x: fusion.std(x, axis=1, correction=1),
        x,
        rtol=1e-10,
        want=lambda x: np.std(x, axis=1, ddof=1),
    )


def test_logsumexp(check, x):
    check(
        lambda x: fusion.logsumexp(x * 300, axis=1),
        x,
        rtol=1e-10,
        want=lambda x: np.logaddexp.reduce(x * 300, axis=1),
    )


def test_several_reductions_of_one_row(check, x):
    def f(x):
        m = np.max(x, axis=-1, keepdims=True)
        e = np.exp(x - m)
        s = np.sum(e, axis=-1, keepdims=True)
        return e / s, np.squeeze(m + np.log(s), -1)

    check(f, x, rtol=1e-10)


def test_maximum_equals_itself_after_rounding(run, rng):
    # Compared in float32 after fusion, no element would equal the maximum.
    x = rng.normal(size=(64, 128)).astype(np.float16)

    def f(x):
        s = x / 11.3137
        return np.sum(s == np.max(s, axis=-1, keepdims=True), axis=-1)

    assert (run(f, x) >= 1).all()


def test_reductions_by_ufunc(check, x):
    check(lambda x: (np.add.reduce(x, axis=1), np.maximum.reduce(x)), x, rtol=1e-10)


@pytest.mark.parametrize("columns", [5, 40004])
def test_exponential_sum_of_special_rows(check, rng, columns):
    """Long rows make the maximum and the sum in one walk; see Combiner."""
    inf, nan = np.inf, np.nan
    x = rng.standard_normal((9, columns)).astype(np.float32) * 20
    x[1] = -inf
    x[2, 3:] = -inf
    x[3, 2] = inf
    x[4, 1] = nan
    x[5] = inf
    x[6, :-1] = -inf
    x[7] = -3e38
    x[8, 0] = 3e38

    def f(x):
        maximum = np.max(x, axis=1, keepdims=True)
        return maximum, np.sum(np.exp(x - maximum), axis=1)

    check(f, x, rtol=1e-5)
