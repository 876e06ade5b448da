"""numpy's functions on traced values.

numpy hands its calls over by `__array_ufunc__` (np.exp, np.add and other
ufuncs) and `__array_function__` (np.sum, np.where and others). A function that
has no counterpart here is a FusionError that names it.
"""

from __future__ import annotations

from typing import Any, Callable

import numpy as np

from . import linalg, manipulation
from .array import FUNCTIONS, Array
from .dtypes import as_dtype
from .errors import FusionError
from .location import error
from .tracer import lift

# numpy's names that differ from the array API standard's.
_UFUNC_NAMES = {
    "true_divide": "divide",
    "mod": "remainder",
    "absolute": "abs",
    "fabs": "abs",
    "rint": "round",
    "invert": "bitwise_invert",
    "left_shift": "bitwise_left_shift",
    "right_shift": "bitwise_right_shift",
    "arcsin": "asin",
    "arccos": "acos",
    "arctan": "atan",
    "arctan2": "atan2",
    "arcsinh": "asinh",
    "arccosh": "acosh",
    "arctanh": "atanh",
    "power": "pow",
    "float_power": "pow",
    "fmod": "fmod",
    "conjugate": "positive",
}
_REDUCTIONS = {
    "add": "sum",
    "multiply": "prod",
    "minimum": "min",
    "maximum": "max",
    "logical_and": "all",
    "logical_or": "any",
}


def _unsupported(what: str) -> FusionError:
    return error(
        "unsupported",
        f"{what} is not supported on a traced array",
        "write it with the functions of `fusion`, or call it outside the traced "
        "function",
    )


def _cast(result: Any, dtype: Any) -> Any:
    return result if dtype is None else result.astype(as_dtype(dtype))


def call_ufunc(
    ufunc: np.ufunc, method: str, inputs: tuple[Any, ...], kwargs: dict[str, Any]
) -> Any:
    """What `Array.__array_ufunc__` answers."""
    if kwargs.pop("out", None) is not None:
        raise error(
            "unsupported",
            f"np.{ufunc.__name__} into an existing array "
            "(out=, or an in-place operator)",
            "use its result",
        )
    if method == "reduce" and ufunc.__name__ in _REDUCTIONS:
        kwargs.setdefault("axis", 0)
        return _call(FUNCTIONS[_REDUCTIONS[ufunc.__name__]], inputs, kwargs)
    name = _UFUNC_NAMES.get(ufunc.__name__, ufunc.__name__)
    if method == "outer" and name in FUNCTIONS:
        left, right = (lift(x) for x in inputs)
        spread = left.reshape((*left.shape, *[1] * right.ndim))
        return _cast(FUNCTIONS[name](spread, right), kwargs.get("dtype"))
    if method != "__call__" or name not in FUNCTIONS or set(kwargs) - {"dtype"}:
        raise _unsupported(
            f"np.{ufunc.__name__}"
            + (
                f".{method}"
                if method != "__call__"
                else f" with {list(kwargs)}"
                if kwargs
                else ""
            )
        )
    return _cast(FUNCTIONS[name](*inputs), kwargs.get("dtype"))


_HANDLERS: dict[Any, Callable[..., Any]] = {}


def _handles(*functions: Any) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    def register(handler: Callable[..., Any]) -> Callable[..., Any]:
        for function in functions:
            _HANDLERS[function] = handler
        return handler

    return register


def _same(*names: str) -> None:
    """numpy functions that take the arguments of ours of the same name."""
    for name in names:
        function = getattr(np, name, None)
        if function is not None:
            _HANDLERS[function] = FUNCTIONS[name]


_same(
    "sum",
    "prod",
    "mean",
    "var",
    "std",
    "min",
    "max",
    "any",
    "all",
    "argmin",
    "argmax",
    "count_nonzero",
    "cumsum",
    "where",
    "round",
    "nan_to_num",
    "isclose",
    "reshape",
    "ravel",
    "transpose",
    "swapaxes",
    "moveaxis",
    "squeeze",
    "expand_dims",
    "broadcast_to",
    "broadcast_arrays",
    "concatenate",
    "concat",
    "stack",
    "split",
    "tile",
    "repeat",
    "flip",
    "roll",
    "pad",
    "tril",
    "triu",
    "zeros_like",
    "ones_like",
    "full_like",
    "dot",
    "outer",
    "tensordot",
    "einsum",
    "matrix_transpose",
    "unstack",
    "astype",
    "sort",
    "argsort",
    "median",
    "nonzero",
    "take",
    "take_along_axis",
    "searchsorted",
)
_HANDLERS[np.amin] = FUNCTIONS["min"]
_HANDLERS[np.amax] = FUNCTIONS["max"]
_HANDLERS[np.around] = FUNCTIONS["round"]
_HANDLERS[np.empty_like] = FUNCTIONS["zeros_like"]
if hasattr(np, "vecdot") and not isinstance(np.vecdot, np.ufunc):
    _HANDLERS[np.vecdot] = linalg.vecdot


