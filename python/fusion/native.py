"""The compiled module `_fusion`, found when it is first needed."""

from __future__ import annotations

import functools
import importlib
from types import ModuleType
from typing import Any

from .errors import FusionError


@functools.lru_cache(maxsize=None)
def native() -> ModuleType:
    """The pybind11 module; FusionError where it is not built for this Python."""
    reasons = []
    for name in ("fusion._fusion", "_fusion"):
        try:
            return importlib.import_module(name)
        except ImportError as problem:
            reasons.append(str(problem))
    raise FusionError(
        "io",
        "the compiled part of fusion cannot be loaded (" + "; ".join(reasons) + ")",
        remedy="build it for this Python (tools/dev build), and run Python with "
        "tools/dev python",
    )


class translated:
    """Gives the module, and turns its errors into FusionErrors. A class, since
    it stands on the path of every call.
    """

    def __enter__(self) -> ModuleType:
        return native()

    def __exit__(self, cls: type | None, problem: Any, _: object) -> None:
        if problem is not None and isinstance(problem, native().Error):
            # (kind, message, location, remedy)
            raise FusionError(*problem.args) from None
