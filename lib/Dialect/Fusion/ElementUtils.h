//===- ElementUtils.h - what the emitters of elements share ---------------===//
//
// The Element*.cpp files write each elementwise op as arith and math ops on
// scalars or vectors. Here is the part that they have in common: signedness,
// which storage types lack, and the computation of f16 and bf16 in f32.
//
//===----------------------------------------------------------------------===//

#ifndef FUSION_LIB_DIALECT_FUSION_ELEMENTUTILS_H
#define FUSION_LIB_DIALECT_FUSION_ELEMENTUTILS_H

#include "fusion/Dialect/Fusion/FormulaBuilder.h"
#include "fusion/Dialect/Fusion/FusionDialect.h"

namespace fusion {

/// Storage types have no sign: only the tensor's element type tells. Booleans
/// count as unsigned, since a signed bit would order true below false.
inline bool isUnsigned(mlir::Value tensor) {
  mlir::Type element = mlir::getElementTypeOrSelf(tensor.getType());
  return element.isUnsignedInteger() || element.isInteger(1);
}

/// f16 and bf16: floats that are computed in f32.
inline bool isHalf(mlir::Value element) {
  return FormulaBuilder::isFloat(element) &&
         FormulaBuilder::elementType(element).getIntOrFloatBitWidth() == 16;
}

/// An f16 or bf16 as the f32 of the same value, any other type unchanged.
inline mlir::Value widenHalf(FormulaBuilder &b, mlir::Value x) {
  return isHalf(x) ? b.extf(x, b.getF32Type()) : x;
}

/// Calls `compute(b, operands...)` on f32 or f64 operands; where they were f16
/// or bf16 the result is rounded to that type, once.
template <typename Compute, typename... Values>
mlir::Value inFloat(FormulaBuilder &b, Compute compute, mlir::Value first,
                    Values... rest) {
  mlir::Value result = compute(b, widenHalf(b, first), widenHalf(b, rest)...);
  return isHalf(first) ? b.truncf(result, FormulaBuilder::elementType(first))
                       : result;
}

} // namespace fusion

/// Defines the interface of a unary float op by a function (b, x) -> value.
#define FUSION_FLOAT_UNARY(OP, COST, ...)                                      \
  mlir::Value fusion::OP::emitElement(mlir::OpBuilder &builder,                \
                                      mlir::Location loc,                      \
                                      mlir::ValueRange operands) {             \
    FormulaBuilder b(builder, loc);                                            \
    return inFloat(b, __VA_ARGS__, operands[0]);                               \
  }                                                                            \
  unsigned fusion::OP::getElementCost() { return COST; }

#endif // FUSION_LIB_DIALECT_FUSION_ELEMENTUTILS_H
