//===- Domain.h - the loop space of a kernel ------------------------------===//
//
// The dims over which a kernel runs, with neighbours merged wherever every
// access of the group sees them as one: [N, C, H, W] under a chain of
// elementwise ops is one dim, under a per-channel bias three. A value type,
// built from the group's accesses, that later binds its dims to loop variables.
//
//===----------------------------------------------------------------------===//

#ifndef FUSION_SCHEDULE_DOMAIN_H
#define FUSION_SCHEDULE_DOMAIN_H

#include "fusion/Schedule/ElementEmitter.h"

namespace fusion {

struct MergedDim {
  /// Dims of the original space, outermost first.
  llvm::SmallVector<unsigned> dims;
  mlir::AffineExpr size;
  bool reduced = false;
};

class Domain {
public:
  /// A space of these sizes; `order` lists its dims from outermost to
  /// innermost. Two neighbours merge if both or neither are in `reduced` and
  /// each of `accesses` is linear in both with matching coefficients.
  Domain(llvm::ArrayRef<mlir::AffineExpr> sizes, llvm::ArrayRef<int64_t> order,
         llvm::ArrayRef<int64_t> reduced,
         llvm::ArrayRef<mlir::AffineExpr> accesses);

  llvm::ArrayRef<MergedDim> getMerged() const { return merged; }
  unsigned getRank() const { return rank; }

  /// The index in the original space where merged dim `i` has index
  /// `values[i]`: the innermost of its dims takes it all.
  Index getIndex(llvm::ArrayRef<mlir::AffineExpr> values,
                 mlir::MLIRContext *context) const;

private:
  unsigned rank;
  llvm::SmallVector<MergedDim> merged;
};

/// Every expression that the group's kernel evaluates at one point of its
/// space: offsets of loads and stores, guards, positions of iotas.
llvm::SmallVector<mlir::AffineExpr> collectAccessExprs(const GroupModel &model);

/// Splits `linear` into indices of a space of these sizes, outermost first.
llvm::SmallVector<mlir::Value>
delinearize(ElementEmitter &emitter, mlir::Value linear,
            llvm::ArrayRef<mlir::AffineExpr> sizes);

/// The dims of `type` from outermost to innermost in memory.
llvm::SmallVector<int64_t> getPhysicalOrder(mlir::RankedTensorType type);

} // namespace fusion

#endif // FUSION_SCHEDULE_DOMAIN_H
