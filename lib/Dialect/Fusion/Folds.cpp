//===- Folds.cpp - folds and canonicalisation -----------------------------===//
//
// Rewrites that hold whatever the elements are and make the graph no larger.
// Identities of arithmetic belong to `fusion-simplify`, where each can be
// switched off. A fold must not change a type, so one with a layout stays.
//
//===----------------------------------------------------------------------===//

#include "VerifyUtils.h"

#include "mlir/IR/PatternMatch.h"
#include "llvm/ADT/STLExtras.h"

using namespace mlir;
using namespace fusion;

static bool allZero(ArrayRef<int64_t> values) {
  return llvm::all_of(values, [](int64_t value) { return value == 0; });
}

/// True if two tensors of type `type` have equal sizes: at most `open` of them
/// are symbolic without a name.
static bool sizesDetermined(RankedTensorType type, int64_t open) {
  LayoutAttr layout = getLayout(type);
  for (int64_t dim = 0; dim < type.getRank(); ++dim) {
    bool named = layout && !layout.getSymbols().empty() &&
                 !layout.getSymbols()[dim].getValue().empty();
    if (type.isDynamicDim(dim) && !named)
      --open;
  }
  return open >= 0;
}

OpFoldResult ConstantOp::fold(FoldAdaptor) { return getValue(); }

OpFoldResult AbsOp::fold(FoldAdaptor) {
  return getX().getDefiningOp<AbsOp>() && getX().getType() == getType()
             ? getX()
             : Value();
}

OpFoldResult ConvertOp::fold(FoldAdaptor) {
  return getX().getType() == getType() ? getX() : Value();
}

OpFoldResult SelectOp::fold(FoldAdaptor adaptor) {
  if (getOnTrue() == getOnFalse() && getOnTrue().getType() == getType())
    return getOnTrue();
  auto condition =
      dyn_cast_if_present<SplatElementsAttr>(adaptor.getCondition());
  if (!condition)
    return {};
  Value chosen = condition.getSplatValue<bool>() ? getOnTrue() : getOnFalse();
  return chosen.getType() == getType() ? chosen : Value();
}

OpFoldResult BroadcastOp::fold(FoldAdaptor) {
  // A symbolic size of the operand can be 1 where `like` has another.
  if (getX().getType() == getType() &&
      (!getLike() || sizesDetermined(getType(), 0)))
    return getX();
  return {};
}

OpFoldResult ReshapeOp::fold(FoldAdaptor) {
  // The number of elements determines one symbolic size.
  if (getX().getType() == getType() && sizesDetermined(getType(), 1))
    return getX();
  return {};
}

OpFoldResult TransposeOp::fold(FoldAdaptor) {
  return llvm::is_sorted(getPermutation()) && getX().getType() == getType()
             ? getX()
             : Value();
}

OpFoldResult SliceOp::fold(FoldAdaptor) {
  bool identity = allZero(getStarts()) && llvm::all_equal(getSteps()) &&
                  (getSteps().empty() || getSteps().front() == 1);
  return identity && getX().getType() == getType() ? getX() : Value();
}

OpFoldResult PadOp::fold(FoldAdaptor) {
  return allZero(getLow()) && allZero(getHigh()) &&
                 getX().getType() == getType()
             ? getX()
             : Value();
}

OpFoldResult ConcatOp::fold(FoldAdaptor) {
  return getOperands().size() == 1 &&
                 getOperands().front().getType() == getType()
             ? getOperands().front()
             : Value();
}

OpFoldResult ReduceOp::fold(FoldAdaptor) {
  return getDims().empty() && getX().getType() == getType() ? getX() : Value();
}

/// transpose(transpose(x)) is one transpose.
static LogicalResult mergeTransposes(TransposeOp op,
                                     PatternRewriter &rewriter) {
  auto inner = op.getX().getDefiningOp<TransposeOp>();
  if (!inner)
    return rewriter.notifyMatchFailure(op, "operand is not a transpose");
  SmallVector<int64_t> permutation;
  for (int64_t dim : op.getPermutation())
    permutation.push_back(inner.getPermutation()[dim]);
  rewriter.replaceOpWithNewOp<TransposeOp>(op, op.getType(), inner.getX(),
                                           permutation);
  return success();
}

/// reshape(reshape(x)) is one reshape.
static LogicalResult mergeReshapes(ReshapeOp op, PatternRewriter &rewriter) {
  auto inner = op.getX().getDefiningOp<ReshapeOp>();
  if (!inner)
    return rewriter.notifyMatchFailure(op, "operand is not a reshape");
  // Of several symbolic sizes some follow from the operand's shape or names.
  if (op.getType().getNumDynamicDims() > 1)
    return rewriter.notifyMatchFailure(op,
                                       "more than one result size is symbolic");
  rewriter.replaceOpWithNewOp<ReshapeOp>(op, op.getType(), inner.getX());
  return success();
}

void TransposeOp::getCanonicalizationPatterns(RewritePatternSet &patterns,
                                              MLIRContext *) {
  patterns.add(mergeTransposes);
}

void ReshapeOp::getCanonicalizationPatterns(RewritePatternSet &patterns,
                                            MLIRContext *) {
  patterns.add(mergeReshapes);
}
