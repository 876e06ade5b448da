"""Where in the user's program an op or an error belongs."""

from __future__ import annotations

import functools
import itertools
import os
import sys
from types import FrameType
from typing import Any

import numpy as np

from .errors import FusionError
from .graph import Location

_INTERNAL = (
    os.path.dirname(__file__) + os.sep,
    os.path.dirname(np.__file__) + os.sep,
)


@functools.lru_cache(maxsize=4096)
def _position(code: Any, instruction: int, line: int) -> Location:
    column = None
    if hasattr(code, "co_positions"):
        positions = itertools.islice(code.co_positions(), instruction // 2, None)
        found, _, column, _ = next(positions, (None,) * 4)
        line = found or line
    return code.co_filename, line, (column or 0) + 1


def locate() -> Location | None:
    """File, line and column of the innermost frame outside this package."""
    frame: FrameType | None = sys._getframe(1)
    while frame is not None:
        if not frame.f_code.co_filename.startswith(_INTERNAL):
            return _position(frame.f_code, frame.f_lasti, frame.f_lineno)
        frame = frame.f_back
    return None


def error(
    kind: str, message: str, remedy: str = "", cls: type = FusionError
) -> FusionError:
    """A FusionError at the user's line."""
    location = locate()
    return cls(kind, message, ":".join(map(str, location or ())), remedy)
