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
/// that the indices differ along, linear in none of them, and equal only to that
/// of the same op at the same index. 0 where there is but one position.
AffineExpr AccessWalk::getGatheredIndex(GatherOp gather,
                                        ArrayRef<AffineExpr> index) {
  MLIRContext *context = gather.getContext();
  AffineExpr position = getAffineConstantExpr(0, context);
  if (dims(gather.getX())[gather.getDim()] == getAffineConstantExpr(1, context))
    return position;
  auto it = llvm::find(gathers, gather.getOperation());
  unsigned number = it - gathers.begin();
  if (it == gathers.end())
    gathers.push_back(gather);
  constexpr unsigned firstUnknown = 1 << 20; // no kernel has so many sizes
  for (unsigned dim : getVaryingDims(gather.getIndices()).set_bits())
    position = position * (firstUnknown + 1) + index[dim];
  return position % getAffineSymbolExpr(firstUnknown + number, context);
}

/// The dims of `value` along which its elements may differ.
llvm::SmallBitVector AccessWalk::getVaryingDims(Value value) {
  if (auto it = varying.find(value); it != varying.end())
    return it->second;
  unsigned rank = cast<RankedTensorType>(value.getType()).getRank();
  Operation *op = value.getDefiningOp();
  llvm::SmallBitVector result(rank);
  // Adds the dims that `exprs` depend on.
  auto add = [&](ArrayRef<AffineExpr> exprs) {
    for (unsigned dim = 0; dim < rank; ++dim)
      if (llvm::any_of(exprs,
                       [&](AffineExpr e) { return e.isFunctionOfDim(dim); }))
        result.set(dim);
  };
  if (isLeaf(value) || !op || isHero(op)) {
    result.set();
  } else if (auto iota = dyn_cast<IotaOp>(op)) {
    result.set(iota.getDim());
  } else if (auto gather = dyn_cast<GatherOp>(op)) {
    result = getVaryingDims(gather.getX());
    result.reset(gather.getDim());
    result |= getVaryingDims(gather.getIndices());
  } else if (!isa<ConstantOp>(op)) {
    SmallVector<SmallVector<AffineExpr>> operandDims;
    for (Value operand : op->getOperands())
      operandDims.push_back(llvm::to_vector(dims(operand)));
    for (const OperandAccess &access :
         cast<IndexMapInterface>(op).getAccesses(operandDims, dims(value))) {
      add(access.guard);
      for (unsigned dim :
           getVaryingDims(op->getOperand(access.operand)).set_bits())
        add(access.index[dim]);
    }
  }
  varying[value] = result;
  return result;
}

SmallVector<AffineExpr> getIdentityIndex(unsigned rank, MLIRContext *context) {
  return llvm::map_to_vector(llvm::seq<unsigned>(0, rank), [&](unsigned i) {
    return getAffineDimExpr(i, context);
  });
}

} // namespace fusion
