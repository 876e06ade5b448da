"""Cases that broke other fusion compilers, with their right results.

Each is taken from a public report, named beside it, and stands for a family.
Those about single ops (division, shifts, uint8, ties, NaN, pooling, views) are
with the ops; these are about what happens between ops. Sizes are those of the
report where the emulator can run them in a moment.
"""

import numpy as np
import pytest
from test_ops_layers import conv, softmax, standardize

import fusion


def close(got, want, rtol=1e-5, atol=1e-6):
    np.testing.assert_allclose(got, want, rtol=rtol, atol=atol)


# Precision boundaries.


def test_round_trip_through_half_is_kept(run):
    # pytorch#185337: conversions there and back were removed.
    x = np.float32((np.arange(20, dtype=np.float32) / 7).reshape(5, 4).T)
    half = x.astype(np.float16).astype(np.float32)
    rounded, total = run(
        lambda x: (
            x.astype(np.float16).astype(np.float32),
            np.sum(x.astype(np.float16).astype(np.float32), axis=1),
        ),
        x,
    )
    np.testing.assert_array_equal(rounded, half)
    close(total, half.sum(1), rtol=1e-6)


def test_square_overflows_in_half(run):
    # pytorch#183607: 25000000 where float16 has no such number.
    x = np.full(9, 5000.0, np.float32)
    got = run(lambda x: (x.astype(np.float16) ** 2).astype(np.float32), x)
    assert np.isinf(got).all()


def test_bfloat16_equals_its_own_maximum(target):
    # pytorch#195214: a value compared with the maximum of its rounded self.
    torch = pytest.importorskip("torch")
    if target == "reference":
        pytest.skip("torch tensors are given to jit only")
    device = "cuda" if target == "cuda" else "cpu"
    x = torch.randn(64, 128, dtype=torch.bfloat16, device=device)

    def f(x):
        s = x * 0.08838834764831845
        return fusion.sum(s == fusion.max(s, axis=-1, keepdims=True), axis=-1)

    assert (fusion.jit(f, target=target)(x) >= 1).all()


# Reductions, softmax, norms.


def test_rows_of_a_sharp_softmax_sum_to_one(run, rng):
    # pytorch#101039: the scores are large.
    q = rng.normal(size=(1, 10, 40)).astype(np.float32)
    k = rng.normal(size=(1, 2, 40)).astype(np.float32)
    got = run(lambda q, k: fusion.softmax(q @ k.mT / 1e-6), q, k)
    close(got.sum(-1), np.ones((1, 10)))


def test_scale_is_not_moved_into_softmax(run, rng):
    # pytorch#161150: all infinite gives NaN, large but finite gives one-hot.
    x = rng.normal(size=(10,)).astype(np.float32)
    got = run(lambda x: fusion.softmax(x * -1.7e14 * -1.7e14 * -1.7e14, axis=0), x)
    assert np.isnan(got).all()
    got = run(lambda x: fusion.softmax(x * 1e13, axis=0), x)
    np.testing.assert_array_equal(got, np.arange(10) == x.argmax())


def test_reciprocal_of_layer_norm(run, rng):
    # pytorch#186577: the epilogue amplifies the error of the norm.
    x = rng.normal(size=(64, 128)).astype(np.float32)
    got = run(lambda x: 1 / (abs(fusion.layer_norm(x)) + 1e-6), x)
    norm = standardize(x.astype(np.float64), -1, 1e-5)
    # An error of one part in 10^6 of the norm's scale, as the reciprocal sees it.
    bound = 1e-4 + 2e-6 / (abs(norm) + 1e-6)
    want = 1 / (abs(norm) + 1e-6)
    assert (abs(got - want) <= bound * want).all()


def test_argmax_does_not_depend_on_the_tree(run):
    # anvl#368: the first of equals, in any split of the row.
    assert run(lambda x: np.argmax(x), np.array([1.0, 5, 5, 3])) == 1
    for ties in ([0, 4999], [255, 256], [1023, 1024, 4096], [31, 32, 33]):
        x = np.zeros(5000, np.float32)
        x[ties] = 7
        assert run(lambda x: np.argmax(x), x) == ties[0]
        assert run(lambda x: np.argmin(-x), x) == ties[0]


# Broadcasts and views.


def test_size_that_becomes_one_broadcasts(run):
    # pytorch#136640: a view whose leading size happens to be 1.
    x, y = np.arange(4.0), np.arange(8.0)
    got = run(lambda x, y: x.reshape(-1, 4) * y.reshape(-1, 4), x, y)
    np.testing.assert_array_equal(got, x.reshape(1, 4) * y.reshape(2, 4))


def test_rows_shifted_by_one(run, rng):
    # pytorch#197829: row i becomes old row i - 1, also where rows are many.
    x = rng.normal(size=(1024, 64)).astype(np.float32)
    got = run(lambda x: fusion.concat([x[:1], x[:-1]]), x)
    np.testing.assert_array_equal(got, np.concatenate([x[:1], x[:-1]]))


