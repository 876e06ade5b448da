"""What was compiled, and what was left to eager."""

from __future__ import annotations

import threading
from collections import Counter
from dataclasses import asdict, dataclass, field
from typing import Any

from ..explain import Explanation


@dataclass
class EagerOp:
    """A node that runs as it would without the compiler.

    Attributes:
        op: the ATen overload, "aten.cumsum.default".
        reason: why it was not compiled.
        location: "file:line" of the user's code, or "".
    """

    op: str
    reason: str
    location: str = ""


@dataclass
class PartitionReport:
    """A part of the graph that is one executable.

    Attributes:
        name: the name of the submodule that it replaced.
        ops: its ATen overloads, in order.
        text: the fusion graph in MLIR text.
        reports: what the compiler says of each executable (see `fusion.explain`):
            one, and another for each further layout of the arguments.
    """

    name: str
    ops: list[str]
    text: str = ""
    reports: list[dict[str, Any]] = field(default_factory=list)

    @property
    def kernels(self) -> list[dict[str, Any]]:
        return self.reports[0]["kernels"] if self.reports else []

    @property
    def explanation(self) -> Explanation:
        """As `fusion.explain` gives it: kernels, edges, pictures."""
        return Explanation(self.reports[0], self.text)


@dataclass
class GraphReport:
    """One graph that dynamo captured.

    Attributes:
        kind: "inference", "forward" or "backward".
        device: where it runs.
        partitions: the parts that were compiled.
        eager: the ops that were not, views at the edges excepted.
        views: how many nodes outside the kernels move no data.
        notes: what else there is to know.
    """

    kind: str
    device: str
    partitions: list[PartitionReport] = field(default_factory=list)
    eager: list[EagerOp] = field(default_factory=list)
    views: int = 0
    notes: list[str] = field(default_factory=list)

    @property
    def kernels(self) -> list[dict[str, Any]]:
        return [kernel for part in self.partitions for kernel in part.kernels]


class Report:
    """Every graph compiled since the start, or since `reset`. `print` shows it.

    Attributes:
        graphs: a `GraphReport` for each.
    """

    def __init__(self, graphs: list[GraphReport]) -> None:
        self.graphs = graphs

    @property
    def eager(self) -> list[EagerOp]:
        """The ops left to eager, over all graphs."""
        return [op for graph in self.graphs for op in graph.eager]

    def data(self) -> list[dict[str, Any]]:
        """Lists, dicts, strings and numbers, ready for JSON."""
        return [asdict(graph) for graph in self.graphs]

    def __str__(self) -> str:
        if not self.graphs:
            return "no graph was compiled"
        return "\n\n".join(_text(i, graph) for i, graph in enumerate(self.graphs))

    __repr__ = __str__


def _text(index: int, graph: GraphReport) -> str:
    ops = sum(len(part.ops) for part in graph.partitions)
    lines = [
        f"graph {index} ({graph.kind}, {graph.device}): {ops} ops in "
        f"{len(graph.kernels)} kernels, {len(graph.eager)} ops left to eager"
    ]
    for part in graph.partitions:
        lines.append(f"  {part.name}: {len(part.ops)} ops")
        for kernel in part.kernels:
            names = Counter(kernel["ops"])
            words = [f"{n} x {op}" if n > 1 else op for op, n in names.items()]
            lines.append(
                f"    {kernel['name']} ({kernel['schedule']}): {', '.join(words)}"
            )
    counts = Counter((op.op, op.reason) for op in graph.eager)
    for (op, reason), count in counts.items():
        times = f"{count} x " if count > 1 else ""
        lines.append(f"  eager: {times}{op}: {reason}")
    lines += [f"  note: {note}" for note in graph.notes]
    return "\n".join(lines)


_graphs: list[GraphReport] = []
_lock = threading.Lock()


def add(graph: GraphReport) -> None:
    with _lock:
        _graphs.append(graph)


def report() -> Report:
    """What `torch.compile(..., backend="fusion")` has compiled so far: for each
    graph its kernels, and every op left to eager with the reason.
    """
    with _lock:
        return Report(list(_graphs))


def reset() -> None:
    """Forgets the graphs compiled so far, in reports only."""
    with _lock:
        _graphs.clear()
