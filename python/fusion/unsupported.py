"""Functions of the array API standard that no graph can hold yet.

They exist so that their names give a clear error with a way around.
"""

from __future__ import annotations

from typing import Callable, NoReturn

from .array import public
from .location import error


def _missing(name: str, remedy: str) -> Callable[..., NoReturn]:
    def function(*args: object, **kwargs: object) -> NoReturn:
        raise error(
            "unsupported", f"{name} is not supported in a traced function", remedy
        )

    function.__name__ = function.__qualname__ = name
    function.__doc__ = f"Raises FusionError: {remedy}."
    return public(function)


_OUTSIDE = "compute it outside the traced function"
_SCAN = f"{_OUTSIDE}; a product with fusion.tril of ones gives the same sums"

cumsum = _missing("cumsum", _SCAN)
cumulative_sum = _missing("cumulative_sum", _SCAN)
cumprod = _missing("cumprod", _OUTSIDE)
cumulative_prod = _missing("cumulative_prod", _OUTSIDE)
sort = _missing("sort", _OUTSIDE)
argsort = _missing("argsort", _OUTSIDE)
topk = _missing("topk", _OUTSIDE)
median = _missing("median", _OUTSIDE)
nonzero = _missing("nonzero", "choose with fusion.where")
unique_values = _missing("unique_values", _OUTSIDE)
searchsorted = _missing("searchsorted", _OUTSIDE)
dropout = _missing("dropout", "graphs are for inference: leave it out")
