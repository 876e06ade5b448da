"""From ATen nodes to fusion ops: the builder that lowering rules write with.

A rule is a function of a `Lowering` and the node's arguments, tensors as graph
values; it returns the value of the result, or a sequence for an op with several
(None for one that it cannot give). It raises `Unsupported`, or lets the builder
raise, where the op must stay with eager: whether a node is supported is found
out by lowering it, so that no condition is written twice.
"""

from __future__ import annotations

import functools
import operator
from contextlib import nullcontext
from typing import Any, Callable, Sequence, Union

import torch
from torch._prims_common import ELEMENTWISE_TYPE_PROMOTION_KIND as Promotion
from torch._prims_common import elementwise_dtypes

from ..dtypes import DType, as_dtype, bfloat16, fits, float16, float32
from ..graph import Builder, Value
from ..tensor_type import TensorType

Number = Union[bool, int, float]
Operand = Union[Value, Number]
Rule = Callable[..., Any]

RULES: dict[str, Rule] = {}


class Unsupported(Exception):
    """A node that stays with eager; the message is the reason."""


def rule(*names: str) -> Callable[[Rule], Rule]:
    """Registers a lowering rule for overloads: "add.Tensor" of ATen, or with
    another namespace in front, "prims.iota.default".
    """

    def register(function: Rule) -> Rule:
        for name in names:
            RULES[name if name.count(".") > 1 else f"aten.{name}"] = function
        return function

    return register


def torch_dtype(dtype: DType) -> torch.dtype:
    return getattr(torch, dtype.name)


@functools.lru_cache(maxsize=None)
def _probe(dtype: torch.dtype, rank: int) -> torch.Tensor:
    """A tensor that stands for operands of this type in type promotion."""
    return torch.empty((1,) * rank, dtype=dtype, device="meta")


def wide(dtype: DType) -> DType:
    """The type in which eager computes an op of several steps on `dtype`."""
    return float32 if dtype in (float16, bfloat16) else dtype


class Lowering(Builder):
    """A graph under construction, and the node that is being lowered.

    Attributes:
        node: the node itself.
        op: the name of its op, for messages.
        results: the tensors that eager would give, without data.
        used: which of them something reads.
    """

    node: torch.fx.Node
    op: str
    results: list[torch.Tensor]
    used: frozenset[int]

    @property
    def dtype(self) -> DType:
        """The element type of the node's result, or its first."""
        return as_dtype(self.results[0].dtype)

    @property
    def shape(self) -> tuple[int, ...]:
        """The shape of the node's result, or its first."""
        return tuple(self.results[0].shape)

    # Scalars.

    def scalar(self, number: Number, dtype: DType) -> Value:
        """A number as a value of rank 0; `Unsupported` where it does not fit."""
        if isinstance(number, int) and dtype.is_integer and not fits(number, dtype):
            raise Unsupported(f"the number {number} does not fit {dtype.name}")
        return self.constant(number, dtype)

    def filled(self, number: Number, dtype: DType, shape: Sequence[int]) -> Value:
        return self.broadcast(self.scalar(number, dtype), tuple(shape))

    def cast(self, x: Operand, dtype: DType) -> Value:
        return self.convert(x, dtype) if isinstance(x, Value) else self.scalar(x, dtype)

    # Type promotion as eager does it.

    def promote(
        self, operands: Sequence[Operand], kind: Promotion = Promotion.DEFAULT
    ) -> tuple[DType, DType]:
        """The types in which eager computes, and to which it rounds."""
        probes = [
            _probe(torch_dtype(x.dtype), x.rank) if isinstance(x, Value) else x
            for x in operands
        ]
        compute, result = elementwise_dtypes(*probes, type_promotion_kind=kind)
        return as_dtype(compute), as_dtype(result)

    def meet(
        self,
        operands: Sequence[Operand],
        dtype: DType,
    ) -> list[Value]:
        """The operands in one type and of one shape."""
        values = [self.cast(x, dtype) for x in operands]
        return self.broadcast_all(self.op, *values)

    def pointwise(
        self,
        op: str,
        operands: Sequence[Operand],
        kind: Promotion = Promotion.DEFAULT,
        **attributes: Any,
    ) -> Value:
        """One elementwise op, with eager's promotion and its one rounding."""
        compute, result = self.promote(operands, kind)
        if all(isinstance(x, Value) and x.dtype is result for x in operands):
            compute = result  # the dialect's ops round once by themselves
        values = self.meet(operands, compute)
        return self.convert(self.elementwise(op, values, **attributes), result)

    # Dimensions.

    def dim(self, dim: int, rank: int) -> int:
        return dim + rank if dim < 0 else dim

    def dims(self, dims: Any, rank: int) -> list[int]:
        """Dimensions of a reduction: None and [] are all."""
        if dims is None or (not isinstance(dims, int) and not dims):
            return list(range(rank))
        dims = [dims] if isinstance(dims, int) else dims
        # A tensor of rank 0 has a dimension 0 as far as eager is concerned.
        return sorted({self.dim(d, rank) for d in dims}) if rank else []

    def keep(self, x: Value, shape: Sequence[int], dims: Sequence[int]) -> Value:
        """`x`, from which `dims` of `shape` were reduced, with them as size 1."""
        kept = [i for i in range(len(shape)) if i not in dims]
        sizes = tuple(1 if i in dims else s for i, s in enumerate(shape))
        return self.broadcast(x, sizes, kept)

    # Layout.

    def ordered(self, x: Value, order: tuple[int, ...]) -> Value:
        """`x` with its elements in memory in another order of dimensions."""
        if x.type.order == order and not x.type.strides:
            return x
        return self.emit("reshape", [x], TensorType(x.dtype, x.shape, order))


