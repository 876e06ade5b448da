"""Which ops are taken apart before lowering, and how.

Core ATen's decompositions, less those that would hide an op that the dialect has
(an activation, a norm, a loss) or that runs better whole in eager. One op is
replaced before AOT autograd sees it, which would make a gather of it: enlarging
an image by whole factors is a broadcast.
"""

from __future__ import annotations

import functools
from typing import Any, Callable, Sequence

import numpy as np
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
    "linalg_vector_norm",
    "nll_loss_forward",
    "nll_loss2d_forward",
    "nll_loss_backward",
    "nll_loss2d_backward",
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


def enlarge(
    x: torch.Tensor,
    size: Any = None,
    scale_factor: Any = None,
    mode: str = "nearest",
    *others: Any,
    **options: Any,
) -> torch.Tensor:
    """`torch.nn.functional.interpolate`: by whole factors as a broadcast."""
    interpolate = torch.nn.functional.interpolate
    factors = None
    if mode == "nearest" and not others and not any(options.values()):
        factors = _factors(x.shape[2:], size, scale_factor)
    if factors is None:
        return interpolate(x, size, scale_factor, mode, *others, **options)
    sizes, repeated = list(x.shape[:2]), list(x.shape[:2])
    for n, factor in zip(x.shape[2:], factors):
        sizes += [n, 1]
        repeated += [n, factor]
    wanted = [n * f for n, f in zip(x.shape[2:], factors)]
    return x.reshape(sizes).expand(repeated).reshape(*x.shape[:2], *wanted)


def _factors(sizes: Sequence[int], size: Any, scale: Any) -> list[int] | None:
    """The factors where every one is whole and eager repeats each element so."""
    given = size if size is not None else scale
    values = list(given) if isinstance(given, (tuple, list)) else [given] * len(sizes)
    factors = []
    for n, value in zip(sizes, values):
        if not isinstance(n, int) or not isinstance(value, (int, float)) or not n:
            return None
        wanted = value if size is not None else int(n * value)
        step = n / wanted if size is not None else 1 / value
        if wanted % n:
            return None
        # Eager finds the source of element i in float32.
        index = (np.arange(wanted, dtype=np.float32) * np.float32(step)).astype(int)
        if (index != np.arange(wanted) // (wanted // n)).any():
            return None
        factors.append(int(wanted // n))
    return factors


def replace_before_autograd(gm: torch.fx.GraphModule) -> torch.fx.GraphModule:
    """Calls of `interpolate` become calls of `enlarge`."""
    for node in gm.graph.nodes:
        if node.target is torch.nn.functional.interpolate:
            node.target = enlarge
    gm.recompile()
    return gm
