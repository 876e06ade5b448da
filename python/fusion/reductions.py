"""Reductions and searches: sums, products, extrema, moments, arg-extrema.

`axis` is one dimension, several, or None for all; `keepdims` keeps them with
size 1. Result types are numpy's: integer sums and products give int64, means of
integers float64. f16 and bf16 are accumulated in float32.
"""

from __future__ import annotations

import math
from typing import Sequence

from . import dtypes
from .array import Array, ArrayLike, Axis, public
from .dtypes import (
    DType,
    DTypeLike,
    as_dtype,
    bfloat16,
    bool_,
    float16,
    float32,
    int64,
    uint8,
)
from .elementwise import abs as absolute
from .elementwise import exp, isfinite, log, maximum, sqrt, where
from .tensor_type import is_static
from .tracer import lift, normalize_axes, normalize_axis


def _reduce(kind: str, x: Array, axis: Axis, keepdims: bool) -> Array:
    dims = normalize_axes(axis, x.ndim, kind)
    value = x.builder.reduce(kind, x.value, dims)
    return _keep(x, Array(value), dims) if keepdims else Array(value)


def _keep(x: Array, reduced: Array, dims: Sequence[int]) -> Array:
    """`reduced` with the dropped dimensions back, as size 1."""
    shape = tuple(1 if i in dims else s for i, s in enumerate(x.shape))
    kept = [i for i in range(x.ndim) if i not in dims]
    return Array(x.builder.broadcast(reduced.value, shape, kept))


def _wide(dtype: DType) -> DType:
    """The type in which several float steps are computed before one rounding."""
    return float32 if dtype in (float16, bfloat16) else dtype


@public
def sum(
    x: ArrayLike,
    axis: Axis = None,
    dtype: DTypeLike | None = None,
    keepdims: bool = False,
) -> Array:
    """Sum; nothing gives 0. Integers and bools are summed in int64."""
    x = lift(x)
    x = x.astype(dtypes.accumulator(x.dtype) if dtype is None else dtype)
    return _reduce("sum", x, axis, keepdims)


@public
def prod(
    x: ArrayLike,
    axis: Axis = None,
    dtype: DTypeLike | None = None,
    keepdims: bool = False,
) -> Array:
    """Product; nothing gives 1. Integers and bools are multiplied in int64."""
    x = lift(x)
    x = x.astype(dtypes.accumulator(x.dtype) if dtype is None else dtype)
    return _reduce("prod", x, axis, keepdims)


def _extremum(kind: str, x: ArrayLike, axis: Axis, keepdims: bool) -> Array:
    x = lift(x)
    if x.dtype is bool_:
        return _reduce("any" if kind == "max" else "all", x, axis, keepdims)
    return _reduce(kind, x, axis, keepdims)


@public
def min(x: ArrayLike, axis: Axis = None, keepdims: bool = False) -> Array:
    """Smallest element, NaN if there is one; FusionError for no elements."""
    return _extremum("min", x, axis, keepdims)


@public
def max(x: ArrayLike, axis: Axis = None, keepdims: bool = False) -> Array:
    """Largest element, NaN if there is one; FusionError for no elements."""
    return _extremum("max", x, axis, keepdims)


@public
def any(x: ArrayLike, axis: Axis = None, keepdims: bool = False) -> Array:
    """True where some element is non-zero (NaN counts); bool."""
    return _reduce("any", lift(x).astype(bool_), axis, keepdims)


@public
def all(x: ArrayLike, axis: Axis = None, keepdims: bool = False) -> Array:
    """True where every element is non-zero (NaN counts); bool."""
    return _reduce("all", lift(x).astype(bool_), axis, keepdims)


@public
def count_nonzero(x: ArrayLike, axis: Axis = None, keepdims: bool = False) -> Array:
    """Number of elements that are not zero; int64."""
    return sum(lift(x).astype(bool_), axis, keepdims=keepdims)


# Moments.


def _count(x: Array, dims: Sequence[int]) -> float | Array:
    """Number of elements reduced: a number, or a sum of ones where it is
    symbolic.
    """
    sizes = [x.shape[i] for i in dims]
    if is_static(sizes):
        return math.prod(sizes)
    one = x.builder.constant(1, x.dtype)
    ones = x.builder.broadcast(one, x.shape, like=x.value)
    return Array(x.builder.reduce("sum", ones, dims))


def _over(total: Array, count: float | Array) -> Array:
    if isinstance(count, Array):
        return total / count
    # numpy: the mean of nothing is NaN.
    return total * math.nan if count <= 0 else total / float(count)


