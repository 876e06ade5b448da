"""`fusion.jit`: compile a Python function at its first call.

The cache of a function is keyed by all that its graph depends on: structure of
the arguments, Python numbers and strings among them, and of each array type,
shape, order of strides, and the alignment that kernels may rely on.
"""

from __future__ import annotations

import functools
import threading
from typing import Any, Callable, Hashable, Sequence, TypeVar, overload

from . import frameworks, pytree
from .array import Array
from .capture import Dynamic, capture, flatten_arguments, leaf_names, symbols_of
from .errors import FusionError
from .executable import Binding, Executable, compile
from .tensor_type import symbolic_shape

F = TypeVar("F", bound=Callable[..., Any])


def _is_leaf(x: Any) -> bool:
    return isinstance(x, Array) or frameworks.is_array(x)


class Function:
    """A function that compiles itself for the arguments it is called with."""

    def __init__(
        self,
        function: Callable[..., Any],
        target: str | None,
        numerics: str,
        dynamic: Dynamic | None,
        verify: bool,
    ) -> None:
        functools.update_wrapper(self, function)
        self.python_function = function
        self._target = target
        self._numerics = numerics
        self._dynamic = dynamic
        self._verify = verify
        self._bindings: dict[Hashable, tuple[Binding, Hashable]] = {}
        self._executables: dict[Hashable, Executable] = {}
        self._lock = threading.RLock()

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        if not kwargs and all(map(frameworks.is_array, args)):
            # Arrays alone are so common that they have a way of their own.
            leaves: Sequence[Any] = args
            tree: Hashable = len(args)
        else:
            leaves = []
            tree = pytree.flatten((args, kwargs), _is_leaf, leaves)
            if any(isinstance(x, Array) for x in leaves):
                # Called while another function is traced: part of that graph.
                return self.python_function(*args, **kwargs)
        key = tree, tuple(map(frameworks.signature, leaves))
        found = self._bindings.get(key)
        if found is None:
            found = self._bind(key, args, kwargs, leaves)
        binding, out_tree = found
        results = binding(leaves)
        if out_tree is pytree.LEAF:
            return results[0]
        return pytree.unflatten(out_tree, iter(results))

    def __get__(self, instance: Any, owner: type | None = None) -> Any:
        """Methods: the instance is the first argument."""
        return self if instance is None else functools.partial(self, instance)

    def _bind(
        self,
        key: Hashable,
        args: tuple[Any, ...],
        kwargs: dict[str, Any],
        leaves: Sequence[Any],
    ) -> tuple[Binding, Hashable]:
        with self._lock:
            if key not in self._bindings:
                executable = self._executable(args, kwargs, leaves, key)
                graph = executable.graph
                assert graph is not None
                self._bindings[key] = Binding(executable, leaves), graph.out_tree
            return self._bindings[key]

    def _executable(
        self,
        args: tuple[Any, ...],
        kwargs: dict[str, Any],
        leaves: Sequence[Any],
        key: Any,
    ) -> Executable:
        """Symbolic sizes let one executable serve several bindings."""
        family = key
        if self._dynamic:
            tree = flatten_arguments(args, kwargs, [])
            family = tree, self._symbolic_signatures(tree, leaves)
        if family not in self._executables:
            self._executables[family] = self.compile(*args, **kwargs)
        return self._executables[family]

    def _symbolic_signatures(
        self, tree: Hashable, leaves: Sequence[Any]
    ) -> tuple[Any, ...]:
        signatures = []
        for name, x in zip(leaf_names(self.python_function, tree), leaves):
            spec = frameworks.describe(x)
            symbols = symbols_of(self._dynamic, name)
            shape = symbolic_shape(spec.shape, symbols, name)
            strides = bool(spec.strides) if symbols else spec.strides
            signatures.append(
                (
                    spec.dtype,
                    shape,
                    spec.order,
                    strides,
                    spec.align,
                    spec.flipped,
                    spec.needs_copy,
                    frameworks.owner(x).device(x),
                )
            )
        return tuple(signatures)

    def compile(self, *args: Any, **kwargs: Any) -> Executable:
        """The executable for these arguments, without running it."""
        graph = capture(self.python_function, args, kwargs, self._dynamic)
        target = self._target
        if target is None:
            leaves = graph.leaves(args, kwargs)
            _, device = frameworks.choose([*leaves, *graph.captured])
            target = "cpu" if device == "cpu" else "cuda"
        return compile(
            graph, target=target, numerics=self._numerics, verify=self._verify
        )

    @property
    def executables(self) -> list[Executable]:
        """What was compiled so far, for reports."""
        return list(self._executables.values())


@overload
def jit(f: F) -> F: ...
@overload
def jit(
    f: None = None,
    *,
    target: str | None = None,
    numerics: str = "strict",
    dynamic: Dynamic | None = None,
    verify: bool = False,
) -> Callable[[F], F]: ...


def jit(
    f: Any = None,
    *,
    target: str | None = None,
    numerics: str = "strict",
    dynamic: Dynamic | None = None,
    verify: bool = False,
) -> Any:
    """Compiles a function of arrays; use it as `@fusion.jit` or with options.

    Arguments are arrays of numpy, torch, cupy or jax, read in place, in nested
    tuples, lists and dicts. Python numbers and strings are part of the program:
    each new value compiles again, so pass a changing number as a 0-d array.
    Results are new arrays of the framework of the first argument that is not
    numpy's, on its device and in its current stream. Arrays that the function
    closes over are read at the call (small ones at the trace).

    Args:
        target: "cpu", "emulator", "cuda" or an architecture; by default where
            the arguments live.
        numerics: "strict" or "fast", see `fusion.compile`.
        dynamic: sizes that may change without a new compilation, by parameter
            name: `{"x": {0: "N"}}`. Sizes of one name are equal.
        verify: compare every result with the reference evaluator, and raise
            FusionError where they differ by more than the type's rounding.

    Raises:
        FusionError: from a call, with the user's line, if the function cannot be
            traced or its operands do not fit.
    """
    if numerics not in ("strict", "fast"):
        raise FusionError(
            "argument", f"numerics={numerics!r}", remedy="use 'strict' or 'fast'"
        )

    def wrap(function: Callable[..., Any]) -> Function:
        return Function(function, target, numerics, dynamic, verify)

    return wrap if f is None else wrap(f)
