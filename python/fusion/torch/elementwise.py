"""Lowering rules of elementwise ops.

ATen promotes implicitly, so that a rule says the kind of promotion: `FLOAT` for
functions that give floats of integers, `BOOL` for tests. Ops of several steps are
computed in the type in which eager computes them and rounded once.
"""

from __future__ import annotations

import math

from ..dtypes import DType, bfloat16, bool_, float16, uint8
from .lowering import Lowering, Number, Operand, Promotion, Unsupported, Value, rule

FLOAT = Promotion.INT_TO_FLOAT
BOOL = Promotion.ALWAYS_BOOL

# Unary.

# By ATen's name: the dialect's op.
_FLOAT_UNARY = {
    name: name
    for name in (
        "exp exp2 expm1 log log2 log10 log1p sqrt rsqrt reciprocal sin cos tan asin "
        "acos atan sinh cosh tanh asinh acosh atanh erf erfc sigmoid"
    ).split()
}
_ROUNDING = "floor ceil round trunc".split()
_ACTIVATIONS = {
    "silu": "silu",
    "mish": "mish",
    "hardswish": "hard_swish",
    "hardsigmoid": "hard_sigmoid",
}


def _define_unary(name: str, op: str, kind: Promotion) -> None:
    @rule(f"{name}.default")
    def lower(g: Lowering, x: Value) -> Value:
        return g.pointwise(op, [x], kind)


def _define_rounding(name: str) -> None:
    @rule(f"{name}.default")
    def lower(g: Lowering, x: Value) -> Value:
        return g.pointwise(name, [x]) if x.dtype.is_float else x


for _name, _op in _FLOAT_UNARY.items():
    _define_unary(_name, _op, FLOAT)
for _name, _op in _ACTIVATIONS.items():
    _define_unary(_name, _op, Promotion.DEFAULT)
for _name in _ROUNDING:
    _define_rounding(_name)


def _needs_number(x: Value) -> None:
    if x.dtype is bool_:
        raise Unsupported("eager refuses it on bools")


@rule("abs.default")
def lower_abs(g: Lowering, x: Value) -> Value:
    return x if x.dtype is bool_ else g.unary("abs", x)


@rule("neg.default")
def lower_neg(g: Lowering, x: Value) -> Value:
    _needs_number(x)
    return g.unary("neg", x)


@rule("sign.default", "sgn.default")
def lower_sign(g: Lowering, x: Value) -> Value:
    if x.dtype is bool_:
        return x
    result = g.unary("sign", x)
    if not x.dtype.is_float:
        return result
    # Eager's sign of NaN is 0, and a zero loses its sign.
    zero = g.filled(0, x.dtype, x.shape)
    return g.select(g.compare("ne", x, x), zero, g.binary("add", result, zero))


@rule("relu.default")
def lower_relu(g: Lowering, x: Value) -> Value:
    _needs_number(x)
    return g.unary("relu", x)


@rule("gelu.default")
def lower_gelu(g: Lowering, x: Value, *, approximate: str = "none") -> Value:
    form = "#fusion<approximation tanh>" if approximate == "tanh" else None
    return g.unary("gelu", x, approximate=form)


@rule("elu.default")
def lower_elu(
    g: Lowering,
    x: Value,
    alpha: Number = 1,
    scale: Number = 1,
    input_scale: Number = 1,
) -> Value:
    if scale == 1 and input_scale == 1:
        return g.unary("elu", x, alpha=float(alpha))
    # x > 0 ? scale * x : scale * alpha * expm1(input_scale * x)
    compute, result = g.promote([x])
    x = g.convert(x, compute)
    scaled = _times(g, x, input_scale)
    negative = _times(g, g.unary("expm1", scaled), alpha * scale)
    positive = _times(g, x, scale)
    above = g.compare("gt", x, g.filled(0, compute, x.shape))
    return g.convert(g.select(above, positive, negative), result)


def _times(g: Lowering, x: Value, factor: Number) -> Value:
    return x if factor == 1 else g.binary("mul", *g.meet([x, factor], x.dtype))


@rule("leaky_relu.default")
def lower_leaky_relu(g: Lowering, x: Value, negative_slope: Number = 0.01) -> Value:
    return g.unary("leaky_relu", x, slope=float(negative_slope))


