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

SmallVector<AffineExpr> getIdentityIndex(unsigned rank, MLIRContext *context) {
  return llvm::map_to_vector(llvm::seq<unsigned>(0, rank), [&](unsigned i) {
    return getAffineDimExpr(i, context);
  });
}

} // namespace fusion
