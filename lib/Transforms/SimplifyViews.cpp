//===- SimplifyViews.cpp - composition of views ---------------------------===//
//
// Two views in a row are one view where an op of the dialect says so. A kernel
// would compose their index maps anyway; here fewer ops stand between the ops
// that compute, and the maps are simpler.
//
//===----------------------------------------------------------------------===//

#include "SimplifyUtils.h"

#include "llvm/ADT/STLExtras.h"

using namespace mlir;
using namespace fusion;

static LogicalResult mergeBroadcasts(BroadcastOp op,
                                     PatternRewriter &rewriter) {
  auto inner = op.getX().getDefiningOp<BroadcastOp>();
  if (!inner)
    return rewriter.notifyMatchFailure(op, "operand is not a broadcast");
  // Without `like` the sizes come from the operand, which must know them.
  if (!op.getLike() && inner.getLike() && !op.getType().hasStaticShape())
    return rewriter.notifyMatchFailure(op, "sizes are known to the operand");
  SmallVector<int64_t> dims;
  for (int64_t dim : inner.getDims())
    dims.push_back(op.getDims()[dim]);
  rewriter.replaceOpWithNewOp<BroadcastOp>(op, op.getType(), inner.getX(),
                                           op.getLike(), dims);
  return success();
}

static LogicalResult mergeSlices(SliceOp op, PatternRewriter &rewriter) {
  auto inner = op.getX().getDefiningOp<SliceOp>();
  if (!inner)
    return rewriter.notifyMatchFailure(op, "operand is not a slice");
  RankedTensorType through = inner.getType(), to = op.getType();
  SmallVector<int64_t> starts, steps;
  for (int64_t dim = 0; dim < to.getRank(); ++dim) {
    // A symbolic size would run to the end of the larger operand.
    if (to.isDynamicDim(dim) && !through.isDynamicDim(dim))
      return rewriter.notifyMatchFailure(op, "a size is that of the operand");
    starts.push_back(inner.getStarts()[dim] +
                     op.getStarts()[dim] * inner.getSteps()[dim]);
    steps.push_back(op.getSteps()[dim] * inner.getSteps()[dim]);
  }
  rewriter.replaceOpWithNewOp<SliceOp>(op, to, inner.getX(), starts, steps);
  return success();
}

static LogicalResult mergeConcats(ConcatOp op, PatternRewriter &rewriter) {
  SmallVector<Value> operands;
  for (Value operand : op.getOperands()) {
    auto inner = operand.getDefiningOp<ConcatOp>();
    if (inner && inner.getDim() == op.getDim() && inner->hasOneUse())
      llvm::append_range(operands, inner.getOperands());
    else
      operands.push_back(operand);
  }
  if (operands.size() == op.getOperands().size())
    return rewriter.notifyMatchFailure(
        op, "no operand is a concatenation along the same dimension");
  rewriter.replaceOpWithNewOp<ConcatOp>(op, op.getType(), operands,
                                        op.getDim());
  return success();
}

static LogicalResult transposeOfBroadcast(TransposeOp op,
                                          PatternRewriter &rewriter) {
  auto inner = op.getX().getDefiningOp<BroadcastOp>();
  if (!inner)
    return rewriter.notifyMatchFailure(op, "operand is not a broadcast");
  if (inner.getLike() && !op.getType().hasStaticShape())
    return rewriter.notifyMatchFailure(op, "no operand has the result's sizes");
  SmallVector<int64_t> dims;
  for (int64_t dim : inner.getDims())
    dims.push_back(llvm::find(op.getPermutation(), dim) -
                   op.getPermutation().begin());
  if (!llvm::is_sorted(dims))
    return rewriter.notifyMatchFailure(op, "the operand itself is transposed");
  rewriter.replaceOpWithNewOp<BroadcastOp>(op, op.getType(), inner.getX(),
                                           Value(), dims);
  return success();
}

/// A broadcast scalar has no order of elements to keep.
static LogicalResult reshapeOfBroadcast(ReshapeOp op,
                                        PatternRewriter &rewriter) {
  auto inner = op.getX().getDefiningOp<BroadcastOp>();
  if (!inner || inner.getX().getType().getRank() != 0)
    return rewriter.notifyMatchFailure(op, "operand is no broadcast scalar");
  if (!op.getType().hasStaticShape())
    return rewriter.notifyMatchFailure(op, "no operand has the result's sizes");
  rewriter.replaceOpWithNewOp<BroadcastOp>(op, op.getType(), inner.getX(),
                                           Value(), ArrayRef<int64_t>());
  return success();
}