@rule("softplus.default")
def lower_softplus(
    g: Lowering, x: Value, beta: Number = 1, threshold: Number = 20
) -> Value:
    if beta == 1 and threshold == 20:
        return g.unary("softplus", x)
    compute, result = g.promote([x])
    x = g.convert(x, compute)
    scaled = _times(g, x, beta)
    curve = g.unary("log1p", g.unary("exp", scaled))
    curve = g.binary("div", *g.meet([curve, beta], compute))
    straight = g.compare("gt", *g.meet([scaled, threshold], compute))
    return g.convert(g.select(straight, x, curve), result)


@rule("bitwise_not.default")
def lower_bitwise_not(g: Lowering, x: Value) -> Value:
    return g.unary("not", x)


@rule("logical_not.default")
def lower_logical_not(g: Lowering, x: Value) -> Value:
    return g.unary("not", g.convert(x, bool_))


def _define_test(name: str, op: str, of_integers: bool) -> None:
    @rule(f"{name}.default")
    def lower(g: Lowering, x: Value) -> Value:
        if x.dtype.is_float:
            return g.test(op, x)
        return g.filled(of_integers, bool_, x.shape)


for _name, _op, _of_integers in (
    ("isnan", "is_nan", False),
    ("isinf", "is_inf", False),
    ("isfinite", "is_finite", True),
):
    _define_test(_name, _op, _of_integers)


# Binary.


def _arithmetic(
    g: Lowering, op: str, of_bools: str | None, x: Operand, y: Operand
) -> Value:
    compute, _ = g.promote([x, y])
    if compute is bool_:
        if of_bools is None:
            raise Unsupported("eager refuses it on bools")
        op = of_bools
    return g.pointwise(op, [x, y])


def _add_scaled(g: Lowering, op: str, x: Operand, y: Operand, alpha: Number) -> Value:
    """x op alpha * y, rounded once."""
    of_bools = "or" if op == "add" else None
    if alpha == 1:
        return _arithmetic(g, op, of_bools, x, y)
    compute, result = g.promote([x, y])
    if compute is bool_:
        raise Unsupported("a scaled sum of bools")
    factor = g.binary("mul", *g.meet([y, alpha], compute))
    return g.convert(g.binary(op, *g.meet([x, factor], compute)), result)


@rule("add.Tensor", "add.Scalar")
def lower_add(g: Lowering, x: Operand, y: Operand, *, alpha: Number = 1) -> Value:
    return _add_scaled(g, "add", x, y, alpha)


@rule("sub.Tensor", "sub.Scalar")
def lower_sub(g: Lowering, x: Operand, y: Operand, *, alpha: Number = 1) -> Value:
    return _add_scaled(g, "sub", x, y, alpha)


@rule("rsub.Tensor", "rsub.Scalar")
def lower_rsub(g: Lowering, x: Value, y: Operand, alpha: Number = 1) -> Value:
    return _add_scaled(g, "sub", y, x, alpha)


@rule("mul.Tensor", "mul.Scalar")
def lower_mul(g: Lowering, x: Operand, y: Operand) -> Value:
    return _arithmetic(g, "mul", "and", x, y)


@rule("maximum.default")
def lower_maximum(g: Lowering, x: Value, y: Value) -> Value:
    return _arithmetic(g, "max", "or", x, y)


@rule("minimum.default")
def lower_minimum(g: Lowering, x: Value, y: Value) -> Value:
    return _arithmetic(g, "min", "and", x, y)


def _define_binary(names: tuple[str, ...], op: str, kind: Promotion) -> None:
    @rule(*names)
    def lower(g: Lowering, x: Operand, y: Operand) -> Value:
        return g.pointwise(op, [x, y], kind)


