"""Lowering rules of reductions.

Halves are summed in float32 and rounded once; integers are summed in int64, both
as eager does. Moments are computed in two passes, with the correction that takes
out the rounding error of the mean.
"""

from __future__ import annotations

import math
from typing import Any, Callable

from ..dtypes import bool_, int64
from .elementwise import comparable
from .lowering import Lowering, Number, Unsupported, Value, rule, wide


def _finish(
    g: Lowering, reduced: Value, x: Value, dims: list[int], keepdim: bool
) -> Value:
    return g.keep(reduced, x.shape, dims) if keepdim else reduced


def _total(g: Lowering, kind: str, x: Value, dim: Any, keepdim: bool) -> Value:
    """A sum or product in the result's type."""
    dims = g.dims(dim, x.rank)
    x = g.convert(x, g.dtype)
    return _finish(g, g.reduce(kind, x, dims), x, dims, keepdim)


@rule("sum.default", "sum.dim_IntList")
def lower_sum(
    g: Lowering, x: Value, dim: Any = None, keepdim: bool = False, *, dtype: Any = None
) -> Value:
    return _total(g, "sum", x, dim, keepdim)


@rule("prod.default")
def lower_prod(g: Lowering, x: Value, *, dtype: Any = None) -> Value:
    return _total(g, "prod", x, None, False)


@rule("prod.dim_int")
def lower_prod_dim(
    g: Lowering, x: Value, dim: int, keepdim: bool = False, *, dtype: Any = None
) -> Value:
    return _total(g, "prod", x, dim, keepdim)


def _count(x: Value, dims: list[int]) -> int:
    return math.prod(x.shape[d] for d in dims)


def _over(g: Lowering, x: Value, count: float) -> Value:
    """`x` by a count; of none NaN, as in eager."""
    divisor = count if count > 0 else 0.0
    return g.binary("div", *g.meet([x, float(divisor)], x.dtype))


def mean(g: Lowering, x: Value, dims: list[int]) -> Value:
    return _over(g, g.reduce("sum", x, dims), _count(x, dims))


@rule("mean.default", "mean.dim")
def lower_mean(
    g: Lowering, x: Value, dim: Any = None, keepdim: bool = False, *, dtype: Any = None
) -> Value:
    dims = g.dims(dim, x.rank)
    average = mean(g, g.convert(x, wide(g.dtype)), dims)
    return _finish(g, g.convert(average, g.dtype), x, dims, keepdim)


@rule("linalg_vector_norm.default")
def lower_vector_norm(
    g: Lowering,
    x: Value,
    ord: Number = 2,
    dim: Any = None,
    keepdim: bool = False,
    *,
    dtype: Any = None,
) -> Value:
    dims = g.dims(dim, x.rank)
    x = g.unary("abs", g.convert(x, wide(g.dtype)))
    if math.isinf(ord):
        norm = g.reduce("max" if ord > 0 else "min", x, dims)
    elif ord == 0:
        zero = g.filled(0, x.dtype, x.shape)
        norm = g.reduce("sum", g.convert(g.compare("ne", x, zero), x.dtype), dims)
    elif ord == 1:
        norm = g.reduce("sum", x, dims)
    elif ord == 2:
        norm = g.unary("sqrt", g.reduce("sum", g.binary("mul", x, x), dims))
    else:
        powers = g.binary("pow", x, g.filled(ord, x.dtype, x.shape))
        total = g.reduce("sum", powers, dims)
        norm = g.binary("pow", total, g.filled(1 / ord, x.dtype, total.shape))
    return _finish(g, g.convert(norm, g.dtype), x, dims, keepdim)


# Extrema.


def _extremum(g: Lowering, kind: str, x: Value, dims: list[int]) -> Value:
    if x.dtype is bool_:
        kind = "any" if kind == "max" else "all"
    return g.reduce(kind, x, dims)


def _arg(g: Lowering, kind: str, x: Value, dim: int) -> Value:
    if not x.rank:
        return g.scalar(0, int64)
    return g.arg_reduce(kind, comparable(x, g), dim, int64)