/// The dimensions whose size is not 1.
static SmallVector<int64_t> getNonUnitDims(RankedTensorType type) {
  SmallVector<int64_t> dims;
  for (int64_t dim = 0; dim < type.getRank(); ++dim)
    if (type.getDimSize(dim) != 1)
      dims.push_back(dim);
  return dims;
}

/// Dimensions of size 1 that a reshape inserts just to be repeated: what a
/// reduction that keeps its dimensions comes as.
static LogicalResult broadcastOfReshape(BroadcastOp op,
                                        PatternRewriter &rewriter) {
  auto inner = op.getX().getDefiningOp<ReshapeOp>();
  if (!inner)
    return rewriter.notifyMatchFailure(op, "operand is not a reshape");
  RankedTensorType from = inner.getX().getType(), through = inner.getType();
  SmallVector<int64_t> kept = getNonUnitDims(through);
  bool onlyInserts = static_cast<int64_t>(kept.size()) == from.getRank() &&
                     hasDeterminedSizes(from);
  for (int64_t dim = 0; onlyInserts && dim < from.getRank(); ++dim)
    onlyInserts = from.getDimSize(dim) == through.getDimSize(kept[dim]);
  if (!onlyInserts)
    return rewriter.notifyMatchFailure(
        op, "reshape does more than insert dimensions of size 1");
  SmallVector<int64_t> dims;
  for (int64_t dim : kept)
    dims.push_back(op.getDims()[dim]);
  rewriter.replaceOpWithNewOp<BroadcastOp>(op, op.getType(), inner.getX(),
                                           op.getLike(), dims);
  return success();
}

/// A transpose that moves dimensions of size 1 only keeps the order of the
/// elements.
static LogicalResult transposeAsReshape(TransposeOp op,
                                        PatternRewriter &rewriter) {
  RankedTensorType from = op.getX().getType();
  SmallVector<int64_t> moved;
  for (int64_t dim : op.getPermutation())
    if (from.getDimSize(dim) != 1)
      moved.push_back(dim);
  if (!llvm::is_sorted(moved))
    return rewriter.notifyMatchFailure(op, "the order of elements changes");
  if (!hasDeterminedSizes(op.getType()))
    return rewriter.notifyMatchFailure(op, "a reshape cannot infer the sizes");
  rewriter.replaceOpWithNewOp<ReshapeOp>(op, op.getType(), op.getX());
  return success();
}

ArrayRef<SimplifyRewrite> fusion::getViewRewrites() {
  static constexpr SimplifyRewrite rewrites[] = {
      {"merge-transposes", "transpose(transpose(x)) -> transpose(x)",
       [](RewritePatternSet &set) {
         TransposeOp::getCanonicalizationPatterns(set, set.getContext());
       }},
      {"merge-reshapes", "reshape(reshape(x)) -> reshape(x)",
       [](RewritePatternSet &set) {
         ReshapeOp::getCanonicalizationPatterns(set, set.getContext());
       }},
      {"merge-broadcasts", "broadcast(broadcast(x)) -> broadcast(x)",
       [](RewritePatternSet &set) { set.add(mergeBroadcasts); }},
      {"merge-slices", "slice(slice(x)) -> slice(x)",
       [](RewritePatternSet &set) { set.add(mergeSlices); }},
      {"merge-concats", "concat(concat(x, y), z) -> concat(x, y, z)",
       [](RewritePatternSet &set) { set.add(mergeConcats); }},
      {"transpose-of-broadcast", "transpose(broadcast(x)) -> broadcast(x)",
       [](RewritePatternSet &set) { set.add(transposeOfBroadcast); }},
      {"reshape-of-broadcast",
       "reshape(broadcast(scalar)) -> broadcast(scalar)",
       [](RewritePatternSet &set) { set.add(reshapeOfBroadcast); }},
      {"broadcast-of-reshape",
       "broadcast(reshape(x)) -> broadcast(x), if it inserts sizes of 1",
       [](RewritePatternSet &set) { set.add(broadcastOfReshape); }},
      {"transpose-as-reshape", "transpose(x) -> reshape(x), if the order stays",
       [](RewritePatternSet &set) { set.add(transposeAsReshape); }},
  };
  return rewrites;
}