def test_sum_with_own_flip(run, rng):
    # pytorch#198033: both sides are the old values.
    x = rng.normal(size=(256, 100)).astype(np.float32)
    got = run(lambda x: x + np.flip(x, 0), x)
    np.testing.assert_array_equal(got, x + x[::-1])


def test_odd_offsets(run, rng):
    # pytorch#184563: a constant offset breaks the alignment of vectors.
    x = rng.normal(size=1025).astype(np.float32)
    got = run(lambda x: (x[1:] + 1, fusion.concat([x[:3], np.sin(x)[1:], x[:7]])), x)
    np.testing.assert_array_equal(got[0], x[1:] + 1)
    close(got[1], np.concatenate([x[:3], np.sin(x)[1:], x[:7]]))


def test_misaligned_base(run, rng):
    # pytorch#141891: the pointer is 4 bytes past a vector's place.
    base = rng.normal(size=64 * 64 + 65).astype(np.float32)
    got = run(lambda x: np.sin(x) + np.cos(x), base[1:])
    close(got, np.sin(base[1:]) + np.cos(base[1:]), rtol=1e-5, atol=1e-6)


def test_updates_that_must_not_share_memory(run, rng):
    # jax#39100: two chains of padded pieces, both results alive.
    a, b = rng.normal(size=(2, 6, 8)).astype(np.float32)

    def f(a, b):
        first = fusion.concat([fusion.pad(a[:2], ((0, 0), (1, 0)))[:, :8], b[2:]])
        second = fusion.concat([b[:3], fusion.pad(a[3:], ((0, 0), (0, 1)))[:, 1:]])
        return first, second, first[2:5] + second[1:4]

    first, second, both = run(f, a, b)
    want_first = np.concatenate([np.pad(a[:2], ((0, 0), (1, 0)))[:, :8], b[2:]])
    want_second = np.concatenate([b[:3], np.pad(a[3:], ((0, 0), (0, 1)))[:, 1:]])
    np.testing.assert_array_equal(first, want_first)
    np.testing.assert_array_equal(second, want_second)
    np.testing.assert_array_equal(both, want_first[2:5] + want_second[1:4])


def test_concat_within_a_reduction(run, rng):
    # jax#40588: nested concats around an RMS norm, error 4.5.
    x = rng.normal(size=(61, 64)).astype(np.float32)
    m1, m2 = rng.random((2, 61, 32)).astype(np.float32)
    extra = rng.normal(size=(4, 64)).astype(np.float32)

    def f(x, m1, m2, extra):
        masked = x * fusion.concat([m1, m2], axis=1)
        return fusion.concat([fusion.rms_norm(masked), extra])

    masked = x * np.concatenate([m1, m2], 1)
    norm = masked / np.sqrt((masked**2).mean(-1, keepdims=True) + 1e-6)
    close(run(f, x, m1, m2, extra), np.concatenate([norm, extra]), atol=1e-5)


def test_costly_producer_of_a_broadcast(run, rng):
    # tvm#20342: the column is computed once, not for each element of a row.
    x = rng.uniform(-1, 1, (64, 1)).astype(np.float32)
    b = rng.normal(size=(64, 200)).astype(np.float32)

    def f(x, b):
        z = x
        for _ in range(8):
            z = np.exp(x - 0.5 * z)
        return b + z

    close(run(f, x, b), f(x, b), rtol=1e-5, atol=1e-5)


def test_sums_of_two_products(run, rng):
    # pytorch#138685: two reductions of products.
    a, b = rng.normal(size=(2, 96, 16)).astype(np.float32)
    c = rng.normal(size=(16, 96)).astype(np.float32)
    got = run(lambda a, b, c: np.sum(a @ c, -1) + np.sum(b @ c, -1), a, b, c)
    want = (a.astype(np.float64) @ c).sum(-1) + (b.astype(np.float64) @ c).sum(-1)
    close(got, want, rtol=1e-4, atol=1e-3)


# Convolutions.


@pytest.mark.parametrize(
    "x_shape, w_shape, strides, low, high, groups",
    [
        # pytorch#173068: no dimension is like another.
        ((2, 33, 17, 21), (34, 33, 3, 3), (2, 3), (4, 5), (4, 5), 1),
        # AITemplate#65, triton#2693: odd channels.
        ((1, 3, 32, 32), (16, 3, 7, 7), (4, 4), (3, 3), (3, 3), 1),
        ((1, 9, 8, 8), (5, 9, 3, 3), (1, 1), (0, 0), (0, 0), 1),
        ((4, 3, 5, 5), (6, 3, 3, 3), (1, 1), (1, 1), (1, 1), 1),
        # tilelang#2426: the output is narrower than the input.
        ((1, 64, 8, 8), (8, 64, 3, 3), (1, 1), (0, 0), (0, 0), 1),
        # onnxruntime#26274: padding at the top and left only.
        ((1, 8, 26, 26), (12, 8, 3, 3), (2, 2), (1, 1), (0, 0), 1),
    ],
)
def test_shapes_of_conv(run, rng, x_shape, w_shape, strides, low, high, groups):
    x = rng.normal(size=x_shape).astype(np.float32)
    w = rng.normal(size=w_shape).astype(np.float32)
    padding = list(zip(low, high))
    got = run(
        lambda x, w: fusion.conv2d(x, w, None, strides, padding, groups=groups), x, w
    )
    want = conv(x, w, None, strides, low, high, (1, 1), groups)
    close(got, want, rtol=1e-4, atol=1e-3)