def lower_node(
    lowering: Lowering, node: torch.fx.Node, values: dict[torch.fx.Node, Any]
) -> Any:
    """The value, or values, of a node's results; `Unsupported` or FusionError
    where there is no lowering.
    """
    if is_getitem(node):
        return values[node.args[0]][node.args[1]]
    function = RULES.get(str(node.target))
    if function is None:
        raise Unsupported(reason_for_no_rule(str(node.target)))
    lowering.node = node
    lowering.op = op_name(node)
    lowering.results = tensors_of(node)
    lowering.used = used_results(node)
    args, kwargs = torch.fx.node.map_arg(
        (node.args, node.kwargs), lambda operand: values[operand]
    )
    where = location_of(node)
    with lowering.at(*where) if where else nullcontext():
        results = function(lowering, *args, **kwargs)
    _check_results(results, lowering)
    return results


def _check_results(results: Any, lowering: Lowering) -> None:
    """A lowering that gives another type or shape than eager is not used."""
    if isinstance(results, Value):
        results = [results]
    for i in lowering.used:
        value, expected = results[i], lowering.results[i]
        if value is None:
            raise Unsupported(f"its result {i} is needed")
        dtype, shape = as_dtype(expected.dtype), tuple(expected.shape)
        if value.dtype is not dtype or value.shape != shape:
            raise Unsupported(
                f"it would give {value.dtype.name}{list(value.shape)} where eager "
                f"gives {dtype.name}{list(shape)}"
            )


# Nodes.


def op_name(node: torch.fx.Node) -> str:
    """ "add" of aten.add.Tensor."""
    words = str(node.target).split(".")
    return words[1] if len(words) > 1 else words[0]


def is_getitem(node: torch.fx.Node) -> bool:
    return node.target is operator.getitem


def used_results(node: torch.fx.Node) -> frozenset[int]:
    if not isinstance(tensor_of(node), (tuple, list)):
        return frozenset([0])
    return frozenset(int(user.args[1]) for user in node.users if is_getitem(user))


def tensor_of(node: torch.fx.Node) -> Any:
    """What the node gives, without data; None where that is not known."""
    if "val" in node.meta:
        return node.meta["val"]
    module = node.graph.owning_module
    if node.op == "get_attr" and module is not None:
        return getattr(module, str(node.target), None)
    return None


def tensors_of(node: torch.fx.Node) -> list[torch.Tensor]:
    """All results of a node."""
    value = tensor_of(node)
    values = list(value) if isinstance(value, (tuple, list)) else [value]
    if not any(isinstance(x, torch.Tensor) for x in values):
        raise Unsupported("its result is no tensor")
    return values


# Source locations.


def location_of(node: torch.fx.Node) -> tuple[str, int] | None:
    """File and line of the user's code that a node came from."""
    for line in reversed((node.meta.get("stack_trace") or "").splitlines()):
        words = line.split('"')
        if line.lstrip().startswith('File "') and ", line " in words[2]:
            number = words[2].split(", line ")[1].split(",")[0]
            return words[1], int(number)
    return None


# Reasons.

_FAMILIES = {
    "a scan has no counterpart in the fusion dialect": (
        "cumsum cumprod cummax cummin logcumsumexp".split()
    ),
    "sorting has no counterpart in the fusion dialect": (
        "sort topk argsort kthvalue median mode unique msort".split()
    ),
    "elements are chosen by index": (
        "index take scatter scatter_add index_put "
        "scatter_reduce _unsafe_index _unsafe_index_put nonzero index_add "
        "masked_select embedding_dense_backward".split()
    ),
    "it draws random numbers": (
        "native_dropout bernoulli rand rand_like randn randn_like randint "
        "randperm multinomial normal uniform".split()
    ),
    "attention runs in torch's own fused kernel": (
        "_scaled_dot_product_flash_attention "
        "_scaled_dot_product_flash_attention_for_cpu "
        "_scaled_dot_product_efficient_attention "
        "_scaled_dot_product_cudnn_attention".split()
    ),
    "memory without values is no computation": (
        "empty empty_strided empty_like new_empty empty_permuted".split()
    ),
}
_REASONS = {name: reason for reason, names in _FAMILIES.items() for name in names}


def reason_for_no_rule(target: str) -> str:
    name = target.split(".")[1] if "." in target else target
    return _REASONS.get(name, "it has no lowering to the fusion dialect")
