//===- FusionElementwise.td - elementwise ops -----------------------------===//
//
// One result element is a function of the operands' elements at the same index.
// There is no implicit broadcasting: shapes are equal, `fusion.broadcast` makes
// them so and costs nothing once fused.
//
//===----------------------------------------------------------------------===//

#ifndef FUSION_ELEMENTWISE_TD
#define FUSION_ELEMENTWISE_TD

include "FusionBase.td"
include "FusionInterfaces.td"
include "mlir/Interfaces/SideEffectInterfaces.td"

defvar ElementwiseTraits = [Pure, SameOperandsAndResultShape,
  DeclareOpInterfaceMethods<Fusion_ElementInterface, ["getElementCost"]>,
  Fusion_IndexMapInterface, DeclareOpInterfaceMethods<Fusion_DimsInterface>];

class Fusion_ElementwiseOp<string mnemonic, list<Trait> traits = []>
    : Op<Fusion_Dialect, mnemonic, !listconcat(ElementwiseTraits, traits)> {
  // Every op of the dialect is written `op operands attributes : types`.
  let assemblyFormat =
      "operands attr-dict `:` functional-type(operands, results)";
}

//===----------------------------------------------------------------------===//
// Unary
//===----------------------------------------------------------------------===//

// The type of the operands in an op's example: one that the op takes.
class Fusion_ExampleOf<Type operand> {
  bit integer = !or(!eq(operand, Fusion_IntTensor), !eq(operand, Fusion_BitsTensor));
  string type = !if(integer, "tensor<4x8xi32>", "tensor<4x8xf32>");
}

class Fusion_Unary<string mnemonic, string sum, string desc, Type type,
                   list<Trait> traits = []>
    : Fusion_ElementwiseOp<mnemonic,
        !listconcat(traits, [SameOperandsAndResultElementType])> {
  string example = Fusion_ExampleOf<type>.type;
  let summary = sum;
  let description = desc # [{

    Constraints:
    - (C1) operand and result have the same shape and element type.

    ```mlir
    %y = fusion.}] # mnemonic # " %x : (" # example # ") -> " # example # [{
    ```
  }];
  let arguments = (ins Arg<type, "the operand, any shape">:$x);
  let results = (outs Res<type, "same shape and element type">:$result);
}

// f16 and bf16 are computed in f32 and rounded once to the result type.
class Fusion_FloatUnary<string mnemonic, string sum, string desc = "">
    : Fusion_Unary<mnemonic, sum, !if(!empty(desc),
        sum # [{, as IEEE 754-2019 section 9 and C23 Annex F define its special
        cases; f16 and bf16 are computed in f32 and rounded once.}], desc),
        Fusion_FloatTensor>;

def Fusion_AbsOp : Fusion_Unary<"abs", "absolute value",
  "Clears the sign; the most negative integer and every ui8 are unchanged.",
  Fusion_NumberTensor> { let hasFolder = 1; }
def Fusion_NegOp : Fusion_Unary<"neg", "negation",
  "Flips the sign bit of a float; integers wrap (also ui8: -6 is 250).",
  Fusion_NumberTensor>;
def Fusion_SignOp : Fusion_Unary<"sign", "sign as -1, 0 or 1",
  "NaN gives NaN, a zero gives itself; ui8 gives 0 or 1.", Fusion_NumberTensor>;
def Fusion_NotOp : Fusion_Unary<"not", "bitwise complement",
  "Complements every bit; the logical complement on i1.", Fusion_BitsTensor>;

