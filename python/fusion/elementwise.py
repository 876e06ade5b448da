"""Elementwise functions of the Python array API standard, and numpy's kin.

Every function takes traced arrays, arrays of any framework and Python numbers
in any mix, broadcasts them and promotes their element types by numpy's rules
(Python numbers take the arrays' type). Float functions of integers compute in
the float type that numpy chooses. Shapes that do not broadcast are a
FusionError. Semantics at the corners are those of the op named in the dialect.
"""

from __future__ import annotations

from typing import Callable

from . import dtypes
from .array import FUNCTIONS, Array, ArrayLike, public
from .dtypes import DType, DTypeLike, as_dtype, bool_
from .location import error
from .tracer import broadcast_values, common_dtype, lift, meet


def _emit_unary(op: str, x: Array, **attributes) -> Array:
    return Array(x.builder.unary(op, x.value, **attributes))


def as_float(x: ArrayLike) -> Array:
    """`x` in the float type in which numpy computes float functions of it."""
    x = lift(x)
    return x.astype(dtypes.real(x.dtype))


def _define(name: str, doc: str, function: Callable) -> Callable:
    function.__name__ = function.__qualname__ = name
    function.__doc__ = doc
    return public(function)


# Unary functions of floats, by dialect op.


def _float_unary(name: str, op: str, doc: str) -> Callable[[ArrayLike], Array]:
    def function(x: ArrayLike) -> Array:
        return _emit_unary(op, as_float(x))

    return _define(name, f"{doc}; same shape, float element type.", function)


exp = _float_unary("exp", "exp", "Natural exponential")
exp2 = _float_unary("exp2", "exp2", "2 to the power of x")
expm1 = _float_unary("expm1", "expm1", "exp(x) - 1 without cancellation")
log = _float_unary("log", "log", "Natural logarithm")
log2 = _float_unary("log2", "log2", "Logarithm to base 2")
log10 = _float_unary("log10", "log10", "Logarithm to base 10")
log1p = _float_unary("log1p", "log1p", "log(1 + x) without cancellation")
sqrt = _float_unary("sqrt", "sqrt", "Square root, correctly rounded")
rsqrt = _float_unary("rsqrt", "rsqrt", "1 / sqrt(x)")
cbrt = _float_unary("cbrt", "cbrt", "Cube root")
sin = _float_unary("sin", "sin", "Sine")
cos = _float_unary("cos", "cos", "Cosine")
tan = _float_unary("tan", "tan", "Tangent")
asin = _float_unary("asin", "asin", "Arc sine")
acos = _float_unary("acos", "acos", "Arc cosine")
atan = _float_unary("atan", "atan", "Arc tangent")
sinh = _float_unary("sinh", "sinh", "Hyperbolic sine")
cosh = _float_unary("cosh", "cosh", "Hyperbolic cosine")
tanh = _float_unary("tanh", "tanh", "Hyperbolic tangent")
asinh = _float_unary("asinh", "asinh", "Inverse hyperbolic sine")
acosh = _float_unary("acosh", "acosh", "Inverse hyperbolic cosine")
atanh = _float_unary("atanh", "atanh", "Inverse hyperbolic tangent")
erf = _float_unary("erf", "erf", "Error function")
erfc = _float_unary("erfc", "erfc", "Complementary error function")


@public
def reciprocal(x: ArrayLike) -> Array:
    """1 / x, correctly rounded; same shape, float element type."""
    return _emit_unary("reciprocal", as_float(x))


# Rounding: integers are unchanged.


def _rounding(name: str, op: str, doc: str) -> Callable[[ArrayLike], Array]:
    def function(x: ArrayLike) -> Array:
        x = lift(x)
        return _emit_unary(op, x) if x.dtype.is_float else x

    return _define(
        name, f"{doc}; integers are unchanged. Type and shape of x.", function
    )


