"""A builder of graphs: fusion ops in, MLIR text out.

The tracer and the front ends for other frameworks stand on this. A method
corresponds to one op of the fusion dialect, infers its result type and refuses
operands from which none follows; the compiler's verifier checks the rest.
Nothing here broadcasts or converts: shapes and element types are explicit.

    b = Builder()
    x = b.arg("f32", (4, 8), name="x")
    print(b.text([b.unary("exp", x)]))
"""

from __future__ import annotations

import json
from contextlib import contextmanager
from typing import Any, Callable, Iterator, Sequence

import numpy as np

from .dtypes import DType, DTypeLike, as_dtype
from .errors import FusionError
from .graph_ops import Ops
from .literals import dense, dictionary, storage
from .tensor_type import Dim, Shape, Size, TensorType

Location = tuple[str, int, int]


class Value:
    """An SSA value of the graph under construction."""

    __slots__ = ("builder", "name", "type")

    def __init__(self, builder: "Builder", name: str, type: TensorType) -> None:
        self.builder = builder
        self.name = name
        self.type = type

    @property
    def dtype(self) -> DType:
        return self.type.dtype

    @property
    def shape(self) -> Shape:
        return self.type.shape

    @property
    def rank(self) -> int:
        return len(self.type.shape)

    def __repr__(self) -> str:
        return f"%{self.name}: {self.type}"


class Builder(Ops):
    """Collects the ops of one `func.func @main`.

    `locate`, where given, is asked for the source location of each op: it
    returns (file, line, column) or None.
    """

    def __init__(self, locate: Callable[[], Location | None] | None = None) -> None:
        self._arguments: list[tuple[Value, dict[str, Any], str]] = []
        self._lines: list[str] = []
        self._count = 0
        self._constants: dict[Any, Value] = {}
        self._locate = locate
        self._location: Location | None = None

    # Arguments and constants.

    def arg(
        self,
        dtype: DTypeLike,
        shape: Sequence[Size | str],
        *,
        order: Sequence[int] = (),
        strides: Sequence[int] = (),
        name: str = "",
        align: int = 16,
    ) -> Value:
        """A new argument, the last so far; ops may stand before it. A size given
        as a string is the symbol of that name; `align` is the alignment in bytes
        that kernels may rely on.
        """
        sizes = tuple(Dim(s) if isinstance(s, str) else s for s in shape)
        type = TensorType(as_dtype(dtype), sizes, tuple(order), tuple(strides))
        value = Value(self, f"arg{len(self._arguments)}", type)
        attributes = {} if align == 16 else {"fusion.align": align}
        self._arguments.append((value, attributes, name))
        return value

    def constant(self, value: Any, dtype: DTypeLike | None = None) -> Value:
        """A tensor known now: a Python number or anything numpy reads."""
        bits, dtype = _constant_bits(value, dtype)
        key = (dtype.name, bits.shape, bits.tobytes())
        if key not in self._constants:
            type = TensorType(dtype, bits.shape)
            result = self._new_value(type)
            self._append(
                f"%{result.name} = fusion.constant {dense(bits, dtype)} : {type}"
            )
            self._constants[key] = result
        return self._constants[key]

    # Emission.

    def emit(
        self,
        op: str,
        operands: Sequence[Value],
        type: TensorType,
        attributes: dict[str, Any] | None = None,
        kind: str = "",
    ) -> Value:
        """Appends `%r = fusion.op kind, operands {attributes} : types`.

        True is a unit attribute, None and False are left out, ints are i64,
        floats f64, sequences `array<i64>` and strings verbatim.
        """
        if any(v.builder is not self for v in operands):
            raise self.error(
                "trace",
                f"{op}: an operand belongs to another graph",
                "do not keep traced arrays in globals or attributes",
            )
        words = [kind] if kind else []
        words += [f"%{v.name}" for v in operands]
        head = " ".join(filter(None, [f"fusion.{op}", ", ".join(words)]))
        types = ", ".join(str(v.type) for v in operands)
        result = self._new_value(type)
        self._append(
            f"%{result.name} = {head}{dictionary(attributes or {})}"
            f" : ({types}) -> {type}"
        )
        return result

    def _new_value(self, type: TensorType) -> Value:
        self._count += 1
        return Value(self, str(self._count - 1), type)

    def _append(self, line: str) -> None:
        location = self._current_location()
        if location is not None:
            line += f" loc({format_location(location)})"
        self._lines.append("    " + line)

    # Locations.

    def _current_location(self) -> Location | None:
        if self._location is not None:
            return self._location
        return self._locate() if self._locate else None

    @contextmanager
    def at(self, file: str, line: int, column: int = 0) -> Iterator[None]:
        """Gives the ops emitted inside the source location."""
        outer, self._location = self._location, (file, line, column)
        try:
            yield
        finally:
            self._location = outer

    def error(self, kind: str, message: str, remedy: str = "") -> FusionError:
        """A FusionError at the current source location."""
        location = self._current_location()
        where = ":".join(map(str, location)) if location else ""
        return FusionError(kind, message, where, remedy)

    # Text.

    @property
    def arguments(self) -> list[Value]:
        return [value for value, _, _ in self._arguments]

    @property
    def num_ops(self) -> int:
        return len(self._lines)

    def text(self, results: Sequence[Value]) -> str:
        """The module, with `results` returned from `@main`."""
        arguments = ", ".join(map(_format_argument, self._arguments))
        ops = len(self._lines)
        results = [self.dense(v) for v in results]
        types = ", ".join(str(v.type) for v in results)
        names = ", ".join(f"%{v.name}" for v in results)
        tail = f"    return {names} : {types}" if results else "    return"
        body = "\n".join([*self._lines, tail])
        del self._lines[ops:]
        return (
            f"module {{\n  func.func @main({arguments}) -> ({types}) {{\n"
            f"{body}\n  }}\n}}\n"
        )


def _constant_bits(value: Any, dtype: DTypeLike | None) -> tuple[np.ndarray, DType]:
    if dtype is None:
        dtype = as_dtype(np.asarray(value).dtype)
    dtype = as_dtype(dtype)
    return storage(value, dtype), dtype


def _format_argument(argument: tuple[Value, dict[str, Any], str]) -> str:
    value, attributes, name = argument
    text = f"%{value.name}: {value.type}{dictionary(attributes)}"
    return text + f" loc({json.dumps(name)})" if name else text


def format_location(location: Location) -> str:
    """MLIR's form, without the enclosing `loc()`."""
    file, line, column = location
    return f"{json.dumps(file)}:{line}:{column}"


__all__ = ["Builder", "Dim", "Location", "TensorType", "Value"]
