"""Products of arrays: matmul and what is written with it."""

from __future__ import annotations

import math
from typing import Sequence

from . import dtypes, elementwise, reductions
from .array import Array, ArrayLike, public
from .dtypes import DType, bool_
from .location import error
from .manipulation import broadcast_to, expand_dims, permute_dims, reshape, squeeze
from .tensor_type import Shape, Size, broadcast_sizes, format_shape, product
from .tracer import common_dtype, lift, normalize_axes


def _operands(op: str, x1: ArrayLike, x2: ArrayLike) -> tuple[Array, Array]:
    dtype = common_dtype(x1, x2)
    if dtype is bool_:
        raise error(
            "argument", f"{op} of bool arrays", "convert them with astype first"
        )
    return lift(x1, dtype).astype(dtype), lift(x2, dtype).astype(dtype)


def multiply_matrices(x1: Array, x2: Array, transpose: bool = False) -> Array:
    """Product of at least two-dimensional arrays of one type, batches broadcast;
    with `transpose` the right matrices are stored [n, k].
    """
    if x2.ndim == 2 and x1.ndim > 2:
        # One matrix for the whole batch: the batch becomes rows.
        rows = reshape(x1, (product(x1.shape[:-1]), x1.shape[-1]))
        result = multiply_matrices(rows, x2, transpose)
        return reshape(result, (*x1.shape[:-1], result.shape[-1]))
    batch = _common_batch(x1, x2)
    a = _with_batch(x1, batch)
    b = _with_batch(x2, batch)
    return Array(a.builder.matmul(a.value, b.value, transpose_rhs=transpose))


def _common_batch(x1: Array, x2: Array) -> Shape:
    rank = max(x1.ndim, x2.ndim) - 2
    padded = [(1,) * (rank + 2 - x.ndim) + x.shape[:-2] for x in (x1, x2)]
    batch = [broadcast_sizes(a, b) for a, b in zip(*padded)]
    if None in batch:
        raise error(
            "argument",
            f"matmul: batches of shapes {format_shape(x1.shape)} and "
            f"{format_shape(x2.shape)} do not broadcast",
            "make the batch sizes equal, or one of them 1",
        )
    return tuple(batch)  # type: ignore[arg-type]


def _with_batch(x: Array, batch: Shape) -> Array:
    shape = (*batch, *x.shape[-2:])
    return x if shape == x.shape else broadcast_to(x, shape)


@public
def matmul(x1: ArrayLike, x2: ArrayLike) -> Array:
    """`x1 @ x2`: [.., m, k] with [.., k, n] gives [.., m, n], batches broadcast;
    a one-dimensional operand is a row on the left, a column on the right, and
    that dimension is dropped from the result.
    """
    a, b = _operands("matmul", x1, x2)
    if a.ndim == 0 or b.ndim == 0:
        raise error(
            "argument",
            "matmul: an operand has no dimension",
            "use * for a product with a number",
        )
    row, column = a.ndim == 1, b.ndim == 1
    a = expand_dims(a, 0) if row else a
    b = expand_dims(b, 1) if column else b
    if a.shape[-1] != b.shape[-2]:
        raise error(
            "argument",
            f"matmul: shapes {format_shape(lift(x1).shape)} and "
            f"{format_shape(lift(x2).shape)} do not multiply: {a.shape[-1]} meets "
            f"{b.shape[-2]}",
            "the last size of the left operand equals the last but one of the "
            "right operand",
        )
    result = multiply_matrices(a, b)
    axes = ([-2] if row else []) + ([-1] if column else [])
    return squeeze(result, tuple(axes)) if axes else result


@public
def dot(x1: ArrayLike, x2: ArrayLike) -> Array:
    """numpy's dot for operands of at most two dimensions, and for a left operand
    of any rank: sum over its last dimension and the last but one of x2.
    """
    a, b = lift(x1), lift(x2)
    if a.ndim == 0 or b.ndim == 0:
        return elementwise.multiply(a, b)
    if b.ndim <= 2:
        return matmul(a, b)
    return tensordot(a, b, ((a.ndim - 1,), (b.ndim - 2,)))


@public
def vecdot(x1: ArrayLike, x2: ArrayLike, axis: int = -1) -> Array:
    """Sum of products along `axis`, the other dimensions broadcast."""
    a, b = _operands("vecdot", x1, x2)
    return reductions.sum(a * b, axis, dtype=a.dtype)


@public
def outer(x1: ArrayLike, x2: ArrayLike) -> Array:
    """Products of all pairs of elements: [x1.size, x2.size]."""
    return reshape(x1, (-1, 1)) * reshape(x2, (1, -1))


@public
def tensordot(
    x1: ArrayLike, x2: ArrayLike, axes: int | tuple[Sequence[int], Sequence[int]] = 2
) -> Array:
    """Sum over pairs of dimensions: the last `axes` of x1 with the first of x2,
    or the listed ones. The others follow in order.
    """
    a, b = _operands("tensordot", x1, x2)
    if isinstance(axes, int):
        left = tuple(range(a.ndim - axes, a.ndim))
        right = tuple(range(axes))
    else:
        left = normalize_axes(axes[0], a.ndim, "tensordot")
        right = normalize_axes(axes[1], b.ndim, "tensordot")
    if [a.shape[i] for i in left] != [b.shape[i] for i in right]:
        raise error(
            "argument",
            f"tensordot: shapes {format_shape(a.shape)} and "
            f"{format_shape(b.shape)} differ along the summed dimensions",
        )
    rows = [i for i in range(a.ndim) if i not in left]
    columns = [i for i in range(b.ndim) if i not in right]
    shape = [a.shape[i] for i in rows] + [b.shape[i] for i in columns]
    a2 = _as_matrix(a, rows, left)
    b2 = _as_matrix(b, right, columns)
    return reshape(multiply_matrices(a2, b2), shape)


