"""Layers of neural networks as functions, with PyTorch's semantics.

Arrays are channels first, [N, C, spatial...]; channels-last data comes as
strides and costs no copy. Norms of f16 and bf16 are computed in f32 and rounded
once. There is no dropout: graphs are for inference.
"""

from __future__ import annotations

import math
from typing import Any, Sequence, Union

from .activations import log_softmax, softmax
from .array import Array, ArrayLike, public
from .creation import ones_like
from .dtypes import DType, bool_
from .elementwise import as_float, where
from .graph import Value
from .linalg import multiply_matrices
from .location import error
from .reductions import sum as total
from .tensor_type import Dim, format_shape
from .tracer import common_dtype, lift, normalize_axis

IntOrInts = Union[int, Sequence[int]]
Padding = Union[str, int, Sequence[Any]]


def _common(*operands: ArrayLike | None) -> DType:
    """The promoted type of the operands that are given."""
    return common_dtype(*[x for x in operands if x is not None])


def _cast(x: ArrayLike, dtype: DType) -> Array:
    return lift(x, dtype).astype(dtype)


def _value(x: ArrayLike | None) -> Value | None:
    return None if x is None else as_float(x).value


def _ints(value: IntOrInts, count: int, op: str, name: str) -> list[int]:
    values = [value] * count if isinstance(value, int) else list(value)
    if len(values) == 1:
        values *= count
    if len(values) != count:
        raise error(
            "argument",
            f"{op}: {name} {value} does not have {count} numbers",
            f"give one number, or one for each of {count} dimensions",
        )
    return values


