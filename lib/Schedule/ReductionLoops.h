//===- ReductionLoops.h - the loop space of a group of reductions ---------===//
//
// The dims of a group of reductions, merged where its accesses allow, sorted
// into the roles that they have in the kernel.
//
//===----------------------------------------------------------------------===//

#ifndef FUSION_SCHEDULE_REDUCTIONLOOPS_H
#define FUSION_SCHEDULE_REDUCTIONLOOPS_H

#include "fusion/Analysis/GroupShape.h"
#include "fusion/Schedule/Domain.h"

namespace fusion {

struct ReductionLoops {
  ReductionSpace space;
  Domain domain;
  bool rows = true; // lanes run along a reduced dim
  std::optional<unsigned> lane;
  llvm::SmallVector<unsigned> slots, reduced; // merged dims but the lane dim

  explicit ReductionLoops(const GroupModel &model);

  mlir::AffineExpr getLaneSize() const;
  llvm::SmallVector<mlir::AffineExpr>
  getSizes(llvm::ArrayRef<unsigned> dims) const;
  mlir::MLIRContext *getContext() const {
    return space.heroes.front()->getContext();
  }
};

} // namespace fusion

#endif // FUSION_SCHEDULE_REDUCTIONLOOPS_H
