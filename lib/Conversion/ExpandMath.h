//===- ExpandMath.h - formulas of mathematical functions on f32 -----------===//
//
// Each function emits straight-line arith on an f32 scalar or a vector of any
// length, right for every input: NaN, infinities, both zeros, subnormal
// operands and results. The error is stated in ulp of the exact result; the
// Python test test_math_accuracy.py holds the compiled code to it. Coefficients
// come from fit_math.py.
//
//===----------------------------------------------------------------------===//

#ifndef FUSION_LIB_CONVERSION_EXPANDMATH_H
#define FUSION_LIB_CONVERSION_EXPANDMATH_H

#include "fusion/Dialect/Fusion/FormulaBuilder.h"

namespace fusion {

mlir::Value expandExp(FormulaBuilder &b, mlir::Value x);   // 0.9 ulp
mlir::Value expandExp2(FormulaBuilder &b, mlir::Value x);  // 0.9 ulp
mlir::Value expandExpM1(FormulaBuilder &b, mlir::Value x); // 1.6 ulp
mlir::Value expandTanh(FormulaBuilder &b, mlir::Value x);  // 1.6 ulp
mlir::Value expandErf(FormulaBuilder &b, mlir::Value x);   // 1.1 ulp

mlir::Value expandLog(FormulaBuilder &b, mlir::Value x);   // 0.9 ulp
mlir::Value expandLog1p(FormulaBuilder &b, mlir::Value x); // 0.9 ulp
mlir::Value expandLog2(FormulaBuilder &b, mlir::Value x);  // 0.51 ulp, in f64
mlir::Value expandLog10(FormulaBuilder &b, mlir::Value x); // 0.51 ulp, in f64
/// C23 pow; 0.51 ulp, in f64.
mlir::Value expandPow(FormulaBuilder &b, mlir::Value x, mlir::Value y);

// Beyond 1e5 both call libm lane by lane, in f64. Vectors must have rank 1.
mlir::Value expandSin(FormulaBuilder &b, mlir::Value x); // 1.6 ulp
mlir::Value expandCos(FormulaBuilder &b, mlir::Value x); // 1.6 ulp

//===----------------------------------------------------------------------===//
// Shared steps
//===----------------------------------------------------------------------===//

/// The polynomial in x with the coefficients given, highest power first.
mlir::Value horner(FormulaBuilder &b, mlir::Value x,
                   llvm::ArrayRef<double> coefficients);

/// The smaller or the greater of x and a bound, in one x86 instruction; unlike
/// IEEE minimum these do not look at the sign of a zero. NaN stays.
mlir::Value atMost(FormulaBuilder &b, mlir::Value x, double most);
mlir::Value atLeast(FormulaBuilder &b, mlir::Value x, double least);

/// 2^x for an f64 in [-1000, 1000] or NaN, to 2^-40.
mlir::Value exp2InDouble(FormulaBuilder &b, mlir::Value x);

/// Calls `emit(lane values)` for every lane of the vector operands, and joins
/// the scalars that it returns.
mlir::Value unrollLanes(FormulaBuilder &b, mlir::ValueRange vectors,
                        llvm::function_ref<mlir::Value(mlir::ValueRange)> emit);

} // namespace fusion

#endif // FUSION_LIB_CONVERSION_EXPANDMATH_H
