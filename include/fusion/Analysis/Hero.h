//===- Hero.h - what a reduction or contraction reads ---------------------===//
//
// Describes every hero op in one form: the sizes of its reduced space, the
// reads that one point of (result space x reduced space) makes, and how what
// was read is combined. Schedules and the general emitter work from this form,
// so a new hero needs one description and runs everywhere.
//
//===----------------------------------------------------------------------===//

#ifndef FUSION_ANALYSIS_HERO_H
#define FUSION_ANALYSIS_HERO_H

#include "fusion/Dialect/Fusion/FusionDialect.h"
#include <optional>

namespace fusion {

enum class HeroKind {
  Reduce,      // reduce, arg_reduce: reads its operand once a point
  Contraction, // matmul, conv: sum of products
  Window,      // pool: reads a window of its operand
};

struct HeroRead {
  mlir::Value operand;
  /// Dims 0..r-1 are the result's indices, then those of the reduced space.
  llvm::SmallVector<mlir::AffineExpr> index;
  /// The point is read only where all of these are at least zero.
  llvm::SmallVector<mlir::AffineExpr> guard;
};

struct HeroSpec {
  HeroKind kind = HeroKind::Reduce;
  unsigned resultRank = 0;
  /// Extents of the reduced space, outermost first.
  llvm::SmallVector<mlir::AffineExpr> reduced;
  llvm::SmallVector<HeroRead> reads;
  /// Added to the sum before it is rounded; indexed by the result's dims.
  std::optional<HeroRead> bias;
  /// For an average over windows: where all are at least zero, the point
  /// counts.
  llvm::SmallVector<mlir::AffineExpr> counted;
};

/// True for an op that getHeroSpec describes.
bool isHero(mlir::Operation *op);

/// The description of a hero op; `dims` gives the sizes of a value.
HeroSpec getHeroSpec(
    mlir::Operation *op,
    llvm::function_ref<llvm::ArrayRef<mlir::AffineExpr>(mlir::Value)> dims);

/// The dims of a reduce or arg_reduce op's operand that it reduces, increasing.
llvm::SmallVector<int64_t> getReducedDims(mlir::Operation *op);

} // namespace fusion

#endif // FUSION_ANALYSIS_HERO_H
