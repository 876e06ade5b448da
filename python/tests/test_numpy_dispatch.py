"""Plain numpy functions, unchanged, on traced values."""

import numpy as np
import pytest

import fusion


def softmax_cross_entropy(logits, labels):
    shifted = logits - np.max(logits, axis=1, keepdims=True)
    logp = shifted - np.log(np.sum(np.exp(shifted), axis=1, keepdims=True))
    picked = np.where(labels[:, None] == np.arange(logits.shape[1]), logp, 0.0)
    return -np.mean(np.sum(picked, axis=1))


def layer_norm(x, weight, bias):
    mean = np.mean(x, axis=-1, keepdims=True)
    variance = np.var(x, axis=-1, keepdims=True)
    return (x - mean) / np.sqrt(variance + 1e-5) * weight + bias


def attention(q, k, v):
    scores = np.matmul(q, np.swapaxes(k, -1, -2)) / np.sqrt(q.shape[-1])
    scores = np.where(np.tril(np.ones(scores.shape[-2:], bool)), scores, -np.inf)
    weights = np.exp(scores - scores.max(axis=-1, keepdims=True))
    return weights / weights.sum(axis=-1, keepdims=True) @ v


def test_cross_entropy(check, rng):
    check(
        softmax_cross_entropy,
        rng.normal(size=(12, 9)),
        rng.integers(0, 9, 12),
        want=lambda *a: np.asarray(softmax_cross_entropy(*a)),
        rtol=1e-10,
    )


def test_layer_norm(check, rng):
    check(
        layer_norm,
        rng.normal(size=(6, 40)),
        *rng.normal(size=(2, 40)),
        rtol=1e-9,
        atol=1e-10,
    )


def test_attention(check, rng):
    check(attention, *rng.normal(size=(3, 2, 10, 8)), rtol=1e-9, atol=1e-10)


def test_array_on_the_left(check, rng):
    x, table = rng.normal(size=(3, 4)), rng.normal(size=(3, 4))
    check(
        lambda x: (table + x, table - x, table @ x.T, table > x, 2.0**x), x, rtol=1e-10
    )
    check(lambda x: np.float64(3) * x, x)


def test_augmented_assignment(check, rng):
    def f(x):
        y = x + 0.0
        y += 1
        y *= x
        return y

    check(f, rng.normal(size=7))


def test_outer_ufunc(check, rng):
    x = rng.normal(size=4)
    check(lambda x: np.subtract.outer(x, x), x)
    check(lambda x: np.add(x, x, dtype=np.float32), x, rtol=1e-6)


def test_numpy_s_own_names(check, rng):
    x = rng.normal(size=(4, 6))
    check(lambda x: np.clip(x, a_min=-1, a_max=0.5), x)
    check(lambda x: np.diff(x, axis=0), x)
    check(lambda x: np.diff(x, n=2), x)
    check(lambda x: np.ptp(x, axis=1), x)
    check(lambda x: np.amax(x, axis=0) - np.amin(x, axis=0), x)
    check(lambda x: np.around(x, 1), x, rtol=1e-12)


def test_shapes_are_python_values(check):
    def f(x):
        assert np.shape(x) == (3, 4) and np.ndim(x) == 2 and np.size(x) == 12
        assert len(x) == 3 and x.shape[1] == 4 and x.size == 12
        return x / x.size

    check(f, np.ones((3, 4)))


def test_rows_unpack(check, rng):
    def f(qkv):
        q, k, v = qkv
        return q * k + v

    check(f, rng.normal(size=(3, 5)))


@pytest.mark.parametrize(
    "call, name",
    [
        (lambda x: np.sort(x), "sort"),
        (lambda x: np.fft.fft(x), "fft"),
        (lambda x: np.cumsum(x), "cumsum"),
        (lambda x: np.linalg.inv(x), "inv"),
        (lambda x: np.add.accumulate(x), "add.accumulate"),
        (lambda x: np.sum(x, initial=3.0), "initial"),
        (lambda x: np.linalg.svd(x), "svd"),
    ],
)
def test_what_is_missing_is_named(call, name):
    with pytest.raises(fusion.FusionError) as caught:
        fusion.trace(call, np.ones((3, 3)))
    assert caught.value.kind == "unsupported"
    assert name in caught.value.message and caught.value.remedy
    assert "test_numpy_dispatch.py" in caught.value.location