@public
def mean(
    x: ArrayLike,
    axis: Axis = None,
    dtype: DTypeLike | None = None,
    keepdims: bool = False,
) -> Array:
    """Arithmetic mean; NaN of nothing. Integers give float64."""
    x = lift(x)
    result = dtypes.mean_type(x.dtype) if dtype is None else as_dtype(dtype)
    x = x.astype(_wide(result))
    dims = normalize_axes(axis, x.ndim, "mean")
    average = _over(_reduce("sum", x, dims, False), _count(x, dims)).astype(result)
    return _keep(x, average, dims) if keepdims else average


def _deviations(x: Array, dims: Sequence[int]) -> Array:
    return x - mean(x, dims, keepdims=True)


def _variance(d: Array, dims: Sequence[int], correction: float) -> Array:
    """Of deviations from a computed mean. The square of their own sum takes out
    the rounding error of that mean (the corrected two-pass algorithm).
    """
    count = _count(d, dims)
    total = _reduce("sum", d, dims, False)
    squares = _reduce("sum", d * d, dims, False)
    return _over(squares - _over(total * total, count), count - correction)


def _moment_input(x: ArrayLike, dtype: DTypeLike | None) -> tuple[Array, DType]:
    x = lift(x)
    result = dtypes.mean_type(x.dtype) if dtype is None else as_dtype(dtype)
    return x.astype(_wide(result)), result


@public
def var(
    x: ArrayLike,
    axis: Axis = None,
    dtype: DTypeLike | None = None,
    keepdims: bool = False,
    *,
    correction: float = 0,
    ddof: float = 0,
) -> Array:
    """Variance with divisor n - correction (`ddof` is numpy's name for it);
    NaN where that is not positive. Integers give float64.
    """
    x, result = _moment_input(x, dtype)
    dims = normalize_axes(axis, x.ndim, "var")
    variance = _variance(_deviations(x, dims), dims, correction + ddof)
    variance = variance.astype(result)
    return _keep(x, variance, dims) if keepdims else variance


@public
def std(
    x: ArrayLike,
    axis: Axis = None,
    dtype: DTypeLike | None = None,
    keepdims: bool = False,
    *,
    correction: float = 0,
    ddof: float = 0,
) -> Array:
    """Standard deviation: the root of `var`, without its overflow and underflow
    in the squares.
    """
    x, result = _moment_input(x, dtype)
    dims = normalize_axes(axis, x.ndim, "std")
    d = _deviations(x, dims)
    empty = 0 in [x.shape[i] for i in dims]
    if not dims or empty:
        deviation = sqrt(_variance(d, dims, correction + ddof))
    else:
        # Deviations are scaled into [-1, 1] for the squares.
        scale = max(absolute(d), dims, keepdims=True)
        scale = where(scale == 0, 1, scale)
        root = sqrt(maximum(_variance(d / scale, dims, correction + ddof), 0))
        deviation = root * _drop(scale, dims)
    deviation = deviation.astype(result)
    return _keep(x, deviation, dims) if keepdims else deviation


def _drop(x: Array, dims: Sequence[int]) -> Array:
    shape = tuple(s for i, s in enumerate(x.shape) if i not in dims)
    return Array(x.builder.reshape(x.value, shape))


@public
def logsumexp(x: ArrayLike, axis: Axis = None, keepdims: bool = False) -> Array:
    """log(sum(exp(x))) without overflow; -inf of nothing but -inf."""
    x = lift(x)
    result = dtypes.mean_type(x.dtype)
    x = x.astype(_wide(result))
    dims = normalize_axes(axis, x.ndim, "logsumexp")
    peak = max(x, dims, keepdims=True)
    # An infinite peak would make inf - inf; any finite shift is right there.
    peak = where(isfinite(peak), peak, 0)
    total = log(sum(exp(x - peak), dims)) + _drop(peak, dims)
    total = total.astype(result)
    return _keep(x, total, dims) if keepdims else total


# Searches.


def _arg(kind: str, x: ArrayLike, axis: int | None, keepdims: bool) -> Array:
    x = lift(x)
    if x.dtype is bool_:
        x = x.astype(uint8)
    ndim = x.ndim
    if axis is None:
        x = x.reshape(-1)
    dim = normalize_axis(axis or 0, x.ndim, f"arg{kind}")
    result = Array(x.builder.arg_reduce(kind, x.value, dim, int64))
    if not keepdims:
        return result
    return result.reshape((1,) * ndim) if axis is None else _keep(x, result, [dim])


@public
def argmin(x: ArrayLike, axis: int | None = None, keepdims: bool = False) -> Array:
    """Index of the first smallest element (of the first NaN), int64; of the
    flattened array without an axis.
    """
    return _arg("min", x, axis, keepdims)


@public
def argmax(x: ArrayLike, axis: int | None = None, keepdims: bool = False) -> Array:
    """Index of the first largest element (of the first NaN), int64; of the
    flattened array without an axis.
    """
    return _arg("max", x, axis, keepdims)
