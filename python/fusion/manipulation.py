"""Functions that move elements: shapes, order of dimensions, joins and cuts.

All are views to the compiler: inside a kernel they cost index arithmetic only.
"""

from __future__ import annotations

from typing import Any, Sequence

from .array import FUNCTIONS, Array, ArrayLike, public
from .dtypes import bool_
from .location import error
from .tensor_type import Dim, Size, format_shape, product
from .tracer import broadcast_values, common_dtype, lift, normalize_axes, normalize_axis


def _alias(name: str, function: Any) -> Any:
    FUNCTIONS[name] = function
    return function


def _static_size(x: Array, axis: int, op: str) -> int:
    size = x.shape[axis]
    if isinstance(size, Dim):
        raise error(
            "unsupported",
            f"{op} along a dimension of symbolic size {size}",
            "leave the dimension out of `dynamic`",
        )
    return size


# Shapes.


@public
def reshape(x: ArrayLike, shape: Size | Sequence[Size]) -> Array:
    """The same elements in row-major order; one size may be -1."""
    x = lift(x)
    sizes = tuple(shape) if isinstance(shape, (tuple, list)) else (shape,)
    return Array(x.builder.reshape(x.value, sizes))


@public
def ravel(x: ArrayLike) -> Array:
    """One dimension, row-major."""
    x = lift(x)
    return reshape(x, (product(x.shape),))


@public
def flatten(x: ArrayLike, start: int = 0, end: int = -1) -> Array:
    """Dimensions `start` to `end`, both included, merged into one."""
    x = lift(x)
    if x.ndim == 0:
        return reshape(x, (1,))
    start = normalize_axis(start, x.ndim, "flatten")
    end = normalize_axis(end, x.ndim, "flatten")
    merged = product(x.shape[start : end + 1])
    return reshape(x, (*x.shape[:start], merged, *x.shape[end + 1 :]))


@public
def expand_dims(x: ArrayLike, axis: int | Sequence[int] = 0) -> Array:
    """New dimensions of size 1 at `axis` of the result."""
    x = lift(x)
    count = len(axis) if isinstance(axis, (tuple, list)) else 1
    axes = normalize_axes(axis, x.ndim + count, "expand_dims")
    sizes = iter(x.shape)
    shape = tuple(1 if i in axes else next(sizes) for i in range(x.ndim + count))
    dims = [i for i in range(len(shape)) if i not in axes]
    return Array(x.builder.broadcast(x.value, shape, dims))


@public
def squeeze(x: ArrayLike, axis: int | Sequence[int] | None = None) -> Array:
    """Without the dimensions of size 1 at `axis`, or without all of them."""
    x = lift(x)
    if axis is None:
        axes = tuple(i for i, s in enumerate(x.shape) if s == 1)
    else:
        axes = normalize_axes(axis, x.ndim, "squeeze")
    for i in axes:
        if x.shape[i] != 1:
            raise error(
                "argument",
                f"squeeze: dimension {i} of shape {format_shape(x.shape)} is not 1",
            )
    shape = tuple(s for i, s in enumerate(x.shape) if i not in axes)
    return Array(x.builder.reshape(x.value, shape))


@public
def broadcast_to(x: ArrayLike, shape: Sequence[Size]) -> Array:
    """Repeated to `shape`; static sizes only, unless the operand has them."""
    x = lift(x)
    return Array(x.builder.broadcast(x.value, tuple(shape)))


@public
def broadcast_arrays(*arrays: ArrayLike) -> list[Array]:
    """All arrays repeated to their common shape."""
    values = broadcast_values("broadcast_arrays", [lift(a) for a in arrays])
    return [Array(v) for v in values]


# Order of dimensions.


@public
def permute_dims(x: ArrayLike, axes: Sequence[int]) -> Array:
    """Result dimension i is operand dimension axes[i]."""
    x = lift(x)
    permutation = normalize_axes(tuple(axes), x.ndim, "permute_dims")
    if len(permutation) != x.ndim:
        raise error(
            "argument",
            f"permute_dims: {list(axes)} is not a permutation of {x.ndim} dimensions",
        )
    return Array(x.builder.transpose(x.value, permutation))


@public
def transpose(x: ArrayLike, axes: Sequence[int] | None = None) -> Array:
    """Dimensions permuted by `axes`, or reversed: numpy's transpose."""
    x = lift(x)
    return x.T if axes is None else permute_dims(x, axes)


@public
def matrix_transpose(x: ArrayLike) -> Array:
    """The last two dimensions swapped."""
    return swapaxes(x, -1, -2)


