//===- ElementInteger.h - integer forms of ops that floats have too -------===//

#ifndef FUSION_LIB_DIALECT_FUSION_ELEMENTINTEGER_H
#define FUSION_LIB_DIALECT_FUSION_ELEMENTINTEGER_H

#include "ElementUtils.h"

namespace fusion {

/// Truncating quotient; 0 where y is 0, and wraps for the most negative by -1.
mlir::Value emitIntDiv(FormulaBuilder &b, mlir::Value x, mlir::Value y,
                       bool isUnsigned);

/// The same rounded down.
mlir::Value emitIntFloorDiv(FormulaBuilder &b, mlir::Value x, mlir::Value y,
                            bool isUnsigned);

/// Remainder with the sign of x; 0 where y is 0.
mlir::Value emitIntFmod(FormulaBuilder &b, mlir::Value x, mlir::Value y,
                        bool isUnsigned);

/// Remainder with the sign of y; 0 where y is 0.
mlir::Value emitIntRemainder(FormulaBuilder &b, mlir::Value x, mlir::Value y,
                             bool isUnsigned);

/// Wrapping power; a negative exponent gives 0 unless the base is 1 or -1.
mlir::Value emitIntPow(FormulaBuilder &b, mlir::Value base,
                       mlir::Value exponent, bool isUnsigned);

} // namespace fusion

#endif // FUSION_LIB_DIALECT_FUSION_ELEMENTINTEGER_H