floor = _rounding("floor", "floor", "Round toward minus infinity")
ceil = _rounding("ceil", "ceil", "Round toward plus infinity")
trunc = _rounding("trunc", "trunc", "Round toward zero")


@public
def round(x: ArrayLike, decimals: int = 0) -> Array:
    """Round to nearest, ties to even, at `decimals` digits after the point."""
    x = lift(x)
    if not x.dtype.is_float:
        return x
    if decimals == 0:
        return _emit_unary("round", x)
    if decimals > 0:
        scale = 10.0**decimals
        return divide(_emit_unary("round", multiply(x, scale)), scale)
    scale = 10.0**-decimals
    return multiply(_emit_unary("round", divide(x, scale)), scale)


# Unary functions of numbers.


def _number(x: ArrayLike, name: str) -> Array:
    x = lift(x)
    if x.dtype is bool_:
        raise error(
            "argument", f"{name} of a bool array", "use ~, or convert it with astype"
        )
    return x


@public
def abs(x: ArrayLike) -> Array:
    """Absolute value; the most negative integer is unchanged, as is a bool."""
    x = lift(x)
    return x if x.dtype is bool_ else _emit_unary("abs", x)


@public
def negative(x: ArrayLike) -> Array:
    """-x; integers wrap."""
    return _emit_unary("neg", _number(x, "negative"))


@public
def positive(x: ArrayLike) -> Array:
    """x itself."""
    return _number(x, "positive")


@public
def sign(x: ArrayLike) -> Array:
    """-1, 0 or 1 by the sign; NaN gives NaN."""
    return _emit_unary("sign", _number(x, "sign"))


@public
def square(x: ArrayLike) -> Array:
    """x * x."""
    x = lift(x)
    return multiply(x, x)


def _test(name: str, op: str, doc: str, of_integers: bool):
    def function(x: ArrayLike) -> Array:
        x = lift(x)
        if x.dtype.is_float:
            return Array(x.builder.test(op, x.value))
        return FUNCTIONS["full_like"](x, of_integers, dtype=bool_)

    return _define(
        name, f"True where the element is {doc}. Bool, shape of x.", function
    )


isnan = _test("isnan", "is_nan", "NaN", False)
isinf = _test("isinf", "is_inf", "an infinity", False)
isfinite = _test("isfinite", "is_finite", "neither NaN nor an infinity", True)


@public
def signbit(x: ArrayLike) -> Array:
    """True where the sign bit is set, also for -0.0 and negative NaN."""
    x = lift(x)
    if not x.dtype.is_float:
        return less(x, 0)
    return less(copysign(lift(1.0, x.dtype), x), 0.0)


# Binary functions of numbers.


def _binary(name: str, op: str, doc: str, of_bools: str | None = None):
    """`of_bools` is the op for two bool operands; None refuses them."""

    def function(x1: ArrayLike, x2: ArrayLike) -> Array:
        chosen = op
        if common_dtype(x1, x2) is bool_:
            if of_bools is None:
                raise error(
                    "argument",
                    f"{name} of two bool arrays",
                    "use & | ^ ~, or convert them with astype",
                )
            chosen = of_bools
        a, b = meet(name, x1, x2)
        return Array(a.builder.binary(chosen, a, b))

    return _define(name, f"{doc}; broadcast shape, promoted element type.", function)


add = _binary("add", "add", "x1 + x2, integers wrap", of_bools="or")
subtract = _binary("subtract", "sub", "x1 - x2, integers wrap")
multiply = _binary("multiply", "mul", "x1 * x2, integers wrap", of_bools="and")
floor_divide = _binary(
    "floor_divide", "floor_div", "Quotient rounded down, by zero 0 for integers"
)
remainder = _binary("remainder", "remainder", "Remainder with the divisor's sign")
fmod = _binary("fmod", "fmod", "Remainder with the dividend's sign")
minimum = _binary("minimum", "min", "Smaller of two, NaN if either is", of_bools="and")
maximum = _binary("maximum", "max", "Larger of two, NaN if either is", of_bools="or")
pow = _binary("pow", "pow", "x1 to the power of x2")


