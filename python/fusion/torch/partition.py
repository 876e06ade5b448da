"""Dividing an ATen graph into parts for fusion and nodes for eager."""

from __future__ import annotations

from collections import Counter
from typing import Any, Mapping

import torch
from torch.fx.passes.infra.partitioner import CapabilityBasedPartitioner
from torch.fx.passes.operator_support import OperatorSupportBase

from ..dtypes import as_dtype
from ..errors import FusionError
from . import elementwise, layers, reductions, views  # noqa: F401  (the rules)
from .lowering import (
    Lowering,
    Unsupported,
    is_getitem,
    lower_node,
    op_name,
    tensor_of,
    tensors_of,
)

Nodes = dict[torch.fx.Node, Any]

#: Ops that move no data in eager.
_VIEWS = {
    "view",
    "_unsafe_view",
    "permute",
    "transpose",
    "t",
    "expand",
    "unsqueeze",
    "squeeze",
    "slice",
    "select",
    "split",
    "split_with_sizes",
    "unbind",
    "alias",
    "detach",
    "as_strided",
}

#: Ops that make values of nothing: cheaper repeated than stored.
_SOURCES = {"full", "scalar_tensor", "arange", "iota", "zeros", "ones"}

MAX_RANK = 8


def main_device(graph: torch.fx.Graph) -> torch.device:
    """The device of most tensors."""
    devices = Counter(
        x.device
        for node in graph.nodes
        if isinstance(x := tensor_of(node), torch.Tensor)
    )
    return devices.most_common(1)[0][0] if devices else torch.device("cpu")


class Support(OperatorSupportBase):
    """Which nodes can be lowered; the others, with their reasons, are in
    `reasons`.
    """

    def __init__(self, device: torch.device) -> None:
        self.device = device
        self.reasons: dict[torch.fx.Node, str] = {}
        self._supported: dict[torch.fx.Node, bool] = {}

    def is_node_supported(
        self, submodules: Mapping[str, torch.nn.Module], node: torch.fx.Node
    ) -> bool:
        if node not in self._supported:
            self._supported[node] = self._examine(node)
        return self._supported[node]

    def _examine(self, node: torch.fx.Node) -> bool:
        if node.op != "call_function":
            return False
        if is_getitem(node):
            return self.is_node_supported({}, node.args[0])
        try:
            self._check_device(node)
            _try_to_lower(node)
        except (Unsupported, FusionError) as problem:
            message = getattr(problem, "message", str(problem))
            self.reasons[node] = message
            return False
        return True

    def _check_device(self, node: torch.fx.Node) -> None:
        for other in [node, *node.all_input_nodes]:
            for tensor in tensors_of(other):
                if not isinstance(tensor, torch.Tensor) or tensor.device == self.device:
                    continue
                # A number in host memory becomes part of the kernel.
                if tensor.dim() == 0 and op_name(other) in _SOURCES:
                    continue
                raise Unsupported(
                    f"it works on {tensor.device} in a graph that runs on {self.device}"
                )


def _try_to_lower(node: torch.fx.Node) -> None:
    scratch = Lowering()
    values = {operand: _stand_in(scratch, operand) for operand in node.all_input_nodes}
    for tensor in tensors_of(node):
        if isinstance(tensor, torch.Tensor):
            _check_tensor(tensor)
    lower_node(scratch, node, values)


def _stand_in(scratch: Lowering, node: torch.fx.Node) -> Any:
    value = tensor_of(node)
    if not isinstance(value, torch.Tensor):
        raise Unsupported(f"its operand {node.name} is no tensor")
    _check_tensor(value)
    return scratch.arg(as_dtype(value.dtype), tuple(value.shape))


def _check_tensor(tensor: torch.Tensor) -> None:
    if tensor.layout is not torch.strided:
        raise Unsupported(f"a tensor of layout {tensor.layout}")
    if tensor.device.type not in ("cpu", "cuda"):
        raise Unsupported(f"a tensor on {tensor.device}")
    if tensor.dim() > MAX_RANK:
        raise Unsupported(
            f"a tensor of {tensor.dim()} dimensions, of {MAX_RANK} at most"
        )
    as_dtype(tensor.dtype)


def partition(gm: torch.fx.GraphModule, support: Support) -> list[Nodes]:
    """Sets of nodes that become one fusion graph each. Changes `gm` only by
    repeating views.
    """
    partitioner = CapabilityBasedPartitioner(
        gm, support, allows_single_node_partition=True
    )
    partitions = [dict(p.nodes) for p in partitioner.propose_partitions()]
    for nodes in partitions:
        _free_edges(gm, nodes)
    return [nodes for nodes in partitions if not all(map(_is_free, nodes))]


def _is_free(node: torch.fx.Node) -> bool:
    if is_getitem(node):
        return _is_free(node.args[0])
    return op_name(node) in _VIEWS or op_name(node) in _SOURCES


def _free_edges(gm: torch.fx.GraphModule, nodes: Nodes) -> None:
    """Leaves views that only others read to eager, where they cost nothing: a
    kernel would have to copy. Views that both read are repeated.
    """
    order = {node: i for i, node in enumerate(gm.graph.nodes) if node in nodes}
    for node in sorted(order, key=order.__getitem__, reverse=True):
        outside = [user for user in node.users if user not in nodes]
        if not outside or not _is_free(node):
            continue
        if len(outside) == len(node.users):
            del nodes[node]
            continue
        with gm.graph.inserting_after(node):
            copy = gm.graph.node_copy(node)
        for user in outside:
            user.replace_input_with(node, copy)
