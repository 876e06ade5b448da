"""Arguments that are not dense, aligned, row-major blocks."""

import numpy as np
import pytest

import fusion

DTYPES = [np.float32, np.float64, np.int16, np.uint8]


def strided(a):
    return {
        "dense": a,
        "transposed": a.T,
        "every other column": a[:, ::2],
        "every other row": a[::2],
        "reversed": a[::-1],
        "reversed columns": a[:, ::-3],
        "inner block": a[1:-1, 2:-2],
        "one row repeated": np.broadcast_to(a[0], a.shape),
        "one element repeated": np.broadcast_to(a[0, 0], (3, 5)),
        "overlapping windows": np.lib.stride_tricks.sliding_window_view(a[0], 4),
        "fortran": np.asfortranarray(a),
        "big-endian": a.astype(a.dtype.newbyteorder(">")),
    }


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("name", list(strided(np.zeros((12, 16)))))
def test_views(run, rng, name, dtype):
    x = strided(rng.integers(0, 100, (12, 16)).astype(dtype))[name]
    want = np.asarray(x).astype(dtype)
    got = run(lambda x: (x + x, fusion.sum(x, axis=0), x), x)
    np.testing.assert_array_equal(got[0], want + want)
    np.testing.assert_array_equal(got[1], want.sum(0))
    np.testing.assert_array_equal(got[2], want)


def test_two_views_of_one_array(check, rng):
    x = rng.normal(size=(20, 30))
    check(lambda a, b: a * b + a, x[:, :15], x[:, 15:])
    check(lambda a, b: a @ b, x, x.T, rtol=1e-10)


@pytest.mark.parametrize("offset", [1, 2, 3, 5])
@pytest.mark.parametrize("dtype", DTYPES)
def test_misaligned(check, rng, offset, dtype):
    x = rng.integers(0, 50, 4097 + offset).astype(dtype)[offset:]
    check(lambda x: x + x, x)


def test_not_aligned_to_the_element(run):
    raw = np.zeros(4 * 10 + 1, np.uint8)
    x = raw[1:].view(np.float32)
    x[:] = np.arange(10)
    np.testing.assert_array_equal(run(lambda x: x * 2, x), np.arange(10) * 2)


def test_field_of_records(run):
    records = np.zeros(6, np.dtype([("a", "i1"), ("b", "f4")], align=False))
    records["b"] = np.arange(6)
    got = run(lambda x: x + 1, records["b"])
    np.testing.assert_array_equal(got, np.arange(6) + 1)


def test_alignment_of_one_call_says_nothing_of_the_next(run, target):
    if target in ("reference", "cuda"):
        pytest.skip("needs one jitted function over host arrays")
    f = fusion.jit(lambda x: x + 1, target=target)
    buffer = np.arange(1030, dtype=np.float32)
    for start in (0, 1, 2, 3, 4, 7):
        np.testing.assert_array_equal(
            f(buffer[start : start + 1000]), buffer[start : start + 1000] + 1
        )


def test_channels_last_stays(run, rng, target):
    x = rng.normal(size=(2, 5, 6, 3)).astype(np.float32).transpose(0, 3, 1, 2)
    got = run(lambda x: fusion.relu(x + 1), x)
    np.testing.assert_array_equal(got, np.maximum(x + 1, 0))
    if target in ("cpu", "emulator"):
        assert got.strides == x.strides


@pytest.mark.parametrize("shape", [(0,), (0, 4), (3, 0, 2)])
def test_zero_size(check, shape):
    x = np.zeros(shape, np.float32)
    check(lambda x: np.exp(x) + 1, x)
    check(lambda x: np.concatenate([x, x]), x)
    check(lambda x: np.sum(x), x, want=lambda x: np.asarray(np.sum(x)))


def test_zero_size_product(check):
    check(lambda a, b: a @ b + 1, np.zeros((3, 0)), np.zeros((0, 2)))


def test_rank_zero(check):
    x = np.array(2.5, np.float32)
    check(lambda x: x * x + 1, x, want=lambda x: np.asarray(x * x + 1))
    check(lambda x, y: x + y, np.float32(1.5), np.ones(3, np.float32))


def test_same_array_twice_and_returned(check, rng):
    x = rng.normal(size=(5, 5))
    check(lambda a, b: (a, a, a + b), x, x)


def test_results_never_alias(run, rng, target):
    x = rng.normal(size=8)
    first, second = run(lambda x: (x, x), x)
    assert not np.shares_memory(first, second)
    assert not np.shares_memory(first, x)


def normalized(x, b):
    e = np.exp(np.tanh(x) + b)
    return e / e.sum(-1, keepdims=True)


@pytest.mark.parametrize("n", [0, 1, 5, 64])
def test_symbolic_sizes(run, rng, n):
    x, b = rng.normal(size=(n, 12)), rng.normal(size=12)
    dynamic = {"x": {0: "N"}}
    got = run(lambda x, b: fusion.softmax(np.tanh(x) + b), x, b, dynamic=dynamic)
    np.testing.assert_allclose(got, normalized(x, b), rtol=1e-10)
    for key in (np.s_[1:], np.s_[:-1], np.s_[::2]) if n else (np.s_[::2],):
        got = run(lambda x: x[key], x, dynamic=dynamic)
        np.testing.assert_array_equal(got, x[key])
    got = run(lambda x: x.reshape(x.shape[0], 3, -1).sum((1, 2)), x, dynamic=dynamic)
    np.testing.assert_allclose(got, x.sum(1), rtol=1e-10)


def test_symbolic_size_of_one_still_broadcasts(run, rng):
    x, y = rng.normal(size=(1, 4)), rng.normal(size=(2, 4))
    got = run(lambda x, y: x * y, x, y, dynamic={"y": {0: "M"}})
    np.testing.assert_allclose(got, x * y)


@pytest.mark.parametrize("n", [3, 1000])
def test_symbolic_mean(run, rng, n):
    x = rng.normal(size=(n, 7))
    got = run(lambda x: np.mean(x, axis=0), x, dynamic={"x": ["N", None]})
    np.testing.assert_allclose(got, x.mean(0), rtol=1e-9, atol=1e-12)


def test_symbolic_products(run, rng):
    a, b = rng.normal(size=(3, 5, 4)), rng.normal(size=(4, 6))
    dynamic = {"a": ["B", "S", None]}
    got = run(lambda a, b: np.tanh(a @ b), a, b, dynamic=dynamic)
    np.testing.assert_allclose(got, np.tanh(a @ b), rtol=1e-10)
    got = run(
        lambda a: a.reshape(a.shape[0] * a.shape[1], 4) + a.reshape(-1, 4),
        a,
        dynamic=dynamic,
    )
    np.testing.assert_array_equal(got, (a + a).reshape(-1, 4))
    got = run(lambda a: fusion.softmax(a @ a.mT), a, dynamic=dynamic)
    scores = a @ a.swapaxes(1, 2)
    e = np.exp(scores - scores.max(-1, keepdims=True))
    np.testing.assert_allclose(got, e / e.sum(-1, keepdims=True), rtol=1e-9)


def test_symbolic_sizes_compile_once(target, rng):
    if target in ("reference", "cuda"):
        pytest.skip("needs one jitted function over host arrays")
    f = fusion.jit(
        lambda x, b: fusion.softmax(np.tanh(x) + b),
        target=target,
        dynamic={"x": {0: "N"}},
    )
    b = rng.normal(size=12)
    for n in (1, 5, 64, 0):
        x = rng.normal(size=(n, 12))
        np.testing.assert_allclose(f(x, b), normalized(x, b), rtol=1e-10)
    assert len(f.executables) == 1
