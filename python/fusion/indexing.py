"""Basic indexing: integers, slices, None and Ellipsis."""

from __future__ import annotations

from typing import Any

import numpy as np

from .array import Array, public
from .location import error
from .tensor_type import Dim, Size, format_shape
from .tracer import lift


@public
def getitem(x: Array, key: Any) -> Array:
    """`x[key]` by numpy's rules for basic indexing. FusionError for an index out
    of bounds, for arrays as indices and for bounds of symbolic sizes.
    """
    x = lift(x)
    entries = _expand(x, key if isinstance(key, tuple) else (key,))
    starts: list[int] = []
    sizes: list[Size] = []
    steps: list[int] = []
    flipped: list[int] = []
    cut: list[int] = []  # elements to drop from the end of each dimension
    shape: list[Size] = []
    for entry in entries:
        if entry is None:
            shape.append(1)
            continue
        dim = len(starts)
        size = x.shape[dim]
        if isinstance(entry, slice):
            start, count, step, back = _slice(entry, size, dim)
            if step < 0:
                flipped.append(dim)
            shape.append(count)
        else:
            start, count, step, back = _integer(entry, size, dim), 1, 1, 0
        starts.append(start)
        sizes.append(count)
        steps.append(step if step > 0 else -step)
        cut.append(back)
    value = _cut_ends(x, cut)
    value = x.builder.slice(value, starts, sizes, steps)
    value = x.builder.reverse(value, flipped)
    return Array(_with_shape(x, value, entries, tuple(shape)))


def _expand(x: Array, key: tuple[Any, ...]) -> list[Any]:
    """One entry a dimension, and None for each new one."""
    for entry in key:
        is_index = isinstance(entry, (int, np.integer, slice)) or entry in (None, ...)
        if not is_index or isinstance(entry, (bool, np.bool_)):
            raise error(
                "unsupported",
                f"an index of type {type(entry).__name__}",
                "index with integers, slices, None and ...; select by a mask with "
                "fusion.where",
            )
    given = sum(entry is not None and entry is not ... for entry in key)
    if given > x.ndim or sum(entry is ... for entry in key) > 1:
        raise error(
            "argument",
            f"too many indices for an array of shape {format_shape(x.shape)}",
        )
    if ... not in [entry for entry in key if entry is ...]:
        key = (*key, ...)
    result: list[Any] = []
    for entry in key:
        if entry is ...:
            result += [slice(None)] * (x.ndim - given)
        else:
            result.append(entry)
    return result


def _integer(index: int, size: Size, dim: int) -> int:
    index = int(index)
    if isinstance(size, Dim):
        raise error(
            "unsupported",
            f"index {index} into dimension {dim} of symbolic size {size}",
            "leave the dimension out of `dynamic`",
        )
    if not -size <= index < size:
        raise error(
            "argument",
            f"index {index} is out of bounds for dimension {dim} of size {size}",
        )
    return index % size


def _slice(entry: slice, size: Size, dim: int) -> tuple[int, Size, int, int]:
    """First element, number of elements, step (negative: the elements are
    reversed afterwards), and elements to cut off the end beforehand.
    """
    if isinstance(size, Dim):
        return _symbolic_slice(entry, size, dim)
    start, stop, step = entry.indices(size)
    count = len(range(start, stop, step))
    if count == 0:
        return 0, 0, 1, 0
    if step < 0:
        start += (count - 1) * step
    return start, count, step, 0


def _symbolic_slice(entry: slice, size: Dim, dim: int) -> tuple[int, Size, int, int]:
    start, stop, step = entry.start, entry.stop, entry.step or 1
    if start is None and stop is None and step in (1, -1):
        return 0, size, step, 0
    start = start or 0
    from_front = start >= 0 and step > 0
    if from_front and stop is None:
        return start, Dim.fresh(), step, 0
    if from_front and stop < 0:
        return start, Dim.fresh(), step, -stop
    raise error(
        "unsupported",
        f"slice {start}:{stop}:{step} of dimension {dim} of symbolic size {size}",
        "use bounds that hold for every size (x[k:], x[:-k]), or leave the "
        "dimension out of `dynamic`",
    )


def _cut_ends(x: Array, cut: list[int]):
    if not any(cut):
        return x.value
    zero = x.builder.constant(0, x.dtype)
    return x.builder.pad(x.value, zero, [0] * x.ndim, [-n for n in cut])


def _with_shape(x: Array, value, entries: list[Any], shape: tuple[Size, ...]):
    """Drops the dimensions indexed by integers and adds the new ones."""
    kept = [e for e in entries if e is not None]
    if all(isinstance(e, slice) for e in kept):
        dims = [i for i, e in enumerate(entries) if e is not None]
        return x.builder.broadcast(value, shape, dims)
    # Sizes that the slice left symbolic are those of the value.
    return x.builder.reshape(value, shape)