@public
def swapaxes(x: ArrayLike, axis1: int, axis2: int) -> Array:
    """Two dimensions swapped."""
    x = lift(x)
    axes = list(range(x.ndim))
    i = normalize_axis(axis1, x.ndim, "swapaxes")
    j = normalize_axis(axis2, x.ndim, "swapaxes")
    axes[i], axes[j] = axes[j], axes[i]
    return permute_dims(x, axes)


@public
def moveaxis(
    x: ArrayLike, source: int | Sequence[int], destination: int | Sequence[int]
) -> Array:
    """Dimensions `source` moved to `destination`, the others in order."""
    x = lift(x)
    sources = normalize_axes(source, x.ndim, "moveaxis")
    targets = normalize_axes(destination, x.ndim, "moveaxis")
    if len(sources) != len(targets):
        raise error("argument", "moveaxis: source and destination differ in length")
    placed = dict(zip(targets, sources))
    rest = iter([i for i in range(x.ndim) if i not in sources])
    order = [placed[i] if i in placed else next(rest) for i in range(x.ndim)]
    return permute_dims(x, order)


@public
def flip(x: ArrayLike, axis: int | Sequence[int] | None = None) -> Array:
    """Reversed along `axis`, or along every dimension."""
    x = lift(x)
    return Array(x.builder.reverse(x.value, normalize_axes(axis, x.ndim, "flip")))


@public
def roll(
    x: ArrayLike,
    shift: int | Sequence[int],
    axis: int | Sequence[int] | None = None,
) -> Array:
    """Elements moved by `shift` along `axis`, those pushed off the end return at
    the front; without an axis the array is rolled as one row.
    """
    x = lift(x)
    if axis is None:
        return reshape(roll(ravel(x), shift, 0), x.shape)
    axes = axis if isinstance(axis, (tuple, list)) else (axis,)
    shifts = shift if isinstance(shift, (tuple, list)) else (shift,) * len(axes)
    for n, dim in zip(shifts, axes, strict=True):
        dim = normalize_axis(dim, x.ndim, "roll")
        size = _static_size(x, dim, "roll")
        n = n % size if size else 0
        if n:
            x = concat(
                [_range(x, dim, size - n, size), _range(x, dim, 0, size - n)], axis=dim
            )
    return x


def _range(x: Array, dim: int, start: int, stop: int) -> Array:
    return x[(slice(None),) * dim + (slice(start, stop),)]


# Joins and cuts.


@public
def concat(arrays: Sequence[ArrayLike], axis: int | None = 0) -> Array:
    """Arrays one after the other along `axis`; other sizes agree, element types
    are promoted. With axis None all are flattened first.
    """
    items = _promoted(arrays, "concat")
    if axis is None:
        items, axis = [ravel(x) for x in items], 0
    dim = normalize_axis(axis, items[0].ndim, "concat")
    return Array(items[0].builder.concat([x.value for x in items], dim))


def _promoted(arrays: Sequence[ArrayLike], op: str) -> list[Array]:
    if not arrays:
        raise error("argument", f"{op} of no arrays")
    dtype = common_dtype(*arrays)
    return [lift(x, dtype).astype(dtype) for x in arrays]


concatenate = _alias("concatenate", concat)


@public
def stack(arrays: Sequence[ArrayLike], axis: int = 0) -> Array:
    """Arrays of one shape along a new dimension."""
    items = _promoted(arrays, "stack")
    for x in items[1:]:
        if x.shape != items[0].shape:
            raise error(
                "argument",
                f"stack: shapes {format_shape(items[0].shape)} "
                f"and {format_shape(x.shape)} differ",
            )
    return concat([expand_dims(x, axis) for x in items], axis)


