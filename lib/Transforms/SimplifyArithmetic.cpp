//===- SimplifyArithmetic.cpp - identities of arithmetic ------------------===//
//
// Only identities that hold for every float: `x + 0.0` is not one, for it turns
// -0.0 into 0.0, and neither is `x * 0.0`, which is NaN for an infinity.
//
//===----------------------------------------------------------------------===//

#include "SimplifyUtils.h"

#include "mlir/IR/BuiltinAttributes.h"

using namespace mlir;
using namespace fusion;

/// The operand beside the one that `test` accepts, or null.
template <typename OpTy, typename Test>
static Value getOther(OpTy op, Test test) {
  if (test(op.getRhs()))
    return op.getLhs();
  return test(op.getLhs()) ? op.getRhs() : Value();
}

static LogicalResult mulByOne(MulOp op, PatternRewriter &rewriter) {
  Value other = getOther(op, isOne);
  if (!other)
    return rewriter.notifyMatchFailure(op, "no factor is 1");
  return replaceWith(op, other, rewriter);
}

static LogicalResult divByOne(DivOp op, PatternRewriter &rewriter) {
  if (!isOne(op.getRhs()))
    return rewriter.notifyMatchFailure(op, "divisor is not 1");
  return replaceWith(op, op.getLhs(), rewriter);
}

static LogicalResult mulByZero(MulOp op, PatternRewriter &rewriter) {
  for (Value factor : op->getOperands())
    if (isIntegerZero(factor))
      return replaceWith(op, factor, rewriter);
  return rewriter.notifyMatchFailure(op, "no factor is the integer 0");
}

static LogicalResult addZero(AddOp op, PatternRewriter &rewriter) {
  Value other = getOther(op, [](Value value) {
    return isIntegerZero(value) || isFloatZero(value, /*negative=*/true);
  });
  if (!other)
    return rewriter.notifyMatchFailure(op, "no summand is 0 or -0.0");
  return replaceWith(op, other, rewriter);
}

static LogicalResult subZero(SubOp op, PatternRewriter &rewriter) {
  if (!isIntegerZero(op.getRhs()) &&
      !isFloatZero(op.getRhs(), /*negative=*/false))
    return rewriter.notifyMatchFailure(op, "subtrahend is not 0 or 0.0");
  return replaceWith(op, op.getLhs(), rewriter);
}

static LogicalResult doubleNeg(NegOp op, PatternRewriter &rewriter) {
  auto inner = op.getX().getDefiningOp<NegOp>();
  if (!inner)
    return rewriter.notifyMatchFailure(op, "operand is not a negation");
  return replaceWith(op, inner.getX(), rewriter);
}

static LogicalResult addNeg(AddOp op, PatternRewriter &rewriter) {
  for (unsigned side : {1, 0})
    if (auto negation = op->getOperand(side).getDefiningOp<NegOp>()) {
      rewriter.replaceOpWithNewOp<SubOp>(
          op, op.getType(), op->getOperand(1 - side), negation.getX());
      return success();
    }
  return rewriter.notifyMatchFailure(op, "no summand is a negation");
}

static LogicalResult subNeg(SubOp op, PatternRewriter &rewriter) {
  auto negation = op.getRhs().getDefiningOp<NegOp>();
  if (!negation)
    return rewriter.notifyMatchFailure(op, "subtrahend is not a negation");
  rewriter.replaceOpWithNewOp<AddOp>(op, op.getType(), op.getLhs(),
                                     negation.getX());
  return success();
}

static LogicalResult absNeg(AbsOp op, PatternRewriter &rewriter) {
  auto negation = op.getX().getDefiningOp<NegOp>();
  if (!negation)
    return rewriter.notifyMatchFailure(op, "operand is not a negation");
  // A negated ui8 wraps, and its absolute value is itself.
  if (getElementTypeOrSelf(op.getType()).isUnsignedInteger())
    return rewriter.notifyMatchFailure(op, "element type has no sign");
  rewriter.replaceOpWithNewOp<AbsOp>(op, op.getType(), negation.getX());
  return success();
}

