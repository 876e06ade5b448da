"""Functions that make arrays inside a traced function.

They are constants and index patterns to the compiler: no memory is read for
them once they are fused.
"""

from __future__ import annotations

import math
from typing import Any, Sequence

from .array import Array, ArrayLike, public
from .dtypes import DTypeLike, as_dtype, bool_, float64, int64
from .location import error
from .tensor_type import Shape, Size
from .tracer import current_trace, lift, normalize_axis

ShapeLike = Size | Sequence[Size]


def _shape(shape: ShapeLike) -> Shape:
    return tuple(shape) if isinstance(shape, (tuple, list)) else (shape,)


@public
def asarray(x: ArrayLike, dtype: DTypeLike | None = None) -> Array:
    """A traced value for a number, a nested list or an array."""
    x = lift(x, as_dtype(dtype) if dtype is not None else None)
    return x if dtype is None else x.astype(dtype)


@public
def full(shape: ShapeLike, value: ArrayLike, dtype: DTypeLike | None = None) -> Array:
    """`value`, a number or a 0-d array, everywhere; static sizes only."""
    filled = lift(value, as_dtype(dtype) if dtype is not None else None)
    if dtype is not None:
        filled = filled.astype(dtype)
    return Array(filled.builder.broadcast(filled.value, _shape(shape)))


@public
def zeros(shape: ShapeLike, dtype: DTypeLike = float64) -> Array:
    """0 everywhere; float64 unless `dtype` says otherwise, as in numpy."""
    return full(shape, 0, dtype)


@public
def ones(shape: ShapeLike, dtype: DTypeLike = float64) -> Array:
    """1 everywhere; float64 unless `dtype` says otherwise, as in numpy."""
    return full(shape, 1, dtype)


empty = public(zeros)


@public
def full_like(x: ArrayLike, value: ArrayLike, dtype: DTypeLike | None = None) -> Array:
    """`value` everywhere, in the shape (also symbolic) of x and its type."""
    x = lift(x)
    dtype = x.dtype if dtype is None else as_dtype(dtype)
    filled = lift(value, dtype).astype(dtype)
    return Array(x.builder.broadcast(filled.value, x.shape, like=x.value))


@public
def zeros_like(x: ArrayLike, dtype: DTypeLike | None = None) -> Array:
    """0 everywhere, in the shape and type of x."""
    return full_like(x, 0, dtype)


@public
def ones_like(x: ArrayLike, dtype: DTypeLike | None = None) -> Array:
    """1 everywhere, in the shape and type of x."""
    return full_like(x, 1, dtype)


@public
def arange(
    start: float,
    stop: float | None = None,
    step: float = 1,
    dtype: DTypeLike | None = None,
) -> Array:
    """start, start + step, ... up to but not including stop: [n], int64 for
    integers and float64 otherwise.
    """
    if stop is None:
        start, stop = 0, start
    if not all(isinstance(n, (int, float)) for n in (start, stop, step)):
        raise error(
            "argument",
            "arange needs Python numbers as bounds",
            "a symbolic size cannot be a bound; use arange_like",
        )
    if dtype is None:
        whole = all(isinstance(n, int) for n in (start, stop, step))
        dtype = int64 if whole else float64
    count = max(math.ceil((stop - start) / step), 0)
    dtype = as_dtype(dtype)
    index = Array(current_trace().iota(dtype, (count,), 0))
    return _affine(index, step, start)


def _affine(index: Array, step: float, start: float) -> Array:
    if step != 1:
        index = index * step
    return index + start if start != 0 else index


@public
def arange_like(x: ArrayLike, axis: int = 0, dtype: DTypeLike = int64) -> Array:
    """The index along `axis` at every element: the shape (also symbolic) of x."""
    x = lift(x)
    dim = normalize_axis(axis, x.ndim, "arange_like")
    return Array(x.builder.iota(dtype, x.shape, dim, like=x.value))


@public
def linspace(
    start: float,
    stop: float,
    num: int = 50,
    dtype: DTypeLike = float64,
    endpoint: bool = True,
) -> Array:
    """`num` evenly spaced numbers from start to stop: [num]."""
    gaps = num - 1 if endpoint else num
    index = Array(current_trace().iota(float64, (num,), 0))
    values = index * ((stop - start) / gaps if gaps > 0 else 0.0) + start
    if endpoint and num > 1:
        # The last one exactly, as in numpy.
        from .elementwise import where

        values = where(index == num - 1, float(stop), values)
    return values.astype(dtype)


@public
def eye(n: int, m: int | None = None, k: int = 0, dtype: DTypeLike = float64) -> Array:
    """1 on diagonal k and 0 elsewhere: [n, m]."""
    trace = current_trace()
    shape = (n, n if m is None else m)
    row = Array(trace.iota(int64, shape, 0))
    column = Array(trace.iota(int64, shape, 1))
    return (column == row + k).astype(dtype)


@public
def one_hot(labels: ArrayLike, classes: int, dtype: DTypeLike = bool_) -> Array:
    """1 at the label and 0 elsewhere along a new last dimension; a label out of
    range gives zeros.
    """
    labels = lift(labels)[..., None]
    index = Array(current_trace().iota(labels.dtype, (classes,), 0))
    return (labels == index).astype(dtype)


@public
def constant(value: Any, dtype: DTypeLike | None = None) -> Array:
    """`value` stored in the graph itself, whatever its size."""
    trace = current_trace()
    return Array(trace.constant(value, None if dtype is None else as_dtype(dtype)))
