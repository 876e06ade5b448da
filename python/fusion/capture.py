"""Tracing a Python function into a `Graph`."""

from __future__ import annotations

import inspect
from dataclasses import dataclass
from typing import Any, Callable, Hashable, Mapping, Sequence

from . import frameworks, pytree
from .array import Array
from .errors import FusionError
from .location import error
from .tracer import Trace

#: Sizes that stay symbolic: by parameter name, the name of each dimension, as a
#: mapping from dimension to name or a sequence with None for static ones.
Dynamic = Mapping[str, Any]


@dataclass
class Graph:
    """A captured function.

    Attributes:
        text: the module in MLIR text.
        names: the name of each argument: the function's array leaves, then the
            captured arrays.
        captured: arrays that the function closed over and that are passed as
            arguments, after its own.
        in_tree, out_tree: descriptions of the function's arguments and results.
        flipped: for each leaf, the dimensions that are passed reversed.
        is_symbolic: whether some size is.
    """

    text: str
    names: list[str]
    captured: list[Any]
    in_tree: Hashable
    out_tree: Hashable
    flipped: list[tuple[int, ...]]
    is_symbolic: bool

    def __str__(self) -> str:
        return self.text

    def leaves(self, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> list[Any]:
        """The array leaves of arguments; FusionError if they do not have the
        structure that was traced.
        """
        leaves: list[Any] = []
        tree = flatten_arguments(args, kwargs, leaves)
        if tree != self.in_tree:
            raise FusionError(
                "argument",
                "the arguments do not have the structure, or the values of the "
                "Python numbers, with which the graph was traced",
                remedy="trace the function again for these arguments",
            )
        return leaves


def flatten_arguments(
    args: tuple[Any, ...], kwargs: Mapping[str, Any], leaves: list[Any]
) -> Hashable:
    return pytree.flatten((args, dict(kwargs)), frameworks.is_array, leaves)


def leaf_names(function: Callable[..., Any], tree: Hashable) -> list[str]:
    """The names of array leaves, by the function's parameters."""
    _, ((_, positional), (_, keywords)) = tree  # type: ignore[misc]
    try:
        parameters = list(inspect.signature(function).parameters.values())
    except (TypeError, ValueError):
        parameters = []
    names: list[str] = []
    for i, part in enumerate(positional):
        prefix = f"arg{i}"
        if i < len(parameters) and parameters[i].kind is not (
            inspect.Parameter.VAR_POSITIONAL
        ):
            prefix = parameters[i].name
        names += pytree.paths(part, prefix)
    for key, part in keywords:
        names += pytree.paths(part, key)
    return names


def symbols_of(dynamic: Dynamic | None, name: str) -> dict[int, str]:
    """The symbols of the dimensions of leaf `name` that are dynamic."""
    entry = None
    if dynamic:
        entry = dynamic.get(name, dynamic.get(name.partition(".")[0]))
    if entry is None:
        return {}
    pairs = entry.items() if isinstance(entry, Mapping) else enumerate(entry)
    return {dim: symbol for dim, symbol in pairs if symbol is not None}


def capture(
    function: Callable[..., Any],
    args: tuple[Any, ...],
    kwargs: Mapping[str, Any],
    dynamic: Dynamic | None = None,
) -> Graph:
    """Traces `function` for arguments of this structure, type and layout."""
    leaves: list[Any] = []
    tree = flatten_arguments(args, kwargs, leaves)
    names = leaf_names(function, tree)
    _check_dynamic(dynamic, names)
    trace = Trace()
    with trace:
        arrays = [
            trace.argument(x, name, symbols_of(dynamic, name))
            for x, name in zip(leaves, names)
        ]
        args, kwargs = pytree.unflatten(tree, iter(arrays))
        result = function(*args, **kwargs)
        outputs: list[Array] = []
        out_tree = pytree.flatten(result, _is_traced, outputs)
        _check_results(out_tree)
        if any(x.builder is not trace for x in outputs):
            raise error(
                "trace",
                "the function returned an array of another trace",
                "do not keep traced arrays in globals or attributes",
            )
    text = trace.text([x.value for x in outputs])
    return Graph(
        text=text,
        names=names + [f"captured {i}" for i in range(len(trace.captured))],
        captured=trace.captured,
        in_tree=tree,
        out_tree=out_tree,
        flipped=[frameworks.describe(x).flipped for x in leaves],
        is_symbolic=bool(dynamic),
    )


def _is_traced(x: Any) -> bool:
    return isinstance(x, Array)


def _check_dynamic(dynamic: Dynamic | None, names: Sequence[str]) -> None:
    known = {*names, *(name.partition(".")[0] for name in names)}
    for name in dynamic or ():
        if name not in known:
            raise FusionError(
                "argument",
                f"dynamic names {name!r}, which is no array parameter",
                remedy=f"use one of {sorted(known)}",
            )


def _check_results(tree: Hashable) -> None:
    if isinstance(tree, pytree.Static):
        if (
            tree.value is not None
            and not isinstance(tree.value, (bool, int, float, str))
            and not frameworks.is_array(tree.value)
        ):
            raise error(
                "trace",
                f"the traced function returned a {type(tree.value).__name__}",
                "return arrays, numbers, or tuples, lists and dicts of them",
            )
        return
    if tree is not pytree.LEAF:
        kind, parts = tree  # type: ignore[misc]
        for part in parts:
            _check_results(part[1] if kind is dict else part)


def trace(
    function: Callable[..., Any],
    *args: Any,
    dynamic: Dynamic | None = None,
    **kwargs: Any,
) -> Graph:
    """The graph of `function` for these arguments; nothing is compiled.

    `fusion.trace(f, x).text` is what `fusion-opt` reads.
    """
    function = getattr(function, "python_function", function)
    return capture(function, args, kwargs, dynamic)