def test_addend_that_is_no_bias(run, rng):
    # onnxruntime#12498: a full tensor is not folded as a bias.
    x = rng.normal(size=(1, 24, 7, 7)).astype(np.float32)
    w = rng.normal(size=(24, 6, 1, 1)).astype(np.float32)
    full = rng.normal(size=(1, 24, 7, 7)).astype(np.float32)
    got = run(lambda x, w, c: fusion.conv2d(x, w, groups=4) + c, x, w, full)
    want = conv(x, w, None, (1, 1), (0, 0), (0, 0), (1, 1), 4) + full
    close(got, want, rtol=1e-4, atol=1e-4)


def test_negative_pad_after_conv_and_norm(run, rng):
    # pytorch#195582: the part that is cut off was read.
    x = rng.normal(size=(3, 1, 4, 4)).astype(np.float32)
    w = rng.normal(size=(50, 1, 2, 2)).astype(np.float32)
    mean, bias = rng.normal(size=(2, 50)).astype(np.float32)
    variance, scale = rng.uniform(0.5, 2, (2, 50)).astype(np.float32)
    matrix = rng.normal(size=(10, 50)).astype(np.float32)

    def f(x, w, mean, variance, scale, bias, matrix):
        y = fusion.batch_norm(fusion.conv2d(x, w), mean, variance, scale, bias)
        y = fusion.pad(fusion.flatten(y, 1), ((0, 0), (0, -400)))
        return fusion.linear(y, matrix)

    def channels(a):
        return a.reshape(50, 1, 1)

    y = conv(x, w, None, (1, 1), (0, 0), (0, 0), (1, 1), 1) - channels(mean)
    y = y / np.sqrt(channels(variance) + 1e-5) * channels(scale) + channels(bias)
    want = y.reshape(3, 450)[:, :50] @ matrix.T
    close(run(f, x, w, mean, variance, scale, bias, matrix), want, rtol=1e-4, atol=1e-4)


def test_pool_after_concat(run, rng):
    # tvm#20401: nine sums, joined, pooled, and two results.
    xs = rng.normal(size=(9, 1, 4, 8, 8)).astype(np.float32)
    c = rng.normal(size=(2, 1, 36, 4, 4)).astype(np.float32)

    def f(xs, c):
        parts = [xs[i] + 0.5 * i for i in range(9)]
        pooled = fusion.max_pool2d(fusion.concat(parts, axis=1), 2)
        return pooled + c[0], pooled + c[1]

    parts = np.concatenate([xs[i] + np.float32(0.5 * i) for i in range(9)], 1)
    pooled = parts.reshape(1, 36, 4, 2, 4, 2).max((3, 5))
    first, second = run(f, xs, c)
    close(first, pooled + c[0])
    close(second, pooled + c[1])


def test_upsampling_conv_norm_and_activation(run, rng):
    # pytorch#189488: a block of a diffusion model.
    x = rng.normal(size=(1, 8, 5, 5)).astype(np.float32)
    w = rng.normal(size=(8, 8, 3, 3)).astype(np.float32) * 0.2
    res = rng.normal(size=(1, 8, 10, 10)).astype(np.float32)
    scale, bias = rng.normal(size=(2, 8)).astype(np.float32)

    def f(x, w, scale, bias, res):
        up = fusion.repeat(fusion.repeat(x, 2, 2), 2, 3)
        y = fusion.group_norm(fusion.conv2d(up, w, padding=1), 4, scale, bias)
        return fusion.silu(y) + res

    up = x.repeat(2, 2).repeat(2, 3)
    y = conv(up, w, None, (1, 1), (1, 1), (1, 1), (1, 1), 1)
    y = standardize(y.reshape(1, 4, -1), -1, 1e-5).reshape(y.shape)
    y = y * scale.reshape(8, 1, 1) + bias.reshape(8, 1, 1)
    close(run(f, x, w, scale, bias, res), y / (1 + np.exp(-y)) + res, atol=1e-4)


def test_attention_block(run, rng):
    # The family of softmax between two products, with a residual and a norm.
    x = rng.normal(size=(2, 6, 16)).astype(np.float32)
    w = (rng.normal(size=(4, 16, 16)) * 0.25).astype(np.float32)

    def f(x, w, ops):
        h = ops["norm"](x)
        q, k, v = (h @ w[i] for i in range(3))
        scores = ops["softmax"](q @ k.swapaxes(-1, -2) * 0.25)
        return x + scores @ v @ w[3]

    ours = {"norm": fusion.layer_norm, "softmax": fusion.softmax}
    numpy = {"norm": lambda x: standardize(x, -1, 1e-5), "softmax": softmax}
    got = run(lambda x, w: f(x, w, ours), x, w)
    close(got, f(x.astype(np.float64), w, numpy), rtol=1e-4, atol=1e-4)
