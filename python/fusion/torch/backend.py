"""The dynamo backend: capture, division, compilation.

AOT autograd hands over functional graphs of ATen ops, for inference one, for
training a forward and a backward one. Sizes are static here: a graph with
symbolic sizes is compiled again for each set of sizes that it is called with.
"""

from __future__ import annotations

import functools
import warnings
from typing import Any, Callable, Sequence

import torch
from torch._dynamo.backends.common import aot_autograd
from torch._functorch.aot_autograd import make_boxed_func
from torch._subclasses.fake_tensor import FakeTensorMode
from torch.fx._lazy_graph_module import _LazyGraphModule
from torch.fx.experimental.proxy_tensor import make_fx
from torch.fx.passes.utils.fuser_utils import fuse_by_partitions

from ..errors import FusionError
from .compiled import CompiledPartition
from .decompositions import decompositions, replace_before_autograd
from .lowering import is_getitem, location_of, tensor_of
from .partition import Support, main_device, partition
from .report import EagerOp, GraphReport, PartitionReport, add

_OPTIONS = ("target", "numerics", "cache", "disable", "verify")


def backend(
    gm: torch.fx.GraphModule,
    example_inputs: Sequence[Any],
    *,
    options: dict[str, Any] | None = None,
    **others: Any,
) -> Callable[..., Any]:
    """`torch.compile(model, backend="fusion", options={...})`.

    Options are those of `fusion.compile`: "target" ("emulator" runs the GPU's
    kernels on the CPU), "numerics", "cache", "disable" and "verify".

    Raises:
        FusionError: for options and modes that there are not.
    """
    options = dict(options or {})
    unknown = [*(set(options) - set(_OPTIONS)), *(set(others) - {"name"})]
    if unknown:
        raise FusionError(
            "argument",
            f"torch.compile with backend 'fusion' has no option {unknown[0]!r}",
            remedy=f"options are {', '.join(_OPTIONS)}; leave `mode` out",
        )

    def compiler(kind: str) -> Callable[..., Any]:
        return functools.partial(_compile, options=options, kind=kind)

    return aot_autograd(
        fw_compiler=compiler("forward"),
        bw_compiler=compiler("backward"),
        inference_compiler=compiler("inference"),
        decompositions=decompositions(),
    )(replace_before_autograd(gm), example_inputs)


def _compile(
    gm: torch.fx.GraphModule,
    example_inputs: Sequence[Any],
    options: dict[str, Any],
    kind: str,
) -> Callable[..., Any]:
    if _is_symbolic(gm):
        return make_boxed_func(_PerShape(gm, options, kind))
    return make_boxed_func(build(gm, options, kind).forward)


def build(
    gm: torch.fx.GraphModule, options: dict[str, Any], kind: str, note: str = ""
) -> torch.fx.GraphModule:
    """`gm` with its supported parts compiled."""
    device = main_device(gm.graph)
    report = GraphReport(kind, str(device), notes=[note] if note else [])
    support = Support(device)
    partitions = partition(gm, support)
    inside = {node for nodes in partitions for node in nodes}
    _list_eager(gm, support, inside, report)
    fuse_by_partitions(gm, partitions)
    for name, part in list(gm.named_children()):
        if name.startswith("fused_") and isinstance(part, torch.fx.GraphModule):
            _compile_part(gm, name, part, device, options, report)
    gm.recompile()
    _LazyGraphModule.force_recompile(gm)  # or each call would ask whether to
    add(report)
    return gm


def _compile_part(
    gm: torch.fx.GraphModule,
    name: str,
    part: torch.fx.GraphModule,
    device: torch.device,
    options: dict[str, Any],
    report: GraphReport,
) -> None:
    nodes = [
        node
        for node in part.graph.nodes
        if node.op == "call_function" and not is_getitem(node)
    ]
    entry = PartitionReport(name, [str(node.target) for node in nodes])
    try:
        setattr(gm, name, CompiledPartition(part.graph, device, options, entry))
    except FusionError as problem:
        if problem.kind not in ("compile", "unsupported"):
            raise
        reason = f"the compiler failed on its part: {problem.message}"
        warnings.warn(f"fusion left {name} to eager: {problem}", stacklevel=2)
        report.eager += [_eager(node, reason) for node in nodes]
    else:
        report.partitions.append(entry)


def _list_eager(
    gm: torch.fx.GraphModule,
    support: Support,
    inside: set[torch.fx.Node],
    report: GraphReport,
) -> None:
    for node in gm.graph.nodes:
        if node.op != "call_function" or node in inside or is_getitem(node):
            continue
        if node in support.reasons:
            report.eager.append(_eager(node, support.reasons[node]))
        else:
            report.views += 1


def _eager(node: torch.fx.Node, reason: str) -> EagerOp:
    where = location_of(node)
    return EagerOp(str(node.target), reason, f"{where[0]}:{where[1]}" if where else "")


# Symbolic sizes.


def _is_symbolic(gm: torch.fx.GraphModule) -> bool:
    return any(_has_symbol(tensor_of(node)) for node in gm.graph.nodes)


def _has_symbol(value: Any) -> bool:
    if isinstance(value, torch.Tensor):
        return any(isinstance(s, torch.SymInt) for s in value.shape)
    return isinstance(value, (torch.SymInt, torch.SymFloat, torch.SymBool))


class _PerShape:
    """A graph with symbolic sizes: captured again, with numbers for them, for each
    set of sizes that it is called with.
    """

    def __init__(
        self, gm: torch.fx.GraphModule, options: dict[str, Any], kind: str
    ) -> None:
        self.gm = gm
        self.options = options
        self.kind = kind
        self.graphs: dict[Any, torch.fx.GraphModule] = {}

    def __call__(self, *args: Any) -> Any:
        key = tuple(
            (tuple(x.shape), tuple(x.stride())) if isinstance(x, torch.Tensor) else x
            for x in args
        )
        if key not in self.graphs:
            self.graphs[key] = self._specialize(args)
        return self.graphs[key](*args)

    def _specialize(self, args: Sequence[Any]) -> torch.fx.GraphModule:
        mode = FakeTensorMode(allow_non_fake_inputs=True)
        fakes = [
            mode.from_tensor(x) if isinstance(x, torch.Tensor) else x for x in args
        ]
        with mode:
            gm = make_fx(self.gm, pre_dispatch=False)(*fakes)
        sizes = [list(x.shape) for x in args if isinstance(x, torch.Tensor)]
        note = f"its sizes are symbolic; compiled for arguments of shapes {sizes}"
        return build(gm, self.options, self.kind, note)