@public
def split(
    x: ArrayLike, indices_or_sections: int | Sequence[int], axis: int = 0
) -> list[Array]:
    """Equal parts, or parts that begin at the given indices: numpy's split."""
    x = lift(x)
    dim = normalize_axis(axis, x.ndim, "split")
    size = _static_size(x, dim, "split")
    if isinstance(indices_or_sections, (tuple, list)):
        cuts = [0, *indices_or_sections, size]
    else:
        parts = int(indices_or_sections)
        if parts < 1 or size % parts:
            raise error(
                "argument",
                f"split: dimension {dim} of size {size} does "
                f"not divide into {parts} equal parts",
                "use chunk",
            )
        cuts = [i * size // parts for i in range(parts + 1)]
    return [_range(x, dim, a, b) for a, b in zip(cuts, cuts[1:])]


@public
def chunk(x: ArrayLike, chunks: int, axis: int = 0) -> list[Array]:
    """At most `chunks` parts of equal size, the last may be smaller."""
    x = lift(x)
    dim = normalize_axis(axis, x.ndim, "chunk")
    size = _static_size(x, dim, "chunk")
    part = max(-(-size // chunks), 1)
    starts = range(0, size, part) if size else [0]
    return [_range(x, dim, a, min(a + part, size)) for a in starts]


@public
def unstack(x: ArrayLike, axis: int = 0) -> list[Array]:
    """The slices along `axis`, without that dimension."""
    x = lift(x)
    dim = normalize_axis(axis, x.ndim, "unstack")
    size = _static_size(x, dim, "unstack")
    return [x[(slice(None),) * dim + (i,)] for i in range(size)]


@public
def tile(x: ArrayLike, repetitions: int | Sequence[int]) -> Array:
    """The whole array repeated along each dimension."""
    x = lift(x)
    reps = (
        tuple(repetitions) if isinstance(repetitions, (tuple, list)) else (repetitions,)
    )
    rank = max(len(reps), x.ndim)
    reps = (1,) * (rank - len(reps)) + reps
    shape = (1,) * (rank - x.ndim) + x.shape
    # [a, b] is repeated as [r0, a, r1, b], then pairs of dimensions merge.
    x = reshape(x, tuple(n for s in shape for n in (1, s)))
    x = broadcast_to(x, tuple(n for r, s in zip(reps, shape) for n in (r, s)))
    return reshape(x, tuple(r * s for r, s in zip(reps, shape)))


@public
def repeat(x: ArrayLike, repeats: int, axis: int | None = None) -> Array:
    """Each element `repeats` times in a row along `axis`, or flattened."""
    x = lift(x)
    if axis is None:
        x, axis = ravel(x), 0
    dim = normalize_axis(axis, x.ndim, "repeat")
    size = _static_size(x, dim, "repeat")
    x = expand_dims(x, dim + 1)
    wide = x.shape[: dim + 1] + (int(repeats),) + x.shape[dim + 2 :]
    narrow = x.shape[:dim] + (size * int(repeats),) + x.shape[dim + 2 :]
    return reshape(broadcast_to(x, wide), narrow)


@public
def pad(
    x: ArrayLike,
    pad_width: int | Sequence[Any],
    mode: str = "constant",
    constant_values: float = 0,
) -> Array:
    """`constant_values` around x; `pad_width` is a number, a (low, high) pair, or
    one pair a dimension. Negative amounts cut elements off.
    """
    x = lift(x)
    if mode != "constant":
        raise error("unsupported", f"pad with mode {mode!r}", "use mode='constant'")
    low, high = _pad_amounts(pad_width, x.ndim)
    value = lift(constant_values, x.dtype).astype(x.dtype)
    return Array(x.builder.pad(x.value, value.value, low, high))


def _pad_amounts(width: Any, ndim: int) -> tuple[list[int], list[int]]:
    if isinstance(width, int):
        return [width] * ndim, [width] * ndim
    pairs = [tuple(p) if isinstance(p, (tuple, list)) else p for p in width]
    if len(pairs) == 2 and all(isinstance(p, int) for p in pairs):
        return [pairs[0]] * ndim, [pairs[1]] * ndim
    if len(pairs) == 1 and ndim != 1:
        pairs *= ndim
    if len(pairs) != ndim or not all(isinstance(p, tuple) for p in pairs):
        raise error(
            "argument",
            f"pad: width {width} does not fit {ndim} dimensions",
            "give one (low, high) pair for each dimension",
        )
    return [p[0] for p in pairs], [p[-1] for p in pairs]


# Triangles.


def _triangle(x: ArrayLike, k: int, lower: bool, op: str) -> Array:
    x = lift(x)
    if x.ndim < 2:
        raise error("argument", f"{op} needs at least 2 dimensions, not {x.ndim}")
    builder = x.builder
    row = Array(builder.iota("int64", x.shape, x.ndim - 2, like=x.value))
    column = Array(builder.iota("int64", x.shape, x.ndim - 1, like=x.value))
    keep = column <= row + k if lower else column >= row + k
    return FUNCTIONS["where"](keep, x, False if x.dtype is bool_ else 0)


@public
def tril(x: ArrayLike, k: int = 0) -> Array:
    """Zero above diagonal k of the last two dimensions."""
    return _triangle(x, k, True, "tril")


@public
def triu(x: ArrayLike, k: int = 0) -> Array:
    """Zero below diagonal k of the last two dimensions."""
    return _triangle(x, k, False, "triu")
