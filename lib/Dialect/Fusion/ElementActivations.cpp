//===- ElementActivations.cpp - elements of the activation functions ------===//
//
// Each formula is written so that no intermediate overflows into a NaN that the
// definition does not have, and so that at most one exponential is taken.
//
//===----------------------------------------------------------------------===//

#include "ElementUtils.h"

using namespace mlir;
using namespace fusion;

using CmpF = FormulaBuilder::CmpF;

namespace {

/// numerator * sigmoid(x). With e = exp(-|x|), which cannot overflow, sigmoid
/// is 1 / (1 + e) or, for negative x, e / (1 + e): accurate in both tails.
Value timesSigmoid(FormulaBuilder &b, Value numerator, Value x) {
  Value e = b.math<math::ExpOp>(b.neg(b.abs(x)));
  Value top =
      b.select(b.cmp(CmpF::OLT, x, 0.0), b.mul(numerator, e), numerator);
  return b.div(top, b.add(e, 1.0));
}

Value emitSigmoid(FormulaBuilder &b, Value x) {
  return timesSigmoid(b, b.constant(x, 1.0), x);
}

Value emitSilu(FormulaBuilder &b, Value x) { return timesSigmoid(b, x, x); }

/// tanh(log(1 + e)) = n / (n + 2) with n = e (e + 2). From 20 on that is 1 even
/// in f64, so that bounding x keeps e^2 finite and changes nothing.
Value emitMish(FormulaBuilder &b, Value x) {
  Value e = b.math<math::ExpOp>(b.minimum(x, 20.0));
  Value n = b.mul(e, b.add(e, 2.0));
  return b.mul(x, b.div(n, b.add(n, 2.0)));
}

Value emitSoftplus(FormulaBuilder &b, Value x) {
  Value log = b.math<math::Log1pOp>(b.math<math::ExpOp>(x));
  return b.select(b.cmp(CmpF::OGT, x, 20.0), x, log);
}

Value emitHardSigmoid(FormulaBuilder &b, Value x) {
  return b.div(b.minimum(b.maximum(b.add(x, 3.0), 0.0), 6.0), 6.0);
}

/// The quotient first: 6 x would overflow where x does not.
Value emitHardSwish(FormulaBuilder &b, Value x) {
  return b.mul(x, emitHardSigmoid(b, x));
}

/// h + h erf(x / sqrt(2)), h = x / 2. The sum cancels below x = -4, as it does
/// in every eager framework: the error stays within an ulp of h, which is why
/// the dearer erfc is not worth its cost.
Value emitGeluErf(FormulaBuilder &b, Value x) {
  Value half = b.mul(x, 0.5);
  return b.fma(half, b.math<math::ErfOp>(b.mul(x, M_SQRT1_2)), half);
}

/// (1 + tanh(u)) / 2 is the sigmoid of 2u: one exponential, and no
/// cancellation. exp(-2u) may overflow: then the quotient is the zero it
/// should be.
Value emitGeluTanh(FormulaBuilder &b, Value x) {
  double scale = -2.0 * std::sqrt(2.0 / M_PI);
  Value square = b.mul(x, x);
  Value minusTwoU =
      b.mul(x, b.fma(square, scale * 0.044715, b.constant(x, scale)));
  return b.div(x, b.add(b.math<math::ExpOp>(minusTwoU), 1.0));
}

} // namespace

FUSION_FLOAT_UNARY(SigmoidOp, 22, emitSigmoid)
FUSION_FLOAT_UNARY(SiluOp, 23, emitSilu)
FUSION_FLOAT_UNARY(MishOp, 24, emitMish)
FUSION_FLOAT_UNARY(SoftplusOp, 32, emitSoftplus)
FUSION_FLOAT_UNARY(HardSigmoidOp, 4, emitHardSigmoid)
FUSION_FLOAT_UNARY(HardSwishOp, 5, emitHardSwish)

FUSION_FLOAT_UNARY(GeluOp, 24,
                   getApproximate() == Approximation::tanh ? emitGeluTanh
                                                           : emitGeluErf)

FUSION_FLOAT_UNARY(EluOp, 22, [&](FormulaBuilder &b, Value x) {
  Value negative =
      b.mul(b.math<math::ExpM1Op>(x), getAlpha().convertToDouble());
  return b.select(b.cmp(CmpF::OGT, x, 0.0), x, negative);
})

FUSION_FLOAT_UNARY(LeakyReluOp, 3, [&](FormulaBuilder &b, Value x) {
  Value negative = b.mul(x, getSlope().convertToDouble());
  return b.select(b.cmp(CmpF::OGT, x, 0.0), x, negative);
})

Value fusion::ReluOp::emitElement(OpBuilder &builder, Location loc,
                                  ValueRange operands) {
  FormulaBuilder b(builder, loc);
  Value x = operands[0];
  if (isUnsigned(getX()))
    return x;
  if (!FormulaBuilder::isFloat(x))
    return b.create<arith::MaxSIOp>(x, b.integer(x, 0));
  auto emit = [](FormulaBuilder &b, Value x) { return b.maximum(x, 0.0); };
  return inFloat(b, emit, x);
}
unsigned fusion::ReluOp::getElementCost() { return 1; }
