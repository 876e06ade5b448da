"""What was fused, what was not, and why."""

from __future__ import annotations

import html
import textwrap
from pathlib import Path
from typing import Any, Callable, Sequence

from .capture import Dynamic, Graph, capture
from .errors import FusionError
from .executable import Executable, compile
from .frameworks import choose
from .picture import Edge, Node, Picture

Report = dict[str, Any]


def format_bytes(count: Any) -> str:
    """ "12.6 MB"; a symbolic count as it is."""
    if not isinstance(count, (int, float)):
        return str(count)
    size = float(count)
    for unit in ("B", "kB", "MB", "GB"):
        if size < 1000 or unit == "GB":
            return f"{size:.0f} {unit}" if unit == "B" else f"{size:.1f} {unit}"
        size /= 1000
    raise AssertionError


def _table(titles: Sequence[str], rows: Sequence[Sequence[Any]]) -> list[str]:
    """Columns aligned; the last one is not padded."""
    cells = [list(titles), *([str(cell) for cell in row] for row in rows)]
    widths = [max(len(row[i]) for row in cells) for i in range(len(titles))]
    widths[-1] = 0
    lines = ["  ".join(c.ljust(w) for c, w in zip(row, widths)) for row in cells]
    return [lines[0], "-" * max(map(len, lines)), *lines[1:]]


class Explanation:
    """The compiler's account of one graph. `print` shows it as text, a notebook
    as text and picture.

    Attributes:
        report: the data, as `fusion-c/fusion.h` describes it.
        text: the graph before compilation, in MLIR text.
    """

    def __init__(self, report: Report, text: str) -> None:
        self.report = report
        self.text = text

    @property
    def kernels(self) -> list[dict[str, Any]]:
        """One record for each kernel, in order of launch."""
        return self.report["kernels"]

    @property
    def unfused(self) -> list[dict[str, Any]]:
        """The edges that cost a round trip to memory, with rule and reason."""
        return [r for r in self.report["remarks"] if not r["fused"]]

    @property
    def fused(self) -> list[dict[str, Any]]:
        """The edges that stay inside a kernel."""
        return [r for r in self.report["remarks"] if r["fused"]]

    @property
    def kernels_before(self) -> int:
        """How many kernels one op at a time would launch."""
        return self.report["traffic"]["unfused_kernels"]

    @property
    def bytes_saved(self) -> Any:
        """Memory traffic that fusion avoids, None where sizes are symbolic."""
        traffic = self.report["traffic"]
        before, after = traffic["unfused_bytes"], traffic["fused_bytes"]
        numbers = isinstance(before, int) and isinstance(after, int)
        return before - after if numbers else None

    def why(self, a: str, b: str = "") -> str:
        """Why the ops named `a` and `b` (in either order; part of a name will do)
        share a kernel or do not; every decision about `a` without `b`.
        """
        lines = [
            _sentence(remark)
            for remark in self.report["remarks"]
            if _names(remark, a, b) or _names(remark, b, a)
        ]
        if not lines:
            both = f"{a!r} and {b!r}" if b else repr(a)
            return f"no edge between ops named {both}: neither reads the other"
        return "\n".join(lines)

    def __str__(self) -> str:
        return "\n".join(
            [*self._summary(), "", *self._kernel_table(), "", *self._edge_table()]
        )

    __repr__ = __str__

    def _summary(self) -> list[str]:
        traffic = self.report["traffic"]
        lines = [
            f"target {self.report['target']}, numerics {self.report['numerics']}",
            f"kernels: {self.kernels_before} before fusion, {len(self.kernels)} after",
            "memory traffic: "
            f"{format_bytes(traffic['unfused_bytes'])} before, "
            f"{format_bytes(traffic['fused_bytes'])} after, "
            f"{format_bytes(traffic['minimum_bytes'])} at least "
            "(arguments and results once)",
        ]
        if self.bytes_saved is not None:
            lines.append(f"saved: {format_bytes(self.bytes_saved)}")
        peak = format_bytes(self.report["peak_bytes"])
        lines.append(f"results and intermediate values take {peak} at most")
        return lines

    def _kernel_table(self) -> list[str]:
        rows = [
            (
                i,
                k["name"],
                k["hero"],
                k["schedule"],
                format_bytes(k["bytes_read"]),
                format_bytes(k["bytes_written"]),
                textwrap.shorten(" ".join(k["ops"]), 60, placeholder=" ..."),
            )
            for i, k in enumerate(self.kernels)
        ]
        return _table(
            ("#", "kernel", "hero", "schedule", "read", "written", "ops"), rows
        )

    def _edge_table(self) -> list[str]:
        if not self.unfused:
            return ["every edge is fused"]
        rows = [
            (
                f"{r['producer']} -> {r['consumer']}",
                r["rule"],
                format_bytes(r["bytes"]),
                r["consumer_location"] or "-",
                r["reason"],
            )
            for r in self.unfused
        ]
        return [
            "edges that are not fused:",
            *_table(("edge", "rule", "bytes", "location", "reason"), rows),
        ]

    # Pictures.

    def picture(self) -> Picture:
        """Kernels as boxes, the values between them as arrows."""
        picture = Picture()
        for i, kernel in enumerate(self.kernels):
            lines = [
                f"{i}: {kernel['name']}",
                kernel["schedule"],
                *_wrapped(kernel["ops"]),
            ]
            color = "#e8f0fe" if kernel["hero"] == "elementwise" else "#fce8e6"
            picture.nodes.append(Node(lines, color))
            for source in kernel["producers"]:
                picture.edges.append(self._edge(source, i))
        return picture

    def _edge(self, source: int, target: int) -> Edge:
        """The arrow between two kernels, with the reasons why it is there."""
        reasons = [
            remark
            for remark in self.unfused
            if remark["producer"] in self.kernels[source]["ops"]
            and remark["consumer"] in self.kernels[target]["ops"]
        ]
        label = ", ".join(dict.fromkeys(remark["rule"] for remark in reasons))
        return Edge(source, target, label, "\n".join(map(_sentence, reasons)))

    def dot(self) -> str:
        """The picture in Graphviz's language."""
        return self.picture().dot()

    def svg(self) -> str:
        """The picture as SVG."""
        return self.picture().svg()

    def save(self, path: str | Path) -> None:
        """Writes `.svg`, `.dot`, `.mlir` (the graph) or `.txt`, by the suffix."""
        writers: dict[str, Callable[[], str]] = {
            ".svg": self.svg,
            ".dot": self.dot,
            ".mlir": lambda: self.text,
            ".txt": self.__str__,
        }
        suffix = Path(path).suffix
        if suffix not in writers:
            raise FusionError(
                "argument",
                f"cannot write an explanation as {suffix!r}",
                remedy=f"use one of {', '.join(writers)}",
            )
        try:
            Path(path).write_text(writers[suffix](), encoding="utf-8")
        except OSError as problem:
            raise FusionError(
                "io",
                f"cannot write {path}: {problem}",
                remedy="choose a path that can be written",
            ) from None

    def _repr_svg_(self) -> str:
        return self.svg()

    def _repr_html_(self) -> str:
        return f"<pre>{html.escape(str(self))}</pre>{self.svg()}"


