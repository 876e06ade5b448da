//===- ElementMath.cpp - elements of the mathematical functions -----------===//
//
// Most functions are one op of the math dialect, left to the target: libdevice
// on a GPU, polynomials or libm on a CPU. Costs are for a GPU's f32 code, in
// fused multiply-adds.
//
//===----------------------------------------------------------------------===//

#include "ElementUtils.h"

using namespace mlir;
using namespace fusion;

namespace {

/// A math op of one operand.
template <typename MathOp> Value mathOp(FormulaBuilder &b, Value x) {
  return b.math<MathOp>(x);
}

Value emitReciprocal(FormulaBuilder &b, Value x) { return b.div(1.0, x); }

/// sqrt(x^2 + y^2) with both scaled by one power of two where the squares of
/// the larger would overflow or lose bits. C23: infinite if either operand is,
/// even beside NaN.
Value emitHypot(FormulaBuilder &b, Value x, Value y) {
  using CmpF = FormulaBuilder::CmpF;
  bool isDouble = FormulaBuilder::elementType(x).isF64();
  // Between the bounds 2^-bound and 2^bound no square leaves the type's range;
  // `shift` brings what lies outside to the inside, denormals too.
  int bound = isDouble ? 500 : 60;
  int shift = isDouble ? 600 : 90;
  x = b.abs(x);
  y = b.abs(y);
  Value larger = b.select(b.cmp(CmpF::OGT, x, y), x, y);
  Value isHuge = b.cmp(CmpF::OGT, larger, std::ldexp(1.0, bound));
  Value isTiny = b.cmp(CmpF::OLT, larger, std::ldexp(1.0, -bound));
  auto scaleOf = [&](double up) {
    Value one = b.constant(x, 1.0);
    return b.select(isHuge, b.constant(x, 1.0 / up),
                    b.select(isTiny, b.constant(x, up), one));
  };
  Value scale = scaleOf(std::ldexp(1.0, shift));
  Value back = scaleOf(std::ldexp(1.0, -shift));
  Value sx = b.mul(x, scale), sy = b.mul(y, scale);
  Value root = b.math<math::SqrtOp>(b.fma(sx, sx, b.mul(sy, sy)));
  Value infinity = b.constant(x, FormulaBuilder::infinity);
  Value isInfinite =
      b.bitOr(b.cmp(CmpF::OEQ, x, infinity), b.cmp(CmpF::OEQ, y, infinity));
  return b.select(isInfinite, infinity, b.mul(root, back));
}

} // namespace

FUSION_FLOAT_UNARY(ExpOp, 10, mathOp<math::ExpOp>)
FUSION_FLOAT_UNARY(Exp2Op, 8, mathOp<math::Exp2Op>)
FUSION_FLOAT_UNARY(Expm1Op, 20, mathOp<math::ExpM1Op>)
FUSION_FLOAT_UNARY(LogOp, 16, mathOp<math::LogOp>)
FUSION_FLOAT_UNARY(Log2Op, 16, mathOp<math::Log2Op>)
FUSION_FLOAT_UNARY(Log10Op, 18, mathOp<math::Log10Op>)
FUSION_FLOAT_UNARY(Log1pOp, 20, mathOp<math::Log1pOp>)
FUSION_FLOAT_UNARY(SqrtOp, 8, mathOp<math::SqrtOp>)
FUSION_FLOAT_UNARY(RsqrtOp, 6, mathOp<math::RsqrtOp>)
FUSION_FLOAT_UNARY(CbrtOp, 16, mathOp<math::CbrtOp>)
FUSION_FLOAT_UNARY(ReciprocalOp, 8, emitReciprocal)
FUSION_FLOAT_UNARY(SinOp, 24, mathOp<math::SinOp>)
FUSION_FLOAT_UNARY(CosOp, 24, mathOp<math::CosOp>)
FUSION_FLOAT_UNARY(TanOp, 32, mathOp<math::TanOp>)
FUSION_FLOAT_UNARY(AsinOp, 18, mathOp<math::AsinOp>)
FUSION_FLOAT_UNARY(AcosOp, 18, mathOp<math::AcosOp>)
FUSION_FLOAT_UNARY(AtanOp, 18, mathOp<math::AtanOp>)
FUSION_FLOAT_UNARY(SinhOp, 24, mathOp<math::SinhOp>)
FUSION_FLOAT_UNARY(CoshOp, 20, mathOp<math::CoshOp>)
FUSION_FLOAT_UNARY(TanhOp, 18, mathOp<math::TanhOp>)
FUSION_FLOAT_UNARY(AsinhOp, 26, mathOp<math::AsinhOp>)
FUSION_FLOAT_UNARY(AcoshOp, 26, mathOp<math::AcoshOp>)
FUSION_FLOAT_UNARY(AtanhOp, 24, mathOp<math::AtanhOp>)
FUSION_FLOAT_UNARY(ErfOp, 20, mathOp<math::ErfOp>)
FUSION_FLOAT_UNARY(ErfcOp, 32, mathOp<math::ErfcOp>)
FUSION_FLOAT_UNARY(FloorOp, 1, mathOp<math::FloorOp>)
FUSION_FLOAT_UNARY(CeilOp, 1, mathOp<math::CeilOp>)
FUSION_FLOAT_UNARY(RoundOp, 1, mathOp<math::RoundEvenOp>)
FUSION_FLOAT_UNARY(TruncOp, 1, mathOp<math::TruncOp>)

Value fusion::Atan2Op::emitElement(OpBuilder &builder, Location loc,
                                   ValueRange operands) {
  FormulaBuilder b(builder, loc);
  auto emit = [](FormulaBuilder &b, Value y, Value x) -> Value {
    return b.create<math::Atan2Op>(y, x);
  };
  return inFloat(b, emit, operands[0], operands[1]);
}
unsigned fusion::Atan2Op::getElementCost() { return 30; }

Value fusion::HypotOp::emitElement(OpBuilder &builder, Location loc,
                                   ValueRange operands) {
  FormulaBuilder b(builder, loc);
  return inFloat(b, emitHypot, operands[0], operands[1]);
}
unsigned fusion::HypotOp::getElementCost() { return 16; }