def Fusion_ExpOp : Fusion_FloatUnary<"exp", "natural exponential">;
def Fusion_Exp2Op : Fusion_FloatUnary<"exp2", "exponential to base 2">;
def Fusion_Expm1Op : Fusion_FloatUnary<"expm1", "exp(x) - 1 without cancellation">;
def Fusion_LogOp : Fusion_FloatUnary<"log", "natural logarithm">;
def Fusion_Log2Op : Fusion_FloatUnary<"log2", "logarithm to base 2">;
def Fusion_Log10Op : Fusion_FloatUnary<"log10", "logarithm to base 10">;
def Fusion_Log1pOp : Fusion_FloatUnary<"log1p", "log(1 + x) without cancellation">;
def Fusion_SqrtOp : Fusion_FloatUnary<"sqrt", "square root, correctly rounded">;
def Fusion_RsqrtOp : Fusion_FloatUnary<"rsqrt", "1 / sqrt(x)">;
def Fusion_CbrtOp : Fusion_FloatUnary<"cbrt", "cube root">;
def Fusion_ReciprocalOp : Fusion_FloatUnary<"reciprocal", "1 / x, correctly rounded">;
def Fusion_SinOp : Fusion_FloatUnary<"sin", "sine">;
def Fusion_CosOp : Fusion_FloatUnary<"cos", "cosine">;
def Fusion_TanOp : Fusion_FloatUnary<"tan", "tangent">;
def Fusion_AsinOp : Fusion_FloatUnary<"asin", "arc sine">;
def Fusion_AcosOp : Fusion_FloatUnary<"acos", "arc cosine">;
def Fusion_AtanOp : Fusion_FloatUnary<"atan", "arc tangent">;
def Fusion_SinhOp : Fusion_FloatUnary<"sinh", "hyperbolic sine">;
def Fusion_CoshOp : Fusion_FloatUnary<"cosh", "hyperbolic cosine">;
def Fusion_TanhOp : Fusion_FloatUnary<"tanh", "hyperbolic tangent">;
def Fusion_AsinhOp : Fusion_FloatUnary<"asinh", "inverse hyperbolic sine">;
def Fusion_AcoshOp : Fusion_FloatUnary<"acosh", "inverse hyperbolic cosine">;
def Fusion_AtanhOp : Fusion_FloatUnary<"atanh", "inverse hyperbolic tangent">;
def Fusion_ErfOp : Fusion_FloatUnary<"erf", "error function">;
def Fusion_ErfcOp : Fusion_FloatUnary<"erfc", "complementary error function">;
def Fusion_FloorOp : Fusion_FloatUnary<"floor", "round toward minus infinity">;
def Fusion_CeilOp : Fusion_FloatUnary<"ceil", "round toward plus infinity">;
def Fusion_RoundOp : Fusion_FloatUnary<"round", "round to nearest, ties to even">;
def Fusion_TruncOp : Fusion_FloatUnary<"trunc", "round toward zero">;

// Activations: one rounding, as eager frameworks compute them.
def Fusion_SigmoidOp : Fusion_FloatUnary<"sigmoid", "1 / (1 + exp(-x))">;
def Fusion_ReluOp : Fusion_Unary<"relu", "max(x, 0)",
  "NaN gives NaN; -0.0 gives 0.0.", Fusion_NumberTensor>;
def Fusion_SiluOp : Fusion_FloatUnary<"silu", "x * sigmoid(x)">;
def Fusion_MishOp : Fusion_FloatUnary<"mish", "x * tanh(log(1 + exp(x)))">;
def Fusion_SoftplusOp : Fusion_FloatUnary<"softplus", "log(1 + exp(x)), x where x > 20">;
def Fusion_HardSigmoidOp : Fusion_FloatUnary<"hard_sigmoid", "clamp(x + 3, 0, 6) / 6">;
def Fusion_HardSwishOp : Fusion_FloatUnary<"hard_swish", "x * clamp(x + 3, 0, 6) / 6">;

def Fusion_GeluOp : Fusion_FloatUnary<"gelu", "Gaussian error linear unit",
    [{`x / 2 * (1 + erf(x / sqrt(2)))`, or with `approximate = tanh`
    `x / 2 * (1 + tanh(sqrt(2 / pi) * (x + 0.044715 * x^3)))` (Hendrycks and
    Gimpel, 2016). Rounded once.}]> {
  let arguments = (ins Arg<Fusion_FloatTensor, "the operand, any shape">:$x,
    DefaultValuedAttr<Fusion_ApproximationAttr,
                      "::fusion::Approximation::none">:$approximate);
}
def Fusion_EluOp : Fusion_FloatUnary<"elu", "x > 0 ? x : alpha * expm1(x)"> {
  let arguments = (ins Arg<Fusion_FloatTensor, "the operand, any shape">:$x,
    DefaultValuedAttr<F64Attr, "1.0">:$alpha);
}
def Fusion_LeakyReluOp : Fusion_FloatUnary<"leaky_relu", "x > 0 ? x : slope * x"> {
  let arguments = (ins Arg<Fusion_FloatTensor, "the operand, any shape">:$x,
    DefaultValuedAttr<F64Attr, "0.01">:$slope);
}

