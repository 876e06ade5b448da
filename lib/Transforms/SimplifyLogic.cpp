//===- SimplifyLogic.cpp - bits, comparisons and choices ------------------===//
//
// Identities of bitwise ops, comparisons and selects. Comparisons of floats are
// false with NaN, so most of the identities of integers do not hold for them.
//
//===----------------------------------------------------------------------===//

#include "SimplifyUtils.h"

#include "mlir/IR/BuiltinAttributes.h"

using namespace mlir;
using namespace fusion;

static bool never(Value) { return false; }

/// Where one operand is the constant that `keeps` accepts, the other is the
/// result; where it is the one that `absorbs` accepts, that constant is.
template <typename OpTy, bool (*keeps)(Value), bool (*absorbs)(Value)>
static LogicalResult withConstant(OpTy op, PatternRewriter &rewriter) {
  for (unsigned side : {1, 0}) {
    if (keeps(op->getOperand(side)))
      return replaceWith(op, op->getOperand(1 - side), rewriter);
    if (absorbs(op->getOperand(side)))
      return replaceWith(op, op->getOperand(side), rewriter);
  }
  return rewriter.notifyMatchFailure(op, "no operand is 0 or has all bits set");
}

template <typename OpTy>
static LogicalResult idempotent(OpTy op, PatternRewriter &rewriter) {
  if (op.getLhs() != op.getRhs())
    return rewriter.notifyMatchFailure(op, "operands differ");
  return replaceWith(op, op.getLhs(), rewriter);
}

/// `x ^ x` and, for integers, `x - x` are 0.
template <typename OpTy>
static LogicalResult cancelling(OpTy op, PatternRewriter &rewriter) {
  if (op.getLhs() != op.getRhs())
    return rewriter.notifyMatchFailure(op, "operands differ");
  Type element = getElementTypeOrSelf(op.getType());
  if (!isa<IntegerType>(element))
    return rewriter.notifyMatchFailure(op, "NaN and infinities do not cancel");
  return replaceWithSplat(op, rewriter.getIntegerAttr(element, 0), rewriter);
}

static LogicalResult doubleNot(NotOp op, PatternRewriter &rewriter) {
  auto inner = op.getX().getDefiningOp<NotOp>();
  if (!inner)
    return rewriter.notifyMatchFailure(op, "operand is not a complement");
  return replaceWith(op, inner.getX(), rewriter);
}

/// The comparison that holds exactly where `kind` does not, for values among
/// which one of less, equal and greater holds.
static CompareKind getInverse(CompareKind kind) {
  switch (kind) {
  case CompareKind::eq:
    return CompareKind::ne;
  case CompareKind::ne:
    return CompareKind::eq;
  case CompareKind::lt:
    return CompareKind::ge;
  case CompareKind::le:
    return CompareKind::gt;
  case CompareKind::gt:
    return CompareKind::le;
  case CompareKind::ge:
    return CompareKind::lt;
  }
  llvm_unreachable("all kinds are handled");
}

static LogicalResult notOfCompare(NotOp op, PatternRewriter &rewriter) {
  auto compare = op.getX().getDefiningOp<CompareOp>();
  if (!compare)
    return rewriter.notifyMatchFailure(op, "operand is not a comparison");
  bool isEquality = compare.getKind() == CompareKind::eq ||
                    compare.getKind() == CompareKind::ne;
  if (isFloatTensor(compare.getLhs()) && !isEquality)
    return rewriter.notifyMatchFailure(op, "NaN is neither less nor greater");
  rewriter.replaceOpWithNewOp<CompareOp>(op, op.getType(),
                                         getInverse(compare.getKind()),
                                         compare.getLhs(), compare.getRhs());
  return success();
}

