"""Compiled graphs: compile and call.

An `Executable` wraps the compiled code with what Python needs around it: the
structure of arguments and results, the arrays that the function closed over,
and the framework that results are handed back in.
"""

from __future__ import annotations

import functools
import json
from pathlib import Path
from typing import Any, Callable, Sequence

import numpy as np

from . import frameworks, pytree
from .capture import Graph
from .dtypes import as_dtype
from .errors import FusionError
from .native import translated
from .verification import check_against_reference


def compile(
    graph: Graph | str,
    *,
    target: str = "cpu",
    numerics: str = "strict",
    cache: bool | str = True,
    disable: Sequence[str] = (),
    verify: bool = False,
) -> "Executable":
    """Compiles a traced graph, or a module in MLIR text with `func.func @main`.

    Args:
        target: "cpu", "emulator" (GPU kernels run and checked on the CPU),
            "cuda" (the current device) or an architecture, "sm_80" to "sm_120".
        numerics: "strict" rounds every op to its type as eager frameworks do,
            "fast" keeps float32 within a kernel.
        cache: whether to use the disk cache, or its folder.
        disable: names of rewrites not to run.
        verify: compare every call with the reference evaluator.

    Raises:
        FusionError: for text that does not parse or verify, with its line, and
            for an unknown target.
    """
    text = graph.text if isinstance(graph, Graph) else graph
    options = {
        "target": target,
        "numerics": numerics,
        "cache": cache,
        "disable": list(disable),
    }
    with translated() as module:
        handle = module.compile(text, json.dumps(options))
    return Executable(handle, text, graph if isinstance(graph, Graph) else None, verify)


class Executable:
    """A compiled graph.

    Calling it takes the traced function's arguments and returns its results; one
    compiled from text takes the arguments of `@main` and returns one array or a
    tuple. Results are arrays of the framework of the first argument that is not
    numpy's.

    Attributes:
        text: the module it was compiled from.
        report: what was compiled, as the C interface describes it.
    """

    def __init__(
        self, handle: Any, text: str, graph: Graph | None, verify: bool = False
    ) -> None:
        self.handle = handle
        self.text = text
        self.graph = graph
        self.verify = verify
        self.report: dict[str, Any] = json.loads(handle.report())
        self._bindings: dict[Any, Binding] = {}

    @property
    def target(self) -> str:
        """The target, with the architecture that "cuda" stood for."""
        return self.report["target"]

    @property
    def kernels(self) -> list[Any]:
        """The code of each kernel: PTX text or an object file."""
        return [self.handle.kernel_code(i) for i in range(self.handle.num_kernels)]

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        if self.graph is None:
            if kwargs:
                raise FusionError("argument", "a graph from text takes no keywords")
            outputs = self.run(self._as_arrays(args))
            return outputs[0] if len(outputs) == 1 else tuple(outputs)
        outputs = self.run(self.graph.leaves(args, kwargs))
        return pytree.unflatten(self.graph.out_tree, iter(outputs))

    def _as_arrays(self, args: Sequence[Any]) -> list[Any]:
        """Python numbers as 0-d arrays of the type that the graph expects."""
        expected = [spec["dtype"] for spec in self.report["arguments"]]
        result = []
        for i, x in enumerate(args):
            if isinstance(x, (bool, int, float)) and i < len(expected):
                x = np.asarray(x, as_dtype(expected[i]).dtype)
            if not frameworks.is_array(x):
                raise FusionError(
                    "argument",
                    f"argument {i} is a {type(x).__name__}",
                    remedy="pass an array",
                )
            result.append(x)
        return result

    def run(self, leaves: Sequence[Any]) -> list[Any]:
        """Runs on the arrays among the arguments, in order."""
        key = tuple(map(frameworks.signature, leaves))
        if key not in self._bindings:
            self._bindings[key] = Binding(self, leaves)
        return self._bindings[key](leaves)

    def save(self, path: str | Path) -> None:
        """Writes the compiled code, and the arrays it closed over, to a file that
        `fusion.load` reads without compiling anything.
        """
        from .saving import save

        save(self, path)

    def __repr__(self) -> str:
        return (
            f"<fusion.Executable for {self.target}: {self.handle.num_kernels} kernels>"
        )


class Binding:
    """An executable and a form of arguments: all that calls with arguments of
    equal structure, type and layout share, so that a call does little else than
    run.
    """

    def __init__(self, executable: Executable, leaves: Sequence[Any]) -> None:
        self.executable = executable
        graph = executable.graph
        captured = graph.captured if graph else []
        self.framework, self.device = frameworks.choose([*leaves, *captured])
        if self._on_gpu() and not leaves and self.framework is frameworks.NUMPY:
            self.framework, self.device = frameworks.choose_gpu()
        self._check_device()
        flipped = graph.flipped if graph else [()] * len(leaves)
        self._preparations = [
            (i, prepare)
            for i, x in enumerate(leaves)
            if (prepare := preparation(x, flipped[i])) is not None
        ]
        self._captured = [self._on_device(x) for x in captured]
        self._forms = self._infer(self._views(leaves))

    def _on_gpu(self) -> bool:
        return self.executable.target not in ("cpu", "emulator")

    def _check_device(self) -> None:
        on_gpu = self._on_gpu()
        if on_gpu != (self.device != "cpu"):
            raise FusionError(
                "device",
                f"arguments live on {self.device}, the graph was compiled for "
                f"{self.executable.target}",
                remedy="pass torch, cupy or jax arrays on the GPU, or compile for "
                "target='cpu'"
                if on_gpu
                else "compile for target='cuda', or move the arrays to the CPU",
            )

    def _on_device(self, x: Any) -> Any:
        """A captured array as the runtime reads it."""
        if self.device != "cpu" and frameworks.find(x) is frameworks.NUMPY:
            x = self.framework.to_device(np.ascontiguousarray(x), self.device)
        prepare = preparation(x, frameworks.describe(x).flipped)
        return x if prepare is None else prepare(x)

    def _views(self, leaves: Sequence[Any]) -> list[Any]:
        """What the runtime is given."""
        views = [*leaves, *self._captured]
        for i, prepare in self._preparations:
            views[i] = prepare(views[i])
        return views

    def _infer(self, views: Sequence[Any]) -> list[tuple[Any, ...]]:
        """Element type, shape and strides of each result."""
        with translated():
            forms = self.executable.handle.infer(views)
        return [(as_dtype(form[0]), tuple(form[1]), tuple(form[2])) for form in forms]

    def __call__(self, leaves: Sequence[Any]) -> list[Any]:
        views = self._views(leaves)
        handle = self.executable.handle
        with translated():
            results = self.framework.run(
                functools.partial(handle.run, views),
                self._forms,
                self.device,
            )
        if self.executable.verify:
            check_against_reference(self.executable.text, views, results)
        return results


def preparation(x: Any, flipped: Sequence[int]) -> Callable[[Any], Any] | None:
    """How arrays of the form of `x` are handed to a graph that expects the
    dimensions `flipped` reversed; None for as they are.
    """
    owner = frameworks.owner(x)
    spec = owner.describe(x)
    copy = spec.needs_copy or tuple(flipped) != spec.flipped
    if not copy and not flipped and owner.is_ready(x):
        return None
    return lambda array: owner.prepare(array, flipped, copy)
