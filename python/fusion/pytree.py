"""Nested tuples, lists and dicts, as arguments and results.

A tree is taken apart into its leaves, in order, and a hashable description of
its shape; leaves that are not arrays are part of that description.
"""

from __future__ import annotations

from typing import Any, Callable, Hashable

from .errors import FusionError

#: Stands in a description where a leaf was taken out.
LEAF = "*"


def flatten(tree: Any, is_leaf: Callable[[Any], bool], leaves: list[Any]) -> Hashable:
    """Appends the leaves of `tree` to `leaves` and returns its description."""
    if is_leaf(tree):
        leaves.append(tree)
        return LEAF
    if isinstance(tree, (tuple, list)):
        # A list, so that no comprehension frame hides the caller from errors.
        parts = []
        for item in tree:
            parts.append(flatten(item, is_leaf, leaves))
        return type(tree), tuple(parts)
    if isinstance(tree, dict):
        parts = []
        for key in tree:
            parts.append((key, flatten(tree[key], is_leaf, leaves)))
        return dict, tuple(parts)
    # 1, 1.0 and True are equal but do not trace alike.
    return Static(tree)


class Static:
    """A leaf that is no array, by value and type."""

    __slots__ = ("value",)

    def __init__(self, value: Any) -> None:
        self.value = value

    def __eq__(self, other: object) -> bool:
        return (
            isinstance(other, Static)
            and type(self.value) is type(other.value)
            and bool(self.value is other.value or self.value == other.value)
        )

    def __repr__(self) -> str:
        return f"Static({self.value!r})"

    def __hash__(self) -> int:
        try:
            return hash(self.value)
        except TypeError:
            return id(self.value)


def unflatten(description: Hashable, leaves: Any) -> Any:
    """The tree of `description` with leaves from the iterator `leaves`."""
    if description is LEAF:
        return next(leaves)
    if isinstance(description, Static):
        return description.value
    kind, parts = description  # type: ignore[misc]
    if kind is dict:
        return {key: unflatten(part, leaves) for key, part in parts}
    items = [unflatten(part, leaves) for part in parts]
    # A named tuple takes its fields one by one.
    return kind(*items) if hasattr(kind, "_fields") else kind(items)


def paths(description: Hashable, prefix: str) -> list[str]:
    """A name for each leaf: `params.w`, `xs.0`."""
    if description is LEAF:
        return [prefix]
    if isinstance(description, Static):
        return []
    kind, parts = description  # type: ignore[misc]
    named = parts if kind is dict else enumerate(parts)
    return [
        path
        for key, part in named
        for path in paths(part, f"{prefix}.{key}" if prefix else str(key))
    ]


def to_json(description: Hashable) -> Any:
    """The description in JSON's types. Named tuples become plain ones."""
    if description is LEAF:
        return LEAF
    if isinstance(description, Static):
        if not isinstance(description.value, (bool, int, float, str, type(None))):
            raise FusionError(
                "io",
                f"an argument of type {type(description.value).__name__} cannot be "
                "saved",
                remedy="save functions of arrays, numbers and strings",
            )
        return {"value": description.value}
    kind, parts = description  # type: ignore[misc]
    if kind is dict:
        return {"dict": [[key, to_json(part)] for key, part in parts]}
    name = "list" if kind is list else "tuple"
    return {name: [to_json(part) for part in parts]}


def from_json(data: Any) -> Hashable:
    """What `to_json` wrote."""
    if data == LEAF:
        return LEAF
    ((kind, content),) = data.items()
    if kind == "value":
        return Static(content)
    if kind == "dict":
        return dict, tuple((key, from_json(part)) for key, part in content)
    return {"list": list, "tuple": tuple}[kind], tuple(map(from_json, content))