static LogicalResult compareSame(CompareOp op, PatternRewriter &rewriter) {
  if (op.getLhs() != op.getRhs())
    return rewriter.notifyMatchFailure(op, "operands differ");
  bool isStrict =
      op.getKind() == CompareKind::lt || op.getKind() == CompareKind::gt;
  if (isFloatTensor(op.getLhs()) && !isStrict)
    return rewriter.notifyMatchFailure(op, "NaN does not equal itself");
  bool holds = !isStrict && op.getKind() != CompareKind::ne;
  return replaceWithSplat(op, rewriter.getBoolAttr(holds), rewriter);
}

static LogicalResult selectOfNot(SelectOp op, PatternRewriter &rewriter) {
  auto complement = op.getCondition().getDefiningOp<NotOp>();
  if (!complement)
    return rewriter.notifyMatchFailure(op, "condition is not a complement");
  rewriter.replaceOpWithNewOp<SelectOp>(op, op.getType(), complement.getX(),
                                        op.getOnFalse(), op.getOnTrue());
  return success();
}

static LogicalResult selectOfBools(SelectOp op, PatternRewriter &rewriter) {
  if (!getElementTypeOrSelf(op.getType()).isInteger(1))
    return rewriter.notifyMatchFailure(op, "choice is not between bools");
  if (isAllOnes(op.getOnTrue()) && isIntegerZero(op.getOnFalse()))
    return replaceWith(op, op.getCondition(), rewriter);
  if (isIntegerZero(op.getOnTrue()) && isAllOnes(op.getOnFalse())) {
    rewriter.replaceOpWithNewOp<NotOp>(op, op.getType(), op.getCondition());
    return success();
  }
  return rewriter.notifyMatchFailure(op, "choice is not between constants");
}

/// A condition that is a broadcast constant, which the fold does not see.
static LogicalResult selectOfSplat(SelectOp op, PatternRewriter &rewriter) {
  if (isAllOnes(op.getCondition()))
    return replaceWith(op, op.getOnTrue(), rewriter);
  if (isIntegerZero(op.getCondition()))
    return replaceWith(op, op.getOnFalse(), rewriter);
  return rewriter.notifyMatchFailure(op, "condition is not a constant");
}

ArrayRef<SimplifyRewrite> fusion::getLogicRewrites() {
  static constexpr SimplifyRewrite rewrites[] = {
      {"bits-with-constant",
       "x & 0 -> 0, x & ~0 -> x, x | 0 -> x, x | ~0 -> ~0, x ^ 0 -> x",
       [](RewritePatternSet &set) {
         set.add(withConstant<AndOp, isAllOnes, isIntegerZero>);
         set.add(withConstant<OrOp, isIntegerZero, isAllOnes>);
         set.add(withConstant<XorOp, isIntegerZero, never>);
       }},
      {"idempotent", "x & x -> x, also |, min, max",
       [](RewritePatternSet &set) {
         set.add(idempotent<AndOp>);
         set.add(idempotent<OrOp>);
         set.add(idempotent<MinOp>);
         set.add(idempotent<MaxOp>);
       }},
      {"cancel-same", "x ^ x -> 0, x - x -> 0, integers",
       [](RewritePatternSet &set) {
         set.add(cancelling<XorOp>);
         set.add(cancelling<SubOp>);
       }},
      {"double-not", "~~x -> x",
       [](RewritePatternSet &set) { set.add(doubleNot); }},
      {"not-of-compare", "not (x < y) -> x >= y, integers; (x == y) all types",
       [](RewritePatternSet &set) { set.add(notOfCompare); }},
      {"compare-same", "x < x -> false; x == x -> true, integers",
       [](RewritePatternSet &set) { set.add(compareSame); }},
      {"select-of-not", "select(not c, x, y) -> select(c, y, x)",
       [](RewritePatternSet &set) { set.add(selectOfNot); }},
      {"select-of-bools", "select(c, true, false) -> c",
       [](RewritePatternSet &set) { set.add(selectOfBools); }},
      {"select-of-splat", "select(true, x, y) -> x",
       [](RewritePatternSet &set) { set.add(selectOfSplat); }},
  };
  return rewrites;
}
