//===- Dims.h - shared by the size inference of the dialect ---------------===//
//
// Sizes as affine expressions, as `DimsInterface` exchanges them. Private to
// the library.
//
//===----------------------------------------------------------------------===//

#ifndef FUSION_LIB_DIALECT_FUSION_DIMS_H
#define FUSION_LIB_DIALECT_FUSION_DIMS_H

#include "fusion/Dialect/Fusion/FusionDialect.h"

namespace fusion {

using Dims = llvm::SmallVector<mlir::AffineExpr>;

/// The sizes that `type` states: constants, null where it is symbolic.
Dims staticDims(mlir::Type type);

/// `dims` without the positions in `removed`.
Dims withoutDims(llvm::ArrayRef<mlir::AffineExpr> dims,
                 llvm::ArrayRef<int64_t> removed);

/// True if `expr` is the constant `value`.
bool isConstant(mlir::AffineExpr expr, int64_t value);

/// The number of windows along a dimension in each of these forms: a size of
/// the type, or an expression. `size` is the operand's; the other numbers are
/// those of `fusion.conv` and `fusion.pool`.
struct WindowDim {
  int64_t window, stride, low, high, dilation;
  bool ceilMode = false;

  int64_t count(int64_t size) const;
  mlir::AffineExpr count(mlir::AffineExpr size) const;

private:
  /// What is added to the size before the division by the stride, which
  /// rounds up with `ceilMode`.
  int64_t offset() const;
};

} // namespace fusion

#endif // FUSION_LIB_DIALECT_FUSION_DIMS_H