class Fusion_Test<string mnemonic, string sum>
    : Fusion_ElementwiseOp<mnemonic> {
  let summary = sum;
  let description = sum # [{.

    Constraints:
    - (C1) operand and result have the same shape.

    ```mlir
    %y = fusion.}] # mnemonic # [{ %x : (tensor<4xf32>) -> tensor<4xi1>
    ```
  }];
  let arguments = (ins Arg<Fusion_FloatTensor, "the operand, any shape">:$x);
  let results = (outs Res<Fusion_BoolTensor, "same shape">:$result);
}
def Fusion_IsNanOp : Fusion_Test<"is_nan", "true where the element is NaN">;
def Fusion_IsInfOp : Fusion_Test<"is_inf", "true where the element is an infinity">;
def Fusion_IsFiniteOp : Fusion_Test<"is_finite",
  "true where the element is neither NaN nor an infinity">;

def Fusion_ConvertOp : Fusion_ElementwiseOp<"convert"> {
  let summary = "conversion of the element type";
  let description = [{
    Float to narrower float rounds to nearest even and overflows to infinity.
    Float to integer truncates toward zero and saturates; NaN gives 0. Integer
    to narrower integer wraps; `ui8` zero-extends, the signed types sign-extend.
    To `i1` is `x != 0` (NaN is true); from `i1` is 0 or 1.

    Constraints:
    - (C1) operand and result have the same shape.

    ```mlir
    %y = fusion.convert %x : (tensor<4xf32>) -> tensor<4xf16>
    ```
  }];
  let arguments = (ins Arg<Fusion_Tensor, "the operand, any shape">:$x);
  let results = (outs Res<Fusion_Tensor, "same shape, any element type">:$result);
  let hasFolder = 1;
}

//===----------------------------------------------------------------------===//
// Binary
//===----------------------------------------------------------------------===//

class Fusion_Binary<string mnemonic, string sum, string desc,
                    Type type = Fusion_NumberTensor, list<Trait> traits = []>
    : Fusion_ElementwiseOp<mnemonic,
        !listconcat(traits, [SameOperandsAndResultElementType])> {
  string example = Fusion_ExampleOf<type>.type;
  let summary = sum;
  let description = desc # [{

    Constraints:
    - (C1) operands and result have the same shape and element type.

    ```mlir
    %z = fusion.}] # mnemonic # " %x, %y : (" # example # ", " # example
                   # ") -> " # example # [{
    ```
  }];
  let arguments = (ins Arg<type, "left operand, any shape">:$lhs,
                       Arg<type, "right operand, same type">:$rhs);
  let results = (outs Res<type, "same shape and element type">:$result);
}

def Fusion_AddOp : Fusion_Binary<"add", "sum",
  "IEEE sum; integers wrap.", Fusion_NumberTensor, [Commutative]>;
def Fusion_SubOp : Fusion_Binary<"sub", "difference", "IEEE difference; integers wrap.">;
def Fusion_MulOp : Fusion_Binary<"mul", "product",
  "IEEE product; integers wrap.", Fusion_NumberTensor, [Commutative]>;
def Fusion_DivOp : Fusion_Binary<"div", "quotient",
  [{IEEE quotient, correctly rounded; integers truncate toward zero. An integer
  divided by zero gives 0, the most negative one by -1 gives itself: the same
  on every target.}]>;
def Fusion_FloorDivOp : Fusion_Binary<"floor_div", "quotient rounded down",
  [{`floor` of the exact quotient, computed from `fmod` as Python and PyTorch do,
  so `1.0 // 0.1` is 9. A float divided by zero is the IEEE quotient; infinity
  by anything is NaN. Integers: by zero gives 0, the most negative by -1 itself.}]>;
