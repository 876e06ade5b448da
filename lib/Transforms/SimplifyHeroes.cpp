//===- SimplifyHeroes.cpp - what reductions and contractions absorb -------===//
//
// A transpose before a matmul and a pad before a convolution are attributes of
// the hero, which reads the operand as it lies.
//
//===----------------------------------------------------------------------===//

#include "SimplifyUtils.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/Sequence.h"

using namespace mlir;
using namespace fusion;

/// The operand of a transpose that exchanges the last two dimensions, or null.
static Value getTransposedMatrices(Value value) {
  auto transpose = value.getDefiningOp<TransposeOp>();
  if (!transpose || transpose.getPermutation().size() < 2)
    return nullptr;
  int64_t rank = transpose.getPermutation().size();
  auto expected = llvm::to_vector(llvm::seq<int64_t>(0, rank));
  std::swap(expected[rank - 2], expected[rank - 1]);
  return transpose.getPermutation() == ArrayRef(expected) ? transpose.getX()
                                                          : Value();
}

static LogicalResult transposeIntoMatmul(MatmulOp op,
                                         PatternRewriter &rewriter) {
  Value lhs = getTransposedMatrices(op.getLhs());
  Value rhs = getTransposedMatrices(op.getRhs());
  if (!lhs && !rhs)
    return rewriter.notifyMatchFailure(
        op, "no operand is a transpose of its matrices");
  rewriter.replaceOpWithNewOp<MatmulOp>(
      op, op.getType(), lhs ? lhs : op.getLhs(), rhs ? rhs : op.getRhs(),
      op.getTransposeLhs() != static_cast<bool>(lhs),
      op.getTransposeRhs() != static_cast<bool>(rhs));
  return success();
}

/// True if `value` is a constant without NaN and infinities, or integers.
static bool isKnownFinite(Value value) {
  if (!isFloatTensor(value))
    return true;
  auto constant = value.getDefiningOp<ConstantOp>();
  auto elements =
      constant ? dyn_cast<DenseFPElementsAttr>(constant.getValue()) : nullptr;
  return elements && llvm::all_of(elements, [](const APFloat &element) {
           return element.isFinite();
         });
}

/// A pad of zeros adds to the convolution's own padding. That takes part in no
/// product, so an infinite weight would make a difference.
static LogicalResult padIntoConv(ConvOp op, PatternRewriter &rewriter) {
  auto pad = op.getX().getDefiningOp<PadOp>();
  if (!pad)
    return rewriter.notifyMatchFailure(op, "operand is not a pad");
  if (!isIntegerZero(pad.getValue()) &&
      !isFloatZero(pad.getValue(), /*negative=*/false))
    return rewriter.notifyMatchFailure(op, "padding is not the constant 0");
  if (!isKnownFinite(op.getWeight()))
    return rewriter.notifyMatchFailure(op, "weights may be infinite");
  ArrayRef<int64_t> low = pad.getLow(), high = pad.getHigh();
  auto isZero = [](int64_t amount) { return amount == 0; };
  if (!llvm::all_of(low.take_front(2), isZero) ||
      !llvm::all_of(high.take_front(2), isZero))
    return rewriter.notifyMatchFailure(op, "samples or channels are padded");
  // Elements that are cut off do not come back by padding.
  auto isNegative = [](int64_t amount) { return amount < 0; };
  if (llvm::any_of(low, isNegative) || llvm::any_of(high, isNegative))
    return rewriter.notifyMatchFailure(op, "pad cuts elements off");

  SmallVector<int64_t> padLow(op.getPadLow()), padHigh(op.getPadHigh());
  for (auto [index, amounts] : llvm::enumerate(
           llvm::zip_equal(low.drop_front(2), high.drop_front(2)))) {
    padLow[index] += std::get<0>(amounts);
    padHigh[index] += std::get<1>(amounts);
  }
  rewriter.modifyOpInPlace(op, [&] {
    op.getXMutable().assign(pad.getX());
    op.setPadLow(padLow);
    op.setPadHigh(padHigh);
  });
  return success();
}

/// True if the order in which elements are combined does not matter to a bit.
static bool isAssociative(ReduceOp op) {
  bool isSelection =
      op.getKind() != ReduceKind::sum && op.getKind() != ReduceKind::prod;
  return isSelection || !isFloatTensor(op.getX());
}

static LogicalResult mergeReduces(ReduceOp op, PatternRewriter &rewriter) {
  auto inner = op.getX().getDefiningOp<ReduceOp>();
  if (!inner || inner.getKind() != op.getKind())
    return rewriter.notifyMatchFailure(op, "operand is no such reduction");
  if (!inner->hasOneUse())
    return rewriter.notifyMatchFailure(op, "the operand has other uses");
  if (!isAssociative(op))
    return rewriter.notifyMatchFailure(op,
                                       "the order of rounding would change");
  // Positions in the operand's result name dimensions that it kept.
  SmallVector<int64_t> dims(inner.getDims()), kept;
  for (int64_t dim = 0; dim < inner.getX().getType().getRank(); ++dim)
    if (!llvm::is_contained(inner.getDims(), dim))
      kept.push_back(dim);
  for (int64_t dim : op.getDims())
    dims.push_back(kept[dim]);
  llvm::sort(dims);
  rewriter.replaceOpWithNewOp<ReduceOp>(op, op.getType(), op.getKind(),
                                        inner.getX(), dims);
  return success();
}

ArrayRef<SimplifyRewrite> fusion::getHeroRewrites() {
  static constexpr SimplifyRewrite rewrites[] = {
      {"transpose-into-matmul", "matmul(transpose(x), y) -> matmul(x, y)",
       [](RewritePatternSet &set) { set.add(transposeIntoMatmul); }},
      {"pad-into-conv", "conv(pad(x, 0), w) -> conv(x, w), if w is finite",
       [](RewritePatternSet &set) { set.add(padIntoConv); }},
      {"merge-reduces",
       "max(max(x)) -> max(x), also min, any, all; integers' sum and prod",
       [](RewritePatternSet &set) { set.add(mergeReduces); }},
  };
  return rewrites;
}