def _names(remark: dict[str, Any], a: str, b: str) -> bool:
    return a in remark["producer"] and b in remark["consumer"]


def _sentence(remark: dict[str, Any]) -> str:
    verb = "fused" if remark["fused"] else "not fused"
    location = remark["consumer_location"]
    where = f" at {location}" if location else ""
    return (
        f"{remark['producer']} -> {remark['consumer']}{where}: {verb}, rule "
        f"{remark['rule']} ({format_bytes(remark['bytes'])}): "
        f"{remark['reason']}"
    )


def _wrapped(words: Sequence[str], width: int = 36, limit: int = 8) -> list[str]:
    """Words on lines of a box, cut off after `limit` lines."""
    lines = [""]
    for word in words:
        if lines[-1] and len(lines[-1]) + len(word) >= width:
            lines.append("")
        lines[-1] = f"{lines[-1]} {word}".strip()
    return lines if len(lines) <= limit else [*lines[: limit - 1], "..."]


def explain(
    f: Any,
    *args: Any,
    target: str | None = None,
    numerics: str = "strict",
    dynamic: Dynamic | None = None,
    **kwargs: Any,
) -> Explanation:
    """How the compiler would run `f` on these arguments; nothing is run.

    `f` is a function (also one under `jit`), a `Graph`, an `Executable` or MLIR
    text. The target is where the arguments live unless given; no GPU is needed
    to explain for an architecture such as "sm_90".
    """
    if isinstance(f, Executable):
        return Explanation(f.report, f.text)
    if not isinstance(f, (Graph, str)):
        f = capture(getattr(f, "python_function", f), args, kwargs, dynamic)
        if target is None:
            _, device = choose([*f.leaves(args, kwargs), *f.captured])
            target = "cpu" if device == "cpu" else "cuda"
    executable = compile(f, target=target or "cpu", numerics=numerics)
    return Explanation(executable.report, executable.text)