@public
def divide(x1: ArrayLike, x2: ArrayLike) -> Array:
    """x1 / x2 in floats, correctly rounded; integers give float64."""
    dtype = common_dtype(x1, x2)
    if not dtype.is_float:
        dtype = dtypes.float64
    a, b = meet("divide", x1, x2, dtype=dtype)
    return Array(a.builder.binary("div", a, b))


@public
def power(x1: ArrayLike, x2: ArrayLike) -> Array:
    """`x1 ** x2`: the Python exponents 2, 1 and 0.5 cost no power function."""
    if isinstance(x1, Array) and isinstance(x2, (int, float)):
        if x2 == 2:
            return square(x1)
        if x2 == 1 and isinstance(x2, int):
            return x1
        if x2 == 0.5 and x1.dtype.is_float:
            return sqrt(x1)
    return pow(x1, x2)


def _float_binary(name: str, op: str, doc: str):
    def function(x1: ArrayLike, x2: ArrayLike) -> Array:
        a, b = meet(name, x1, x2, dtype=dtypes.real(common_dtype(x1, x2)))
        return Array(a.builder.binary(op, a, b))

    return _define(name, f"{doc}; broadcast shape, float element type.", function)


atan2 = _float_binary("atan2", "atan2", "Angle of the point (x2, x1)")
copysign = _float_binary("copysign", "copysign", "Magnitude of x1, sign of x2")
hypot = _float_binary("hypot", "hypot", "sqrt(x1^2 + x2^2) without overflow")


@public
def logaddexp(x1: ArrayLike, x2: ArrayLike) -> Array:
    """log(exp(x1) + exp(x2)) without overflow; float element type."""
    dtype = dtypes.real(common_dtype(x1, x2))
    a, b = lift(x1, dtype).astype(dtype), lift(x2, dtype).astype(dtype)
    distance = negative(abs(subtract(a, b)))
    larger = maximum(a, b)
    # Infinities may have no difference: the larger one is the answer.
    total = add(larger, log1p(exp(distance)))
    return where(isfinite(larger), total, larger)


# Comparison and logic.


def _comparison(name: str, kind: str, doc: str):
    def function(x1: ArrayLike, x2: ArrayLike) -> Array:
        a, b = meet(name, x1, x2, dtype=_comparison_dtype(x1, x2))
        return Array(a.builder.compare(kind, a, b))

    return _define(name, f"True where {doc}; broadcast shape, bool.", function)


def _comparison_dtype(*operands: ArrayLike) -> DType:
    """Integers out of an array's range still compare right, in int64."""
    dtype = common_dtype(*operands)
    if dtype.is_integer:
        for x in operands:
            if isinstance(x, int) and not dtypes.fits(x, dtype):
                return dtypes.int64
    return dtype


equal = _comparison("equal", "eq", "x1 == x2")
not_equal = _comparison("not_equal", "ne", "x1 != x2")
less = _comparison("less", "lt", "x1 < x2")
less_equal = _comparison("less_equal", "le", "x1 <= x2")
greater = _comparison("greater", "gt", "x1 > x2")
greater_equal = _comparison("greater_equal", "ge", "x1 >= x2")


def _logical(name: str, op: str, doc: str):
    def function(x1: ArrayLike, x2: ArrayLike) -> Array:
        a, b = meet(name, x1, x2, dtype=bool_)
        return Array(a.builder.binary(op, a, b))

    return _define(
        name, f"{doc} of the operands' truth; broadcast shape, bool.", function
    )


logical_and = _logical("logical_and", "and", "And")
logical_or = _logical("logical_or", "or", "Or")
logical_xor = _logical("logical_xor", "xor", "Exclusive or")


@public
def logical_not(x: ArrayLike) -> Array:
    """True where the element is zero or false."""
    return _emit_unary("not", lift(x).astype(bool_))