def _paddings(
    padding: Padding, extents: Sequence[int], strides: Sequence[int], op: str
) -> tuple[list[int], list[int]]:
    """Amounts at the low and the high ends; `extents` are dilated window sizes."""
    if padding == "valid":
        return [0] * len(extents), [0] * len(extents)
    if padding == "same":
        if set(strides) != {1}:
            raise error(
                "argument",
                f"{op}: padding 'same' with a stride",
                "give the padding in numbers",
            )
        low = [(e - 1) // 2 for e in extents]
        return low, [e - 1 - lo for e, lo in zip(extents, low)]
    if isinstance(padding, str):
        raise error(
            "argument", f"{op}: padding {padding!r}", "use 'same', 'valid' or numbers"
        )
    entries = [padding] * len(extents) if isinstance(padding, int) else list(padding)
    if len(entries) == 1:
        entries *= len(extents)
    if len(entries) != len(extents):
        raise error(
            "argument",
            f"{op}: padding {padding} does not fit {len(extents)} dimensions",
            "give one number or (low, high) pair for each dimension",
        )
    pairs = [(p, p) if isinstance(p, int) else tuple(p) for p in entries]
    return [low for low, _ in pairs], [high for _, high in pairs]


# Products.


@public
def linear(x: ArrayLike, weight: ArrayLike, bias: ArrayLike | None = None) -> Array:
    """`x @ weight.T + bias`: x [.., in], weight [out, in], bias [out] give
    [.., out]. FusionError where sizes or element types do not fit.
    """
    dtype = _common(x, weight, bias)
    x, weight = _cast(x, dtype), _cast(weight, dtype)
    if not x.ndim or weight.ndim != 2 or x.shape[-1] != weight.shape[1]:
        raise error(
            "argument",
            f"linear: input {format_shape(x.shape)} does not fit weight "
            f"{format_shape(weight.shape)}",
            "the weight is [out, in], and the input's last size is `in`",
        )
    rows = x.reshape((1, -1)) if x.ndim == 1 else x
    product = multiply_matrices(rows, weight, transpose=True)
    if x.ndim == 1:
        product = product.reshape((-1,))
    return product if bias is None else product + _cast(bias, dtype)


@public
def conv(
    x: ArrayLike,
    weight: ArrayLike,
    bias: ArrayLike | None = None,
    stride: IntOrInts = 1,
    padding: Padding = 0,
    dilation: IntOrInts = 1,
    groups: int = 1,
) -> Array:
    """Convolution in as many dimensions as x has: x [N, C, spatial...], weight
    [K, C / groups, window...], bias [K] give [N, K, spatial...].

    `padding` is a number, one a dimension, one (low, high) pair a dimension,
    "same" or "valid". FusionError where shapes or element types do not fit.
    """
    dtype = _common(x, weight, bias)
    x, weight = _cast(x, dtype), _cast(weight, dtype)
    count = x.ndim - 2
    if count not in (1, 2, 3) or weight.ndim != x.ndim:
        raise error(
            "argument",
            f"conv: input {format_shape(x.shape)} and weight "
            f"{format_shape(weight.shape)} must have equal rank, 3 to 5",
            "the input is [N, C, spatial...], the weight [K, C / groups, window...]",
        )
    strides = _ints(stride, count, "conv", "stride")
    dilations = _ints(dilation, count, "conv", "dilation")
    extents = [d * (w - 1) + 1 for d, w in zip(dilations, weight.shape[2:])]
    low, high = _paddings(padding, extents, strides, "conv")
    return Array(
        x.builder.conv(
            x.value,
            weight.value,
            None if bias is None else _cast(bias, dtype).value,
            strides=strides,
            pad_low=low,
            pad_high=high,
            dilations=dilations,
            groups=groups,
        )
    )


def _conv_of(rank: int):
    def function(
        x: ArrayLike,
        weight: ArrayLike,
        bias: ArrayLike | None = None,
        stride: IntOrInts = 1,
        padding: Padding = 0,
        dilation: IntOrInts = 1,
        groups: int = 1,
    ) -> Array:
        x = lift(x)
        if x.ndim != rank + 2:
            raise error(
                "argument",
                f"conv{rank}d: input of shape "
                f"{format_shape(x.shape)} must have {rank + 2} dimensions",
                "the input is [N, C, spatial...]; add a batch with x[None]",
            )
        return conv(x, weight, bias, stride, padding, dilation, groups)

    function.__name__ = function.__qualname__ = f"conv{rank}d"
    function.__doc__ = f"`conv` in {rank} spatial dimensions."
    return public(function)


conv1d, conv2d, conv3d = _conv_of(1), _conv_of(2), _conv_of(3)


# Pooling.


def _pool(kind: str, rank: int):
    name = f"{kind}_pool{rank}d"

    def pool(
        x: ArrayLike,
        kernel_size: IntOrInts,
        stride: IntOrInts | None,
        padding: Padding,
        dilation: IntOrInts,
        **flags: bool,
    ) -> Array:
        x = lift(x)
        if x.ndim < rank or (kind == "avg" and not x.dtype.is_float):
            raise error(
                "argument",
                f"{name} of {x!r}",
                f"it needs at least {rank} dimensions, and floats for avg",
            )
        window = _ints(kernel_size, rank, name, "kernel_size")
        steps = window if stride is None else stride
        strides = _ints(steps, rank, name, "stride")
        dilations = _ints(dilation, rank, name, "dilation")
        extents = [d * (w - 1) + 1 for d, w in zip(dilations, window)]
        low, high = _paddings(padding, extents, strides, name)
        return Array(
            x.builder.pool(
                kind,
                x.value,
                window=window,
                strides=strides,
                pad_low=low,
                pad_high=high,
                dilations=dilations,
                **flags,
            )
        )

    return name, pool


def _max_pool_of(rank: int):
    name, pool = _pool("max", rank)

    def function(
        x: ArrayLike,
        kernel_size: IntOrInts,
        stride: IntOrInts | None = None,
        padding: Padding = 0,
        dilation: IntOrInts = 1,
        ceil_mode: bool = False,
    ) -> Array:
        return pool(x, kernel_size, stride, padding, dilation, ceil_mode=ceil_mode)

    function.__name__ = function.__qualname__ = name
    function.__doc__ = (
        f"Maximum of windows over the last {rank} dimensions; NaN wins, padding "
        "never does. The stride is the window's size by default."
    )
    return public(function)


def _avg_pool_of(rank: int):
    name, pool = _pool("avg", rank)

    def function(
        x: ArrayLike,
        kernel_size: IntOrInts,
        stride: IntOrInts | None = None,
        padding: Padding = 0,
        ceil_mode: bool = False,
        count_include_pad: bool = True,
    ) -> Array:
        return pool(
            x,
            kernel_size,
            stride,
            padding,
            1,
            ceil_mode=ceil_mode,
            count_include_pad=count_include_pad,
        )

    function.__name__ = function.__qualname__ = name
    function.__doc__ = (
        f"Average of windows over the last {rank} dimensions, padding counted "
        "unless count_include_pad is false. The stride is the window's size by "
        "default."
    )
    return public(function)


max_pool1d, max_pool2d, max_pool3d = map(_max_pool_of, (1, 2, 3))
avg_pool1d, avg_pool2d, avg_pool3d = map(_avg_pool_of, (1, 2, 3))


# Norms.


def _scale(weight: ArrayLike | None, bias: ArrayLike | None) -> ArrayLike | None:
    """The dialect has a shift only beside a scale."""
    return ones_like(bias) if weight is None and bias is not None else weight


@public
def layer_norm(
    x: ArrayLike,
    weight: ArrayLike | None = None,
    bias: ArrayLike | None = None,
    *,
    axis: int = -1,
    eps: float = 1e-5,
) -> Array:
    """(x - mean) / sqrt(variance + eps) * weight + bias over the dimensions from
    `axis` on; weight and bias have the shape of those dimensions.
    """
    x = as_float(x)
    dim = normalize_axis(axis, x.ndim, "layer_norm")
    weight = _scale(weight, bias)
    return Array(x.builder.layer_norm(x.value, _value(weight), _value(bias), dim, eps))


@public
def rms_norm(
    x: ArrayLike,
    weight: ArrayLike | None = None,
    *,
    axis: int = -1,
    eps: float = 1e-6,
) -> Array:
    """x / sqrt(mean(x^2) + eps) * weight over the dimensions from `axis` on."""
    x = as_float(x)
    dim = normalize_axis(axis, x.ndim, "rms_norm")
    return Array(x.builder.rms_norm(x.value, _value(weight), dim, eps))


@public
def group_norm(
    x: ArrayLike,
    groups: int,
    weight: ArrayLike | None = None,
    bias: ArrayLike | None = None,
    *,
    eps: float = 1e-5,
) -> Array:
    """Layer norm of each group of channels of x [N, C, ...]; weight and bias [C]."""
    x = as_float(x)
    if x.ndim < 2 or isinstance(x.shape[1], Dim) or x.shape[1] % groups:
        raise error(
            "argument",
            f"group_norm: {groups} groups do not divide the "
            f"channels of shape {format_shape(x.shape)}",
            "the input is [N, C, ...], and groups divides C",
        )
    weight = _scale(weight, bias)
    return Array(
        x.builder.group_norm(x.value, _value(weight), _value(bias), groups, eps)
    )


@public
def batch_norm(
    x: ArrayLike,
    mean: ArrayLike,
    variance: ArrayLike,
    weight: ArrayLike | None = None,
    bias: ArrayLike | None = None,
    *,
    eps: float = 1e-5,
) -> Array:
    """(x - mean) / sqrt(variance + eps) * weight + bias for each channel of
    x [N, C, ...]: inference's batch norm. All others are [C].
    """
    x = as_float(x)
    weight = _scale(weight, bias)
    return Array(
        x.builder.batch_norm(
            x.value,
            as_float(mean).value,
            as_float(variance).value,
            _value(weight),
            _value(bias),
            eps,
        )
    )


# Losses and attention.


@public
def cross_entropy(
    logits: ArrayLike,
    labels: ArrayLike,
    *,
    axis: int = 1,
    reduction: str = "mean",
    ignore_index: int = -100,
) -> Array:
    """-log(softmax(logits)) at the label: logits [N, C, ...] and integer labels
    [N, ...], or float labels (probabilities) of the logits' shape.

    `reduction` is "mean" (over labels that are not `ignore_index`), "sum" or
    "none". FusionError for labels of another shape.
    """
    if reduction not in ("mean", "sum", "none"):
        raise error(
            "argument",
            f"cross_entropy: reduction {reduction!r}",
            "use 'mean', 'sum' or 'none'",
        )
    logits, labels = as_float(logits), lift(labels)
    dim = normalize_axis(axis if logits.ndim > 1 else 0, logits.ndim, "cross_entropy")
    others = logits.shape[:dim] + logits.shape[dim + 1 :]
    logp = log_softmax(logits, dim)
    if labels.dtype.is_float and labels.shape == logits.shape:
        losses = -total(labels * logp, dim)
        return _reduced(losses, None, reduction)
    if labels.dtype.is_float or labels.shape != others:
        raise error(
            "argument",
            f"cross_entropy: labels {labels!r} do not fit logits {logits!r}",
            f"integer labels have shape {format_shape(others)}, probabilities the "
            "logits' own",
        )
    builder = logits.builder
    index = Array(builder.iota(labels.dtype, logits.shape, dim, like=logits.value))
    at_label = index == _expand(labels, dim)
    losses = -total(where(at_label, logp, 0), dim)
    return _reduced(losses, labels != ignore_index, reduction)


def _expand(labels: Array, dim: int) -> Array:
    return labels[(slice(None),) * dim + (None,)]


def _reduced(losses: Array, counted: Array | None, reduction: str) -> Array:
    if counted is not None:
        losses = where(counted, losses, 0)
    if reduction == "none":
        return losses
    if reduction == "sum":
        return total(losses)
    if counted is None:
        batch = losses.shape
        number: Any = (
            math.prod(batch)
            if Dim not in map(type, batch)
            else total(ones_like(losses))
        )
    else:
        number = total(counted.astype(losses.dtype))
    return total(losses) / number


@public
def attention(
    q: ArrayLike,
    k: ArrayLike,
    v: ArrayLike,
    mask: ArrayLike | None = None,
    *,
    causal: bool = False,
    scale: float | None = None,
) -> Array:
    """softmax(q k^T * scale + mask) v: q [.., m, d], k [.., n, d], v [.., n, e]
    give [.., m, e]. A bool mask keeps what is true, a float mask is added;
    `causal` keeps keys at or before the query. The scale is 1/sqrt(d) by default.
    """
    dtype = _common(q, k, v)
    q, k, v = _cast(q, dtype), _cast(k, dtype), _cast(v, dtype)
    if scale is None:
        if isinstance(q.shape[-1], Dim):
            raise error(
                "argument",
                "attention: the head size is symbolic",
                "give `scale`, or leave the dimension out of `dynamic`",
            )
        scale = 1.0 / math.sqrt(q.shape[-1])
    scores = multiply_matrices(q, k, transpose=True) * scale
    if causal:
        builder, rank = scores.builder, scores.ndim
        row = Array(builder.iota("int64", scores.shape, rank - 2, like=scores.value))
        key = Array(builder.iota("int64", scores.shape, rank - 1, like=scores.value))
        scores = where(key <= row, scores, -math.inf)
    if mask is not None:
        mask = lift(mask)
        scores = (
            where(mask, scores, -math.inf) if mask.dtype is bool_ else (scores + mask)
        )
    return multiply_matrices(softmax(scores, -1), v)
