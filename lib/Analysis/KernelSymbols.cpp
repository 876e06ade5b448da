//===- KernelSymbols.cpp - sizes as a kernel sees them --------------------===//

#include "fusion/Analysis/KernelSymbols.h"

using namespace mlir;

namespace fusion {

/// The largest power of two up to `kMaxDivisor` that divides `value`.
static int64_t getClassDivisor(int64_t value) {
  int64_t divisor = 1;
  while (divisor < KernelSymbols::kMaxDivisor && value % (2 * divisor) == 0)
    divisor *= 2;
  return divisor;
}

AffineExpr KernelSymbols::get(AffineExpr hostExpr) {
  auto constant = dyn_cast<AffineConstantExpr>(hostExpr);
  if (constant && std::abs(constant.getValue()) <= kMaxStructural)
    return hostExpr;
  auto it = llvm::find(hostExprs, hostExpr);
  unsigned position = it - hostExprs.begin();
  if (it == hostExprs.end()) {
    hostExprs.push_back(hostExpr);
    divisors.push_back(
        getClassDivisor(constant ? constant.getValue()
                                 : getKnownDivisor(hostExpr, Divisors())));
    hints.push_back(constant ? std::optional(constant.getValue())
                             : std::nullopt);
  }
  return getAffineSymbolExpr(position, context);
}

SmallVector<AffineExpr> KernelSymbols::get(ArrayRef<AffineExpr> exprs) {
  return llvm::map_to_vector(exprs, [&](AffineExpr e) { return get(e); });
}

std::optional<int64_t> KernelSymbols::getHint(AffineExpr expr) const {
  return evaluate(expr, hints);
}

GroupModel::GroupModel(GroupOp group, const DimAnalysis &analysis)
    : group(group), symbols(group.getContext()) {
  for (BlockArgument arg : getBody().getArguments()) {
    dims[arg] = symbols.get(analysis.getDims(arg));
    SmallVector<AffineExpr> host = analysis.getStrides(arg);
    auto type = cast<RankedTensorType>(arg.getType());
    // Dense strides stay products of sizes: the algebra sees through those.
    strides[arg] = host == getDenseStrides(type, analysis.getDims(arg))
                       ? getDenseStrides(type, dims[arg])
                       : symbols.get(host);
  }
  for (Operation &op : getBody())
    for (Value result : op.getResults())
      dims[result] = symbols.get(analysis.getDims(result));
}

ArrayRef<AffineExpr> GroupModel::getDims(Value value) const {
  return dims.find(value)->second;
}

SmallVector<AffineExpr> GroupModel::getStrides(Value value) const {
  auto it = strides.find(value);
  if (it != strides.end())
    return it->second;
  return getDenseStrides(cast<RankedTensorType>(value.getType()),
                         getDims(value));
}

Value GroupModel::getOutput(unsigned i) const {
  return getBody().getTerminator()->getOperand(i);
}

GroupView GroupModel::getView() const {
  GroupView view;
  for (Operation &op : getBody().without_terminator())
    view.ops.push_back(&op);
  llvm::append_range(view.outputs, getBody().getTerminator()->getOperands());
  view.dims = [this](Value value) { return getDims(value); };
  view.isLeaf = [](Value value) { return isa<BlockArgument>(value); };
  return view;
}

RankedTensorType GroupModel::getOutputType(unsigned i) const {
  return cast<RankedTensorType>(group.getResult(i).getType());
}

} // namespace fusion
