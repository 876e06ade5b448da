"""The ops of the fusion dialect as methods that infer result types.

Layout rule: a result keeps the dimension order of the first operand that has
its shape (so channels-last stays channels-last through elementwise ops,
convolutions and pools); ops that change the shape give row-major results.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Sequence

from .dtypes import DTypeLike, as_dtype, bool_, int64
from .tensor_type import (
    Dim,
    Shape,
    Size,
    TensorType,
    broadcast_sizes,
    factorize,
    format_shape,
    is_static,
    product,
    window_size,
)

if TYPE_CHECKING:
    from .errors import FusionError
    from .graph import Value


def _kept_order(shape: Shape, operands: Sequence["Value"]) -> tuple[int, ...]:
    for value in operands:
        if value.shape == shape and value.type.order:
            return value.type.order
    return ()


class Ops:
    """Mixed into `Builder`, which provides `emit` and `error`."""

    if TYPE_CHECKING:

        def emit(
            self,
            op: str,
            operands: Sequence[Value],
            type: TensorType,
            attributes: dict[str, Any] | None = None,
            kind: str = "",
        ) -> Value: ...

        def error(self, kind: str, message: str, remedy: str = "") -> FusionError: ...

    # Elementwise.

    def elementwise(
        self,
        op: str,
        operands: Sequence[Value],
        dtype: DTypeLike | None = None,
        *,
        kind: str = "",
        **attributes: Any,
    ) -> Value:
        """Any op whose operands have one shape; `dtype` is the last operand's
        unless given.
        """
        shape = operands[0].shape
        for value in operands[1:]:
            if value.shape != shape:
                raise self.error(
                    "argument",
                    f"{op}: operands of shapes {format_shape(shape)} and "
                    f"{format_shape(value.shape)} must have equal shapes",
                    "broadcast them first",
                )
        dtype = operands[-1].dtype if dtype is None else as_dtype(dtype)
        type = TensorType(dtype, shape, _kept_order(shape, operands))
        return self.emit(op, operands, type, attributes, kind)

    def unary(self, op: str, x: Value, **attributes: Any) -> Value:
        """exp, neg, relu, ... with the op's attributes."""
        return self.elementwise(op, [x], **attributes)

    def test(self, op: str, x: Value) -> Value:
        """is_nan, is_inf, is_finite."""
        return self.elementwise(op, [x], bool_)

    def binary(self, op: str, lhs: Value, rhs: Value) -> Value:
        """add, mul, pow, ... of two values of one element type."""
        self._check_same_dtype(op, lhs, rhs)
        return self.elementwise(op, [lhs, rhs])

    def compare(self, kind: str, lhs: Value, rhs: Value) -> Value:
        """`kind` is eq, ne, lt, le, gt or ge."""
        self._check_same_dtype("compare", lhs, rhs)
        return self.elementwise("compare", [lhs, rhs], bool_, kind=kind)

    def select(self, condition: Value, on_true: Value, on_false: Value) -> Value:
        self._check_same_dtype("select", on_true, on_false)
        return self.elementwise("select", [condition, on_true, on_false])

    def clamp(self, x: Value, lo: Value, hi: Value) -> Value:
        self._check_same_dtype("clamp", x, lo, hi)
        return self.elementwise("clamp", [x, lo, hi])

    def convert(self, x: Value, dtype: DTypeLike) -> Value:
        """`x` itself where it has the type already."""
        dtype = as_dtype(dtype)
        return x if x.dtype is dtype else self.elementwise("convert", [x], dtype)

    # Views.

    def iota(
        self, dtype: DTypeLike, shape: Shape, dim: int, like: Value | None = None
    ) -> Value:
        """The index along `dim`; `like` is needed for symbolic sizes."""
        operands = [] if is_static(shape) else [self._need_like("iota", like)]
        return self.emit(
            "iota", operands, TensorType(as_dtype(dtype), tuple(shape)), {"dim": dim}
        )

    def broadcast(
        self,
        x: Value,
        shape: Shape,
        dims: Sequence[int] | None = None,
        like: Value | None = None,
    ) -> Value:
        """Dimension i of `x` becomes dimension dims[i]; by default dimensions
        align at the end. `like` is needed where a symbolic size is new.
        """
        shape = tuple(shape)
        if dims is None:
            dims = range(len(shape) - x.rank, len(shape))
        kept = dict(zip(dims, x.shape))
        for i, size in kept.items():
            if i < 0 or broadcast_sizes(size, shape[i]) != shape[i]:
                raise self.error(
                    "argument",
                    f"broadcast: shape {format_shape(x.shape)} does not "
                    f"broadcast to {format_shape(shape)}",
                    "a size must be 1 or equal to the result's",
                )
        if shape == x.shape:
            return x
        operands = [x]
        if any(isinstance(s, Dim) and kept.get(i) != s for i, s in enumerate(shape)):
            operands.append(self._need_like("broadcast", like))
        type = TensorType(x.dtype, shape)
        return self.emit("broadcast", operands, type, {"dims": list(dims)})

    def broadcast_all(self, op: str, *values: Value) -> list[Value]:
        """The values broadcast to their common shape."""
        shape: list[Size] = [1] * max(v.rank for v in values)
        for value in values:
            for i, size in enumerate(value.shape, len(shape) - value.rank):
                common = broadcast_sizes(shape[i], size)
                if common is None:
                    shapes = " and ".join(format_shape(v.shape) for v in values)
                    raise self.error(
                        "argument",
                        f"{op}: shapes {shapes} do not broadcast: {shape[i]} "
                        f"meets {size}",
                        "make the sizes equal, or one of them 1",
                    )
                shape[i] = common
        like = next((v for v in values if v.shape == tuple(shape)), None)
        return [self.broadcast(v, tuple(shape), like=like) for v in values]

    def reshape(self, x: Value, shape: Sequence[Size]) -> Value:
        """Row-major reshape; one size may be -1."""
        shape = self._resolve_shape(x.shape, tuple(shape))
        if shape == x.shape:
            return x
        return self.emit("reshape", [x], TensorType(x.dtype, shape))

    def dense(self, x: Value) -> Value:
        """`x` as a value without strides: a view of a strided argument, `x`
        itself otherwise.
        """
        if not x.type.strides:
            return x
        return self.emit("reshape", [x], x.type.without_strides())

    def transpose(self, x: Value, permutation: Sequence[int]) -> Value:
        permutation = list(permutation)
        if permutation == list(range(x.rank)):
            return x
        shape = tuple(x.shape[i] for i in permutation)
        return self.emit(
            "transpose", [x], TensorType(x.dtype, shape), {"permutation": permutation}
        )

    def slice(
        self,
        x: Value,
        starts: Sequence[int],
        sizes: Sequence[Size],
        steps: Sequence[int] | None = None,
    ) -> Value:
        """Elements starts + i * steps, i < sizes, of each dimension. A symbolic
        size runs to the end.
        """
        steps = [1] * x.rank if steps is None else list(steps)
        if tuple(sizes) == x.shape and not any(starts) and set(steps) <= {1}:
            return x
        return self.emit(
            "slice",
            [x],
            TensorType(x.dtype, tuple(sizes)),
            {"starts": list(starts), "steps": steps},
        )

    def gather(self, x: Value, indices: Value, dim: int) -> Value:
        """x[..., indices[..., i, ...], ...] at `dim`; NaN or 0 outside. The
        shapes agree but along `dim`.
        """
        agree = len(indices.shape) == x.rank and all(
            a == b for i, (a, b) in enumerate(zip(x.shape, indices.shape)) if i != dim
        )
        if not agree or not indices.dtype.is_integer:
            raise self.error(
                "argument",
                f"gather along dimension {dim}: indices of shape "
                f"{format_shape(indices.shape)} and type {indices.dtype.name} do not "
                f"choose from shape {format_shape(x.shape)}",
                "integers whose other sizes are the operand's",
            )
        type = TensorType(x.dtype, indices.shape)
        return self.emit("gather", [x, indices], type, {"dim": dim})

    def reverse(self, x: Value, dims: Sequence[int]) -> Value:
        if not dims:
            return x
        x = self.dense(x)
        return self.emit("reverse", [x], x.type, {"dims": sorted(dims)})

    def pad(
        self, x: Value, value: Value, low: Sequence[int], high: Sequence[int]
    ) -> Value:
        """`value` (rank 0) around `x`; negative amounts cut elements off."""
        shape = []
        for size, lo, hi in zip(x.shape, low, high, strict=True):
            if isinstance(size, Dim):
                shape.append(size if lo + hi == 0 else Dim.fresh())
            else:
                shape.append(max(size + lo + hi, 0))
        if not any(low) and not any(high):
            return x
        return self.emit(
            "pad",
            [x, value],
            TensorType(x.dtype, tuple(shape)),
            {"low": list(low), "high": list(high)},
        )

    def concat(self, values: Sequence[Value], dim: int) -> Value:
        first = values[0]
        self._check_same_dtype("concat", *values)
        for value in values[1:]:
            if value.rank != first.rank or any(
                a != b
                for i, (a, b) in enumerate(zip(value.shape, first.shape))
                if i != dim
            ):
                raise self.error(
                    "argument",
                    f"concat along dimension {dim}: shapes "
                    f"{format_shape(first.shape)} and {format_shape(value.shape)} "
                    "differ in another dimension",
                )
        if len(values) == 1:
            return first
        sizes = [value.shape[dim] for value in values]
        total = sum(sizes) if is_static(sizes) else Dim.fresh()
        shape = first.shape[:dim] + (total,) + first.shape[dim + 1 :]
        return self.emit("concat", values, TensorType(first.dtype, shape), {"dim": dim})

    # Heroes.

    def reduce(self, kind: str, x: Value, dims: Sequence[int]) -> Value:
        """`kind` is sum, prod, min, max, any or all; `dims` are dropped."""
        dims = sorted(dims)
        if not dims:
            return x
        if kind in ("min", "max") and any(x.shape[d] == 0 for d in dims):
            raise self.error(
                "argument",
                f"reduce {kind}: shape {format_shape(x.shape)} has nothing to "
                f"reduce along dimensions {dims}",
                f"{kind} of no element is undefined; reduce other dimensions",
            )
        shape = tuple(s for i, s in enumerate(x.shape) if i not in dims)
        return self.emit(
            "reduce", [x], TensorType(x.dtype, shape), {"dims": dims}, kind
        )

    def arg_reduce(
        self, kind: str, x: Value, dim: int, dtype: DTypeLike = int64
    ) -> Value:
        """Index of the first min or max along `dim`, which is dropped."""
        if x.shape[dim] == 0:
            raise self.error(
                "argument",
                f"arg{kind}: dimension {dim} of shape {format_shape(x.shape)} is empty",
            )
        shape = x.shape[:dim] + x.shape[dim + 1 :]
        return self.emit(
            "arg_reduce", [x], TensorType(as_dtype(dtype), shape), {"dim": dim}, kind
        )

    def matmul(
        self,
        lhs: Value,
        rhs: Value,
        *,
        transpose_lhs: bool = False,
        transpose_rhs: bool = False,
        dtype: DTypeLike | None = None,
    ) -> Value:
        """Batched product of the last two dimensions; batch sizes are equal."""
        self._check_same_dtype("matmul", lhs, rhs)
        m, k1 = lhs.shape[-2:][::-1] if transpose_lhs else lhs.shape[-2:]
        k2, n = rhs.shape[-2:][::-1] if transpose_rhs else rhs.shape[-2:]
        if lhs.shape[:-2] != rhs.shape[:-2] or k1 != k2:
            raise self.error(
                "argument",
                f"matmul: shapes {format_shape(lhs.shape)} and "
                f"{format_shape(rhs.shape)} do not multiply: {k1} meets {k2}",
                "the last size of the left operand equals the last but one of "
                "the right operand, and batch sizes are equal",
            )
        dtype = lhs.dtype if dtype is None else as_dtype(dtype)
        return self.emit(
            "matmul",
            [lhs, rhs],
            TensorType(dtype, (*lhs.shape[:-2], m, n)),
            {"transpose_lhs": transpose_lhs, "transpose_rhs": transpose_rhs},
        )

    def conv(
        self,
        x: Value,
        weight: Value,
        bias: Value | None = None,
        *,
        strides: Sequence[int],
        pad_low: Sequence[int],
        pad_high: Sequence[int],
        dilations: Sequence[int],
        groups: int = 1,
    ) -> Value:
        """`x` [N, C, spatial...] with `weight` [K, C / groups, window...]."""
        operands = [x, weight] if bias is None else [x, weight, bias]
        self._check_same_dtype("conv", *operands)
        fits = x.rank == weight.rank and x.shape[1] == _times(weight.shape[1], groups)
        if not fits or x.rank - 2 not in (1, 2, 3) or weight.shape[0] % groups:
            raise self.error(
                "argument",
                f"conv: input {format_shape(x.shape)} does not fit weight "
                f"{format_shape(weight.shape)} with {groups} groups",
                "the input is [N, C, spatial...], the weight [K, C / groups, "
                "window...], and groups divides K",
            )
        sizes = [
            window_size(*numbers)
            for numbers in zip(
                x.shape[2:], weight.shape[2:], strides, pad_low, pad_high, dilations
            )
        ]
        shape = (x.shape[0], weight.shape[0], *sizes)
        return self.emit(
            "conv",
            operands,
            TensorType(x.dtype, shape, x.type.order),
            {
                "strides": strides,
                "pad_low": pad_low,
                "pad_high": pad_high,
                "dilations": dilations,
                "groups": groups,
            },
        )

    def pool(
        self,
        kind: str,
        x: Value,
        *,
        window: Sequence[int],
        strides: Sequence[int],
        pad_low: Sequence[int],
        pad_high: Sequence[int],
        dilations: Sequence[int],
        ceil_mode: bool = False,
        count_include_pad: bool = False,
    ) -> Value:
        """max or avg of windows over the last dimensions."""
        spatial = len(window)
        sizes = [
            window_size(*numbers, ceil_mode)
            for numbers in zip(
                x.shape[x.rank - spatial :],
                window,
                strides,
                pad_low,
                pad_high,
                dilations,
            )
        ]
        shape = (*x.shape[: x.rank - spatial], *sizes)
        return self.emit(
            "pool",
            [x],
            TensorType(x.dtype, shape, x.type.order),
            {
                "window": window,
                "strides": strides,
                "pad_low": pad_low,
                "pad_high": pad_high,
                "dilations": dilations,
                "ceil_mode": ceil_mode,
                "count_include_pad": count_include_pad,
            },
            kind,
        )

    # Composites: the result has the operand's type.

    def composite(
        self,
        op: str,
        x: Value,
        operands: Sequence[Value | None],
        attributes: dict[str, Any],
    ) -> Value:
        """softmax, log_softmax and the norms, with their optional operands."""
        x = self.dense(x)
        given = [x, *(v for v in operands if v is not None)]
        return self.emit(op, given, x.type, attributes)

    def softmax(self, x: Value, dim: int) -> Value:
        return self.composite("softmax", x, [], {"dim": dim})

    def log_softmax(self, x: Value, dim: int) -> Value:
        return self.composite("log_softmax", x, [], {"dim": dim})

    def layer_norm(
        self,
        x: Value,
        weight: Value | None,
        bias: Value | None,
        axis: int,
        epsilon: float,
    ) -> Value:
        return self.composite(
            "layer_norm", x, [weight, bias], {"axis": axis, "epsilon": float(epsilon)}
        )

    def rms_norm(
        self, x: Value, weight: Value | None, axis: int, epsilon: float
    ) -> Value:
        return self.composite(
            "rms_norm", x, [weight], {"axis": axis, "epsilon": float(epsilon)}
        )

    def group_norm(
        self,
        x: Value,
        weight: Value | None,
        bias: Value | None,
        groups: int,
        epsilon: float,
    ) -> Value:
        return self.composite(
            "group_norm",
            x,
            [weight, bias],
            {"groups": groups, "epsilon": float(epsilon)},
        )

    def batch_norm(
        self,
        x: Value,
        mean: Value,
        variance: Value,
        weight: Value | None,
        bias: Value | None,
        epsilon: float,
    ) -> Value:
        return self.composite(
            "batch_norm", x, [mean, variance, weight, bias], {"epsilon": float(epsilon)}
        )

    # Checks.

    def _check_same_dtype(self, op: str, *values: Value) -> None:
        for value in values[1:]:
            if value.dtype is not values[0].dtype:
                raise self.error(
                    "argument",
                    f"{op}: operands of element types {values[0].dtype.name} and "
                    f"{value.dtype.name} must have one element type",
                    "convert one of them with astype",
                )

    def _need_like(self, op: str, like: Value | None) -> Value:
        if like is not None:
            return like
        raise self.error(
            "unsupported",
            f"{op}: no operand gives the symbolic sizes of the result",
            "broadcast against an array that has the whole shape",
        )

    def _resolve_shape(self, old: Shape, new: Shape) -> Shape:
        """`new` with -1 replaced; FusionError unless the element counts agree."""
        known = tuple(s for s in new if s != -1)
        have, factors = factorize(old)
        want, wanted = factorize(known)
        for size in wanted:
            if size not in factors:
                break
            factors.remove(size)
        else:
            open_sizes = len(new) - len(known)
            if open_sizes == 1 and want and have % want == 0:
                inferred = product([have // want, *factors])
                return tuple(inferred if s == -1 else s for s in new)
            if open_sizes == 0 and have == want and not factors:
                return new
        raise self.error(
            "argument",
            f"reshape: shape {format_shape(old)} does not become {format_shape(new)}",
            "the number of elements stays the same, and at most one size is -1",
        )


def _times(size: Size, factor: int) -> Size:
    return size * factor if isinstance(size, int) else size
