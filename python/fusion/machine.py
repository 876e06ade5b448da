"""What this machine has, and how much of it fusion uses."""

from __future__ import annotations

import json
from typing import Any

from .native import native, translated


class Doctor(dict):
    """A dict that prints one fact a line."""

    def __str__(self) -> str:
        return "\n".join(_lines(self, ""))

    __repr__ = __str__


def _lines(value: Any, indent: str) -> list[str]:
    lines = []
    for key, entry in value.items():
        if isinstance(entry, dict):
            lines += [f"{indent}{key}:", *_lines(entry, indent + "  ")]
        elif isinstance(entry, list):
            lines.append(f"{indent}{key}: {', '.join(map(str, entry)) or 'none'}")
        else:
            lines.append(f"{indent}{key}: {entry}")
    return lines


def doctor() -> Doctor:
    """CPU features, driver, devices, cache folder, and why something is not
    usable. Print it when asking for help.
    """
    with translated() as module:
        return Doctor(json.loads(module.doctor()))


def set_num_threads(threads: int) -> None:
    """Threads of CPU kernels; 0 restores the default."""
    native().set_num_threads(threads)


def get_num_threads() -> int:
    """Threads of CPU kernels."""
    return native().get_num_threads()


def trim() -> None:
    """Returns unused pooled memory to the system."""
    native().trim()
