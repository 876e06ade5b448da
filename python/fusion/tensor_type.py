"""Sizes, layouts and tensor types of a graph, and their text.

A size is an int or a `Dim`, a symbolic size. Two equal Dims are one size; a Dim
without a name is a size that the compiler derives from those of the operands.
"""

from __future__ import annotations

import itertools
from dataclasses import dataclass, replace
from typing import Any, Iterable, Sequence, Union

from .dtypes import DType
from .errors import FusionError

_anonymous = itertools.count()


@dataclass(frozen=True)
class Dim:
    """A symbolic size. One without a name is the product of `scale` and
    `factors`, or, without those, known to the compiler only.
    """

    name: str = ""
    serial: int = -1
    scale: int = 1
    factors: tuple["Dim", ...] = ()

    @staticmethod
    def fresh() -> "Dim":
        """A size equal to no other that the tracer knows of."""
        return Dim("", next(_anonymous))

    def __str__(self) -> str:
        if self.factors:
            return " * ".join(map(str, (self.scale, *self.factors)))
        return self.name or "?"

    __repr__ = __str__

    def __mul__(self, other: object) -> "Size":
        return (
            product([self, other])
            if isinstance(other, (int, Dim))
            else (self._opaque())
        )

    __rmul__ = __mul__

    def _opaque(self, *_: object) -> Any:
        raise FusionError(
            "trace",
            f"the symbolic size {self} has no value while the function is traced",
            remedy="pass it on as it is (reshape, full, broadcast_to), use -1 in "
            "reshape, or leave the dimension out of `dynamic`",
        )

    __int__ = __index__ = __bool__ = __float__ = _opaque
    __add__ = __radd__ = __sub__ = __rsub__ = _opaque
    __truediv__ = __rtruediv__ = __floordiv__ = __rfloordiv__ = _opaque
    __lt__ = __le__ = __gt__ = __ge__ = _opaque


Size = Union[int, Dim]
Shape = tuple[Size, ...]


def is_static(shape: Iterable[Size]) -> bool:
    return all(isinstance(size, int) for size in shape)


def factorize(sizes: Iterable[Size]) -> tuple[int, list[Dim]]:
    """The product of the sizes as a number and the symbolic sizes it takes."""
    scale, factors = 1, []
    for size in sizes:
        if isinstance(size, int):
            scale *= size
        else:
            scale *= size.scale
            factors += size.factors or (size,)
    return scale, factors


def product(sizes: Iterable[Size]) -> Size:
    """The product of the sizes; equal for equal factors in any order."""
    scale, factors = factorize(sizes)
    if not factors or scale == 0:
        return scale
    if scale == 1 and len(factors) == 1:
        return factors[0]
    factors.sort(key=lambda dim: (dim.name, dim.serial))
    return Dim(scale=scale, factors=tuple(factors))


def symbolic_shape(shape: Sequence[int], symbols: dict[int, str], name: str) -> Shape:
    """`shape` with the dimensions in `symbols` replaced by the Dims they name."""
    result: list[Size] = list(shape)
    for dim, symbol in symbols.items():
        if not -len(result) <= dim < len(result):
            raise FusionError(
                "argument",
                f"dynamic names dimension {dim} of {name!r}, which has {len(result)}",
            )
        result[dim] = Dim(symbol)
    return tuple(result)


def format_shape(shape: Sequence[Size]) -> str:
    """A shape for messages: `[4, N]`."""
    return "[" + ", ".join(map(str, shape)) + "]"


@dataclass(frozen=True)
class TensorType:
    """Element type, shape and physical form.

    `order` lists the dimensions from outermost to innermost, () is row-major;
    `strides` are in elements, -1 for one known at run time only, () is dense.
    Only arguments have strides.
    """

    dtype: DType
    shape: Shape
    order: tuple[int, ...] = ()
    strides: tuple[int, ...] = ()

    def with_dtype(self, dtype: DType) -> "TensorType":
        return replace(self, dtype=dtype)

    def without_strides(self) -> "TensorType":
        """The type of a value computed from an argument of this type."""
        return replace(self, strides=())

    def __str__(self) -> str:
        sizes = "".join(
            f"{size if isinstance(size, int) else '?'}x" for size in self.shape
        )
        return f"tensor<{sizes}{self.dtype.mlir}{self._encoding()}>"

    def _encoding(self) -> str:
        fields = []
        if self.order:
            fields.append(f"order = {list(self.order)}")
        if self.strides:
            fields.append(f"strides = {list(self.strides)}")
        names = [size.name if isinstance(size, Dim) else "" for size in self.shape]
        if any(names):
            fields.append(
                "symbols = [" + ", ".join(f'"{name}"' for name in names) + "]"
            )
        return f", #fusion.layout<{', '.join(fields)}>" if fields else ""


def broadcast_sizes(a: Size, b: Size) -> Size | None:
    """The common size of two that meet, or None where they cannot."""
    if a == b or b == 1:
        return a
    return b if a == 1 else None


def window_size(
    size: Size,
    window: int,
    stride: int,
    low: int,
    high: int,
    dilation: int,
    ceil_mode: bool = False,
) -> Size:
    """Number of positions of a window, by the rule of `fusion.conv` and
    `fusion.pool`.
    """
    extent = dilation * (window - 1) + 1
    if isinstance(size, Dim):
        same = stride == 1 and low + high + 1 == extent
        return size if same else Dim.fresh()
    room = size + low + high - extent
    if room < 0:
        return 0
    count = (room + stride - 1 if ceil_mode else room) // stride + 1
    # A window that would start beyond the operand and its low padding is dropped.
    if ceil_mode and (count - 1) * stride >= size + low:
        count -= 1
    return count
