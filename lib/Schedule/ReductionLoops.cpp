//===- ReductionLoops.cpp - the loop space of a group of reductions -------===//

#include "ReductionLoops.h"

using namespace mlir;

namespace fusion {

static ReductionSpace getSpace(const GroupModel &model) {
  std::string reason;
  return *ReductionSpace::get(model.getView(), reason);
}

/// Memory is walked in the order of the largest input.
static SmallVector<int64_t> getOrder(const GroupModel &model,
                                     const ReductionSpace &space) {
  for (BlockArgument arg : model.getBody().getArguments())
    if (ArrayRef(space.sizes) == model.getDims(arg))
      return getPhysicalOrder(cast<RankedTensorType>(arg.getType()));
  return llvm::to_vector(llvm::seq<int64_t>(0, space.sizes.size()));
}

ReductionLoops::ReductionLoops(const GroupModel &model)
    : space(getSpace(model)), domain(space.sizes, getOrder(model, space),
                                     space.reduced, collectAccessExprs(model)) {
  ArrayRef<MergedDim> merged = domain.getMerged();
  // The innermost dim carries the lanes, unless it is too short to.
  for (int64_t i = (int64_t)merged.size() - 1; i >= 0; --i) {
    if (isa<AffineConstantExpr>(merged[i].size) && i > 0 &&
        cast<AffineConstantExpr>(merged[i].size).getValue() < 4)
      continue;
    lane = i;
    break;
  }
  if (!lane && !merged.empty())
    lane = merged.size() - 1;
  if (lane)
    rows = merged[*lane].reduced;
  for (auto [i, dim] : llvm::enumerate(merged))
    if (lane != i)
      (dim.reduced ? reduced : slots).push_back(i);
}

AffineExpr ReductionLoops::getLaneSize() const {
  return lane ? domain.getMerged()[*lane].size
              : getAffineConstantExpr(1, getContext());
}

SmallVector<AffineExpr>
ReductionLoops::getSizes(ArrayRef<unsigned> dims) const {
  return llvm::map_to_vector(
      dims, [&](unsigned i) { return domain.getMerged()[i].size; });
}

} // namespace fusion
