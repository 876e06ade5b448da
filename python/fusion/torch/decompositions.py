"""Which ATen ops are taken apart before lowering.

Core ATen's decompositions, less those that would hide an op that the dialect has
(an activation, a norm, a loss) or that runs better whole in eager.
"""

from __future__ import annotations

import functools
from typing import Any, Callable

import torch
from torch._decomp import core_aten_decompositions

_KEPT = {
    # The dialect has them, rounded once.
    "silu",
    "mish",
    "softplus",
    "hardswish",
    "hardsigmoid",
    "baddbmm",
    "rsub",
    "masked_fill",
    "floor_divide",
    "nan_to_num",
    "log_sigmoid_forward",
    "split",
    "unbind",
    "roll",
    "stack",
    "fill",
    "dot",
    "mv",
    # Lowered without gathers, or without overflow.
    "std",
    "nll_loss_forward",
    "nll_loss2d_forward",
    "nll_loss_backward",
    "nll_loss2d_backward",
    "upsample_nearest1d",
    "upsample_nearest2d",
    "upsample_nearest3d",
    # Eager has a fused kernel.
    "_scaled_dot_product_flash_attention_for_cpu",
}


@functools.lru_cache(maxsize=None)
def decompositions() -> dict[Any, Callable[..., Any]]:
    table = dict(core_aten_decompositions())
    return {
        op: function
        for op, function in table.items()
        if not (
            isinstance(op, torch._ops.OpOverload)
            and op.namespace == "aten"
            and op._schema.name.removeprefix("aten::") in _KEPT
        )
    }
