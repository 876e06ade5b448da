//===- SimplifySink.cpp - reshapes move toward the results ----------------===//
//
// Elementwise ops do not mind the shape they run under, so a reshape can follow
// them rather than precede them. A kernel then runs under the shape of the hero
// that produced its input, and reshapes meet and cancel.
//
//===----------------------------------------------------------------------===//

#include "GraphBuilder.h"
#include "SimplifyUtils.h"

#include "mlir/IR/PatternMatch.h"
#include "llvm/ADT/STLExtras.h"

using namespace mlir;
using namespace fusion;

namespace {

/// elementwise(reshape(x), ...) -> reshape(elementwise(x, ...)), where the
/// other operands are reshapes from the same shape, constants, or broadcast
/// scalars.
struct SinkReshape : OpInterfaceRewritePattern<ElementInterface> {
  using OpInterfaceRewritePattern::OpInterfaceRewritePattern;

  LogicalResult matchAndRewrite(ElementInterface op,
                                PatternRewriter &rewriter) const override;
};

} // namespace

/// True if `user` alone reads the elements of `reshape`: moving it leaves none
/// behind. A broadcast reads no elements of what gives it its sizes.
static bool isReadOnlyBy(ReshapeOp reshape, Operation *user) {
  return llvm::all_of(reshape->getUses(), [&](OpOperand &use) {
    auto broadcast = dyn_cast<BroadcastOp>(use.getOwner());
    return use.getOwner() == user ||
           (broadcast && broadcast.getX() != reshape.getResult());
  });
}

/// The value that `operand` repeats to its shape: the scalar operand of a
/// broadcast, or null.
static Value getBroadcastScalar(Value operand) {
  auto broadcast = operand.getDefiningOp<BroadcastOp>();
  return broadcast && broadcast.getX().getType().getRank() == 0
             ? broadcast.getX()
             : Value();
}

LogicalResult SinkReshape::matchAndRewrite(ElementInterface op,
                                           PatternRewriter &rewriter) const {
  ReshapeOp reshape;
  for (Value operand : op->getOperands())
    if ((reshape = operand.getDefiningOp<ReshapeOp>()))
      break;
  if (!reshape)
    return rewriter.notifyMatchFailure(op, "no operand is a reshape");
  auto resultType = cast<RankedTensorType>(op->getResult(0).getType());
  if (resultType.getEncoding() != reshape.getType().getEncoding())
    return rewriter.notifyMatchFailure(op, "the op changes the layout");

  Value source = reshape.getX();
  auto sourceType = cast<RankedTensorType>(source.getType());
  for (Value operand : op->getOperands()) {
    auto other = operand.getDefiningOp<ReshapeOp>();
    if (!other && !getSplat(operand) && !getBroadcastScalar(operand))
      return rewriter.notifyMatchFailure(
          op, "an operand is neither a reshape nor a scalar");
    if (!other)
      continue;
    if (!isReadOnlyBy(other, op))
      return rewriter.notifyMatchFailure(op, "a reshape has other readers");
    bool sameShape =
        other.getX() == source ||
        (other.getX().getType().getShape() == sourceType.getShape() &&
         hasDeterminedSizes(sourceType));
    if (!sameShape)
      return rewriter.notifyMatchFailure(op, "reshapes come from two shapes");
  }

  GraphBuilder graph(rewriter, op.getLoc());
  SmallVector<Value> operands;
  for (Value operand : op->getOperands()) {
    if (auto other = operand.getDefiningOp<ReshapeOp>())
      operands.push_back(other.getX());
    else if (TypedAttr splat = getSplat(operand))
      operands.push_back(graph.splat(splat, source));
    else
      operands.push_back(
          graph.broadcast(getBroadcastScalar(operand), {}, source));
  }
  Operation *moved = rewriter.clone(*op);
  rewriter.modifyOpInPlace(moved, [&] {
    moved->setOperands(operands);
    moved->getResult(0).setType(
        getComputedType(sourceType, resultType.getElementType()));
  });
  rewriter.replaceOpWithNewOp<ReshapeOp>(op, resultType, moved->getResult(0));
  return success();
}

ArrayRef<SimplifyRewrite> fusion::getSinkRewrites() {
  static constexpr SimplifyRewrite rewrites[] = {
      {"sink-reshape",
       "exp(reshape(x)) -> reshape(exp(x)), all elementwise ops",
       [](RewritePatternSet &set) { set.add<SinkReshape>(set.getContext()); }},
  };
  return rewrites;
}
