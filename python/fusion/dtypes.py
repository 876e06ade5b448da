"""Element types and their promotion.

A `DType` compares equal to its namesakes in numpy, torch, cupy and jax, so that
`x.dtype == np.float32` reads the same on a traced value as on an array.
Promotion is numpy's, with bfloat16 standing where float16 stands.
"""

from __future__ import annotations

from typing import Any, Union

import numpy as np

from .errors import FusionError


class DType:
    """An element type: `name` as in numpy, `mlir` as in graph text."""

    __slots__ = ("name", "mlir", "itemsize", "kind")

    def __init__(self, name: str, mlir: str, itemsize: int, kind: str) -> None:
        self.name = name
        self.mlir = mlir
        self.itemsize = itemsize
        self.kind = kind  # "f", "i", "u" or "b", as in numpy

    @property
    def dtype(self) -> np.dtype:
        """The numpy dtype; numpy itself asks for this attribute."""
        if self is bfloat16:
            raise FusionError(
                "unsupported",
                "numpy has no bfloat16",
                remedy="convert to float32 first, or use torch or jax arrays",
            )
        return np.dtype(self.name)

    __numpy_dtype__ = dtype

    @property
    def is_float(self) -> bool:
        return self.kind == "f"

    @property
    def is_integer(self) -> bool:
        return self.kind in "iu"

    def __eq__(self, other: object) -> bool:
        if isinstance(other, DType):
            return self is other
        return _find(other) is self

    def __hash__(self) -> int:
        return hash(self.name)

    def __repr__(self) -> str:
        return f"fusion.{self.name}"


float64 = DType("float64", "f64", 8, "f")
float32 = DType("float32", "f32", 4, "f")
float16 = DType("float16", "f16", 2, "f")
bfloat16 = DType("bfloat16", "bf16", 2, "f")
int8 = DType("int8", "i8", 1, "i")
int16 = DType("int16", "i16", 2, "i")
int32 = DType("int32", "i32", 4, "i")
int64 = DType("int64", "i64", 8, "i")
uint8 = DType("uint8", "ui8", 1, "u")
bool_ = DType("bool", "i1", 1, "b")

ALL = (float64, float32, float16, bfloat16, int8, int16, int32, int64, uint8, bool_)

_BY_NAME = {d.name: d for d in ALL} | {d.mlir: d for d in ALL}
_BY_NAME |= {"bool_": bool_, "u8": uint8}
_BY_PYTHON_TYPE = {float: float64, int: int64, bool: bool_}

DTypeLike = Union[DType, str, type, np.dtype, Any]


def _find(dtype: Any) -> DType | None:
    if isinstance(dtype, DType):
        return dtype
    if isinstance(dtype, str):
        return _BY_NAME.get(dtype)
    if isinstance(dtype, np.dtype):
        return _BY_NAME.get(dtype.name)
    if isinstance(dtype, type):  # float, np.float32, jnp.bfloat16
        if dtype in _BY_PYTHON_TYPE:
            return _BY_PYTHON_TYPE[dtype]
        return _BY_NAME.get(dtype.__name__)
    # torch.float32, and anything else that ends in a known name.
    return _BY_NAME.get(str(dtype).rpartition(".")[2])


def as_dtype(dtype: DTypeLike) -> DType:
    """The DType that `dtype` of any framework names; FusionError if none does."""
    found = _find(dtype)
    if found is None:
        names = ", ".join(d.name for d in ALL)
        raise FusionError(
            "argument",
            f"element type {dtype!r} is not supported",
            remedy=f"convert to one of {names}",
        )
    return found


def promote(a: DType, b: DType) -> DType:
    """The type of `a + b` for two arrays, by numpy's rules."""
    if a is b:
        return a
    if bfloat16 in (a, b):
        other = b if a is bfloat16 else a
        if other is float16:
            return float32
        # bfloat16 stands where float16 stands, but keeps its own name.
        result = _BY_NAME[np.result_type(np.float16, other.dtype).name]
        return bfloat16 if result is float16 else result
    return _BY_NAME[np.result_type(a.dtype, b.dtype).name]


def promote_scalar(array: DType, scalar: bool | int | float) -> DType:
    """The type of `x + scalar` for an array `x` and a Python number: the
    array's own type where the number's kind fits in it (NumPy 2, array API).
    """
    if isinstance(scalar, bool):
        return array
    if isinstance(scalar, int):
        return int64 if array is bool_ else array
    return array if array.is_float else float64


def accumulator(dtype: DType) -> DType:
    """The result type of a sum: integers widen to int64, as in numpy."""
    return dtype if dtype.is_float else int64


def real(dtype: DType) -> DType:
    """The type in which a float function of `dtype` is computed, by numpy's
    rules: small integers give small floats.
    """
    if dtype.is_float:
        return dtype
    if dtype in (int8, uint8, bool_):
        return float16
    return float32 if dtype is int16 else float64


def mean_type(dtype: DType) -> DType:
    """The result type of a mean: float64 for integers, as in numpy."""
    return dtype if dtype.is_float else float64


def fits(number: int, dtype: DType) -> bool:
    """Whether an integer type holds the number."""
    info = np.iinfo(dtype.dtype)
    return bool(info.min <= number <= info.max)


def largest(dtype: DType) -> float:
    """The largest finite number of a float type."""
    if dtype is bfloat16:
        return 3.3895313892515355e38
    return float(np.finfo(dtype.dtype).max)
