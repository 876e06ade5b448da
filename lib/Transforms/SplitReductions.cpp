//===- SplitReductions.cpp - more parallel work for long reductions -------===//
//
// A reduction with few results leaves most of a machine idle, however it is
// scheduled. Written as two, the first over pieces of the longest dim, it keeps
// every core busy; pieces are views, so nothing but the partial results goes
// through memory. The order of combination is fixed by the shapes alone.
//
//===----------------------------------------------------------------------===//

#include "fusion/Transforms/Passes.h"
#include "mlir/IR/PatternMatch.h"

using namespace mlir;

namespace fusion {

#define GEN_PASS_DEF_SPLITREDUCTIONSPASS
#include "fusion/Transforms/Passes.h.inc"

namespace {

/// What a reduction must offer to be left alone.
struct Parallelism {
  /// Elements below which one core is as fast as many.
  int64_t minElements;
  /// Results that occupy the machine where the contiguous dim is reduced and
  /// many threads or lanes share a result, and where it is not.
  int64_t minRows, minColumns;
  /// Results of the first reduction to aim at.
  int64_t pieces;
  /// Elements that one of them should reduce.
  int64_t piece;

  static Parallelism get(StringRef target) {
    if (target == "cpu")
      return {1 << 17, 8, 1 << 10, 64, 1 << 15};
    return {1 << 20, 128, 1 << 12, 1 << 12, 1 << 15};
  }
};

/// A value of rank 0 that no combination notices.
Value createIdentity(OpBuilder &builder, Location loc, ReduceKind kind,
                     Type element) {
  auto type = RankedTensorType::get({}, element);
  Attribute value;
  if (auto floatType = dyn_cast<FloatType>(element)) {
    const llvm::fltSemantics &semantics = floatType.getFloatSemantics();
    APFloat number = APFloat::getZero(semantics, /*Negative=*/true);
    if (kind == ReduceKind::prod)
      number = APFloat::getOne(semantics);
    if (kind == ReduceKind::min || kind == ReduceKind::max)
      number = APFloat::getInf(semantics, kind == ReduceKind::max);
    value = builder.getFloatAttr(element, number);
  } else {
    unsigned width = element.getIntOrFloatBitWidth();
    bool isUnsigned = element.isUnsignedInteger();
    APInt number(width, kind == ReduceKind::prod || kind == ReduceKind::all);
    if (kind == ReduceKind::min)
      number = isUnsigned ? APInt::getMaxValue(width)
                          : APInt::getSignedMaxValue(width);
    if (kind == ReduceKind::max)
      number = isUnsigned ? APInt::getMinValue(width)
                          : APInt::getSignedMinValue(width);
    value = builder.getIntegerAttr(element, number);
  }
  return ConstantOp::create(builder, loc, type,
                            DenseElementsAttr::get(type, {value}));
}

/// Cuts `op` in two, or says why not.
LogicalResult splitReduction(ReduceOp op, const Parallelism &machine,
                             RewriterBase &rewriter) {
  auto type = cast<RankedTensorType>(op.getX().getType());
  auto resultType = cast<RankedTensorType>(op.getType());
  if (!type.hasStaticShape())
    return rewriter.notifyMatchFailure(op, "has symbolic sizes");
  Type element = type.getElementType();
  if (isa<FloatType>(element) && element.getIntOrFloatBitWidth() < 32)
    return rewriter.notifyMatchFailure(
        op, "partial results of a narrow type would be rounded");
  ArrayRef<int64_t> dims = op.getDims();
  int64_t results = std::max<int64_t>(1, resultType.getNumElements());
  bool rows = llvm::is_contained(dims, type.getRank() - 1);
  if (type.getNumElements() < machine.minElements ||
      results >= (rows ? machine.minRows : machine.minColumns))
    return rewriter.notifyMatchFailure(op, "has work for the whole machine");
  int64_t longest = *llvm::max_element(dims, [&](int64_t a, int64_t b) {
    return type.getDimSize(a) < type.getDimSize(b);
  });
  int64_t size = type.getDimSize(longest);
  int64_t pieces = std::min<int64_t>(
      llvm::divideCeil(machine.pieces, results),
      llvm::divideCeil(type.getNumElements() / results, machine.piece));
  pieces = std::min<int64_t>(llvm::PowerOf2Ceil(pieces), size / 2);
  if (pieces < 2)
    return rewriter.notifyMatchFailure(op, "is too short to cut");

  Location loc = op.getLoc();
  int64_t length = llvm::divideCeil(size, pieces);
  Value x = op.getX();
  SmallVector<int64_t> shape(type.getShape());
  if (int64_t missing = pieces * length - size) {
    SmallVector<int64_t> low(shape.size(), 0), high(shape.size(), 0);
    high[longest] = missing;
    shape[longest] += missing;
    x = PadOp::create(rewriter, loc, RankedTensorType::get(shape, element), x,
                      createIdentity(rewriter, loc, op.getKind(), element), low,
                      high);
  }
  shape[longest] = length;
  shape.insert(shape.begin() + longest, pieces);
  x = ReshapeOp::create(rewriter, loc, RankedTensorType::get(shape, element),
                        x);
  // The new dim of pieces stands before the longest; dims after it move up.
  SmallVector<int64_t> inner, partial;
  for (int64_t dim : dims)
    inner.push_back(dim < longest ? dim : dim + 1);
  int64_t piecesDim = 0;
  for (int64_t i = 0; i < (int64_t)shape.size(); ++i)
    if (!llvm::is_contained(inner, i)) {
      if (i == longest)
        piecesDim = partial.size();
      partial.push_back(shape[i]);
    }
  Value first =
      ReduceOp::create(rewriter, loc, RankedTensorType::get(partial, element),
                       op.getKind(), x, inner);
  rewriter.replaceOpWithNewOp<ReduceOp>(op, resultType, op.getKind(), first,
                                        ArrayRef<int64_t>{piecesDim});
  return success();
}

struct SplitReductionsPass
    : impl::SplitReductionsPassBase<SplitReductionsPass> {
  using SplitReductionsPassBase::SplitReductionsPassBase;

  void runOnOperation() override {
    SmallVector<ReduceOp> reductions;
    getOperation().walk([&](ReduceOp op) { reductions.push_back(op); });
    IRRewriter rewriter(&getContext());
    for (ReduceOp op : reductions) {
      rewriter.setInsertionPoint(op);
      if (succeeded(splitReduction(op, Parallelism::get(target), rewriter)))
        ++numSplit;
    }
  }
};

} // namespace

} // namespace fusion
