"""Traced values: what stands for an array while a function is captured.

Every operator and method records an op; the functions behind them are in
elementwise, manipulation, reductions and so on, and are found by name in
`FUNCTIONS`, which they enter with `@public`.
"""

from __future__ import annotations

import math
import operator
from typing import Any, Callable, Iterator, Sequence, TypeVar, Union

import numpy as np

from . import frameworks
from .dtypes import DType, DTypeLike, as_dtype
from .errors import FusionError, FusionTypeError
from .graph import Builder, Value
from .location import error
from .tensor_type import Dim, Shape, format_shape, is_static

ArrayLike = Union["Array", bool, int, float, Any]
Axis = Union[int, Sequence[int], None]

# Iterating over an array unrolls; past this many rows it is surely not meant.
MAX_UNROLLED = 64

#: Every traced function by its public name.
FUNCTIONS: dict[str, Callable[..., Any]] = {}

F = TypeVar("F", bound=Callable[..., Any])


def public(function: F) -> F:
    """Enters a function into `FUNCTIONS`."""
    FUNCTIONS[function.__name__] = function
    return function


def _operator(name: str, other: Any, *operands: Any) -> Any:
    known = isinstance(other, (Array, bool, int, float, complex, list, tuple))
    if not known and not frameworks.is_array(other):
        return NotImplemented
    return FUNCTIONS[name](*operands)


def _is_tuple(args: tuple[Any, ...]) -> bool:
    return len(args) == 1 and isinstance(args[0], (tuple, list))


