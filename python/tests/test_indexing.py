"""Elements chosen by arrays of indices, against numpy."""

import numpy as np
import pytest

import fusion


@pytest.fixture
def x(rng):
    return rng.standard_normal((6, 9, 5)).astype(np.float32)


@pytest.mark.parametrize("axis", [None, 0, 1, -1])
@pytest.mark.parametrize("dtype", [np.int64, np.int32, np.int8, np.uint8])
def test_take(check, rng, x, axis, dtype):
    low = 0 if dtype is np.uint8 else -5
    indices = rng.integers(low, 5, (3, 4)).astype(dtype)
    check(lambda x, i: np.take(x, i, axis=axis), x, indices)


@pytest.mark.parametrize("axis", [0, 1, 2])
def test_take_along_axis(check, rng, x, axis):
    shape = [6, 9, 5]
    shape[axis] = 7
    indices = rng.integers(-5, 5, shape)
    check(lambda x, i: np.take_along_axis(x, i, axis), x, indices)


def test_sizes_of_1_repeat(check, rng, x):
    indices = rng.integers(0, 9, (1, 4, 1))
    check(lambda x, i: np.take_along_axis(x, i, 1), x, indices)


@pytest.mark.parametrize("dtype", ["float64", "float16", "int8", "bool"])
def test_element_types(check, rng, dtype):
    x = (rng.standard_normal((8, 3)) * 2).astype(dtype)
    check(lambda x, i: np.take(x, i, axis=0), x, rng.integers(0, 8, 17))


def test_computed_operand_and_indices(check, rng, x):
    check(
        lambda x: (
            np.take_along_axis(np.exp(x), np.argmax(x, axis=1, keepdims=True), 1) * 2
        ),
        x,
    )


def test_nothing_to_choose(check, x):
    check(lambda x, i: np.take(x, i, axis=0), x, np.zeros((0, 3), np.int64))


def test_outside_reads_nothing(run, x):
    indices = np.array([0, -1, 6, 2**40, 5])
    got = run(lambda i, t: fusion.embedding(i, t), indices, x[:, :, 0])
    np.testing.assert_array_equal(got[[0, 4]], x[[0, 5], :, 0])
    assert np.isnan(got[1:4]).all()
    whole = run(lambda i, t: fusion.embedding(i, t), indices, np.ones((6, 2), np.int32))
    np.testing.assert_array_equal(whole[:, 0], [1, 0, 0, 0, 1])


def test_operand_without_elements(run):
    got = run(lambda i, t: fusion.embedding(i, t), np.arange(3), np.ones((0, 2), "f4"))
    assert got.shape == (3, 2) and np.isnan(got).all()


def test_symbolic_table(run, rng):
    for rows in (4, 9):
        table = rng.standard_normal((rows, 3)).astype(np.float32)
        at = rng.integers(0, rows, 5)
        got = run(lambda i, t: fusion.embedding(i, t), at, table)
        np.testing.assert_array_equal(got, table[at])


def test_errors():
    with pytest.raises(fusion.FusionError, match="float32"):
        fusion.jit(lambda x: fusion.take(x, x, 0))(np.ones(3, np.float32))
    with pytest.raises(fusion.FusionError, match=r"\[3\]"):
        fusion.jit(lambda x, i: fusion.take_along_axis(x, i, 0))(
            np.ones((3, 2), np.float32), np.arange(3)
        )