for _names, _op, _kind in (
    (("atan2.default",), "atan2", FLOAT),
    (("copysign.Tensor", "copysign.Scalar"), "copysign", FLOAT),
    (("hypot.default",), "hypot", Promotion.DEFAULT),
    (("floor_divide.default", "floor_divide.Scalar"), "floor_div", Promotion.DEFAULT),
    (("bitwise_and.Tensor", "bitwise_and.Scalar"), "and", Promotion.DEFAULT),
    (("bitwise_or.Tensor", "bitwise_or.Scalar"), "or", Promotion.DEFAULT),
    (("bitwise_xor.Tensor", "bitwise_xor.Scalar"), "xor", Promotion.DEFAULT),
    (
        (
            "bitwise_left_shift.Tensor",
            "bitwise_left_shift.Tensor_Scalar",
            "__lshift__.Tensor",
            "__lshift__.Scalar",
        ),
        "shift_left",
        Promotion.DEFAULT,
    ),
    (
        (
            "bitwise_right_shift.Tensor",
            "bitwise_right_shift.Tensor_Scalar",
            "__rshift__.Tensor",
            "__rshift__.Scalar",
        ),
        "shift_right",
        Promotion.DEFAULT,
    ),
):
    _define_binary(_names, _op, _kind)


@rule("remainder.Tensor", "remainder.Scalar", "remainder.Scalar_Tensor")
def lower_remainder(g: Lowering, x: Operand, y: Operand) -> Value:
    return _of_rounded("remainder", g, x, y)


@rule("fmod.Tensor", "fmod.Scalar")
def lower_fmod(g: Lowering, x: Operand, y: Operand) -> Value:
    return _of_rounded("fmod", g, x, y)


def _of_rounded(op: str, g: Lowering, x: Operand, y: Operand) -> Value:
    """Unlike sums and products, remainders in eager round a number to a half."""
    _, result = g.promote([x, y])
    return g.pointwise(
        op, [v if isinstance(v, Value) else g.scalar(v, result) for v in (x, y)]
    )


@rule("div.Tensor", "div.Scalar")
def lower_div(g: Lowering, x: Operand, y: Operand) -> Value:
    return g.pointwise("div", [x, y], FLOAT)


@rule("div.Tensor_mode", "div.Scalar_mode")
def lower_div_mode(
    g: Lowering, x: Operand, y: Operand, *, rounding_mode: str | None = None
) -> Value:
    if rounding_mode is None:
        return lower_div(g, x, y)
    if rounding_mode == "floor":
        return g.pointwise("floor_div", [x, y])
    compute, result = g.promote([x, y])
    quotient = g.binary("div", *g.meet([x, y], compute))
    # Of two tensors eager rounds the quotient to a half before it drops the fraction.
    if all(isinstance(v, Value) for v in (x, y)):
        quotient = g.convert(quotient, result)
    if compute.is_float:
        quotient = g.unary("trunc", quotient)
    return g.convert(quotient, result)


# Powers: eager has short forms for some exponents, and their roundings.


def _power(g: Lowering, x: Value, exponent: float) -> Value | None:
    """`x` to one of the exponents with a short form, None for another."""
    square = exponent in (2, -2, 3)
    power = g.binary("mul", x, x) if square else x
    if exponent == 3:
        return g.binary("mul", power, x)
    if exponent in (1, 2):
        return power
    if not x.dtype.is_float:
        return None
    if exponent in (-1, -2):
        return g.unary("reciprocal", power)
    if abs(exponent) == 0.5:
        return g.unary("sqrt" if exponent > 0 else "rsqrt", x)
    return None


@rule("pow.Tensor_Scalar")
def lower_pow_scalar(g: Lowering, x: Value, exponent: Number) -> Value:
    compute, result = g.promote([x, exponent], Promotion.BOOL_TO_LONG)
    base = g.convert(x, compute)
    power = _power(g, base, exponent)
    if power is None:
        power = g.binary("pow", *g.meet([base, exponent], compute))
    return g.convert(power, result)


@rule("pow.Tensor_Tensor", "pow.Scalar")
def lower_pow(g: Lowering, x: Operand, exponent: Value) -> Value:
    return g.pointwise("pow", [x, exponent], Promotion.BOOL_TO_LONG)


# Comparison and logic.


def comparable(x: Value, g: Lowering) -> Value:
    """Bools in an unsigned type, where false is less than true."""
    return g.convert(x, uint8) if x.dtype is bool_ else x


def _define_compare(kind: str) -> None:
    @rule(f"{kind}.Tensor", f"{kind}.Scalar")
    def lower(g: Lowering, x: Operand, y: Operand) -> Value:
        compute = _comparison_type(g, x, y)
        a, b = (comparable(v, g) for v in g.meet([x, y], compute))
        return g.compare(kind, a, b)