def Fusion_RemainderOp : Fusion_Binary<"remainder", "remainder of floor_div",
  [{Has the sign of the divisor (Python's `%`). Float by zero is NaN, integer by
  zero is 0.}]>;
def Fusion_FmodOp : Fusion_Binary<"fmod", "remainder of truncating division",
  "Has the sign of the dividend (C's fmod), exact. Integer by zero is 0.">;
def Fusion_PowOp : Fusion_Binary<"pow", "power",
  [{C23 `pow`; integers wrap, a negative exponent gives 0 (1 and -1 excepted).}]>;
def Fusion_MinOp : Fusion_Binary<"min", "smaller of two",
  "NaN if either is NaN; -0.0 is less than 0.0 (IEEE minimum).",
  Fusion_NumberTensor, [Commutative]>;
def Fusion_MaxOp : Fusion_Binary<"max", "larger of two",
  "NaN if either is NaN; 0.0 is greater than -0.0 (IEEE maximum).",
  Fusion_NumberTensor, [Commutative]>;
def Fusion_Atan2Op : Fusion_Binary<"atan2", "angle of (rhs, lhs)",
  "C23 `atan2(lhs, rhs)`.", Fusion_FloatTensor>;
def Fusion_CopysignOp : Fusion_Binary<"copysign", "magnitude of lhs, sign of rhs",
  "IEEE copySign.", Fusion_FloatTensor>;
def Fusion_HypotOp : Fusion_Binary<"hypot", "sqrt(lhs^2 + rhs^2)",
  "Without undue overflow or underflow (C23 `hypot`).", Fusion_FloatTensor>;
def Fusion_AndOp : Fusion_Binary<"and", "bitwise and",
  "Bitwise and; logical on i1.", Fusion_BitsTensor, [Commutative]>;
def Fusion_OrOp : Fusion_Binary<"or", "bitwise or",
  "Bitwise or; logical on i1.", Fusion_BitsTensor, [Commutative]>;
def Fusion_XorOp : Fusion_Binary<"xor", "bitwise exclusive or",
  "Bitwise exclusive or; logical on i1.", Fusion_BitsTensor, [Commutative]>;
def Fusion_ShiftLeftOp : Fusion_Binary<"shift_left", "shift left",
  "A count that is negative or at least the width gives 0.", Fusion_IntTensor>;
def Fusion_ShiftRightOp : Fusion_Binary<"shift_right", "shift right",
  [{Arithmetic for signed types, logical for ui8. A count that is negative or at
  least the width gives 0, or -1 for a negative operand.}], Fusion_IntTensor>;

def Fusion_CompareOp : Fusion_ElementwiseOp<"compare", [
    SameOperandsElementType]> {
  let summary = "comparison";
  let description = [{
    Compares two elements: `eq`, `ne`, `lt`, `le`, `gt`, `ge`. With NaN every
    comparison is false but `ne`; -0.0 equals 0.0; `ui8` compares unsigned.

    Constraints:
    - (C1) operands have the same shape and element type; the result the same shape.

    ```mlir
    %c = fusion.compare lt, %x, %y : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xi1>
    ```
  }];
  let arguments = (ins Fusion_CompareKindAttr:$kind,
                       Arg<Fusion_Tensor, "left operand, any shape">:$lhs,
                       Arg<Fusion_Tensor, "right operand, same type">:$rhs);
  let results = (outs Res<Fusion_BoolTensor, "same shape">:$result);
  let assemblyFormat =
      "`` $kind `,` operands attr-dict `:` functional-type(operands, results)";
}

//===----------------------------------------------------------------------===//
// Ternary
//===----------------------------------------------------------------------===//

def Fusion_SelectOp : Fusion_ElementwiseOp<"select", [
    AllElementTypesMatch<["on_true", "on_false", "result"]>]> {
  let summary = "choice between two elements by a condition";
  let description = [{
    The element of `on_true` where the condition holds, else that of `on_false`.

    Constraints:
    - (C1) all operands and the result have the same shape.
    - (C2) `on_true`, `on_false` and the result have the same element type.

    ```mlir
    %z = fusion.select %c, %x, %y : (tensor<4xi1>, tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
    ```
  }];
  let arguments = (ins Arg<Fusion_BoolTensor, "condition">:$condition,
                       Arg<Fusion_Tensor, "taken where true">:$on_true,
                       Arg<Fusion_Tensor, "taken where false">:$on_false);
  let results = (outs Res<Fusion_Tensor, "same shape">:$result);
  let hasFolder = 1;
}

def Fusion_ClampOp : Fusion_ElementwiseOp<"clamp", [
    SameOperandsAndResultElementType]> {
  let summary = "min(max(x, lo), hi)";
  let description = [{
    `min(max(x, lo), hi)` with the dialect's `min` and `max`: NaN in any operand
    gives NaN, and where `lo > hi` the result is `hi`.

    Constraints:
    - (C1) operands and result have the same shape and element type.

    ```mlir
    %y = fusion.clamp %x, %lo, %hi : (tensor<4xf32>, tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
    ```
  }];
  let arguments = (ins Arg<Fusion_NumberTensor, "the operand">:$x,
                       Arg<Fusion_NumberTensor, "lower bound">:$lo,
                       Arg<Fusion_NumberTensor, "upper bound">:$hi);
  let results = (outs Res<Fusion_NumberTensor, "same shape">:$result);
}

#endif // FUSION_ELEMENTWISE_TD