def _bits(name: str, op: str, doc: str, bools: bool = True):
    def function(x1: ArrayLike, x2: ArrayLike) -> Array:
        dtype = common_dtype(x1, x2)
        if dtype.is_float or (dtype is bool_ and not bools):
            raise error(
                "argument",
                f"{name} of element type {dtype.name}",
                "use integer arrays" + (" or bool arrays" if bools else ""),
            )
        a, b = meet(name, x1, x2)
        return Array(a.builder.binary(op, a, b))

    return _define(name, f"{doc}; broadcast shape, promoted integer type.", function)


bitwise_and = _bits("bitwise_and", "and", "Bitwise and, logical on bools")
bitwise_or = _bits("bitwise_or", "or", "Bitwise or, logical on bools")
bitwise_xor = _bits("bitwise_xor", "xor", "Bitwise exclusive or, logical on bools")
bitwise_left_shift = _bits(
    "bitwise_left_shift", "shift_left", "Shift left, 0 past the width", bools=False
)
bitwise_right_shift = _bits(
    "bitwise_right_shift",
    "shift_right",
    "Shift right with the sign, 0 or -1 past the width",
    bools=False,
)


@public
def bitwise_invert(x: ArrayLike) -> Array:
    """Complement of every bit; logical not on bools."""
    x = lift(x)
    if x.dtype.is_float:
        raise error(
            "argument",
            f"bitwise_invert of element type {x.dtype.name}",
            "use an integer or bool array",
        )
    return _emit_unary("not", x)


# Choice.


@public
def where(condition: ArrayLike, x1: ArrayLike, x2: ArrayLike) -> Array:
    """x1 where the condition holds, else x2; broadcast shape, promoted type."""
    dtype = common_dtype(x1, x2)
    operands = [lift(condition).astype(bool_)]
    operands += [lift(x, dtype).astype(dtype) for x in (x1, x2)]
    c, a, b = broadcast_values("where", operands)
    return Array(c.builder.select(c, a, b))


@public
def clip(
    x: ArrayLike, min: ArrayLike | None = None, max: ArrayLike | None = None
) -> Array:
    """x bounded below by `min` and above by `max`, either may be None. NaN in
    any operand gives NaN; where min > max the result is max.
    """
    if min is None and max is None:
        return lift(x)
    if min is None:
        return minimum(x, max)
    if max is None:
        return maximum(x, min)
    x, lo, hi = meet("clip", x, min, max)
    return Array(x.builder.clamp(x, lo, hi))


@public
def nan_to_num(
    x: ArrayLike,
    nan: float = 0.0,
    posinf: float | None = None,
    neginf: float | None = None,
) -> Array:
    """NaN and infinities replaced, by default by 0 and the largest numbers."""
    x = lift(x)
    if not x.dtype.is_float:
        return x
    largest = dtypes.largest(x.dtype)
    x_inf = where(greater(x, largest), largest if posinf is None else posinf, x)
    x_inf = where(less(x, -largest), -largest if neginf is None else neginf, x_inf)
    return where(isnan(x), nan, x_inf)


@public
def astype(x: ArrayLike, dtype: DTypeLike) -> Array:
    """The elements converted; float to integer saturates, NaN gives 0."""
    return lift(x).astype(as_dtype(dtype))


@public
def isclose(
    x1: ArrayLike,
    x2: ArrayLike,
    rtol: float = 1e-5,
    atol: float = 1e-8,
    equal_nan: bool = False,
) -> Array:
    """True where |x1 - x2| <= atol + rtol * |x2|; infinities equal themselves."""
    near = less_equal(abs(subtract(x1, x2)), add(atol, multiply(rtol, abs(x2))))
    result = logical_or(logical_and(near, isfinite(x2)), equal(x1, x2))
    if equal_nan:
        result = logical_or(result, logical_and(isnan(x1), isnan(x2)))
    return result
