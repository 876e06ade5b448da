//===- IndexMaps.cpp - which element a view op reads ----------------------===//
//
// The affine maps of the view ops other than fusion.reshape. A guard is left
// out where the sizes alone say that it holds.
//
//===----------------------------------------------------------------------===//

#include "Dims.h"

#include "llvm/ADT/STLExtras.h"

using namespace mlir;
using namespace fusion;

bool BroadcastOp::isView() { return true; }

SmallVector<OperandAccess>
BroadcastOp::getAccesses(ArrayRef<SmallVector<AffineExpr>> operands,
                         ArrayRef<AffineExpr> result) {
  OperandAccess access;
  for (auto [size, dim] : llvm::zip_equal(operands.front(), getDims())) {
    AffineExpr index = getAffineDimExpr(dim, getContext());
    if (isConstant(size, 1))
      access.index.push_back(getAffineConstantExpr(0, getContext()));
    else if (isa<AffineConstantExpr>(size) || size == result[dim])
      access.index.push_back(index);
    else
      // The size is 1 or the result's, which only the run time can tell.
      access.index.push_back(index % size);
  }
  return {access};
}

bool TransposeOp::isView() { return true; }

SmallVector<OperandAccess>
TransposeOp::getAccesses(ArrayRef<SmallVector<AffineExpr>>,
                         ArrayRef<AffineExpr>) {
  OperandAccess access;
  access.index.resize(getPermutation().size());
  for (auto [dim, source] : llvm::enumerate(getPermutation()))
    access.index[source] = getAffineDimExpr(dim, getContext());
  return {access};
}

bool SliceOp::isView() { return true; }

SmallVector<OperandAccess>
SliceOp::getAccesses(ArrayRef<SmallVector<AffineExpr>>, ArrayRef<AffineExpr>) {
  OperandAccess access;
  for (auto [dim, start, step] : llvm::enumerate(getStarts(), getSteps()))
    access.index.push_back(getAffineDimExpr(dim, getContext()) * step + start);
  return {access};
}

bool ReverseOp::isView() { return true; }

SmallVector<OperandAccess>
ReverseOp::getAccesses(ArrayRef<SmallVector<AffineExpr>> operands,
                       ArrayRef<AffineExpr>) {
  OperandAccess access;
  for (auto [dim, size] : llvm::enumerate(operands.front())) {
    AffineExpr index = getAffineDimExpr(dim, getContext());
    bool reversed = llvm::is_contained(getDims(), static_cast<int64_t>(dim));
    access.index.push_back(reversed ? size - 1 - index : index);
  }
  return {access};
}

bool PadOp::isView() { return true; }

SmallVector<OperandAccess>
PadOp::getAccesses(ArrayRef<SmallVector<AffineExpr>> operands,
                   ArrayRef<AffineExpr>) {
  OperandAccess access;
  for (auto [dim, size, low, high] :
       llvm::enumerate(operands.front(), getLow(), getHigh())) {
    AffineExpr index = getAffineDimExpr(dim, getContext()) - low;
    access.index.push_back(index);
    if (low > 0)
      access.guard.push_back(index);
    if (high > 0)
      access.guard.push_back(size - 1 - index);
  }
  if (access.guard.empty())
    return {access};
  return {access, {/*operand=*/1, {}, {}}};
}

bool ConcatOp::isView() { return true; }

SmallVector<OperandAccess>
ConcatOp::getAccesses(ArrayRef<SmallVector<AffineExpr>> operands,
                      ArrayRef<AffineExpr>) {
  SmallVector<OperandAccess> accesses;
  AffineExpr along = getAffineDimExpr(getDim(), getContext());
  AffineExpr end = getAffineConstantExpr(0, getContext());
  for (auto [operand, sizes] : llvm::enumerate(operands)) {
    if (isConstant(sizes[getDim()], 0))
      continue;
    OperandAccess &access = accesses.emplace_back();
    access.operand = operand;
    for (unsigned dim = 0; dim < sizes.size(); ++dim)
      access.index.push_back(getAffineDimExpr(dim, getContext()));
    access.index[getDim()] = along - end;
    end = end + sizes[getDim()];
    access.guard.push_back(end - 1 - along);
  }
  // Where every operand is empty nothing is read, through whichever.
  if (accesses.empty())
    return {identityAccesses(*this).front()};
  accesses.back().guard.clear();
  return accesses;
}
