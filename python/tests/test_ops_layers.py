"""Layers against plain numpy."""

import itertools
import math

import numpy as np
import pytest

import fusion


def conv(x, w, b, strides, low, high, dilations, groups):
    """Convolution as its definition reads, in float64."""
    x, w = x.astype(np.float64), w.astype(np.float64)
    x = np.pad(x, [(0, 0), (0, 0), *zip(low, high)])
    extents = [d * (k - 1) + 1 for d, k in zip(dilations, w.shape[2:])]
    sizes = [(n - e) // s + 1 for n, e, s in zip(x.shape[2:], extents, strides)]
    out = np.zeros((x.shape[0], w.shape[0], *sizes))
    per_group, outputs = w.shape[1], w.shape[0] // groups
    for g in range(groups):
        part = x[:, g * per_group : (g + 1) * per_group]
        rows = slice(g * outputs, (g + 1) * outputs)
        for tap in itertools.product(*map(range, w.shape[2:])):
            window = part[
                (slice(None), slice(None))
                + tuple(
                    slice(t * d, t * d + s * (n - 1) + 1, s)
                    for t, d, s, n in zip(tap, dilations, strides, sizes)
                )
            ]
            weight = w[(rows, slice(None)) + tap]
            out[:, rows] += np.einsum("nc...,kc->nk...", window, weight)
    return out if b is None else out + b.reshape(-1, *[1] * len(sizes))


CONVS = [
    # x, w, stride, padding, dilation, groups
    ((2, 3, 8, 8), (4, 3, 3, 3), 1, 1, 1, 1),
    ((1, 4, 9, 7), (6, 2, 3, 2), 2, 0, 1, 2),
    ((2, 6, 10, 10), (6, 1, 3, 3), 1, 1, 1, 6),
    ((1, 3, 12, 11), (2, 3, 3, 3), (2, 3), (4, 5), 1, 1),
    ((2, 2, 9, 9), (3, 2, 3, 3), 1, 2, 2, 1),
    ((1, 2, 8, 8), (3, 2, 3, 3), 2, [(1, 0), (1, 0)], 1, 1),
    ((2, 3, 5, 5), (4, 3, 1, 1), 1, 0, 1, 1),
    ((2, 3, 17), (4, 3, 5), 2, 2, 1, 1),
    ((1, 2, 5, 6, 7), (3, 2, 2, 3, 2), (1, 2, 1), 1, 1, 1),
    ((1, 9, 6, 6), (5, 9, 3, 3), 1, "same", 1, 1),
]


def numbers(x, w, stride, padding, dilation):
    count = len(x) - 2
    spread = [v if isinstance(v, tuple) else (v,) * count for v in (stride, dilation)]
    if padding == "same":
        padding = tuple((k - 1) // 2 for k in w[2:])
    if isinstance(padding, int):
        padding = (padding,) * count
    pairs = [p if isinstance(p, tuple) else (p, p) for p in padding]
    return spread[0], [p[0] for p in pairs], [p[1] for p in pairs], spread[1]


@pytest.mark.parametrize("dtype, rtol", [(np.float64, 1e-10), (np.float32, 1e-4)])
@pytest.mark.parametrize("case", CONVS)
def test_conv(check, rng, case, dtype, rtol):
    x_shape, w_shape, stride, padding, dilation, groups = case
    x = rng.normal(size=x_shape).astype(dtype)
    w = rng.normal(size=w_shape).astype(dtype)
    b = rng.normal(size=w_shape[0]).astype(dtype)
    want = conv(
        x, w, b, *numbers(x_shape, w_shape, stride, padding, dilation), groups
    ).astype(dtype)
    check(
        lambda x, w, b: fusion.conv(x, w, b, stride, padding, dilation, groups),
        x,
        w,
        b,
        want=lambda *_: want,
        rtol=rtol,
        atol=rtol * 10,
    )


def test_conv_channels_last(check, rng):
    x = rng.normal(size=(2, 6, 7, 3)).transpose(0, 3, 1, 2)
    w = rng.normal(size=(3, 3, 4, 3)).transpose(3, 2, 0, 1)[:, :3]
    want = conv(x, w, None, (1, 1), (1, 1), (1, 1), (1, 1), 1)
    check(
        lambda x, w: fusion.conv2d(x, w, padding=1),
        x,
        w,
        want=lambda *_: want,
        rtol=1e-10,
        atol=1e-10,
    )


def test_conv_with_neighbours(check, rng):
    x, w = rng.normal(size=(1, 8, 6, 6)), rng.normal(size=(8, 2, 1, 1))
    full = rng.normal(size=(1, 8, 6, 6))  # not per channel: no bias

    def want(x, w, full):
        y = conv(np.maximum(x, 0), w, None, (1, 1), (0, 0), (0, 0), (1, 1), 4)
        return np.maximum(y + full, 0)

    check(
        lambda x, w, full: fusion.relu(
            fusion.conv2d(fusion.relu(x), w, groups=4) + full
        ),
        x,
        w,
        full,
        want=want,
        rtol=1e-10,
        atol=1e-10,
    )


def pool(x, window, stride, padding, reduce, fill):
    x = np.pad(x, [(0, 0), (0, 0), *[(padding, padding)] * 2], constant_values=fill)
    views = np.lib.stride_tricks.sliding_window_view(x, (window, window), (2, 3))
    return reduce(views[:, :, ::stride, ::stride], axis=(-2, -1))


def test_max_pool(check, rng):
    x = rng.normal(size=(2, 3, 9, 10))
    for window, stride, padding in [(2, 2, 0), (3, 2, 1), (3, 1, 1)]:
        check(
            lambda x: fusion.max_pool2d(x, window, stride, padding),
            x,
            want=lambda x: pool(x, window, stride, padding, np.max, -np.inf),
        )


def test_avg_pool(check, rng):
    x = rng.normal(size=(2, 3, 9, 10))
    check(
        lambda x: fusion.avg_pool2d(x, 3, 2, 1),
        x,
        rtol=1e-10,
        want=lambda x: pool(x, 3, 2, 1, np.mean, 0),
    )
    check(
        lambda x: fusion.avg_pool2d(x, 3, 2, 1, count_include_pad=False),
        x,
        rtol=1e-10,
        want=lambda x: (
            pool(x, 3, 2, 1, np.sum, 0) / pool(np.ones_like(x), 3, 2, 1, np.sum, 0)
        ),
    )


def test_pool_with_ceil_mode(run):
    ones = np.ones((1, 3, 6, 6), np.float32)
    got = run(lambda x: fusion.avg_pool2d(x, 3, 2, 1, ceil_mode=True), ones)
    # Edge windows divide by 6 and corners by 4, of 9, 6 and 4 elements inside.
    assert got.shape == (1, 3, 4, 4)
    np.testing.assert_allclose(got[0, 0, 0], [4 / 9, 6 / 9, 6 / 9, 2 / 6], rtol=1e-6)
    x = np.arange(42, dtype=np.float32).reshape(1, 1, 6, 7)
    got = run(lambda x: fusion.max_pool2d(x, 1, 2, ceil_mode=True), x)
    np.testing.assert_array_equal(got, x[:, :, ::2, ::2])


def test_pool_1d_and_3d(check, rng):
    check(
        lambda x: fusion.max_pool1d(x, 2),
        rng.normal(size=(2, 3, 8)),
        want=lambda x: x.reshape(2, 3, 4, 2).max(-1),
    )
    check(
        lambda x: fusion.avg_pool3d(x, 2),
        rng.normal(size=(1, 2, 4, 4, 4)),
        want=lambda x: x.reshape(1, 2, 2, 2, 2, 2, 2, 2).mean((3, 5, 7)),
        rtol=1e-10,
    )


def softmax(x, axis=-1):
    e = np.exp(x - x.max(axis, keepdims=True))
    return e / e.sum(axis, keepdims=True)


@pytest.mark.parametrize("axis", [-1, 0, 1])
def test_softmax(check, rng, axis):
    x = rng.normal(size=(6, 33, 12)) * 10
    check(
        lambda x: fusion.softmax(x, axis),
        x,
        want=lambda x: softmax(x, axis),
        rtol=1e-10,
    )
    check(
        lambda x: fusion.log_softmax(x, axis),
        x,
        rtol=1e-9,
        want=lambda x: np.log(softmax(x, axis)),
    )


def test_softmax_of_extremes(run):
    x = np.array(
        [[1e13, 2e13, -1e14], [-np.inf, 0, 0], [np.inf, 0, 0], [-np.inf] * 3],
        np.float32,
    )
    got = run(lambda x: fusion.softmax(x), x)
    assert got[0].tolist() == [0, 1, 0]
    assert got[1].tolist() == [0, 0.5, 0.5]
    assert np.isnan(got[2:]).all()


def standardize(x, axes, eps):
    return (x - x.mean(axes, keepdims=True)) / np.sqrt(x.var(axes, keepdims=True) + eps)


def test_layer_norm(check, rng):
    x, w, b = rng.normal(size=(5, 64)), rng.normal(size=64), rng.normal(size=64)
    check(
        lambda x, w, b: fusion.layer_norm(x, w, b),
        x,
        w,
        b,
        rtol=1e-9,
        atol=1e-10,
        want=lambda x, w, b: standardize(x, -1, 1e-5) * w + b,
    )
    check(
        lambda x: fusion.layer_norm(x.reshape(5, 8, 8), axis=1, eps=1e-3),
        x,
        want=lambda x: standardize(x, -1, 1e-3).reshape(5, 8, 8),
        rtol=1e-9,
        atol=1e-10,
    )
    check(
        lambda x, b: fusion.layer_norm(x, None, b),
        x,
        b,
        rtol=1e-9,
        atol=1e-10,
        want=lambda x, b: standardize(x, -1, 1e-5) + b,
    )


def test_layer_norm_near_the_largest_float(run):
    x = np.full((3, 16), 8.5e37, np.float32)
    b = np.arange(16, dtype=np.float32)
    got = run(lambda x, b: fusion.layer_norm(x, None, b), x, b)
    np.testing.assert_allclose(got, np.broadcast_to(b, (3, 16)), atol=1e-5)


def test_rms_norm(check, rng):
    x, w = rng.normal(size=(5, 64)), rng.normal(size=64)
    check(
        lambda x, w: fusion.rms_norm(x, w),
        x,
        w,
        rtol=1e-9,
        want=lambda x, w: x / np.sqrt((x * x).mean(-1, keepdims=True) + 1e-6) * w,
    )


def test_group_and_batch_norm(check, rng):
    x = rng.normal(size=(2, 6, 5, 5))
    w, b, m = rng.normal(size=(3, 6))
    v = rng.uniform(0.5, 2, 6)

    def channels(a):
        return a.reshape(6, 1, 1)

    def group(x, w, b):
        y = standardize(x.reshape(2, 3, -1), -1, 1e-5).reshape(x.shape)
        return y * channels(w) + channels(b)

    check(
        lambda x, w, b: fusion.group_norm(x, 3, w, b),
        x,
        w,
        b,
        want=group,
        rtol=1e-9,
        atol=1e-10,
    )
    check(
        lambda x, m, v, w, b: fusion.batch_norm(x, m, v, w, b),
        x,
        m,
        v,
        w,
        b,
        want=lambda x, m, v, w, b: (
            (x - channels(m)) / np.sqrt(channels(v) + 1e-5) * channels(w) + channels(b)
        ),
        rtol=1e-9,
        atol=1e-10,
    )


def test_linear(check, rng):
    x, w, b = rng.normal(size=(2, 3, 8)), rng.normal(size=(5, 8)), rng.normal(size=5)
    check(
        lambda x, w, b: fusion.linear(x, w, b),
        x,
        w,
        b,
        rtol=1e-10,
        want=lambda x, w, b: x @ w.T + b,
    )
    check(
        lambda x, w: fusion.linear(x[0, 0], w),
        x,
        w,
        rtol=1e-10,
        want=lambda x, w: x[0, 0] @ w.T,
    )


def test_cross_entropy(check, rng):
    x, labels = rng.normal(size=(10, 7)), rng.integers(0, 7, 10)
    logp = np.log(softmax(x))
    picked = -logp[np.arange(10), labels]
    for reduction, want in [
        ("none", picked),
        ("sum", picked.sum()),
        ("mean", picked.mean()),
    ]:
        check(
            lambda x, t: fusion.cross_entropy(x, t, reduction=reduction),
            x,
            labels,
            want=lambda *_: np.asarray(want),
            rtol=1e-9,
        )
    ignored = labels.copy()
    ignored[:4] = -100
    check(
        lambda x, t: fusion.cross_entropy(x, t),
        x,
        ignored,
        rtol=1e-9,
        want=lambda *_: np.asarray(picked[4:].mean()),
    )
    check(
        lambda x, p: fusion.cross_entropy(x, p),
        x,
        softmax(x),
        rtol=1e-9,
        want=lambda x, p: np.asarray(-(p * logp).sum(1).mean()),
    )


def test_attention(check, rng):
    q, k, v = rng.normal(size=(3, 2, 2, 9, 8))
    keep = rng.random((9, 9)) > 0.3
    keep[:, 0] = True

    def want(q, k, v, allowed):
        scores = np.einsum("bhqd,bhkd->bhqk", q, k) / math.sqrt(8)
        return softmax(np.where(allowed, scores, -np.inf)) @ v

    check(
        lambda q, k, v: fusion.attention(q, k, v, causal=True),
        q,
        k,
        v,
        want=lambda *a: want(*a, np.tri(9, dtype=bool)),
        rtol=1e-9,
        atol=1e-10,
    )
    check(
        lambda q, k, v, m: fusion.attention(q, k, v, m),
        q,
        k,
        v,
        keep,
        want=want,
        rtol=1e-9,
        atol=1e-10,
    )