def _as_matrix(x: Array, rows: Sequence[int], columns: Sequence[int]) -> Array:
    sizes = [product(x.shape[i] for i in axes) for axes in (rows, columns)]
    return reshape(permute_dims(x, (*rows, *columns)), sizes)


@public
def vector_norm(
    x: ArrayLike,
    axis: int | Sequence[int] | None = None,
    keepdims: bool = False,
    ord: float = 2,
) -> Array:
    """Norm of order 1, 2, inf or any positive number along `axis`."""
    x = elementwise.as_float(x)
    size = elementwise.abs(x)
    if ord == math.inf:
        return reductions.max(size, axis, keepdims)
    if ord == 1:
        return reductions.sum(size, axis, keepdims=keepdims)
    if ord == 2:
        squares = reductions.sum(x * x, axis, keepdims=keepdims)
        return elementwise.sqrt(squares)
    powers = reductions.sum(elementwise.pow(size, ord), axis, keepdims=keepdims)
    return elementwise.pow(powers, 1.0 / ord)


@public
def einsum(subscripts: str, *operands: ArrayLike) -> Array:
    """Einstein's sum, `einsum("bhqd,bhkd->bhqk", q, k)`: matmuls from left to
    right. No repeated label within an operand, no ellipsis.
    """
    inputs, output = _parse_einsum(subscripts, operands)
    arrays = [lift(x) for x in operands]
    dtype: DType = common_dtype(*arrays)
    if dtype is bool_:
        dtype = dtypes.int64
    current, labels = arrays[0].astype(dtype), inputs[0]
    for i in range(1, len(arrays)):
        wanted = set(output).union(*inputs[i + 1 :])
        current, labels = _contract(
            current, labels, arrays[i].astype(dtype), inputs[i], wanted
        )
    current, labels = _sum_labels(current, labels, set(output))
    return permute_dims(current, [labels.index(c) for c in output])


def _parse_einsum(
    subscripts: str, operands: Sequence[ArrayLike]
) -> tuple[list[str], str]:
    left, arrow, output = subscripts.replace(" ", "").partition("->")
    inputs = left.split(",")
    letters = "".join(inputs)
    if not arrow:
        output = "".join(sorted(c for c in set(letters) if letters.count(c) == 1))
    problem = ""
    if len(inputs) != len(operands):
        problem = f"{len(operands)} operands for {len(inputs)} subscripts"
    elif not (letters + output).isalpha() and letters + output:
        problem = "labels must be letters; an ellipsis is not supported"
    elif any(len(set(s)) != len(s) for s in [*inputs, output]):
        problem = "a label is repeated within an operand or the result"
    elif not set(output) <= set(letters):
        problem = "a label of the result is in no operand"
    else:
        for s, x in zip(inputs, operands):
            if len(s) != lift(x).ndim:
                problem = f"{s!r} does not fit shape {format_shape(lift(x).shape)}"
    if problem:
        raise error("argument", f"einsum {subscripts!r}: {problem}")
    return inputs, output


def _sum_labels(x: Array, labels: str, wanted: set[str]) -> tuple[Array, str]:
    """Sums over the labels that nobody wants any more."""
    axes = tuple(i for i, c in enumerate(labels) if c not in wanted)
    kept = "".join(c for c in labels if c in wanted)
    return (reductions.sum(x, axes, dtype=x.dtype) if axes else x), kept


def _contract(
    a: Array, left: str, b: Array, right: str, wanted: set[str]
) -> tuple[Array, str]:
    """Product of two operands, summed over the labels not wanted afterwards."""
    a, left = _sum_labels(a, left, wanted | set(right))
    b, right = _sum_labels(b, right, wanted | set(left))
    sizes: dict[str, Size] = dict(zip(left, a.shape))
    for label, size in zip(right, b.shape):
        if sizes.setdefault(label, size) != size:
            raise error(
                "argument",
                f"einsum: label {label!r} has sizes {sizes[label]} and {size}",
            )
    batch = [c for c in left if c in right and c in wanted]
    inner = [c for c in left if c in right and c not in wanted]
    rows = [c for c in left if c not in right]
    columns = [c for c in right if c not in left]

    def matrices(x: Array, labels: str, groups: list[list[str]]) -> Array:
        order = batch + groups[0] + groups[1]
        x = permute_dims(x, [labels.index(c) for c in order])
        merged = [product(sizes[c] for c in group) for group in groups]
        return reshape(x, [sizes[c] for c in batch] + merged)

    if inner:
        a = matrices(a, left, [rows, inner])
        merged = multiply_matrices(a, matrices(b, right, [inner, columns]))
    else:
        # Nothing is summed: an outer product, which needs no matmul.
        merged = matrices(a, left, [rows, []]) * matrices(b, right, [[], columns])
    result = "".join(batch + rows + columns)
    return reshape(merged, [sizes[c] for c in result]), result
