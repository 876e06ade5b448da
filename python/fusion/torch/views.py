"""Lowering rules of ops that move or make elements.

The shapes of results come from the node: eager has worked out the -1s and the
clamped bounds already.
"""

from __future__ import annotations

from typing import Any, Sequence

from ..dtypes import float64
from ..tensor_type import product
from .lowering import (
    Lowering,
    Number,
    Operand,
    Unsupported,
    Value,
    rule,
    tensor_of,
)

# Elements chosen by indices. Eager checks them; here a wrong one gives NaN, or 0.


@rule("gather.default")
def lower_gather(g: Lowering, x: Value, dim: int, index: Value, **_: Any) -> Value:
    if not x.rank:
        raise Unsupported("it gathers from a tensor of rank 0")
    dim = g.dim(dim, x.rank)
    sizes = [n if i == dim else index.shape[i] for i, n in enumerate(x.shape)]
    return g.gather(g.slice(x, [0] * x.rank, sizes), index, dim)


@rule("index_select.default")
def lower_index_select(g: Lowering, x: Value, dim: int, index: Value) -> Value:
    if not x.rank:
        raise Unsupported("it selects from a tensor of rank 0")
    return _rows(g, x, g.dim(dim, x.rank), index)


@rule("embedding.default")
def lower_embedding(g: Lowering, table: Value, index: Value, *_: Any) -> Value:
    return _rows(g, table, 0, index)


@rule("index.Tensor")
def lower_index(g: Lowering, x: Value, indices: Sequence[Value | None]) -> Value:
    given = [(i, index) for i, index in enumerate(indices) if index is not None]
    if len(given) != 1 or not given[0][1].dtype.is_integer:
        raise Unsupported("it chooses by several indices, or by a mask")
    dim, index = given[0]
    if index.dtype.kind == "i":
        # Negative ones count from the end.
        size = g.filled(x.shape[dim], index.dtype, index.shape)
        zero = g.filled(0, index.dtype, index.shape)
        from_end = g.binary("add", index, size)
        index = g.select(g.compare("lt", index, zero), from_end, index)
    return _rows(g, x, dim, index)


def _rows(g: Lowering, x: Value, dim: int, index: Value) -> Value:
    count = product(index.shape)
    shape = (*x.shape[:dim], count, *x.shape[dim + 1 :])
    at = g.broadcast(g.reshape(index, (count,)), shape, [dim])
    return g.reshape(g.gather(x, at, dim), g.shape)


# Shapes.


@rule("view.default", "_unsafe_view.default", "reshape.default")
def lower_view(g: Lowering, x: Value, size: Sequence[int]) -> Value:
    return g.reshape(x, g.shape)


@rule("squeeze.default", "squeeze.dim", "squeeze.dims", "unsqueeze.default")
def lower_squeeze(g: Lowering, x: Value, *dims: Any) -> Value:
    return g.reshape(x, g.shape)


@rule("permute.default")
def lower_permute(g: Lowering, x: Value, dims: Sequence[int]) -> Value:
    return g.transpose(x, [g.dim(d, x.rank) for d in dims])


@rule("transpose.int")
def lower_transpose(g: Lowering, x: Value, dim0: int, dim1: int) -> Value:
    order = list(range(x.rank))
    if x.rank:
        order[dim0], order[dim1] = order[dim1], order[dim0]
    return g.transpose(x, order)


@rule("t.default")
def lower_t(g: Lowering, x: Value) -> Value:
    return g.transpose(x, list(range(x.rank))[::-1])


@rule("expand.default")
def lower_expand(g: Lowering, x: Value, size: Sequence[int], **_: Any) -> Value:
    return g.broadcast(x, g.shape)


@rule("as_strided.default")
def lower_as_strided(
    g: Lowering,
    x: Value,
    size: Sequence[int],
    stride: Sequence[int],
    storage_offset: int | None = None,
) -> Value:
    # Pooling to 1 x 1 writes channels-last strides this way.
    source = tensor_of(g.node.args[0])
    same = all(a == b for a, b, n in zip(source.stride(), stride, size) if n != 1)
    if tuple(size) != x.shape or not same or (storage_offset or 0):
        raise Unsupported("it reads memory by strides of its own")
    return x