def _define_extremum(kind: str) -> None:
    @rule(f"a{kind}.default")
    def lower(g: Lowering, x: Value, dim: Any = (), keepdim: bool = False) -> Value:
        dims = g.dims(dim, x.rank)
        return _finish(g, _extremum(g, kind, x, dims), x, dims, keepdim)

    @rule(f"{kind}.default")
    def lower_all(g: Lowering, x: Value) -> Value:
        return _extremum(g, kind, x, g.dims(None, x.rank))

    @rule(f"{kind}.dim")
    def lower_dim(
        g: Lowering, x: Value, dim: int, keepdim: bool = False
    ) -> list[Value | None]:
        dims = g.dims(dim, x.rank)
        value = _extremum(g, kind, x, dims) if 0 in g.used else None
        index = _arg(g, kind, x, dims[0] if dims else 0) if 1 in g.used else None
        return [v and _finish(g, v, x, dims, keepdim) for v in (value, index)]

    @rule(f"arg{kind}.default")
    def lower_arg(
        g: Lowering, x: Value, dim: int | None = None, keepdim: bool = False
    ) -> Value:
        if dim is None or not x.rank:
            flat = g.reshape(x, (-1,)) if x.rank and 0 not in x.shape else x
            return g.reshape(_arg(g, kind, flat, 0), g.shape)
        dims = g.dims(dim, x.rank)
        return _finish(g, _arg(g, kind, x, dims[0]), x, dims, keepdim)


for _kind in ("max", "min"):
    _define_extremum(_kind)


# Truth.


def _truth(kind: str) -> Callable[..., Value]:
    def lower(g: Lowering, x: Value, dim: Any = None, keepdim: bool = False) -> Value:
        dims = g.dims(dim, x.rank)
        reduced = g.reduce(kind, g.convert(x, bool_), dims)
        # Eager's any and all of uint8 give uint8.
        return g.convert(_finish(g, reduced, x, dims, keepdim), g.dtype)

    return lower


for _kind in ("any", "all"):
    rule(f"{_kind}.default", f"{_kind}.dim", f"{_kind}.dims")(_truth(_kind))


# Moments.


def variance(
    g: Lowering, x: Value, dims: list[int], correction: Number
) -> tuple[Value, Value]:
    """Variance and mean of `x`, without `dims`."""
    average = mean(g, x, dims)
    d = g.binary("sub", x, _spread(g, average, x, dims))
    return _of_deviations(g, d, dims, correction), average


def _spread(g: Lowering, reduced: Value, x: Value, dims: list[int]) -> Value:
    """A reduced value for every element of `x` again."""
    kept = [i for i in range(x.rank) if i not in dims]
    return g.broadcast(reduced, x.shape, kept)


def _of_deviations(g: Lowering, d: Value, dims: list[int], correction: Number) -> Value:
    count = _count(d, dims)
    total = g.reduce("sum", d, dims)
    squares = g.reduce("sum", g.binary("mul", d, d), dims)
    error = _over(g, g.binary("mul", total, total), count)
    return _over(g, g.binary("sub", squares, error), count - correction)


def _correction(correction: Number | None) -> Number:
    return 1 if correction is None else correction


@rule("var.correction")
def lower_var(
    g: Lowering,
    x: Value,
    dim: Any = None,
    *,
    correction: Number | None = None,
    keepdim: bool = False,
) -> Value:
    dims = g.dims(dim, x.rank)
    result, _ = variance(g, g.convert(x, wide(x.dtype)), dims, _correction(correction))
    return _finish(g, g.convert(result, g.dtype), x, dims, keepdim)


@rule("var_mean.correction")
def lower_var_mean(
    g: Lowering,
    x: Value,
    dim: Any = None,
    *,
    correction: Number | None = None,
    keepdim: bool = False,
) -> tuple[Value, Value]:
    dims = g.dims(dim, x.rank)
    both = variance(g, g.convert(x, wide(x.dtype)), dims, _correction(correction))
    return tuple(_finish(g, g.convert(v, g.dtype), x, dims, keepdim) for v in both)


@rule("std.correction")
def lower_std(
    g: Lowering,
    x: Value,
    dim: Any = None,
    *,
    correction: Number | None = None,
    keepdim: bool = False,
) -> Value:
    dims = g.dims(dim, x.rank)
    if any(x.shape[d] == 0 for d in dims):
        raise Unsupported("there is nothing to reduce")
    wider = g.convert(x, wide(x.dtype))
    d = g.binary("sub", wider, _spread(g, mean(g, wider, dims), wider, dims))
    # Deviations are scaled into [-1, 1], where squares neither overflow nor vanish.
    scale = g.reduce("max", g.unary("abs", d), dims)
    zero = g.filled(0, scale.dtype, scale.shape)
    one = g.filled(1, scale.dtype, scale.shape)
    scale = g.select(g.compare("eq", scale, zero), one, scale)
    d = g.binary("div", d, _spread(g, scale, d, dims))
    root = g.unary("sqrt", _of_deviations(g, d, dims, _correction(correction)))
    result = g.convert(g.binary("mul", root, scale), g.dtype)
    return _finish(g, result, x, dims, keepdim)
