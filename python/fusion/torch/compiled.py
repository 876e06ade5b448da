"""A part of a graph as a module: one executable for each layout of arguments.

Dynamo guards shapes, types and most strides; what it does not guard is where
memory begins, and that decides how wide a kernel may read. The usual case,
everything aligned to 16 bytes, is found by one `or` over the pointers.
"""

from __future__ import annotations

import functools
from typing import Any, Sequence

import torch

from ..dtypes import as_dtype
from ..errors import FusionError
from ..executable import Executable, compile
from ..frameworks import DEFAULT_ALIGN, alignment, dense_order, run_on_cpu
from ..graph import Value
from ..native import translated
from ..verification import check_against_reference
from .lowering import Lowering, lower_node, tensor_of
from .report import PartitionReport

#: Strides in elements and alignment in bytes of each argument.
Layouts = tuple[tuple[tuple[int, ...], int], ...]


class CompiledPartition(torch.nn.Module):
    """Calls take the tensors of the part's placeholders and return the tensor, or
    the tuple of tensors, of its output.
    """

    def __init__(
        self,
        graph: torch.fx.Graph,
        device: torch.device,
        options: dict[str, Any],
        report: PartitionReport,
    ) -> None:
        super().__init__()
        self.graph = graph
        self.device = device
        self.options = dict(options)
        self.verify = self.options.pop("verify", False)
        self.options.setdefault("target", device.type)
        self.report = report
        self.inputs = [node for node in graph.nodes if node.op == "placeholder"]
        (result,) = next(n for n in graph.nodes if n.op == "output").args
        self.single = not isinstance(result, (tuple, list))
        self.outputs = [result] if self.single else list(result)
        # What eager would give: sizes, strides and type of each result.
        self.forms = [_form(tensor_of(node)) for node in self.outputs]
        self.variants: dict[Layouts, Executable] = {}
        expected = tuple(
            (tuple(tensor_of(node).stride()), DEFAULT_ALIGN) for node in self.inputs
        )
        self.usual = self.variant(expected)

    def variant(self, layouts: Layouts) -> Executable:
        """The executable for arguments of these layouts."""
        if layouts not in self.variants:
            text = self.lower(layouts)
            with _on(self.device):
                executable = compile(text, **self.options)
            self.variants[layouts] = executable
            self.report.text = self.report.text or text
            self.report.reports.append(executable.report)
        return self.variants[layouts]

    def lower(self, layouts: Layouts) -> str:
        """The part as a fusion graph."""
        lowering = Lowering()
        values: dict[torch.fx.Node, Any] = {}
        for node, (strides, align) in zip(self.inputs, layouts):
            tensor = tensor_of(node)
            shape = tuple(tensor.shape)
            order = dense_order(shape, strides)
            values[node] = lowering.arg(
                as_dtype(tensor.dtype),
                shape,
                order=order or (),
                strides=strides if order is None else (),
                name=node.name,
                align=align,
            )
        for node in self.graph.nodes:
            if node.op == "call_function":
                values[node] = lower_node(lowering, node, values)
        results = [
            _in_order(lowering, values[node], *form[:2])
            for node, form in zip(self.outputs, self.forms)
        ]
        return lowering.text(results)

    def forward(self, *args: torch.Tensor) -> Any:
        bits = 0
        for x in args:
            bits |= x.data_ptr()
        aligned = not bits % DEFAULT_ALIGN
        executable = self.usual if aligned else self.variant(_layouts(args))
        try:
            results = self._run(executable, args)
        except FusionError as problem:
            # A stride that nothing guards is another than at the capture.
            other = self.variant(_layouts(args))
            if problem.kind != "argument" or other is executable:
                raise
            results = self._run(other, args)
        return results[0] if self.single else tuple(results)

    # No hooks hang on this module, so a call is the call of `forward`.
    __call__ = forward

    def _run(self, executable: Executable, args: Sequence[torch.Tensor]) -> list[Any]:
        device = self.device
        if device.type == "cpu":
            with translated():
                out = run_on_cpu(
                    functools.partial(executable.handle.run, args), self.forms
                )
        else:
            out = [
                torch.empty_strided(sizes, strides, dtype=dtype, device=device)
                for sizes, strides, dtype in self.forms
            ]
            with translated(), _on(device):
                executable.handle.run(
                    args,
                    stream=torch.cuda.current_stream(device).cuda_stream,
                    out=out,
                    workspace=self._workspace,
                )
        if self.verify:
            check_against_reference(executable.text, args, out)
        return out

    @functools.cached_property
    def _workspace(self) -> Any:
        """From torch's allocator, so that both share one pool."""
        return functools.partial(torch.empty, dtype=torch.uint8, device=self.device)


def _layouts(args: Sequence[torch.Tensor]) -> Layouts:
    return tuple((tuple(x.stride()), alignment(x.data_ptr())) for x in args)


def _on(device: torch.device) -> Any:
    return torch.cuda.device(device if device.type == "cuda" else -1)


def _form(
    tensor: torch.Tensor,
) -> tuple[tuple[int, ...], tuple[int, ...], torch.dtype]:
    """Sizes, strides and type; a tensor with gaps or overlaps becomes dense, in
    the same order of dimensions, as a copy of it in eager would.
    """
    shape, strides = tuple(tensor.shape), tuple(tensor.stride())
    if dense_order(shape, strides) is None:
        strides = torch.empty_like(tensor, device="meta").stride()
    return shape, tuple(strides), tensor.dtype


def _in_order(
    lowering: Lowering, x: Value, shape: tuple[int, ...], strides: tuple[int, ...]
) -> Value:
    return lowering.ordered(x, dense_order(shape, strides) or ())