/// Division by a power of two is multiplication by its reciprocal, exactly,
/// as long as the reciprocal is a normal number too.
static LogicalResult divByPowerOfTwo(DivOp op, PatternRewriter &rewriter) {
  auto divisor = dyn_cast_if_present<FloatAttr>(getSplat(op.getRhs()));
  if (!divisor)
    return rewriter.notifyMatchFailure(op, "divisor is no float constant");
  APFloat inverse(divisor.getValue().getSemantics());
  if (!divisor.getValue().getExactInverse(&inverse))
    return rewriter.notifyMatchFailure(op, "divisor has no exact inverse");
  auto type = cast<RankedTensorType>(op.getRhs().getType());
  if (!type.hasStaticShape())
    return rewriter.notifyMatchFailure(op, "constants have static sizes");
  Value factor = ConstantOp::create(
      rewriter, op.getLoc(), type,
      DenseElementsAttr::get(type, FloatAttr::get(divisor.getType(), inverse)));
  rewriter.replaceOpWithNewOp<MulOp>(op, op.getType(), op.getLhs(), factor);
  return success();
}

/// `pow(x, 1)` is x, `pow(x, 2)` is x * x.
static LogicalResult powSmall(PowOp op, PatternRewriter &rewriter) {
  if (isOne(op.getRhs()))
    return replaceWith(op, op.getLhs(), rewriter);
  auto integer = dyn_cast_if_present<IntegerAttr>(getSplat(op.getRhs()));
  bool isTwo =
      isFloat(op.getRhs(), 2.0) || (integer && integer.getValue() == 2);
  if (!isTwo)
    return rewriter.notifyMatchFailure(op, "exponent is neither 1 nor 2");
  rewriter.replaceOpWithNewOp<MulOp>(op, op.getType(), op.getLhs(),
                                     op.getLhs());
  return success();
}

static LogicalResult reluOfRelu(ReluOp op, PatternRewriter &rewriter) {
  if (!op.getX().getDefiningOp<ReluOp>())
    return rewriter.notifyMatchFailure(op, "operand is not a relu");
  return replaceWith(op, op.getX(), rewriter);
}

ArrayRef<SimplifyRewrite> fusion::getArithmeticRewrites() {
  static constexpr SimplifyRewrite rewrites[] = {
      {"mul-by-one", "x * 1 -> x",
       [](RewritePatternSet &set) { set.add(mulByOne); }},
      {"div-by-one", "x / 1 -> x",
       [](RewritePatternSet &set) { set.add(divByOne); }},
      {"mul-by-zero", "x * 0 -> 0, integers",
       [](RewritePatternSet &set) { set.add(mulByZero); }},
      {"add-zero", "x + 0 -> x, integers; x + -0.0 -> x",
       [](RewritePatternSet &set) { set.add(addZero); }},
      {"sub-zero", "x - 0 -> x, integers; x - 0.0 -> x",
       [](RewritePatternSet &set) { set.add(subZero); }},
      {"double-neg", "-(-x) -> x",
       [](RewritePatternSet &set) { set.add(doubleNeg); }},
      {"add-neg", "x + -y -> x - y",
       [](RewritePatternSet &set) { set.add(addNeg); }},
      {"sub-neg", "x - -y -> x + y",
       [](RewritePatternSet &set) { set.add(subNeg); }},
      {"abs-neg", "abs(-x) -> abs(x)",
       [](RewritePatternSet &set) { set.add(absNeg); }},
      {"div-by-power-of-two", "x / 2^n -> x * 2^-n, floats",
       [](RewritePatternSet &set) { set.add(divByPowerOfTwo); }},
      {"pow-small", "pow(x, 1) -> x, pow(x, 2) -> x * x",
       [](RewritePatternSet &set) { set.add(powSmall); }},
      {"relu-of-relu", "relu(relu(x)) -> relu(x)",
       [](RewritePatternSet &set) { set.add(reluOfRelu); }},
  };
  return rewrites;
}
