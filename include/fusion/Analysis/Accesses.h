//===- Accesses.h - what a group reads to make its outputs ----------------===//
//
// Follows index maps symbolically from a value at an index to everything that
// it reads: leaves, guards, heroes. Group formation judges legality and cost by
// it, schedules find contiguous dims by it; the emitter makes the same
// recursion in code.
//
//===----------------------------------------------------------------------===//

#ifndef FUSION_ANALYSIS_ACCESSES_H
#define FUSION_ANALYSIS_ACCESSES_H

#include "fusion/Analysis/Hero.h"
#include "llvm/ADT/MapVector.h"

namespace fusion {

class AccessWalk {
public:
  using Index = llvm::SmallVector<mlir::AffineExpr>;
  using DimsOf =
      llvm::function_ref<llvm::ArrayRef<mlir::AffineExpr>(mlir::Value)>;
  /// True for a value that is read from memory rather than computed.
  using IsLeaf = llvm::function_ref<bool(mlir::Value)>;

  AccessWalk(DimsOf dims, IsLeaf isLeaf) : dims(dims), isLeaf(isLeaf) {}

  /// Follows `value` at `index`. Stops at leaves and at heroes, which it
  /// records.
  void visit(mlir::Value value, llvm::ArrayRef<mlir::AffineExpr> index);

  /// Distinct indices at which each leaf is read.
  const llvm::MapVector<mlir::Value, llvm::SmallVector<Index>> &
  getLeaves() const {
    return leaves;
  }
  /// Distinct indices at which each hero's result is used.
  const llvm::MapVector<mlir::Operation *, llvm::SmallVector<Index>> &
  getHeroes() const {
    return heroes;
  }
  /// Distinct indices at which each elementwise op is computed.
  const llvm::MapVector<mlir::Operation *, llvm::SmallVector<Index>> &
  getComputed() const {
    return computed;
  }
  /// Guards of views and positions of iotas met on the way.
  llvm::ArrayRef<mlir::AffineExpr> getOtherExprs() const { return others; }

private:
  mlir::AffineExpr getGatheredIndex(GatherOp gather,
                                    llvm::ArrayRef<mlir::AffineExpr> index);

  DimsOf dims;
  IsLeaf isLeaf;
  llvm::MapVector<mlir::Value, llvm::SmallVector<Index>> leaves;
  llvm::MapVector<mlir::Operation *, llvm::SmallVector<Index>> heroes, computed;
  llvm::DenseMap<mlir::Value, llvm::SmallVector<Index>> seen;
  llvm::SmallVector<mlir::AffineExpr> others;
  llvm::SmallVector<mlir::Operation *> gathers; // numbered as met
};

/// The identity index of rank `rank`: dims 0 to rank - 1.
llvm::SmallVector<mlir::AffineExpr>
getIdentityIndex(unsigned rank, mlir::MLIRContext *context);

} // namespace fusion

#endif // FUSION_ANALYSIS_ACCESSES_H
