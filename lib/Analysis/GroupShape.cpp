//===- GroupShape.cpp - what kind of kernel a set of ops makes ------------===//

#include "fusion/Analysis/GroupShape.h"

using namespace mlir;

namespace fusion {

using Index = AccessWalk::Index;

bool isOne(AffineExpr size) {
  auto constant = dyn_cast<AffineConstantExpr>(size);
  return constant && constant.getValue() == 1;
}

SmallVector<Operation *> GroupView::getHeroes() const {
  SmallVector<Operation *> heroes;
  llvm::copy_if(ops, std::back_inserter(heroes), isHero);
  return heroes;
}

//===----------------------------------------------------------------------===//
// Reductions
//===----------------------------------------------------------------------===//

std::optional<ReductionSpace> ReductionSpace::get(const GroupView &view,
                                                  std::string &reason) {
  ReductionSpace space;
  DenseMap<Value, unsigned> depth; // 1 + level of the deepest hero below
  for (Operation *op : view.ops) {
    unsigned below = 0;
    for (Value operand : op->getOperands())
      below = std::max(below, depth.lookup(operand));
    if (isHero(op)) {
      if (!isa<ReduceOp, ArgReduceOp>(op)) {
        reason = "a contraction and a reduction do not share a kernel";
        return std::nullopt;
      }
      ArrayRef<AffineExpr> sizes = view.dims(op->getOperand(0));
      SmallVector<int64_t> reduced = getReducedDims(op);
      if (space.heroes.empty()) {
        space.sizes = llvm::to_vector(sizes);
        space.reduced = reduced;
      } else if (ArrayRef(space.sizes) != sizes || space.reduced != reduced) {
        reason = "the reductions are over different dims or shapes";
        return std::nullopt;
      }
      space.heroes.push_back(op);
      space.levels.push_back(below++);
    }
    for (Value result : op->getResults())
      depth[result] = below;
  }
  return space;
}

Index ReductionSpace::getSlotIndex(ArrayRef<AffineExpr> full) const {
  Index result;
  for (auto [i, expr] : llvm::enumerate(full))
    if (!isReduced(i))
      result.push_back(expr);
  return result;
}

static SmallVector<AffineExpr> withoutOnes(ArrayRef<AffineExpr> sizes) {
  SmallVector<AffineExpr> result;
  llvm::copy_if(sizes, std::back_inserter(result),
                [](AffineExpr size) { return !isOne(size); });
  return result;
}

std::optional<bool> ReductionSpace::isFull(ArrayRef<AffineExpr> dims) const {
  if (withoutOnes(dims) == withoutOnes(getSlotIndex(sizes)))
    return false;
  if (dims == ArrayRef(sizes))
    return true;
  return std::nullopt;
}

Index ReductionSpace::getOutputIndex(ArrayRef<AffineExpr> dims,
                                     ArrayRef<AffineExpr> full) const {
  SmallVector<AffineExpr> indices;
  for (int64_t i = 0; i < (int64_t)sizes.size(); ++i)
    if (!isReduced(i) && !isOne(sizes[i]))
      indices.push_back(full[i]);
  Index result;
  unsigned next = 0;
  for (AffineExpr size : dims)
    result.push_back(isOne(size) ? getAffineConstantExpr(0, size.getContext())
                                 : indices[next++]);
  return result;
}

/// True if every use of a reduction's result is at the slot of the point.
static bool usedAtSlotsOnly(const ReductionSpace &space,
                            const AccessWalk &walk) {
  MLIRContext *context = space.heroes.front()->getContext();
  Index slot =
      space.getSlotIndex(getIdentityIndex(space.sizes.size(), context));
  Index slotSizes = space.getSlotIndex(space.sizes);
  return llvm::all_of(walk.getHeroes(), [&](auto &entry) {
    return llvm::all_of(entry.second, [&](const Index &index) {
      for (auto [used, own, size] : llvm::zip_equal(index, slot, slotSizes))
        if (used != own && !isOne(size))
          return false;
      return true;
    });
  });
}

//===----------------------------------------------------------------------===//
// All kinds
//===----------------------------------------------------------------------===//

AccessWalk walkPoint(const GroupView &view, const GroupShape &shape) {
  AccessWalk walk(view.dims, view.isLeaf);
  if (view.outputs.empty())
    return walk;
  MLIRContext *context = view.outputs.front().getContext();
  Index full = getIdentityIndex(shape.space.size(), context);
  if (shape.kind != GroupKind::Reduction) {
    for (Value output : view.outputs)
      walk.visit(output, full);
    return walk;
  }
  std::string reason;
  ReductionSpace space = *ReductionSpace::get(view, reason);
  for (Value output : view.outputs)
    walk.visit(output, space.getIndexOf(view.dims(output), full));
  for (Operation *hero : space.heroes)
    walk.visit(hero->getOperand(0), full);
  return walk;
}

GroupShape classify(const GroupView &view) {
  GroupShape shape;
  auto refuse = [&](const char *reason) {
    shape.kind = GroupKind::General;
    shape.reason = reason;
    return shape;
  };
  if (view.outputs.empty())
    return refuse("nothing is written");
  SmallVector<Operation *> heroes = view.getHeroes();
  if (heroes.empty() || !isa<ReduceOp, ArgReduceOp>(heroes.front())) {
    if (heroes.size() > 1)
      return refuse("two heroes (a contraction beside another hero) do not "
                    "share a kernel");
    Value main =
        heroes.empty() ? view.outputs.front() : heroes.front()->getResult(0);
    shape.space = llvm::to_vector(view.dims(main));
    for (Value output : view.outputs)
      if (view.dims(output) != ArrayRef(shape.space))
        return refuse(heroes.empty()
                          ? "the results have different shapes"
                          : "a result is not of the shape of the hero's tile");
    shape.kind =
        heroes.empty() ? GroupKind::Elementwise : GroupKind::Contraction;
    if (heroes.empty())
      return shape;
    AccessWalk walk = walkPoint(view, shape);
    Index identity = getIdentityIndex(shape.space.size(), main.getContext());
    for (auto &[hero, indices] : walk.getHeroes())
      if (indices.size() != 1 || indices.front() != identity)
        return refuse(
            "the hero's result is used at another index than its own");
    return shape;
  }
  std::optional<ReductionSpace> space = ReductionSpace::get(view, shape.reason);
  if (!space)
    return shape;
  shape.space = space->sizes;
  for (Value output : view.outputs)
    if (!space->isFull(view.dims(output)))
      return refuse("a result is neither of the shape that is reduced nor of "
                    "the reduction's result");
  shape.kind = GroupKind::Reduction;
  if (!usedAtSlotsOnly(*space, walkPoint(view, shape)))
    return refuse("a reduction's result is used at another row than its own");
  return shape;
}

} // namespace fusion
