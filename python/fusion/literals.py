"""Attributes and constants as MLIR text."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from .dtypes import DType, bfloat16, bool_


def float_literal(value: float) -> str:
    """A decimal literal that reads back as the same double."""
    text = repr(float(value))
    mantissa, e, exponent = text.partition("e")
    if "." not in mantissa:
        mantissa += ".0"
    return mantissa + e + exponent


def attribute(value: Any) -> str:
    """An attribute of a fusion op: bools are unit attributes (see `dictionary`),
    strings are taken as they are.
    """
    if isinstance(value, str):
        return value
    if isinstance(value, (int, np.integer)):
        return f"{int(value)} : i64"
    if isinstance(value, float):
        if math.isfinite(value):
            return f"{float_literal(value)} : f64"
        return f"0x{np.float64(value).view(np.uint64):016X} : f64"
    values = ", ".join(str(int(v)) for v in value)
    return f"array<i64: {values}>" if values else "array<i64>"


def dictionary(attributes: dict[str, Any]) -> str:
    """` {a = 1 : i64, flag}`, or "" for none. None and False are left out."""
    items = []
    for name, value in attributes.items():
        if value is None or value is False:
            continue
        items.append(name if value is True else f"{name} = {attribute(value)}")
    return f" {{{', '.join(items)}}}" if items else ""


def _to_bfloat16_bits(values: np.ndarray) -> np.ndarray:
    """The bits of float32 values rounded to nearest even, NaN kept quiet."""
    bits = np.ascontiguousarray(values, np.float32).view(np.uint32)
    rounded = (bits + 0x7FFF + ((bits >> 16) & 1)) >> 16
    rounded = np.where(np.isnan(values), (bits >> 16) | 0x40, rounded)
    return rounded.astype(np.uint16)


def storage(array: Any, dtype: DType) -> np.ndarray:
    """`array` converted to `dtype`, row-major; bfloat16 as its bits in uint16."""
    array = np.asarray(array)
    if dtype is not bfloat16:
        return np.ascontiguousarray(array.astype(dtype.dtype)).reshape(array.shape)
    if array.dtype.name == "bfloat16":
        return np.ascontiguousarray(array).view(np.uint16).reshape(array.shape)
    return _to_bfloat16_bits(array.astype(np.float32)).reshape(array.shape)


def _scalar(bits: np.ndarray, dtype: DType) -> str:
    """The literal of one element; non-finite floats and bfloat16 in hex."""
    if dtype is bool_:
        return "true" if bits else "false"
    if not dtype.is_float:
        return str(int(bits))
    value = bits
    if dtype is bfloat16:
        value = (bits.astype(np.uint32) << 16).view(np.float32)
    if math.isfinite(value):
        # The shortest decimal; MLIR reads it as a double and rounds that.
        short = float(str(value))
        return float_literal(short if value.dtype.type(short) == value else value)
    unsigned = bits.view(np.dtype(f"u{dtype.itemsize}"))
    return f"0x{int(unsigned):0{2 * dtype.itemsize}X}"


def dense(bits: np.ndarray, dtype: DType) -> str:
    """`dense<...>` for an array in the form of `storage`. Splats and bools are
    written as literals, anything else as raw bytes.
    """
    if bits.size == 0:
        return "dense<>"
    flat = bits.reshape(-1)
    raw = flat.view(np.dtype(f"u{flat.itemsize}"))
    if (raw == raw[0]).all():
        return f"dense<{_scalar(flat[0], dtype)}>"
    if dtype is bool_:
        return f"dense<{_nested(bits)}>"
    little = flat.astype(flat.dtype.newbyteorder("<"), copy=False)
    return f'dense<"0x{little.tobytes().hex().upper()}">'


def _nested(bits: np.ndarray) -> str:
    if bits.ndim == 0:
        return "true" if bits else "false"
    return "[" + ", ".join(_nested(row) for row in bits) + "]"
