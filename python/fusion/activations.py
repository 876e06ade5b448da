"""Activation functions, each rounded once as eager frameworks do.

All keep the shape; integers are computed in the float type that numpy chooses
for float functions, except by relu, which keeps them.
"""

from __future__ import annotations

from typing import Callable

from .array import Array, ArrayLike, public
from .elementwise import abs as absolute
from .elementwise import as_float, clip, negative, where
from .location import error
from .tracer import lift, normalize_axis


def _activation(name: str, op: str, formula: str) -> Callable[[ArrayLike], Array]:
    def function(x: ArrayLike) -> Array:
        x = as_float(x)
        return Array(x.builder.unary(op, x.value))

    function.__name__ = function.__qualname__ = name
    function.__doc__ = f"{formula}; same shape, float element type."
    return public(function)


sigmoid = _activation("sigmoid", "sigmoid", "1 / (1 + exp(-x))")
silu = _activation("silu", "silu", "x * sigmoid(x)")
mish = _activation("mish", "mish", "x * tanh(log(1 + exp(x)))")
softplus = _activation("softplus", "softplus", "log(1 + exp(x)), x where x > 20")
hardsigmoid = _activation("hardsigmoid", "hard_sigmoid", "clip(x + 3, 0, 6) / 6")
hardswish = _activation("hardswish", "hard_swish", "x * clip(x + 3, 0, 6) / 6")


@public
def relu(x: ArrayLike) -> Array:
    """max(x, 0); NaN gives NaN. Type and shape of x."""
    x = lift(x)
    return Array(x.builder.unary("relu", x.value))


@public
def relu6(x: ArrayLike) -> Array:
    """x bounded to [0, 6]."""
    return clip(x, 0, 6)


@public
def gelu(x: ArrayLike, approximate: str = "none") -> Array:
    """Gaussian error linear unit: with erf, or with `approximate="tanh"` by the
    tanh formula.
    """
    if approximate not in ("none", "tanh"):
        raise error(
            "argument", f"gelu: approximate={approximate!r}", "use 'none' or 'tanh'"
        )
    x = as_float(x)
    form = "#fusion<approximation tanh>" if approximate == "tanh" else None
    return Array(x.builder.unary("gelu", x.value, approximate=form))


@public
def elu(x: ArrayLike, alpha: float = 1.0) -> Array:
    """x where positive, else alpha * (exp(x) - 1)."""
    x = as_float(x)
    return Array(x.builder.unary("elu", x.value, alpha=float(alpha)))


@public
def leaky_relu(x: ArrayLike, negative_slope: float = 0.01) -> Array:
    """x where positive, else negative_slope * x."""
    x = as_float(x)
    return Array(x.builder.unary("leaky_relu", x.value, slope=float(negative_slope)))


@public
def prelu(x: ArrayLike, weight: ArrayLike) -> Array:
    """x where positive, else weight * x; a weight [C] belongs to dimension 1."""
    x, weight = lift(x), lift(weight)
    if weight.ndim == 1 and x.ndim > 2:
        weight = weight.reshape((-1, *[1] * (x.ndim - 2)))
    return where(x > 0, x, weight * x)


@public
def logsigmoid(x: ArrayLike) -> Array:
    """log(sigmoid(x)) without overflow."""
    return negative(softplus(negative(as_float(x))))


@public
def softsign(x: ArrayLike) -> Array:
    """x / (1 + |x|)."""
    x = as_float(x)
    return x / (absolute(x) + 1)


@public
def softmax(x: ArrayLike, axis: int = -1) -> Array:
    """exp(x) / sum(exp(x)) along `axis`, without overflow."""
    x = as_float(x)
    dim = normalize_axis(axis, x.ndim, "softmax")
    return Array(x.builder.softmax(x.value, dim))


@public
def log_softmax(x: ArrayLike, axis: int = -1) -> Array:
    """log(softmax(x)) along `axis`, without cancellation."""
    x = as_float(x)
    dim = normalize_axis(axis, x.ndim, "log_softmax")
    return Array(x.builder.log_softmax(x.value, dim))