def _comparison_type(g: Lowering, x: Operand, y: Operand) -> DType:
    """Halves are compared as they are: a number is rounded to their type."""
    compute, _ = g.promote([x, y], BOOL)
    _, common = g.promote([x, y])
    return common if common in (float16, bfloat16) else compute


for _kind in ("eq", "ne", "lt", "le", "gt", "ge"):
    _define_compare(_kind)


def _define_logical(name: str, op: str) -> None:
    @rule(f"{name}.default")
    def lower(g: Lowering, x: Value, y: Value) -> Value:
        return g.binary(op, *g.meet([x, y], bool_))


for _name, _op in (
    ("logical_and", "and"),
    ("logical_or", "or"),
    ("logical_xor", "xor"),
):
    _define_logical(_name, _op)


# Choice.


@rule("where.self", "where.ScalarSelf", "where.ScalarOther", "where.Scalar")
def lower_where(g: Lowering, condition: Value, x: Operand, y: Operand) -> Value:
    values = [g.cast(condition, bool_), g.cast(x, g.dtype), g.cast(y, g.dtype)]
    return g.select(*g.broadcast_all("where", *values))


@rule("masked_fill.Scalar", "masked_fill.Tensor")
def lower_masked_fill(g: Lowering, x: Value, mask: Value, value: Operand) -> Value:
    operands = [g.convert(mask, bool_), g.cast(value, x.dtype), x]
    return g.select(*g.broadcast_all("masked_fill", *operands))


@rule("clamp.default", "clamp.Tensor")
def lower_clamp(
    g: Lowering, x: Value, min: Operand | None = None, max: Operand | None = None
) -> Value:
    bounds = [b for b in (min, max) if b is not None]
    if len(bounds) == 2:
        return g.pointwise("clamp", [x, *bounds])
    return g.pointwise("max" if min is not None else "min", [x, *bounds])


@rule("clamp_min.default", "clamp_min.Tensor")
def lower_clamp_min(g: Lowering, x: Value, min: Operand) -> Value:
    return g.pointwise("max", [x, min])


@rule("clamp_max.default", "clamp_max.Tensor")
def lower_clamp_max(g: Lowering, x: Value, max: Operand) -> Value:
    return g.pointwise("min", [x, max])


@rule("hardtanh.default")
def lower_hardtanh(
    g: Lowering, x: Value, min_val: Number = -1, max_val: Number = 1
) -> Value:
    return g.pointwise("clamp", [x, min_val, max_val])


# Conversion.


@rule("prims.convert_element_type.default")
def lower_convert(g: Lowering, x: Value, dtype: object) -> Value:
    return g.convert(x, g.dtype)


@rule("_to_copy.default")
def lower_to_copy(g: Lowering, x: Value, **options: object) -> Value:
    return g.convert(x, g.dtype)


@rule("log_sigmoid_forward.default")
def lower_log_sigmoid(g: Lowering, x: Value) -> tuple[Value, None]:
    # min(x, 0) - log1p(exp(-|x|)); the second result serves the gradient.
    compute, result = g.promote([x])
    x = g.convert(x, compute)
    smaller = g.binary("min", *g.meet([x, 0], compute))
    tail = g.unary("log1p", g.unary("exp", g.unary("neg", g.unary("abs", x))))
    return g.convert(g.binary("sub", smaller, tail), result), None


@rule("nan_to_num.default")
def lower_nan_to_num(
    g: Lowering,
    x: Value,
    nan: Number | None = None,
    posinf: Number | None = None,
    neginf: Number | None = None,
) -> Value:
    if not x.dtype.is_float:
        return x
    from ..dtypes import largest

    limit = largest(x.dtype)

    def replaced(y: Value, condition: Value, number: Number | None, default: float):
        number = default if number is None else number
        return g.select(condition, g.filled(number, x.dtype, x.shape), y)

    infinity = g.filled(math.inf, x.dtype, x.shape)
    y = replaced(x, g.test("is_nan", x), nan, 0.0)
    y = replaced(y, g.compare("eq", x, infinity), posinf, limit)
    return replaced(y, g.compare("eq", x, g.unary("neg", infinity)), neginf, -limit)
