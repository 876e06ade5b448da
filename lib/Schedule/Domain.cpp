//===- Domain.cpp - the loop space of a kernel ----------------------------===//

#include "fusion/Schedule/Domain.h"
#include "fusion/Analysis/Accesses.h"

using namespace mlir;

namespace fusion {

/// True if every access sees dims `outer` and `inner` as one run.
static bool canMerge(unsigned outer, unsigned inner, AffineExpr innerSize,
                     ArrayRef<AffineExpr> accesses) {
  return llvm::all_of(accesses, [&](AffineExpr expr) {
    AffineExpr a = getCoefficient(expr, outer);
    AffineExpr b = getCoefficient(expr, inner);
    return a && b && a == b * innerSize;
  });
}

Domain::Domain(ArrayRef<AffineExpr> sizes, ArrayRef<int64_t> order,
               ArrayRef<int64_t> reduced, ArrayRef<AffineExpr> accesses)
    : rank(sizes.size()) {
  for (int64_t dim : order) {
    // A dim of size 1 is always at index 0.
    auto constant = dyn_cast<AffineConstantExpr>(sizes[dim]);
    if (constant && constant.getValue() == 1)
      continue;
    bool isReduced = llvm::is_contained(reduced, dim);
    if (!merged.empty() && merged.back().reduced == isReduced &&
        canMerge(merged.back().dims.back(), dim, sizes[dim], accesses)) {
      merged.back().dims.push_back(dim);
      merged.back().size = merged.back().size * sizes[dim];
      continue;
    }
    merged.push_back({{(unsigned)dim}, sizes[dim], isReduced});
  }
}

Index Domain::getIndex(ArrayRef<AffineExpr> values,
                       MLIRContext *context) const {
  Index index(rank, getAffineConstantExpr(0, context));
  for (auto [dim, value] : llvm::zip_equal(merged, values))
    index[dim.dims.back()] = value;
  return index;
}

SmallVector<AffineExpr> collectAccessExprs(const GroupModel &model) {
  MLIRContext *context = model.getOutput(0).getContext();
  GroupView view = model.getView();
  GroupShape shape = classify(view);
  AccessWalk walk = walkPoint(view, shape);
  Index full = getIdentityIndex(shape.space.size(), context);
  SmallVector<AffineExpr> exprs;
  for (unsigned i = 0; i < model.getNumOutputs(); ++i) {
    ArrayRef<AffineExpr> dims = model.getDims(model.getOutput(i));
    Index index = full;
    if (shape.kind == GroupKind::Reduction)
      index = ReductionSpace::get(view, shape.reason)->getIndexOf(dims, full);
    exprs.push_back(linearize(
        index, getDenseStrides(model.getOutputType(i), dims), context));
  }
  for (auto &[leaf, indices] : walk.getLeaves())
    for (const Index &index : indices)
      exprs.push_back(linearize(index, model.getStrides(leaf), context));
  llvm::append_range(exprs, walk.getOtherExprs());
  return exprs;
}

SmallVector<Value> delinearize(ElementEmitter &emitter, Value linear,
                               ArrayRef<AffineExpr> sizes) {
  OpBuilder &builder = emitter.getBuilder();
  SmallVector<Value> result(sizes.size());
  Value rest = linear;
  for (int64_t i = (int64_t)sizes.size() - 1; i >= 0; --i) {
    if (i == 0) {
      result[i] = rest;
      break;
    }
    Value size = emitter.emitIndex(sizes[i]);
    Location loc = linear.getLoc();
    result[i] = arith::RemUIOp::create(builder, loc, rest, size);
    rest = arith::DivUIOp::create(builder, loc, rest, size);
  }
  return result;
}

SmallVector<int64_t> getPhysicalOrder(RankedTensorType type) {
  LayoutAttr layout = getLayout(type);
  if (layout && !layout.getOrder().empty())
    return llvm::to_vector(layout.getOrder());
  return llvm::to_vector(llvm::seq<int64_t>(0, type.getRank()));
}

} // namespace fusion
