"""Functions that choose elements by arrays of indices.

An index that names no element reads nothing: it gives NaN, or 0 where the type
has none. Nothing is read outside an array.
"""

from __future__ import annotations

from .array import Array, ArrayLike, public
from .dtypes import int64
from .elementwise import where
from .location import error
from .manipulation import ravel
from .tensor_type import Dim, format_shape
from .tracer import lift, normalize_axis


def _indices(indices: ArrayLike, op: str) -> Array:
    indices = lift(indices)
    if not indices.dtype.is_integer:
        raise error(
            "argument",
            f"{op}: indices of type {indices.dtype.name}",
            "convert them to int64 with astype",
        )
    return indices


def _from_the_end(indices: Array, x: Array, axis: int, op: str) -> Array:
    """Negative indices count from the end."""
    size = x.shape[axis]
    if isinstance(size, Dim):
        raise error(
            "unsupported",
            f"{op} along a dimension of symbolic size {size}",
            "leave the dimension out of `dynamic`; fusion.embedding takes rows "
            "of an array of any size",
        )
    if indices.dtype.kind == "u":
        return indices
    indices = Array(indices.builder.convert(indices.value, int64))
    return where(indices < 0, indices + size, indices)


@public
def take(x: ArrayLike, indices: ArrayLike, axis: int | None = None) -> Array:
    """Elements of `x` along `axis` at `indices`, whose dimensions take the place
    of the axis; without an axis from `x` as one row.
    """
    x = lift(x)
    if axis is None:
        return take(ravel(x), indices, 0)
    axis = normalize_axis(axis, x.ndim, "take")
    indices = _from_the_end(_indices(indices, "take"), x, axis, "take")
    return _rows(x, indices, axis)


def _rows(x: Array, indices: Array, axis: int) -> Array:
    flat = ravel(indices)
    shape = (*x.shape[:axis], flat.shape[0], *x.shape[axis + 1 :])
    like = x.value if flat.shape[0] == x.shape[axis] else None
    at = x.builder.broadcast(flat.value, shape, [axis], like)
    result = x.builder.gather(x.value, at, axis)
    sizes = (*x.shape[:axis], *indices.shape, *x.shape[axis + 1 :])
    return Array(x.builder.reshape(result, sizes))


@public
def take_along_axis(x: ArrayLike, indices: ArrayLike, axis: int = -1) -> Array:
    """Elements of `x` along `axis` at `indices`, of the shape of the indices;
    the other dimensions agree, or one of the two has size 1.
    """
    x, indices = lift(x), _indices(indices, "take_along_axis")
    axis = normalize_axis(axis, x.ndim, "take_along_axis")
    if indices.ndim != x.ndim:
        raise error(
            "argument",
            f"take_along_axis: indices of shape {format_shape(indices.shape)} for "
            f"an array of shape {format_shape(x.shape)}",
            "give the indices as many dimensions, of size 1 where they repeat",
        )
    indices = _from_the_end(indices, x, axis, "take_along_axis")
    # The sizes of the others come from both.
    ones = tuple(1 if i == axis else n for i, n in enumerate(x.shape))
    first = x.builder.slice(x.value, [0] * x.ndim, ones)
    at, _ = x.builder.broadcast_all("take_along_axis", indices.value, first)
    sizes = (*at.shape[:axis], x.shape[axis], *at.shape[axis + 1 :])
    return Array(x.builder.gather(x.builder.broadcast(x.value, sizes), at, axis))


@public
def embedding(indices: ArrayLike, table: ArrayLike) -> Array:
    """Rows of `table` [V, D] at `indices` of any shape: [..., D]. An index below
    0, or not below V, gives a row of NaN.
    """
    table = lift(table)
    if table.ndim != 2:
        raise error(
            "argument",
            f"embedding: a table of shape {format_shape(table.shape)}",
            "give one row an index: shape [V, D]",
        )
    return _rows(table, _indices(indices, "embedding"), 0)
