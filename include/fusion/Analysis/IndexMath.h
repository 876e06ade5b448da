//===- IndexMath.h - algebra of index expressions -------------------------===//
//
// Questions that schedules ask of affine index expressions: what divides them,
// how they change along one dimension, and whether a vector of consecutive
// indices reads consecutive elements. Dims are loop indices, symbols are sizes;
// all are non-negative. Works on values, outside IR.
//
//===----------------------------------------------------------------------===//

#ifndef FUSION_ANALYSIS_INDEXMATH_H
#define FUSION_ANALYSIS_INDEXMATH_H

#include "mlir/IR/AffineExpr.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/SmallVector.h"
#include <optional>

namespace fusion {

/// What is known to divide each symbol and each dim; 1 where nothing is known
/// or the list is too short.
struct Divisors {
  llvm::SmallVector<int64_t> symbols;
  llvm::SmallVector<int64_t> dims;

  int64_t ofSymbol(unsigned position) const;
  int64_t ofDim(unsigned position) const;
};

/// The largest number known to divide `expr`; 0 for the constant zero.
int64_t getKnownDivisor(mlir::AffineExpr expr, const Divisors &divisors);

/// True if `factor` is known to divide `expr`.
bool isKnownMultiple(mlir::AffineExpr expr, int64_t factor,
                     const Divisors &divisors);

/// The coefficient of dim `dim` in `expr`, free of that dim, where `expr` is
/// linear in it; null otherwise.
mlir::AffineExpr getCoefficient(mlir::AffineExpr expr, unsigned dim);

/// `expr` with dim `dim` replaced by zero.
mlir::AffineExpr dropDim(mlir::AffineExpr expr, unsigned dim);

/// The change of `expr` from one lane to the next, where lane `l` of `lanes`
/// has dim `dim` at a base plus `l`; null where the change is not constant.
/// `divisors` holds what divides the base of `dim`. Sees through floordiv and
/// mod whose divisor no vector straddles.
mlir::AffineExpr getLaneStride(mlir::AffineExpr expr, unsigned dim,
                               int64_t lanes, const Divisors &divisors);

/// True if `expr >= 0` has the same answer for every lane, in the sense above.
bool isLaneUniformGuard(mlir::AffineExpr expr, unsigned dim, int64_t lanes,
                        const Divisors &divisors);

/// The sum of index times stride.
mlir::AffineExpr linearize(llvm::ArrayRef<mlir::AffineExpr> index,
                           llvm::ArrayRef<mlir::AffineExpr> strides,
                           mlir::MLIRContext *context);

/// The product of `factors`, 1 for none.
mlir::AffineExpr product(llvm::ArrayRef<mlir::AffineExpr> factors,
                         mlir::MLIRContext *context);

/// `exprs` with dim `i` replaced by `dims[i]`; symbols are kept.
llvm::SmallVector<mlir::AffineExpr>
substituteDims(llvm::ArrayRef<mlir::AffineExpr> exprs,
               llvm::ArrayRef<mlir::AffineExpr> dims);

/// The value of `expr` for known symbols, where all that occur are known and no
/// dim occurs.
std::optional<int64_t> evaluate(mlir::AffineExpr expr,
                                llvm::ArrayRef<std::optional<int64_t>> symbols);

} // namespace fusion

#endif // FUSION_ANALYSIS_INDEXMATH_H