@_handles(np.array_split)
def _array_split(x: Any, sections: Any, axis: int = 0) -> list[Array]:
    x = lift(x)
    if isinstance(sections, int):
        size = x.shape[axis]
        each, extra = divmod(size, sections)
        sections = [i * each + min(i, extra) for i in range(1, sections)]
    return manipulation.split(x, sections, axis)


@_handles(np.vstack)
def _vstack(arrays: Any) -> Array:
    return manipulation.concat([_at_least_2d(x) for x in arrays], 0)


@_handles(np.hstack)
def _hstack(arrays: Any) -> Array:
    items = [lift(x) for x in arrays]
    items = [x.reshape(1) if x.ndim == 0 else x for x in items]
    return manipulation.concat(items, 0 if items[0].ndim == 1 else 1)


@_handles(np.atleast_2d)
def _at_least_2d(x: Any) -> Array:
    x = lift(x)
    return x if x.ndim > 1 else x.reshape((1, -1))


@_handles(np.atleast_1d)
def _at_least_1d(x: Any) -> Array:
    x = lift(x)
    return x if x.ndim else x.reshape(1)


@_handles(np.clip)
def _clip(
    a: Any,
    a_min: Any = None,
    a_max: Any = None,
    *,
    min: Any = None,
    max: Any = None,
    dtype: Any = None,
) -> Array:
    low = min if a_min is None else a_min
    return _cast(FUNCTIONS["clip"](a, low, max if a_max is None else a_max), dtype)


@_handles(np.diff)
def _diff(x: Any, n: int = 1, axis: int = -1) -> Array:
    for _ in range(n):
        x = manipulation.swapaxes(x, axis, -1)
        x = manipulation.swapaxes(x[..., 1:] - x[..., :-1], axis, -1)
    return x


@_handles(np.ptp)
def _peak_to_peak(x: Any, axis: Any = None, keepdims: bool = False) -> Array:
    return FUNCTIONS["max"](x, axis, keepdims) - FUNCTIONS["min"](x, axis, keepdims)


@_handles(np.fliplr)
def _fliplr(x: Any) -> Array:
    return manipulation.flip(x, 1)


@_handles(np.flipud)
def _flipud(x: Any) -> Array:
    return manipulation.flip(x, 0)


@_handles(np.square)
def _square(x: Any) -> Array:
    return FUNCTIONS["square"](x)


@_handles(np.inner)
def _inner(a: Any, b: Any) -> Array:
    a, b = lift(a), lift(b)
    return linalg.tensordot(a, b, ((a.ndim - 1,), (b.ndim - 1,)))


@_handles(np.shape)
def _shape(x: Array) -> tuple[Any, ...]:
    return x.shape


@_handles(np.ndim)
def _ndim(x: Array) -> int:
    return x.ndim


@_handles(np.size)
def _size(x: Array, axis: int | None = None) -> Any:
    return x.size if axis is None else x.shape[axis]


@_handles(np.copy)
def _copy(x: Array) -> Array:
    return x


@_handles(np.real)
def _real(x: Array) -> Array:
    return x


@_handles(np.result_type)
def _result_type(*operands: Any) -> np.dtype:
    types = [x.dtype.dtype if isinstance(x, Array) else x for x in operands]
    return np.result_type(*types)


@_handles(np.linalg.norm)
def _norm(x: Any, ord: Any = None, axis: Any = None, keepdims: bool = False) -> Array:
    x = lift(x)
    if ord is not None and axis is None and x.ndim > 1:
        raise _unsupported("np.linalg.norm as a matrix norm")
    if ord not in (None, 2, 1, np.inf):
        raise _unsupported(f"np.linalg.norm of order {ord}")
    return linalg.vector_norm(x, axis, keepdims, 2 if ord is None else ord)


# Arguments that change nothing at their defaults.
_IGNORED = {
    "out": None,
    "where": True,
    "subok": True,
    "casting": "same_kind",
    "order": "K",
}


def _call(
    handler: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]
) -> Any:
    kwargs = {
        name: value
        for name, value in kwargs.items()
        if value is not np._NoValue
        and not (name in _IGNORED and value is _IGNORED[name])
    }
    try:
        return handler(*args, **kwargs)
    except TypeError as problem:
        # An argument of numpy's function that ours lacks.
        if isinstance(problem, FusionError) or "argument" not in str(problem):
            raise
        raise _unsupported(f"np function with these arguments ({problem})") from None


def call_function(
    function: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]
) -> Any:
    """What `Array.__array_function__` answers."""
    handler = _HANDLERS.get(function)
    if handler is None:
        raise _unsupported(f"np.{getattr(function, '__name__', function)}")
    return _call(handler, args, kwargs)