@rule("repeat.default")
def lower_repeat(g: Lowering, x: Value, repeats: Sequence[int]) -> Value:
    new = len(repeats) - x.rank
    # Every dimension of the operand gets one of repetitions in front of it.
    sizes: list[int] = list(repeats[:new])
    dims = []
    for count, size in zip(repeats[new:], x.shape):
        sizes += [count, size]
        dims.append(len(sizes) - 1)
    if len(sizes) > 8:
        raise Unsupported("it takes more than 8 dimensions on the way")
    return g.reshape(g.broadcast(x, tuple(sizes), dims), g.shape)


# Parts.


def _range(g: Lowering, x: Value, dim: int, start: int, size: int, step: int = 1):
    dim = g.dim(dim, x.rank)
    starts, steps, sizes = [0] * x.rank, [1] * x.rank, list(x.shape)
    starts[dim], steps[dim], sizes[dim] = start, step, size
    return g.slice(x, starts, sizes, steps)


def _bound(position: int | None, size: int, default: int) -> int:
    """A start or an end as eager reads it, within 0 and `size`."""
    if position is None:
        return default
    return min(max(position + size if position < 0 else position, 0), size)


@rule("slice.Tensor")
def lower_slice(
    g: Lowering,
    x: Value,
    dim: int = 0,
    start: int | None = None,
    end: int | None = None,
    step: int = 1,
) -> Value:
    dim = g.dim(dim, x.rank)
    start = _bound(start, x.shape[dim], 0)
    if g.shape[dim] == 0:
        start = 0
    return _range(g, x, dim, start, g.shape[dim], step)


@rule("select.int")
def lower_select(g: Lowering, x: Value, dim: int, index: int) -> Value:
    dim = g.dim(dim, x.rank)
    index = g.dim(index, x.shape[dim])
    return g.reshape(_range(g, x, dim, index, 1), g.shape)


def _split(g: Lowering, x: Value, sizes: Sequence[int], dim: int) -> list[Value]:
    parts, start = [], 0
    for size in sizes:
        parts.append(_range(g, x, dim, start if size else 0, size))
        start += size
    return parts


@rule("split_with_sizes.default")
def lower_split_with_sizes(
    g: Lowering, x: Value, split_sizes: Sequence[int], dim: int = 0
) -> list[Value]:
    return _split(g, x, split_sizes, dim)


@rule("split.Tensor")
def lower_split(g: Lowering, x: Value, split_size: int, dim: int = 0) -> list[Value]:
    size = x.shape[g.dim(dim, x.rank)]
    whole, rest = divmod(size, split_size) if split_size else (0, 0)
    sizes = [split_size] * whole + ([rest] if rest else [])
    return _split(g, x, sizes or [size], dim)


@rule("unbind.int")
def lower_unbind(g: Lowering, x: Value, dim: int = 0) -> list[Value]:
    dim = g.dim(dim, x.rank)
    return [g.reshape(_range(g, x, dim, i, 1), g.shape) for i in range(x.shape[dim])]


# Joins.


@rule("cat.default")
def lower_cat(g: Lowering, tensors: Sequence[Value], dim: int = 0) -> Value:
    # Eager leaves out tensors of shape [0], whatever the others' rank.
    parts = [x for x in tensors if x.shape != (0,)] or list(tensors[:1])
    parts = [g.convert(x, g.dtype) for x in parts]
    return g.concat(parts, g.dim(dim, parts[0].rank))


@rule("stack.default")
def lower_stack(g: Lowering, tensors: Sequence[Value], dim: int = 0) -> Value:
    dim = g.dim(dim, len(g.shape))
    sizes = (*g.shape[:dim], 1, *g.shape[dim + 1 :])
    parts = [g.reshape(g.convert(x, g.dtype), sizes) for x in tensors]
    return g.concat(parts, dim)


