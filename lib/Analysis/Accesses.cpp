//===- Accesses.cpp - what a group reads to make its outputs --------------===//

#include "fusion/Analysis/Accesses.h"
#include "fusion/Analysis/IndexMath.h"

using namespace mlir;

namespace fusion {

/// Adds `index` to `list`; false if it was there.
static bool insert(SmallVectorImpl<AccessWalk::Index> &list,
                   ArrayRef<AffineExpr> index) {
  for (const AccessWalk::Index &known : list)
    if (ArrayRef<AffineExpr>(known) == index)
      return false;
  list.emplace_back(index);
  return true;
}

void AccessWalk::visit(Value value, ArrayRef<AffineExpr> index) {
  if (!insert(seen[value], index))
    return;
  if (isLeaf(value)) {
    insert(leaves[value], index);
    return;
  }
  Operation *op = value.getDefiningOp();
  if (!op || isa<ConstantOp>(op))
    return;
  if (auto iota = dyn_cast<IotaOp>(op)) {
    others.push_back(index[iota.getDim()]);
    return;
  }
  if (isHero(op)) {
    insert(heroes[op], index);
    return;
  }
  if (auto gather = dyn_cast<GatherOp>(op)) {
    visit(gather.getIndices(), index);
    Index from(index);
    from[gather.getDim()] = getGatheredIndex(gather, index);
    visit(gather.getX(), from);
    return;
  }
  auto map = cast<IndexMapInterface>(op);
  if (!map.isView())
    insert(computed[op], index);
  SmallVector<SmallVector<AffineExpr>> operandDims;
  for (Value operand : op->getOperands())
    operandDims.push_back(llvm::to_vector(dims(operand)));
  for (const OperandAccess &access :
       map.getAccesses(operandDims, dims(value))) {
    llvm::append_range(others, substituteDims(access.guard, index));
    visit(op->getOperand(access.operand), substituteDims(access.index, index));
  }
}

/// Stands for a position that is read from memory: an expression of the dims
/// that the index depends on, linear in none of them, and equal only to that of
/// the same op at the same index.
AffineExpr AccessWalk::getGatheredIndex(GatherOp gather,
                                        ArrayRef<AffineExpr> index) {
  MLIRContext *context = gather.getContext();
  auto it = llvm::find(gathers, gather.getOperation());
  unsigned number = it - gathers.begin();
  if (it == gathers.end())
    gathers.push_back(gather);
  constexpr unsigned firstUnknown = 1 << 20; // no kernel has so many sizes
  AffineExpr position = getAffineConstantExpr(0, context);
  for (AffineExpr expr : index)
    position = position * (firstUnknown + 1) + expr;
  return position % getAffineSymbolExpr(firstUnknown + number, context);
}

SmallVector<AffineExpr> getIdentityIndex(unsigned rank, MLIRContext *context) {
  return llvm::map_to_vector(llvm::seq<unsigned>(0, rank), [&](unsigned i) {
    return getAffineDimExpr(i, context);
  });
}

} // namespace fusion