class Array:
    """A traced array: it has a type and a shape, but no data yet."""

    __slots__ = ("value",)
    # Comes before numpy, torch and jax in mixed operators.
    __array_priority__ = 10_000

    def __init__(self, value: Value) -> None:
        self.value = value

    # Facts.

    @property
    def builder(self) -> Builder:
        return self.value.builder

    @property
    def dtype(self) -> DType:
        return self.value.dtype

    @property
    def shape(self) -> Shape:
        return self.value.shape

    @property
    def ndim(self) -> int:
        return self.value.rank

    @property
    def size(self) -> int:
        if not is_static(self.shape):
            raise error(
                "trace",
                f"the size of shape {format_shape(self.shape)} is symbolic",
                "leave the dimension out of `dynamic`",
            )
        return math.prod(self.shape)  # type: ignore[arg-type]

    @property
    def T(self) -> Array:
        """All dimensions reversed."""
        return FUNCTIONS["permute_dims"](self, tuple(range(self.ndim))[::-1])

    @property
    def mT(self) -> Array:
        """The last two dimensions swapped."""
        return FUNCTIONS["matrix_transpose"](self)

    def __len__(self) -> int:
        if not self.ndim:
            raise error("argument", "len() of a 0-d array", cls=FusionTypeError)
        # A symbolic size raises here: Python wants a number.
        return operator.index(self.shape[0])

    def __repr__(self) -> str:
        return f"fusion.Array({self.dtype.name}{format_shape(self.shape)})"

    # Conversion and indexing.

    def astype(self, dtype: DTypeLike, copy: bool = True) -> Array:
        """The elements converted to `dtype` (`fusion.convert`'s rules)."""
        dtype = as_dtype(dtype)
        if dtype is self.dtype:
            return self
        return Array(self.builder.convert(self.value, dtype))

    def __getitem__(self, key: Any) -> Array:
        return FUNCTIONS["getitem"](self, key)

    def __iter__(self) -> Iterator[Array]:
        if not self.ndim or isinstance(self.shape[0], Dim):
            raise error(
                "trace",
                f"cannot iterate over an array of shape {format_shape(self.shape)} "
                "while it is traced",
                "use whole-array functions such as fusion.sum",
                FusionTypeError,
            )
        if self.shape[0] > MAX_UNROLLED:
            raise error(
                "trace",
                f"a Python loop over {self.shape[0]} rows of an array of shape "
                f"{format_shape(self.shape)} would be unrolled",
                "use whole-array functions such as fusion.sum, fusion.where or "
                "fusion.matmul",
                FusionTypeError,
            )
        return iter([self[i] for i in range(self.shape[0])])

    # Operators. An operand that is none gives Python's own TypeError.

    def __add__(self, other: ArrayLike) -> Array:
        return _operator("add", other, self, other)

    def __radd__(self, other: ArrayLike) -> Array:
        return _operator("add", other, other, self)

    def __sub__(self, other: ArrayLike) -> Array:
        return _operator("subtract", other, self, other)

    def __rsub__(self, other: ArrayLike) -> Array:
        return _operator("subtract", other, other, self)

    def __mul__(self, other: ArrayLike) -> Array:
        return _operator("multiply", other, self, other)

    def __rmul__(self, other: ArrayLike) -> Array:
        return _operator("multiply", other, other, self)

    def __truediv__(self, other: ArrayLike) -> Array:
        return _operator("divide", other, self, other)

    def __rtruediv__(self, other: ArrayLike) -> Array:
        return _operator("divide", other, other, self)

    def __floordiv__(self, other: ArrayLike) -> Array:
        return _operator("floor_divide", other, self, other)

    def __rfloordiv__(self, other: ArrayLike) -> Array:
        return _operator("floor_divide", other, other, self)

    def __mod__(self, other: ArrayLike) -> Array:
        return _operator("remainder", other, self, other)

    def __rmod__(self, other: ArrayLike) -> Array:
        return _operator("remainder", other, other, self)

    def __matmul__(self, other: ArrayLike) -> Array:
        return _operator("matmul", other, self, other)

    def __rmatmul__(self, other: ArrayLike) -> Array:
        return _operator("matmul", other, other, self)

    def __and__(self, other: ArrayLike) -> Array:
        return _operator("bitwise_and", other, self, other)

    def __rand__(self, other: ArrayLike) -> Array:
        return _operator("bitwise_and", other, other, self)

    def __or__(self, other: ArrayLike) -> Array:
        return _operator("bitwise_or", other, self, other)

    def __ror__(self, other: ArrayLike) -> Array:
        return _operator("bitwise_or", other, other, self)

    def __xor__(self, other: ArrayLike) -> Array:
        return _operator("bitwise_xor", other, self, other)

    def __rxor__(self, other: ArrayLike) -> Array:
        return _operator("bitwise_xor", other, other, self)

    def __lshift__(self, other: ArrayLike) -> Array:
        return _operator("bitwise_left_shift", other, self, other)

    def __rlshift__(self, other: ArrayLike) -> Array:
        return _operator("bitwise_left_shift", other, other, self)

    def __rshift__(self, other: ArrayLike) -> Array:
        return _operator("bitwise_right_shift", other, self, other)

    def __rrshift__(self, other: ArrayLike) -> Array:
        return _operator("bitwise_right_shift", other, other, self)

    def __pow__(self, other: ArrayLike) -> Array:
        return _operator("power", other, self, other)

    def __rpow__(self, other: ArrayLike) -> Array:
        return _operator("pow", other, other, self)

    def __eq__(self, other: ArrayLike) -> Array:  # type: ignore[override]
        return _operator("equal", other, self, other)

    def __ne__(self, other: ArrayLike) -> Array:  # type: ignore[override]
        return _operator("not_equal", other, self, other)

    def __lt__(self, other: ArrayLike) -> Array:
        return _operator("less", other, self, other)

    def __le__(self, other: ArrayLike) -> Array:
        return _operator("less_equal", other, self, other)

    def __gt__(self, other: ArrayLike) -> Array:
        return _operator("greater", other, self, other)

    def __ge__(self, other: ArrayLike) -> Array:
        return _operator("greater_equal", other, self, other)

    def __neg__(self) -> Array:
        return FUNCTIONS["negative"](self)

    def __pos__(self) -> Array:
        return FUNCTIONS["positive"](self)

    def __invert__(self) -> Array:
        return FUNCTIONS["bitwise_invert"](self)

    def __abs__(self) -> Array:
        return FUNCTIONS["abs"](self)

    # Methods of numpy's arrays; `fusion`'s functions of these names tell more.

    def sum(
        self, axis: Axis = None, dtype: DTypeLike | None = None, keepdims: bool = False
    ) -> Array:
        return FUNCTIONS["sum"](self, axis, dtype, keepdims)

    def prod(
        self, axis: Axis = None, dtype: DTypeLike | None = None, keepdims: bool = False
    ) -> Array:
        return FUNCTIONS["prod"](self, axis, dtype, keepdims)

    def mean(
        self, axis: Axis = None, dtype: DTypeLike | None = None, keepdims: bool = False
    ) -> Array:
        return FUNCTIONS["mean"](self, axis, dtype, keepdims)

    def var(
        self,
        axis: Axis = None,
        dtype: DTypeLike | None = None,
        keepdims: bool = False,
        ddof: float = 0,
    ) -> Array:
        return FUNCTIONS["var"](self, axis, dtype, keepdims, ddof=ddof)

    def std(
        self,
        axis: Axis = None,
        dtype: DTypeLike | None = None,
        keepdims: bool = False,
        ddof: float = 0,
    ) -> Array:
        return FUNCTIONS["std"](self, axis, dtype, keepdims, ddof=ddof)

    def min(self, axis: Axis = None, keepdims: bool = False) -> Array:
        return FUNCTIONS["min"](self, axis, keepdims)

    def max(self, axis: Axis = None, keepdims: bool = False) -> Array:
        return FUNCTIONS["max"](self, axis, keepdims)

    def any(self, axis: Axis = None, keepdims: bool = False) -> Array:
        return FUNCTIONS["any"](self, axis, keepdims)

    def all(self, axis: Axis = None, keepdims: bool = False) -> Array:
        return FUNCTIONS["all"](self, axis, keepdims)

    def argmin(self, axis: int | None = None, keepdims: bool = False) -> Array:
        return FUNCTIONS["argmin"](self, axis, keepdims)

    def argmax(self, axis: int | None = None, keepdims: bool = False) -> Array:
        return FUNCTIONS["argmax"](self, axis, keepdims)

    def clip(self, min: ArrayLike | None = None, max: ArrayLike | None = None) -> Array:
        return FUNCTIONS["clip"](self, min, max)

    def round(self, decimals: int = 0) -> Array:
        return FUNCTIONS["round"](self, decimals)

    def squeeze(self, axis: Axis = None) -> Array:
        return FUNCTIONS["squeeze"](self, axis)

    def swapaxes(self, axis1: int, axis2: int) -> Array:
        return FUNCTIONS["swapaxes"](self, axis1, axis2)

    def dot(self, other: ArrayLike) -> Array:
        return FUNCTIONS["dot"](self, other)

    def repeat(self, repeats: int, axis: int | None = None) -> Array:
        return FUNCTIONS["repeat"](self, repeats, axis)

    def cumsum(self, axis: int | None = None) -> Array:
        return FUNCTIONS["cumsum"](self, axis)

    def ravel(self) -> Array:
        return FUNCTIONS["ravel"](self)

    def flatten(self) -> Array:
        return FUNCTIONS["ravel"](self)

    def copy(self) -> Array:
        """The array itself: traced arrays never change."""
        return self

    def reshape(self, *shape: Any, order: str = "C") -> Array:
        """`x.reshape(2, -1)` or `x.reshape((2, -1))`, in row-major order."""
        if order != "C":
            raise error("unsupported", f"reshape: order {order!r}", "use order='C'")
        return FUNCTIONS["reshape"](self, shape[0] if _is_tuple(shape) else shape)

    def transpose(self, *axes: Any) -> Array:
        """All dimensions reversed, or permuted by `axes`."""
        if not axes or axes == (None,):
            return self.T
        return FUNCTIONS["permute_dims"](self, axes[0] if _is_tuple(axes) else axes)

    # What a value without data cannot do.

    def _no_data(self, use: str, remedy: str) -> FusionError:
        return error(
            "trace",
            f"{use} needs the elements of an array of shape "
            f"{format_shape(self.shape)}, which has none while it is traced",
            remedy,
            FusionTypeError,
        )

    def __bool__(self) -> bool:
        raise self._no_data(
            "a Python condition (if, while, and, or, not, assert, min, max)",
            "choose with fusion.where(condition, a, b), bound with fusion.clip, "
            "fusion.minimum or fusion.maximum, combine conditions with & | ~",
        )

    def __float__(self) -> float:
        raise self._no_data(
            "float()",
            "keep it an array; astype(fusion.float64) "
            "converts, and the math module's functions are "
            "fusion.exp, fusion.sqrt, ...",
        )

    def __int__(self) -> int:
        raise self._no_data("int()", "keep it an array; astype(fusion.int64) converts")

    def __index__(self) -> int:
        raise self._no_data(
            "use as an index or a size",
            "use a Python integer, or select with fusion.where and fusion.arange",
        )

    def item(self) -> float:
        raise self._no_data("item()", "return the array and read it outside")

    tolist = item

    def __array__(self, *args: Any, **kwargs: Any) -> np.ndarray:
        raise self._no_data(
            "conversion to a numpy array",
            "use the fusion function of that name, or compute it outside the "
            "traced function",
        )

    def __dlpack__(self, *args: Any, **kwargs: Any) -> Any:
        raise self._no_data("DLPack export", "return the array from the function")

    def __setitem__(self, key: Any, value: Any) -> None:
        raise error(
            "trace",
            "traced arrays cannot be assigned to in place",
            "make a new array with fusion.where, fusion.concat or fusion.pad",
            FusionTypeError,
        )

    def __contains__(self, item: Any) -> bool:
        raise self._no_data("`in`", "use fusion.any(x == item)")

    @classmethod
    def __torch_function__(cls, function, types, args=(), kwargs=None) -> Any:
        name = getattr(function, "__name__", str(function))
        known = name in FUNCTIONS
        raise error(
            "trace",
            f"torch.{name} was called on an array traced by fusion.jit",
            f"use fusion.{name}"
            if known
            else "use fusion's functions inside "
            "fusion.jit, or torch.compile(..., backend='fusion') for torch code",
            FusionTypeError,
        )

    # Identity decides hashing, since == makes an array.
    __hash__ = object.__hash__

    def __array_ufunc__(self, ufunc, method, *inputs, **kwargs) -> Any:
        from .numpy_dispatch import call_ufunc

        return call_ufunc(ufunc, method, inputs, kwargs)

    def __array_function__(self, function, types, args, kwargs) -> Any:
        from .numpy_dispatch import call_function

        return call_function(function, args, kwargs)
