"""Executables in files.

A file is a zip archive: the compiled code, the graph's text, the structure of
arguments and results in JSON, and the captured arrays in numpy's format. Reading
one runs no code from it but the kernels.
"""

from __future__ import annotations

import io
import json
import zipfile
from pathlib import Path
from typing import Any

import numpy as np

from . import frameworks, pytree
from .capture import Graph
from .dtypes import as_dtype, bfloat16
from .errors import FusionError
from .executable import Executable
from .native import translated

_VERSION = 1


def save(executable: Executable, path: str | Path) -> None:
    """Writes an executable to a file; FusionError where it cannot be written."""
    with translated():
        code = executable.handle.save()
    graph = executable.graph
    signature: dict[str, Any] = {"version": _VERSION, "graph": None}
    if graph is not None:
        signature["graph"] = {
            "names": graph.names,
            "flipped": graph.flipped,
            "in_tree": pytree.to_json(graph.in_tree),
            "out_tree": pytree.to_json(graph.out_tree),
            "symbolic": graph.is_symbolic,
        }
    try:
        with zipfile.ZipFile(path, "w") as archive:
            archive.writestr("signature.json", json.dumps(signature))
            archive.writestr("graph.mlir", executable.text)
            archive.writestr("executable", code)
            for i, x in enumerate(graph.captured if graph else []):
                archive.writestr(f"captured/{i}.npy", _npy(x))
    except OSError as problem:
        raise FusionError(
            "io",
            f"cannot write {path}: {problem}",
            remedy="choose a path that can be written",
        ) from None


def _npy(x: Any) -> bytes:
    if as_dtype(x.dtype) is bfloat16:
        raise FusionError(
            "unsupported",
            "a captured bfloat16 array cannot be saved",
            remedy="make it an argument of the function",
        )
    buffer = io.BytesIO()
    np.save(buffer, frameworks.values(x), allow_pickle=False)
    return buffer.getvalue()


def load(path: str | Path) -> Executable:
    """Reads what `fusion.save` wrote; nothing is compiled. FusionError for a
    file that is damaged or of another version.
    """
    try:
        with zipfile.ZipFile(path) as archive:
            signature = json.loads(archive.read("signature.json"))
            if signature.get("version") != _VERSION:
                raise FusionError(
                    "io",
                    f"{path} was written by another version",
                    remedy="compile and save it again",
                )
            text = archive.read("graph.mlir").decode()
            code = archive.read("executable")
            captured = [
                np.load(io.BytesIO(archive.read(name)), allow_pickle=False)
                for name in _captured_names(archive)
            ]
        graph = _read_graph(signature["graph"], text, captured)
    except (OSError, KeyError, ValueError, zipfile.BadZipFile) as problem:
        raise FusionError(
            "io", f"cannot read {path}: {problem}", remedy="compile and save it again"
        ) from None
    with translated() as module:
        handle = module.load(code)
    return Executable(handle, text, graph)


def _captured_names(archive: zipfile.ZipFile) -> list[str]:
    count = sum(name.startswith("captured/") for name in archive.namelist())
    return [f"captured/{i}.npy" for i in range(count)]


def _read_graph(data: Any, text: str, captured: list[Any]) -> Graph | None:
    if data is None:
        return None
    return Graph(
        text=text,
        names=data["names"],
        captured=captured,
        in_tree=pytree.from_json(data["in_tree"]),
        out_tree=pytree.from_json(data["out_tree"]),
        flipped=[tuple(dims) for dims in data["flipped"]],
        is_symbolic=data["symbolic"],
    )
