"""Products against numpy."""

import numpy as np
import pytest

import fusion


def normal(rng, *shape):
    return rng.normal(size=shape)


@pytest.mark.parametrize(
    "a, b",
    [
        ((3, 4), (4, 5)),
        ((1, 1), (1, 1)),
        ((33, 17), (17, 65)),
        ((4,), (4,)),
        ((4,), (4, 5)),
        ((3, 4), (4,)),
        ((2, 3, 4), (4, 5)),
        ((2, 3, 4), (2, 4, 5)),
        ((2, 1, 3, 4), (5, 4, 6)),
        ((4,), (2, 4, 5)),
        ((2, 3, 4), (4,)),
        ((70, 129), (129, 31)),
        ((3, 0), (0, 5)),
        ((0, 4), (4, 5)),
    ],
)
def test_matmul(check, rng, a, b):
    check(
        lambda a, b: a @ b,
        normal(rng, *a),
        normal(rng, *b),
        rtol=1e-10,
        atol=1e-12,
        want=lambda a, b: np.asarray(a @ b),
    )


@pytest.mark.parametrize("dtype, rtol", [(np.float32, 1e-4), (np.float16, 1e-2)])
def test_matmul_of_narrow_floats(check, rng, dtype, rtol):
    a, b = normal(rng, 50, 70).astype(dtype), normal(rng, 70, 30).astype(dtype)
    want = (a.astype(np.float64) @ b.astype(np.float64)).astype(dtype)
    check(np.matmul, a, b, want=lambda *_: want, rtol=rtol, atol=rtol * 8)


def test_matmul_of_integers(check, rng):
    a, b = rng.integers(-9, 9, (2, 8, 8), dtype=np.int32)
    check(np.matmul, a, b)


def test_transposed_operands(check, rng):
    a, b = normal(rng, 6, 3), normal(rng, 5, 6)
    check(lambda a, b: a.T @ b.T, a, b, rtol=1e-10)
    check(lambda a, b: np.transpose(b @ a) + 1, a, b, rtol=1e-10)


def test_prologue_and_epilogue(check, rng):
    a, b, c = normal(rng, 20, 30), normal(rng, 30, 40), normal(rng, 40)
    check(lambda a, b, c: np.tanh(np.exp(-a * a) @ b + c), a, b, c, rtol=1e-9)


def test_result_wider_than_the_product(check, rng):
    # The addend widens the result: no epilogue of the product.
    a, b, c = normal(rng, 3, 3), normal(rng, 3, 1), normal(rng, 1, 4)
    check(lambda a, b, c: a @ b + 2 * c, a, b, c, rtol=1e-10)


@pytest.mark.parametrize("axes", [1, 2, 0, ((0,), (1,)), ((1, 2), (0, 2))])
def test_tensordot(check, rng, axes):
    shapes = {1: ((2, 3, 4), (4, 5)), 2: ((2, 3, 4), (3, 4, 5)), 0: ((2,), (3,))}
    a, b = shapes.get(axes, ((3, 4, 5), (4, 3, 5)))
    check(
        lambda a, b: np.tensordot(a, b, axes),
        normal(rng, *a),
        normal(rng, *b),
        rtol=1e-10,
        atol=1e-12,
    )


@pytest.mark.parametrize(
    "subscripts, shapes",
    [
        ("ij,jk->ik", [(2, 3), (3, 4)]),
        ("ij,jk", [(2, 3), (3, 4)]),
        ("bhqd,bhkd->bhqk", [(2, 3, 4, 5), (2, 3, 6, 5)]),
        ("ij->ji", [(2, 3)]),
        ("ij->", [(2, 3)]),
        ("i,j->ij", [(2,), (3,)]),
        ("ijk,k->ji", [(2, 3, 4), (4,)]),
        ("ij,ij->i", [(2, 3), (2, 3)]),
        ("ab,bc,cd->ad", [(2, 3), (3, 4), (4, 5)]),
        ("ab,ac->abc", [(2, 3), (2, 4)]),
        ("ij,k->k", [(2, 3), (4,)]),
    ],
)
def test_einsum(check, rng, subscripts, shapes):
    operands = [normal(rng, *shape) for shape in shapes]
    check(
        lambda *xs: np.einsum(subscripts, *xs),
        *operands,
        rtol=1e-10,
        atol=1e-12,
        want=lambda *xs: np.asarray(np.einsum(subscripts, *xs)),
    )


def test_other_products(check, rng):
    a, b = normal(rng, 3, 4), normal(rng, 3, 4)
    check(
        lambda a, b: fusion.vecdot(a, b),
        a,
        b,
        rtol=1e-10,
        want=lambda a, b: (a * b).sum(-1),
    )
    check(lambda a, b: np.outer(a, b), a, b, rtol=1e-12)
    check(lambda a, b: np.dot(a, b.T), a, b, rtol=1e-10)
    check(lambda a, b: a.dot(b.T), a, b, rtol=1e-10)
    check(lambda a, b: np.inner(a, b), a, b, rtol=1e-10)


@pytest.mark.parametrize("order", [None, 1, 2, np.inf])
def test_norm(check, rng, order):
    check(
        lambda x: np.linalg.norm(x, ord=order, axis=-1), normal(rng, 5, 9), rtol=1e-10
    )
    check(
        lambda x: fusion.vector_norm(x, -1, ord=3),
        normal(rng, 5, 9),
        rtol=1e-10,
        want=lambda x: np.linalg.norm(x, ord=3, axis=-1),
    )
