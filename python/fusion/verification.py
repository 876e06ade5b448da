"""Results against the reference evaluator."""

from __future__ import annotations

from typing import Any, Sequence

import numpy as np

from . import frameworks
from .dtypes import DType, as_dtype
from .errors import FusionError
from .native import translated

# Relative to the largest element of the result: several roundings of each type.
_TOLERANCE = {"float64": 1e-11, "float32": 2e-5, "float16": 4e-3, "bfloat16": 3e-2}


def tolerance(dtype: DType) -> float:
    """Largest error, relative to the largest element, that rounding explains;
    0 for integers and bools.
    """
    return _TOLERANCE.get(dtype.name, 0.0)


def reference(text: str, arrays: Sequence[Any]) -> list[Any]:
    """The results of the reference evaluator as numpy arrays."""
    hosted = [frameworks.owner(x).to_host(x) for x in arrays]
    with translated() as native:
        return native.reference_run(text, hosted)


def check_against_reference(
    text: str, arrays: Sequence[Any], results: Sequence[Any]
) -> None:
    """FusionError that names the first result that differs by more than its
    type's rounding explains.
    """
    for i, (got, want) in enumerate(zip(results, reference(text, arrays))):
        dtype = as_dtype(got.dtype)
        got, want = frameworks.values(got), frameworks.values(want)
        worst = error_of(got, want)
        if not worst <= tolerance(dtype):
            raise FusionError(
                "verify",
                f"result {i} ({dtype.name}{list(got.shape)}) differs from the "
                f"reference evaluator by {worst:.3g} of the largest element, more "
                f"than {tolerance(dtype):.3g}",
                remedy="please report it with the graph's text; `disable` names "
                "rewrites to leave out",
            )


def error_of(got: np.ndarray, want: np.ndarray) -> float:
    """The largest difference over the largest finite magnitude; infinity where
    shapes, NaNs or infinities disagree, or anything at all in integers.
    """
    if got.shape != want.shape:
        return float("inf")
    if got.dtype.kind != "f":
        return 0.0 if np.array_equal(got, want) else float("inf")
    got, want = got.astype(np.float64), want.astype(np.float64)
    finite = np.isfinite(want)
    special = got[~finite], want[~finite]
    if not np.array_equal(*special, equal_nan=True):
        return float("inf")
    got, want = got[finite], want[finite]
    if not got.size:
        return 0.0
    if not np.isfinite(got).all():
        return float("inf")
    scale = max(float(np.abs(want).max()), np.finfo(np.float64).tiny)
    return float(np.abs(got - want).max()) / scale
