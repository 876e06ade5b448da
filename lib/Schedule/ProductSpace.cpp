//===- ProductSpace.cpp - a contraction as a product of matrices ----------===//

#include "ProductSpace.h"

using namespace mlir;

namespace fusion {

bool ProductOperand::isContiguous(unsigned dim) const {
  return llvm::any_of(accesses, [&](AffineExpr expr) {
    AffineExpr along = getCoefficient(expr, dim);
    auto constant = dyn_cast_or_null<AffineConstantExpr>(along);
    return constant && constant.getValue() == 1;
  });
}

static bool dependsOn(const HeroRead &read, unsigned dim) {
  auto sees = [&](AffineExpr expr) { return expr.isFunctionOfDim(dim); };
  return llvm::any_of(read.index, sees) || llvm::any_of(read.guard, sees);
}

/// Everything that making an element of `read` evaluates.
static SmallVector<AffineExpr> collectAccesses(const GroupModel &model,
                                               const HeroRead &read) {
  GroupView view = model.getView();
  AccessWalk walk(view.dims, view.isLeaf);
  walk.visit(read.operand, read.index);
  SmallVector<AffineExpr> exprs(read.guard);
  MLIRContext *context = read.operand.getContext();
  for (auto &[leaf, indices] : walk.getLeaves())
    for (const Index &index : indices)
      exprs.push_back(linearize(index, model.getStrides(leaf), context));
  llvm::append_range(exprs, walk.getOtherExprs());
  return exprs;
}

std::optional<ProductSpace> ProductSpace::get(const GroupModel &model) {
  GroupView view = model.getView();
  if (classify(view).kind != GroupKind::Contraction)
    return std::nullopt;
  ProductSpace space;
  space.hero = view.getHeroes().front();
  space.spec = getHeroSpec(space.hero,
                           [&](Value value) { return model.getDims(value); });
  if (space.spec.kind != HeroKind::Contraction)
    return std::nullopt;
  space.context = space.hero->getContext();
  ArrayRef<AffineExpr> dims = model.getDims(space.hero->getResult(0));
  space.sizes = llvm::to_vector(dims);
  llvm::append_range(space.sizes, space.spec.reduced);

  // The operand that has the output's innermost dim gives the columns.
  SmallVector<int64_t> order = getPhysicalOrder(model.getOutputType(0));
  llvm::erase_if(order, [&](int64_t dim) { return isOne(dims[dim]); });
  if (order.empty())
    return std::nullopt;
  ArrayRef<HeroRead> reads = space.spec.reads;
  unsigned columnRead = dependsOn(reads[0], order.back()) ? 0 : 1;
  const HeroRead &column = reads[columnRead], &row = reads[1 - columnRead];
  if (!dependsOn(column, order.back()) || dependsOn(row, order.back()))
    return std::nullopt;
  space.column = {column, collectAccesses(model, column)};
  space.row = {row, collectAccesses(model, row)};

  // Dims of different roles never merge, nor does one of the batch: accesses by
  // each alone see to it. Columns merge even where their operand takes them
  // apart: its panel is packed run by run.
  SmallVector<int64_t> columns, rows;
  SmallVector<AffineExpr> accesses = collectAccessExprs(model);
  llvm::append_range(accesses, space.row.accesses);
  for (int64_t dim : order) {
    bool ofColumn = dependsOn(column, dim), ofRow = dependsOn(row, dim);
    if (ofColumn != ofRow)
      (ofColumn ? columns : rows).push_back(dim);
    else
      accesses.push_back(getAffineDimExpr(dim, space.context));
  }
  if (rows.empty())
    return std::nullopt;
  for (ArrayRef<int64_t> role : {ArrayRef(columns), ArrayRef(rows)}) {
    AffineExpr linear = getAffineConstantExpr(0, space.context);
    for (int64_t dim : role)
      linear = linear * dims[dim] + getAffineDimExpr(dim, space.context);
    accesses.push_back(linear);
  }
  space.result.emplace(dims, order, ArrayRef<int64_t>(), accesses);
  ArrayRef<MergedDim> merged = space.result->getMerged();
  space.lane = merged.size() - 1;
  for (unsigned i = 0; i < space.lane; ++i) {
    bool isRow = llvm::is_contained(rows, (int64_t)merged[i].dims.back());
    (isRow ? space.rows : space.outer).push_back(i);
  }

  unsigned rank = space.spec.resultRank;
  for (unsigned i = 0; i < space.spec.reduced.size(); ++i)
    space.depth.push_back(rank + i);
  // Channels come last where an operand has them side by side.
  if (space.row.isContiguous(rank) || space.column.isContiguous(rank))
    std::rotate(space.depth.begin(), space.depth.begin() + 1,
                space.depth.end());
  return space;
}

SmallVector<AffineExpr>
ProductSpace::getSizes(ArrayRef<unsigned> merged) const {
  return llvm::map_to_vector(merged, [&](unsigned i) { return getSize(i); });
}

AffineExpr ProductSpace::getWholeDepth() const {
  return product(ArrayRef(spec.reduced).drop_front(), context);
}

Domain ProductSpace::merge(const ProductOperand &operand,
                           ArrayRef<unsigned> dims) const {
  SmallVector<AffineExpr> accesses(operand.accesses);
  if (dims.front() != getBlockedDim())
    accesses.push_back(getAffineDimExpr(getBlockedDim(), context));
  return Domain(sizes, llvm::to_vector_of<int64_t>(dims), {}, accesses);
}

} // namespace fusion
