"""Pictures of small graphs, in DOT and in SVG.

The SVG needs no other program: nodes are placed in layers by their longest path
from a source, and each layer is ordered by the mean position of its neighbours
above, which leaves few crossings in graphs of kernels.
"""

from __future__ import annotations

import html
import json
from dataclasses import dataclass, field

_CHARACTER, _LINE, _PAD, _GAP_X, _GAP_Y = 7, 16, 8, 28, 44


@dataclass
class Node:
    """A box: the first line of `lines` is its title."""

    lines: list[str]
    color: str = "#e8f0fe"

    @property
    def width(self) -> int:
        return max(map(len, self.lines)) * _CHARACTER + 2 * _PAD

    @property
    def height(self) -> int:
        return len(self.lines) * _LINE + 2 * _PAD


@dataclass
class Edge:
    """From node `source` to node `target`, with a label and a longer tooltip."""

    source: int
    target: int
    label: str = ""
    tooltip: str = ""


@dataclass
class Picture:
    """Nodes and the edges between their numbers; edges go from lower numbers to
    higher ones.
    """

    nodes: list[Node] = field(default_factory=list)
    edges: list[Edge] = field(default_factory=list)

    def dot(self) -> str:
        """Graphviz's language."""
        lines = [
            "digraph fusion {",
            '  node [shape=box, style="rounded,filled",'
            ' fontname="monospace", fontsize=11];',
        ]
        for i, node in enumerate(self.nodes):
            label = json.dumps("\n".join(node.lines), ensure_ascii=False)
            lines.append(f'  n{i} [label={label}, fillcolor="{node.color}"];')
        for edge in self.edges:
            label = json.dumps(edge.label, ensure_ascii=False)
            tooltip = json.dumps(edge.tooltip or edge.label, ensure_ascii=False)
            lines.append(
                f"  n{edge.source} -> n{edge.target} "
                f"[label={label}, tooltip={tooltip}];"
            )
        return "\n".join([*lines, "}"]) + "\n"

    def svg(self) -> str:
        """A drawing that any browser shows."""
        place, width, height = self._layout()
        parts = [
            f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" '
            f'height="{height}" viewBox="0 0 {width} {height}" '
            'font-family="monospace" font-size="11">',
            '<defs><marker id="arrow" viewBox="0 0 8 8" refX="8" refY="4" '
            'markerWidth="7" markerHeight="7" orient="auto">'
            '<path d="M0,0 L8,4 L0,8 z" fill="#5f6368"/></marker></defs>',
        ]
        parts += [self._draw_edge(edge, place) for edge in self.edges]
        parts += [self._draw_node(i, place) for i in range(len(self.nodes))]
        return "\n".join([*parts, "</svg>"]) + "\n"

    def _layers(self) -> list[list[int]]:
        depth = [0] * len(self.nodes)
        for edge in sorted(self.edges, key=lambda e: e.target):
            depth[edge.target] = max(depth[edge.target], depth[edge.source] + 1)
        layers: list[list[int]] = [[] for _ in range(max(depth, default=-1) + 1)]
        for i, level in enumerate(depth):
            layers[level].append(i)
        position = {i: n for layer in layers for n, i in enumerate(layer)}
        for layer in layers[1:]:
            layer.sort(key=lambda i: self._mean_of_sources(i, position))
            position.update({i: n for n, i in enumerate(layer)})
        return layers

    def _mean_of_sources(self, node: int, position: dict[int, int]) -> float:
        above = [position[e.source] for e in self.edges if e.target == node]
        return sum(above) / len(above) if above else position[node]

    def _layout(self) -> tuple[dict[int, tuple[float, float]], int, int]:
        """The upper left corner of each node, and the size of the whole."""
        layers = self._layers()
        widths = [
            sum(self.nodes[i].width for i in layer) + _GAP_X * (len(layer) - 1)
            for layer in layers
        ]
        total = max(widths, default=0)
        place: dict[int, tuple[float, float]] = {}
        y = _PAD
        for layer, width in zip(layers, widths):
            x = _PAD + (total - width) / 2
            for i in layer:
                place[i] = x, y
                x += self.nodes[i].width + _GAP_X
            y += max(self.nodes[i].height for i in layer) + _GAP_Y
        return place, total + 2 * _PAD, max(y - _GAP_Y, 0) + _PAD

    def _draw_node(self, i: int, place: dict[int, tuple[float, float]]) -> str:
        node, (x, y) = self.nodes[i], place[i]
        lines = "".join(
            f'<tspan x="{x + _PAD:g}" dy="{0 if n == 0 else _LINE}"'
            f"{' font-weight=' + chr(34) + 'bold' + chr(34) if n == 0 else ''}>"
            f"{html.escape(line)}</tspan>"
            for n, line in enumerate(node.lines)
        )
        return (
            f'<rect x="{x:g}" y="{y:g}" width="{node.width}" '
            f'height="{node.height}" rx="5" fill="{node.color}" stroke="#5f6368"/>'
            f'<text x="{x + _PAD:g}" y="{y + _PAD + 11:g}">{lines}</text>'
        )

    def _draw_edge(self, edge: Edge, place: dict[int, tuple[float, float]]) -> str:
        source, target = self.nodes[edge.source], self.nodes[edge.target]
        x1 = place[edge.source][0] + source.width / 2
        y1 = place[edge.source][1] + source.height
        x2, y2 = place[edge.target][0] + target.width / 2, place[edge.target][1]
        middle = (y1 + y2) / 2
        label = (
            f'<text x="{(x1 + x2) / 2 + 4:g}" y="{middle:g}" '
            f'fill="#5f6368">{html.escape(edge.label)}</text>'
            if edge.label
            else ""
        )
        return (
            f"<g><title>{html.escape(edge.tooltip or edge.label)}</title>"
            f'<path d="M{x1:g},{y1:g} C{x1:g},{middle:g} {x2:g},{middle:g} '
            f'{x2:g},{y2:g}" fill="none" stroke="#5f6368" '
            f'marker-end="url(#arrow)"/>{label}</g>'
        )
