//===- SimplifyUtils.h - shared by the rewrites of fusion-simplify --------===//
//
// Recognising constants through the broadcasts that spread them, and replacing
// without changing a type. Private to the library.
//
//===----------------------------------------------------------------------===//

#ifndef FUSION_LIB_TRANSFORMS_SIMPLIFYUTILS_H
#define FUSION_LIB_TRANSFORMS_SIMPLIFYUTILS_H

#include "fusion/Dialect/Fusion/FusionDialect.h"
#include "fusion/Transforms/Simplify.h"

#include "mlir/IR/PatternMatch.h"

namespace fusion {

llvm::ArrayRef<SimplifyRewrite> getArithmeticRewrites();
llvm::ArrayRef<SimplifyRewrite> getConversionRewrites();
llvm::ArrayRef<SimplifyRewrite> getLogicRewrites();
llvm::ArrayRef<SimplifyRewrite> getConstantRewrites();
llvm::ArrayRef<SimplifyRewrite> getViewRewrites();
llvm::ArrayRef<SimplifyRewrite> getSinkRewrites();
llvm::ArrayRef<SimplifyRewrite> getHeroRewrites();

/// What every element of `value` is, where that is known: an IntegerAttr or
/// FloatAttr, also through broadcasts and reshapes. Null otherwise.
mlir::TypedAttr getSplat(mlir::Value value);

/// True if every element of `value` is the number 1.
bool isOne(mlir::Value value);
/// True if every element of `value` is an integer or false, and zero.
bool isIntegerZero(mlir::Value value);
/// True if every element of `value` is an integer with all bits set, or true.
bool isAllOnes(mlir::Value value);
/// True if every element of `value` is the float zero of this sign.
bool isFloatZero(mlir::Value value, bool negative);
/// True if every element of `value` is this float.
bool isFloat(mlir::Value value, double number);

inline bool isFloatTensor(mlir::Value value) {
  return llvm::isa<mlir::FloatType>(mlir::getElementTypeOrSelf(value));
}

/// Replaces the result of `op` by `value`, unless their types differ.
mlir::LogicalResult replaceWith(mlir::Operation *op, mlir::Value value,
                                mlir::PatternRewriter &rewriter);

/// Replaces the result of `op` by a constant of its type with equal elements,
/// unless a size is symbolic.
mlir::LogicalResult replaceWithSplat(mlir::Operation *op,
                                     mlir::Attribute element,
                                     mlir::PatternRewriter &rewriter);

/// True if the sizes of a tensor of type `type` follow from its number of
/// elements: at most one is symbolic.
bool hasDeterminedSizes(mlir::Type type);

} // namespace fusion

#endif // FUSION_LIB_TRANSFORMS_SIMPLIFYUTILS_H
