"""Lowering rules of products, convolutions, pooling, norms and losses.

Composite ops keep their names where the dialect has them, so that reports speak
the model's words and a schedule may match them whole.
"""

from __future__ import annotations

import math
from typing import Any, Sequence

from ..dtypes import DType, as_dtype, bool_
from .lowering import Lowering, Number, Unsupported, Value, rule, wide
from .reductions import mean, variance

# Products.


def _product(g: Lowering, x: Value, y: Value, dtype: DType | None = None) -> Value:
    if x.dtype is bool_:
        raise Unsupported("a product of bool matrices")
    return g.matmul(x, y, dtype=dtype)


@rule("mm.default", "bmm.default")
def lower_matmul(g: Lowering, x: Value, y: Value) -> Value:
    return _product(g, x, y)


@rule("addmm.default", "baddbmm.default")
def lower_addmm(
    g: Lowering,
    bias: Value,
    x: Value,
    y: Value,
    *,
    beta: Number = 1,
    alpha: Number = 1,
) -> Value:
    # Halves: the product stays in float32 until the bias is added.
    dtype = wide(x.dtype)
    product = _product(g, x, y, dtype)
    if alpha != 1:
        product = g.binary("mul", *g.meet([product, alpha], dtype))
    if beta == 0:
        return g.convert(product, g.dtype)
    addend = g.convert(bias, dtype)
    if beta != 1:
        addend = g.binary("mul", *g.meet([addend, beta], dtype))
    total = g.binary("add", product, g.broadcast(addend, product.shape))
    return g.convert(total, g.dtype)


@rule("dot.default", "vdot.default")
def lower_dot(g: Lowering, x: Value, y: Value) -> Value:
    dtype = wide(x.dtype)
    product = g.binary("mul", *g.meet([x, y], dtype))
    return g.convert(g.reduce("sum", product, [0]), g.dtype)


@rule("mv.default")
def lower_mv(g: Lowering, x: Value, y: Value) -> Value:
    return g.reshape(_product(g, x, g.reshape(y, (*y.shape, 1))), g.shape)


# Convolution.


def _each(value: Any, count: int, default: Sequence[int] = ()) -> list[int]:
    """A number, or a list of one or `count`, as a list of `count`."""
    values = [value] if isinstance(value, int) else list(value) or list(default)
    return values * count if len(values) == 1 else values


@rule("convolution.default")
def lower_convolution(
    g: Lowering,
    x: Value,
    weight: Value,
    bias: Value | None,
    stride: Sequence[int],
    padding: Sequence[int],
    dilation: Sequence[int],
    transposed: bool,
    output_padding: Sequence[int],
    groups: int,
) -> Value:
    if transposed:
        raise Unsupported("a transposed convolution")
    count = x.rank - 2
    if count < 1:
        raise Unsupported("it has no spatial dimension")
    low = _each(padding, count)
    return g.conv(
        x,
        weight,
        bias,
        strides=_each(stride, count),
        pad_low=low,
        pad_high=low,
        dilations=_each(dilation, count),
        groups=groups,
    )


# Pooling.


def _pool(
    g: Lowering,
    kind: str,
    x: Value,
    window: Any,
    stride: Any,
    padding: Any,
    dilation: Any,
    **flags: bool,
) -> Value:
    count = len(window)
    low = _each(padding, count)
    return g.pool(
        kind,
        x,
        window=list(window),
        strides=_each(stride, count, window),
        pad_low=low,
        pad_high=low,
        dilations=_each(dilation, count),
        **flags,
    )


