"""Captures in progress, and how operands meet in them.

A `Trace` is a graph under construction together with the arrays that the traced
function closed over. Operands meet by capture, promotion and broadcasting, all
of which leave explicit ops in the graph.
"""

from __future__ import annotations

import functools
import threading
from typing import Any, Sequence

import numpy as np

from . import frameworks
from .array import FUNCTIONS, Array, ArrayLike
from .dtypes import (
    DType,
    as_dtype,
    bool_,
    fits,
    float64,
    int64,
    promote,
    promote_scalar,
)
from .errors import FusionTypeError
from .graph import Builder, Value
from .location import error, locate
from .tensor_type import symbolic_shape

# Arrays met in the function up to this many bytes become constants of the graph;
# larger ones become arguments, so that they are neither copied nor printed.
CONSTANT_BYTES = 1024

_active = threading.local()


class Trace(Builder):
    """One capture in progress: the graph, and the arrays it closed over."""

    def __init__(self) -> None:
        super().__init__(locate)
        #: Arrays that became arguments, after those of the function.
        self.captured: list[Any] = []
        self._values: dict[int, Value] = {}
        # Captured arrays stay alive, so that their ids stay their own.
        self._kept: list[Any] = []

    def __enter__(self) -> "Trace":
        self._outer = getattr(_active, "trace", None)
        _active.trace = self
        return self

    def __exit__(self, *_: object) -> None:
        _active.trace = self._outer

    def argument(self, array: Any, name: str, symbols: dict[int, str]) -> Array:
        """An argument in the form of `array`; `symbols` names dynamic sizes."""
        spec = frameworks.describe(array)
        shape = symbolic_shape(spec.shape, symbols, name)
        strides = spec.strides
        if strides and symbols:
            strides = (-1,) * len(shape)
        value = self.arg(
            spec.dtype,
            shape,
            order=spec.order,
            strides=strides,
            name=name,
            align=spec.align,
        )
        return Array(self.reverse(value, spec.flipped))

    def capture(self, array: Any) -> Value:
        """The value of an array that the function closed over."""
        if id(array) not in self._values:
            host = frameworks.small_values(array, CONSTANT_BYTES)
            if host is not None:
                value = self.constant(host, frameworks.describe(array).dtype)
            else:
                name = f"captured {len(self.captured)}"
                value = self.argument(array, name, {}).value
                self.captured.append(array)
            self._values[id(array)] = value
            self._kept.append(array)
        return self._values[id(array)]


def current_trace() -> Trace:
    trace = getattr(_active, "trace", None)
    if trace is None:
        raise error(
            "trace",
            "fusion's functions build a graph, and none is being traced here",
            "call them inside a function decorated with @fusion.jit",
        )
    return trace


# How operands meet.


def lift(x: ArrayLike, dtype: DType | None = None) -> Array:
    """`x` as a traced value; a Python number as a rank 0 constant of `dtype`."""
    if isinstance(x, Array):
        return x
    trace = current_trace()
    if isinstance(x, (bool, int, float)):
        dtype = dtype or as_dtype(type(x))
        _check_range(x, dtype)
        return Array(trace.constant(x, dtype))
    if isinstance(x, (list, tuple)):
        if any(isinstance(leaf, Array) for leaf in x):
            return FUNCTIONS["stack"](x)
        x = np.asarray(x)
    if isinstance(x, complex) or not frameworks.is_array(x):
        raise error(
            "trace",
            f"a value of type {type(x).__name__} cannot take part in a graph",
            "use real numbers and numpy, torch, cupy or jax arrays",
            FusionTypeError,
        )
    return Array(trace.capture(x))


def _check_range(x: bool | int | float, dtype: DType) -> None:
    if dtype.is_integer and not isinstance(x, float) and not fits(x, dtype):
        raise error(
            "argument",
            f"the number {x} does not fit element type {dtype.name}",
            "convert the array with astype first",
        )


def _is_number(x: Any) -> bool:
    return isinstance(x, (bool, int, float)) and not isinstance(x, np.generic)


def common_dtype(*operands: ArrayLike) -> DType:
    """The promoted type; Python numbers only decide the kind."""
    strong = [lift(x).dtype for x in operands if not _is_number(x)]
    numbers = [x for x in operands if _is_number(x)]
    if not strong:
        kinds = {type(x) for x in numbers}
        return float64 if float in kinds else int64 if int in kinds else bool_
    result = functools.reduce(promote, strong)
    for number in numbers:
        result = promote_scalar(result, number)
    return result


def broadcast_values(op: str, operands: Sequence[Array]) -> list[Value]:
    return operands[0].builder.broadcast_all(op, *(a.value for a in operands))


def meet(op: str, *operands: ArrayLike, dtype: DType | None = None) -> list[Value]:
    """The operands promoted to one type (`dtype`, where given) and broadcast."""
    if dtype is None:
        dtype = common_dtype(*operands)
    arrays = [lift(x, dtype).astype(dtype) for x in operands]
    return broadcast_values(op, arrays)


def normalize_axis(axis: int, ndim: int, op: str) -> int:
    if not -ndim <= axis < ndim:
        raise error(
            "argument",
            f"{op}: axis {axis} is out of bounds for {ndim} dimensions",
            f"use an axis from {-ndim} to {ndim - 1}",
        )
    return int(axis) % ndim


def normalize_axes(
    axes: int | Sequence[int] | None, ndim: int, op: str
) -> tuple[int, ...]:
    """Non-negative axes, all of them for None; FusionError for a repeated one."""
    if axes is None:
        return tuple(range(ndim))
    if not isinstance(axes, (tuple, list)):
        axes = (axes,)
    result = tuple(normalize_axis(a, ndim, op) for a in axes)
    if len(set(result)) != len(result):
        raise error("argument", f"{op}: axes {list(axes)} repeat a dimension")
    return result
