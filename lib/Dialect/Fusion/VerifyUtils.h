//===- VerifyUtils.h - shared by the verifiers of the dialect -------------===//
//
// How verifiers compare sizes and write them in messages. Private to the
// library.
//
//===----------------------------------------------------------------------===//

#ifndef FUSION_LIB_DIALECT_FUSION_VERIFYUTILS_H
#define FUSION_LIB_DIALECT_FUSION_VERIFYUTILS_H

#include "fusion/Dialect/Fusion/FusionDialect.h"

#include <string>

namespace fusion {

/// Sizes that can be equal at run time: equal ones, or one is symbolic.
inline bool mayEqual(int64_t a, int64_t b) {
  return a == b || mlir::ShapedType::isDynamic(a) ||
         mlir::ShapedType::isDynamic(b);
}

/// Shapes of one rank whose sizes can all be equal at run time.
bool mayEqual(llvm::ArrayRef<int64_t> a, llvm::ArrayRef<int64_t> b);

/// True if `values` holds each of `0..rank-1` once.
bool isPermutation(llvm::ArrayRef<int64_t> values, size_t rank);

/// `[0, 2, 1]`.
std::string formatList(llvm::ArrayRef<int64_t> values);

/// `[4, ?, 8]`: a shape as messages write it.
std::string formatShape(llvm::ArrayRef<int64_t> shape);
inline std::string formatShape(mlir::Type type) {
  return formatShape(llvm::cast<mlir::ShapedType>(type).getShape());
}

/// Checks that the shape of `op`'s result is `expected`; `rule` says in words
/// what that is ("the operand's without 'dims'").
mlir::LogicalResult verifyResultShape(mlir::Operation *op,
                                      llvm::ArrayRef<int64_t> expected,
                                      llvm::StringRef rule);

/// Checks that `dim` is a dimension of a tensor of rank `rank`.
mlir::LogicalResult verifyDim(mlir::Operation *op, int64_t dim, int64_t rank);

} // namespace fusion

#endif // FUSION_LIB_DIALECT_FUSION_VERIFYUTILS_H