@rule("constant_pad_nd.default")
def lower_pad(g: Lowering, x: Value, pad: Sequence[int], value: Number = 0) -> Value:
    low, high = [0] * x.rank, [0] * x.rank
    for i in range(len(pad) // 2):
        low[x.rank - 1 - i], high[x.rank - 1 - i] = pad[2 * i], pad[2 * i + 1]
    return g.pad(x, g.scalar(value, x.dtype), low, high)


@rule("slice_scatter.default")
def lower_slice_scatter(
    g: Lowering,
    x: Value,
    source: Value,
    dim: int = 0,
    start: int | None = None,
    end: int | None = None,
    step: int = 1,
) -> Value:
    if step != 1:
        raise Unsupported("it writes to every n-th element")
    dim = g.dim(dim, x.rank)
    size = x.shape[dim]
    first = _bound(start, size, 0)
    last = max(first, _bound(end, size, size))
    source = g.broadcast(g.convert(source, x.dtype), _sized(x, dim, last - first))
    parts = [
        _range(g, x, dim, 0, first),
        source,
        _range(g, x, dim, last % max(size, 1), size - last),
    ]
    return g.concat([p for p in parts if p.shape[dim]] or [x], dim)


def _sized(x: Value, dim: int, size: int) -> tuple[int, ...]:
    return (*x.shape[:dim], size, *x.shape[dim + 1 :])


@rule("flip.default")
def lower_flip(g: Lowering, x: Value, dims: Sequence[int]) -> Value:
    return g.reverse(x, g.dims(dims, x.rank) if dims else [])


@rule("roll.default")
def lower_roll(g: Lowering, x: Value, shifts: Any, dims: Any = ()) -> Value:
    shifts = [shifts] if isinstance(shifts, int) else list(shifts)
    dims = [dims] if isinstance(dims, int) else list(dims)
    if not dims:
        flat = g.reshape(x, (-1,)) if 0 not in x.shape else x
        return g.reshape(_roll(g, flat, shifts[0], 0), x.shape) if x.rank else x
    for shift, dim in zip(shifts, dims):
        x = _roll(g, x, shift, g.dim(dim, x.rank))
    return x


def _roll(g: Lowering, x: Value, shift: int, dim: int) -> Value:
    size = x.shape[dim]
    shift = shift % size if size else 0
    if not shift:
        return x
    tail = _range(g, x, dim, size - shift, shift)
    return g.concat([tail, _range(g, x, dim, 0, size - shift)], dim)


# Copies: another place in memory, the same value.


@rule(
    "clone.default",
    "alias.default",
    "detach.default",
    "contiguous.default",
    "lift_fresh_copy.default",
)
def lower_clone(g: Lowering, x: Value, **options: Any) -> Value:
    return x


@rule("copy.default")
def lower_copy(g: Lowering, x: Value, source: Value, *_: Any) -> Value:
    return g.broadcast(g.convert(source, x.dtype), x.shape)


@rule("fill.Scalar", "fill.Tensor")
def lower_fill(g: Lowering, x: Value, value: Operand) -> Value:
    return g.broadcast(g.cast(value, x.dtype), x.shape)


# Creation.


@rule("full.default", "full_like.default", "new_full.default")
def lower_full(g: Lowering, like: Any, *values: Any, **options: Any) -> Value:
    return g.filled(values[-1], g.dtype, g.shape)


@rule("scalar_tensor.default")
def lower_scalar_tensor(g: Lowering, value: Number, **options: Any) -> Value:
    return g.scalar(value, g.dtype)


@rule("zeros_like.default", "zeros.default", "new_zeros.default")
def lower_zeros(g: Lowering, *_: Any, **options: Any) -> Value:
    return g.filled(0, g.dtype, g.shape)


@rule("ones_like.default", "ones.default", "new_ones.default")
def lower_ones(g: Lowering, *_: Any, **options: Any) -> Value:
    return g.filled(1, g.dtype, g.shape)


@rule("arange.default")
def lower_arange(g: Lowering, end: Number, **options: Any) -> Value:
    return _arithmetic_sequence(g, 0, 1)


@rule("arange.start")
def lower_arange_start(
    g: Lowering, start: Number, end: Number, **options: Any
) -> Value:
    return _arithmetic_sequence(g, start, 1)


@rule("arange.start_step")
def lower_arange_step(
    g: Lowering, start: Number, end: Number, step: Number = 1, **options: Any
) -> Value:
    return _arithmetic_sequence(g, start, step)


@rule("prims.iota.default")
def lower_iota(
    g: Lowering, length: int, *, start: int, step: int, **options: Any
) -> Value:
    return _arithmetic_sequence(g, start, step)


def _arithmetic_sequence(g: Lowering, start: Number, step: Number) -> Value:
    """start + i * step, floats rounded once from float64."""
    dtype = float64 if g.dtype.is_float else g.dtype
    value = g.iota(dtype, g.shape, 0)
    if step != 1:
        value = g.binary("mul", *g.meet([value, step], dtype))
    if start != 0:
        value = g.binary("add", *g.meet([value, start], dtype))
    return g.convert(value, g.dtype)