def _define_pools(rank: int) -> None:
    names = {2: "max_pool2d_with_indices.default", 3: "max_pool3d_with_indices.default"}

    def lower_max(
        g: Lowering,
        x: Value,
        kernel_size: Any,
        stride: Any = (),
        padding: Any = 0,
        dilation: Any = 1,
        ceil_mode: bool = False,
    ) -> tuple[Value, None]:
        window = _each(kernel_size, rank)
        value = _pool(
            g, "max", x, window, stride, padding, dilation, ceil_mode=ceil_mode
        )
        return value, None

    if rank in names:
        rule(names[rank])(lower_max)

    @rule(f"avg_pool{rank}d.default")
    def lower_avg(
        g: Lowering,
        x: Value,
        kernel_size: Any,
        stride: Any = (),
        padding: Any = 0,
        ceil_mode: bool = False,
        count_include_pad: bool = True,
        divisor_override: int | None = None,
    ) -> Value:
        if divisor_override is not None:
            raise Unsupported("it has a divisor of its own")
        return _pool(
            g,
            "avg",
            x,
            _each(kernel_size, rank),
            stride,
            padding,
            1,
            ceil_mode=ceil_mode,
            count_include_pad=count_include_pad,
        )

    @rule(f"_adaptive_avg_pool{rank}d.default", f"adaptive_avg_pool{rank}d.default")
    def lower_adaptive(g: Lowering, x: Value, output_size: Any) -> Value:
        wanted = _each(output_size, rank)
        sizes = x.shape[x.rank - rank :]
        if all(w == 1 for w in wanted):
            dims = list(range(x.rank - rank, x.rank))
            average = mean(g, g.convert(x, wide(x.dtype)), dims)
            return g.keep(g.convert(average, g.dtype), x.shape, dims)
        if any(not w or s % w for s, w in zip(sizes, wanted)):
            raise Unsupported(f"windows of {list(sizes)} to {wanted} differ in size")
        window = [s // w for s, w in zip(sizes, wanted)]
        return _pool(g, "avg", x, window, window, 0, 1)


for _rank in (1, 2, 3):
    _define_pools(_rank)


# Softmax.


@rule("_softmax.default")
def lower_softmax(g: Lowering, x: Value, dim: int, half_to_float: bool) -> Value:
    return _softmax(g, "softmax", x, dim)


@rule("_log_softmax.default")
def lower_log_softmax(g: Lowering, x: Value, dim: int, half_to_float: bool) -> Value:
    return _softmax(g, "log_softmax", x, dim)


def _softmax(g: Lowering, op: str, x: Value, dim: int) -> Value:
    x = g.convert(x, g.dtype)
    if not x.rank:
        return g.reshape(_softmax(g, op, g.reshape(x, (1,)), 0), ())
    return g.composite(op, x, [], {"dim": g.dim(dim, x.rank)})


# Norms.


def _affine(
    g: Lowering, x: Value, operands: Sequence[Value | None]
) -> tuple[Value, list[Value | None]]:
    """All operands in one type: float32 where they differ."""
    given = [v for v in operands if v is not None]
    if all(v.dtype is x.dtype for v in given):
        return x, list(operands)
    dtype = wide(x.dtype)
    return g.convert(x, dtype), [
        None if v is None else g.convert(v, dtype) for v in operands
    ]


def _scale(g: Lowering, weight: Value | None, bias: Value | None) -> Value | None:
    """The dialect has a shift only beside a scale."""
    if weight is None and bias is not None:
        return g.filled(1, bias.dtype, bias.shape)
    return weight


def _saved(g: Lowering, value: Value, dtype: DType, shape: Sequence[int]) -> Value:
    return g.reshape(g.convert(value, dtype), tuple(shape))


def _inverse_root(g: Lowering, value: Value, eps: float) -> Value:
    return g.unary("rsqrt", g.binary("add", *g.meet([value, eps], value.dtype)))


@rule("native_layer_norm.default")
def lower_layer_norm(
    g: Lowering,
    x: Value,
    normalized_shape: Sequence[int],
    weight: Value | None,
    bias: Value | None,
    eps: float,
) -> tuple[Value, Value | None, Value | None]:
    axis = x.rank - len(normalized_shape)
    wider, (scale, shift) = _affine(g, x, [_scale(g, weight, bias), bias])
    result = g.layer_norm(wider, scale, shift, axis, eps)
    if g.used <= {0}:
        return g.convert(result, g.dtype), None, None
    # What the gradient needs.
    dims = list(range(axis, x.rank))
    squares, average = variance(g, g.convert(x, wide(x.dtype)), dims, 0)
    saved = (*x.shape[:axis], *[1] * len(dims))
    dtype = as_dtype(g.results[1].dtype)
    return (
        g.convert(result, g.dtype),
        _saved(g, average, dtype, saved),
        _saved(g, _inverse_root(g, squares, eps), dtype, saved),
    )


@rule("native_group_norm.default")
def lower_group_norm(
    g: Lowering,
    x: Value,
    weight: Value | None,
    bias: Value | None,
    N: int,
    C: int,
    HxW: int,
    group: int,
    eps: float,
) -> tuple[Value, Value | None, Value | None]:
    wider, (scale, shift) = _affine(g, x, [_scale(g, weight, bias), bias])
    result = g.group_norm(wider, scale, shift, group, eps)
    if g.used <= {0}:
        return g.convert(result, g.dtype), None, None
    rows = g.reshape(g.convert(x, wide(x.dtype)), (N, group, C // group * HxW))
    squares, average = variance(g, rows, [2], 0)
    dtype = as_dtype(g.results[1].dtype)
    return (
        g.convert(result, g.dtype),
        g.convert(average, dtype),
        g.convert(_inverse_root(g, squares, eps), dtype),
    )


@rule("_native_batch_norm_legit_no_training.default")
def lower_batch_norm(
    g: Lowering,
    x: Value,
    weight: Value | None,
    bias: Value | None,
    running_mean: Value,
    running_var: Value,
    momentum: float,
    eps: float,
) -> tuple[Value, None, None]:
    operands = [running_mean, running_var, _scale(g, weight, bias), bias]
    wider, (average, squares, scale, shift) = _affine(g, x, operands)
    result = g.batch_norm(wider, average, squares, scale, shift, eps)
    return g.convert(result, g.dtype), None, None


@rule("_native_batch_norm_legit.no_stats")
def lower_batch_norm_of_batch(
    g: Lowering,
    x: Value,
    weight: Value | None,
    bias: Value | None,
    training: bool,
    momentum: float,
    eps: float,
) -> list[Value | None]:
    if x.shape[0] != 1 or g.used - {0}:
        return list(_normalize_batch(g, x, weight, bias, eps)[:3])
    # Instance norm: eager has moved the samples into the channels.
    wider, (scale, shift) = _affine(g, x, [_scale(g, weight, bias), bias])
    result = g.group_norm(wider, scale, shift, x.shape[1], eps)
    return [g.convert(result, g.dtype), None, None]


@rule("_native_batch_norm_legit_functional.default")
def lower_batch_norm_training(
    g: Lowering,
    x: Value,
    weight: Value | None,
    bias: Value | None,
    running_mean: Value,
    running_var: Value,
    training: bool,
    momentum: float,
    eps: float,
) -> list[Value]:
    if not training:
        raise Unsupported("batch norm of given statistics, with their gradient")
    *saved, average, squares = _normalize_batch(g, x, weight, bias, eps)
    count = math.prod(x.shape) // x.shape[1]
    unbiased = _times(g, squares, count / max(count - 1, 1))
    for old, new in ((running_mean, average), (running_var, unbiased)):
        kept = _times(g, g.convert(old, new.dtype), 1 - momentum)
        moved = g.binary("add", kept, _times(g, new, momentum))
        saved.append(g.convert(moved, old.dtype))
    return saved


def _times(g: Lowering, x: Value, factor: float) -> Value:
    return g.binary("mul", *g.meet([x, factor], x.dtype))


def _normalize_batch(
    g: Lowering, x: Value, weight: Value | None, bias: Value | None, eps: float
) -> tuple[Value, Value, Value, Value, Value]:
    """(result, mean and inverse deviation to save, mean, biased variance)."""
    dims = [i for i in range(x.rank) if i != 1]
    wider = g.convert(x, wide(x.dtype))
    squares, average = variance(g, wider, dims, 0)
    inverse = _inverse_root(g, squares, eps)

    def channels(value: Value) -> Value:
        return g.broadcast(g.convert(value, wider.dtype), x.shape, [1])

    result = g.binary("sub", wider, channels(average))
    result = g.binary("mul", result, channels(inverse))
    if weight is not None:
        result = g.binary("mul", result, channels(weight))
    if bias is not None:
        result = g.binary("add", result, channels(bias))
    result = g.convert(result, g.dtype)
    saved = [
        g.convert(value, as_dtype(form.dtype)) if form.numel() else value
        for value, form in zip((average, inverse), g.results[1:])
    ]
    return (result, *saved, average, squares)


# Losses. A label that is ignored names no class: what it gathers is masked.


@rule("nll_loss_forward.default", "nll_loss2d_forward.default")
def lower_nll_loss(
    g: Lowering,
    x: Value,
    target: Value,
    weight: Value | None,
    reduction: int,
    ignore_index: int,
) -> tuple[Value, Value]:
    """(loss, sum of the weights); reduction is 0 none, 1 mean, 2 sum."""
    channel = min(x.rank - 1, 1)
    dtype = wide(x.dtype)
    shape = tuple(1 if i == channel else n for i, n in enumerate(x.shape))
    label = g.reshape(target, shape)

    def pick(values: Value) -> Value:
        return g.reshape(g.gather(values, label, channel), target.shape)

    counted = _counted(g, target, ignore_index)
    weights = g.convert(counted, dtype)
    if weight is not None:
        of_class = g.broadcast(g.convert(weight, dtype), x.shape, [channel])
        weights = _masked(g, counted, pick(of_class))
    picked = pick(g.convert(x, dtype))
    losses = g.unary("neg", g.binary("mul", picked, weights))
    losses = _masked(g, counted, losses)
    total = g.reduce("sum", weights, g.dims(None, weights.rank))
    if reduction:
        losses = g.reduce("sum", losses, g.dims(None, losses.rank))
        if reduction == 1:
            losses = g.binary("div", losses, total)
    else:
        total = g.scalar(0, dtype)
    return g.convert(losses, g.dtype), g.convert(total, g.dtype)


def _at_label(
    g: Lowering, shape: Sequence[int], target: Value, channel: int, ignore_index: int
) -> tuple[Value, Value]:
    """Where the class is the label's, and which labels count."""
    kept = [i for i in range(len(shape)) if i != channel]
    classes = g.iota(target.dtype, tuple(shape), channel)
    chosen = g.compare("eq", classes, g.broadcast(target, tuple(shape), kept))
    return chosen, _counted(g, target, ignore_index)


def _counted(g: Lowering, target: Value, ignore_index: int) -> Value:
    ignored = g.filled(ignore_index, target.dtype, target.shape)
    return g.compare("ne", target, ignored)


def _masked(g: Lowering, condition: Value, x: Value) -> Value:
    return g.select(condition, x, g.filled(0, x.dtype, x.shape))


@rule("nll_loss_backward.default", "nll_loss2d_backward.default")
def lower_nll_loss_backward(
    g: Lowering,
    gradient: Value,
    x: Value,
    target: Value,
    weight: Value | None,
    reduction: int,
    ignore_index: int,
    total_weight: Value,
) -> Value:
    channel = min(x.rank - 1, 1)
    dtype = wide(x.dtype)
    kept = [i for i in range(x.rank) if i != channel]
    chosen, counted = _at_label(g, x.shape, target, channel, ignore_index)
    chosen = g.binary("and", chosen, g.broadcast(counted, x.shape, kept))
    value = g.unary("neg", g.convert(gradient, dtype))
    if reduction == 1:
        value = g.binary("div", value, g.convert(total_weight, dtype))
    value = g.broadcast(value, x.shape, kept if value.rank else [])
    if weight is not None:
        of_class = g.broadcast(g.convert(weight, dtype), x.shape, [channel])
        value = g.binary("mul", value, of_class)
    return g.convert(_masked(g, chosen, value), g.dtype)
