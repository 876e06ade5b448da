//===- GroupShape.h - what kind of kernel a set of ops makes --------------===//
//
// The one place that knows which sets of ops run well as one kernel. Group
// formation asks it of candidate sets, schedules ask it of finished groups, so
// that what is formed is what can be scheduled.
//
//===----------------------------------------------------------------------===//

#ifndef FUSION_ANALYSIS_GROUPSHAPE_H
#define FUSION_ANALYSIS_GROUPSHAPE_H

#include "fusion/Analysis/Accesses.h"
#include <functional>
#include <string>

namespace fusion {

/// A set of ops seen as one kernel.
struct GroupView {
  /// The ops that may be computed, in program order.
  llvm::SmallVector<mlir::Operation *> ops;
  /// Values that are written to memory.
  llvm::SmallVector<mlir::Value> outputs;
  std::function<llvm::ArrayRef<mlir::AffineExpr>(mlir::Value)> dims;
  std::function<bool(mlir::Value)> isLeaf;

  llvm::SmallVector<mlir::Operation *> getHeroes() const;
};

enum class GroupKind { Elementwise, Reduction, Contraction, General };

/// The space of a group of reductions.
struct ReductionSpace {
  llvm::SmallVector<mlir::Operation *> heroes; // in program order
  llvm::SmallVector<unsigned> levels; // of each hero: 0 depends on no other
  llvm::SmallVector<mlir::AffineExpr> sizes;
  llvm::SmallVector<int64_t> reduced;

  /// Fails with a reason where the heroes do not share one space.
  static std::optional<ReductionSpace> get(const GroupView &view,
                                           std::string &reason);

  bool isReduced(int64_t dim) const { return llvm::is_contained(reduced, dim); }
  /// The part of a full index that the heroes' results have.
  AccessWalk::Index getSlotIndex(llvm::ArrayRef<mlir::AffineExpr> full) const;
  /// True for a value with an element at each point, false for one with an
  /// element a slot, null for any other shape.
  std::optional<bool> isFull(llvm::ArrayRef<mlir::AffineExpr> dims) const;
  /// The index of a value of shape `dims` with an element a slot; dims of size
  /// 1 may stand anywhere in it.
  AccessWalk::Index getOutputIndex(llvm::ArrayRef<mlir::AffineExpr> dims,
                                   llvm::ArrayRef<mlir::AffineExpr> full) const;
  /// The index at which an output is written when the kernel is at `full`.
  AccessWalk::Index getIndexOf(llvm::ArrayRef<mlir::AffineExpr> dims,
                               llvm::ArrayRef<mlir::AffineExpr> full) const {
    return *isFull(dims) ? AccessWalk::Index(full) : getOutputIndex(dims, full);
  }
};

struct GroupShape {
  GroupKind kind = GroupKind::General;
  /// Why no better kind applies.
  std::string reason;
  /// Sizes of the loop space: the outputs' shape, a reduction's operand's.
  llvm::SmallVector<mlir::AffineExpr> space;
};

/// The kind of kernel that runs `view` well; General where none does.
GroupShape classify(const GroupView &view);

/// Everything that `view` reads when its kernel visits one point of its space.
AccessWalk walkPoint(const GroupView &view, const GroupShape &shape);

/// True for the constant 1.
bool isOne(mlir::AffineExpr size);

} // namespace fusion

#endif // FUSION_ANALYSIS_GROUPSHAPE_H
