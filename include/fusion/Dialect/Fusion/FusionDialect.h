//===- FusionDialect.h - the fusion dialect in C++ ------------------------===//

#ifndef FUSION_DIALECT_FUSION_FUSIONDIALECT_H
#define FUSION_DIALECT_FUSION_FUSIONDIALECT_H

#include "mlir/Bytecode/BytecodeOpInterface.h"
#include "mlir/IR/AffineExpr.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Dialect.h"
#include "mlir/IR/OpDefinition.h"
#include "mlir/IR/OpImplementation.h"
#include "mlir/IR/TensorEncoding.h"
#include "mlir/Interfaces/ControlFlowInterfaces.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

#include "fusion/Dialect/Fusion/FusionDialect.h.inc"
#include "fusion/Dialect/Fusion/FusionEnums.h.inc"
#define GET_ATTRDEF_CLASSES
#include "fusion/Dialect/Fusion/FusionAttrs.h.inc"

namespace fusion {

/// One read of an operand by a result element. Dims of the expressions are the
/// result's indices, symbols those of the enclosing function.
struct OperandAccess {
  unsigned operand = 0;
  /// Index of the element read, one expression a dimension of the operand.
  llvm::SmallVector<mlir::AffineExpr> index;
  /// The access is made only where all of these are at least zero.
  llvm::SmallVector<mlir::AffineExpr> guard;
};

/// The accesses of an elementwise op: every operand at the result's index.
llvm::SmallVector<OperandAccess> identityAccesses(mlir::Operation *op);

/// The layout of a tensor type, or null for row-major without symbols.
LayoutAttr getLayout(mlir::Type type);

/// `type` with the layout's order and strides but other dimensions of the same
/// rank are not assumed: only the element type is replaced.
mlir::RankedTensorType withElementType(mlir::RankedTensorType type,
                                       mlir::Type elementType);

/// The builtin type in which an element is stored and computed on: ui8 becomes
/// i8.
mlir::Type getStorageType(mlir::Type elementType);

} // namespace fusion

#include "fusion/Dialect/Fusion/FusionInterfaces.h.inc"
#define GET_OP_CLASSES
#include "fusion/Dialect/Fusion/FusionOps.h.inc"

#endif // FUSION_DIALECT_FUSION_FUSIONDIALECT_H
