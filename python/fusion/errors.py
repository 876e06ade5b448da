"""The one exception of the package."""

from __future__ import annotations


class FusionError(Exception):
    """What went wrong, where, and what to do about it.

    Attributes:
        kind: "parse", "verify", "trace", "compile", "argument", "device",
            "memory", "io" or "unsupported".
        message: one sentence that names the op, the shapes and the rule.
        location: "file:line:column" of the user's code, or "".
        remedy: what the user can do about it, or "".
    """

    def __init__(
        self, kind: str, message: str, location: str = "", remedy: str = ""
    ) -> None:
        super().__init__(kind, message, location, remedy)
        self.kind = kind
        self.message = message
        self.location = location
        self.remedy = remedy

    def __str__(self) -> str:
        text = f"{self.kind} error: {self.message}"
        if self.location:
            text = f"{self.location}: {text}"
        if self.remedy:
            text += f"\n  remedy: {self.remedy}"
        return text


class FusionTypeError(FusionError, TypeError):
    """A FusionError that Python's protocols expect to be a TypeError."""
