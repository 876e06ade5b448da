//===- ExpandMathTrig.cpp - sine and cosine on f32 ------------------------===//
//
// x = n pi/2 + r by three fused multiply-adds, which is enough up to 1e5, and
// two polynomials that trade places by the quadrant. Larger operands need pi to
// hundreds of bits; they are rare enough to branch to libm.
//
//===----------------------------------------------------------------------===//

#include "ExpandMath.h"

#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;
using namespace fusion;

using CmpF = FormulaBuilder::CmpF;
using CmpI = FormulaBuilder::CmpI;

namespace {

/// The sine of |x| <= 1e5, or with `quarterTurn` the cosine.
Value reducedSine(FormulaBuilder &b, Value x, bool quarterTurn) {
  constexpr double roundingMagic = 0x1.8p23;
  Value a = b.abs(x);
  Value magic = b.fma(a, 0x1.45f306p-1, b.constant(x, roundingMagic));
  Value n = b.sub(magic, roundingMagic);
  Value r = b.fma(n, -0x1.921fb6p+0, a);
  r = b.fma(n, 0x1.777a5cp-25, r);
  r = b.fma(n, 0x1.ee59dap-50, r);
  Value square = b.mul(r, r);
  Value sine =
      horner(b, square, {-0x1.991694p-13, 0x1.1106bcp-7, -0x1.555544p-3});
  sine = b.fma(b.mul(r, square), sine, r);
  Value cosine = horner(
      b, square, {0x1.99de6cp-16, -0x1.6c0c14p-10, 0x1.55554ap-5, -0.5, 1.0});

  // The low bits of the magic sum are n: its parity chooses the polynomial, the
  // next bit is the sign.
  Value quadrant = b.bitcast(magic, b.getI32Type());
  if (quarterTurn)
    quadrant = b.add(quadrant, b.integer(quadrant, 1));
  Value isOdd = b.cmp(CmpI::ne, b.bitAnd(quadrant, 1), 0);
  Value bits = b.bitcast(b.select(isOdd, cosine, sine), b.getI32Type());
  bits = b.bitXor(bits, b.shl(b.bitAnd(quadrant, 2), 30));
  // The sine is odd, which carries the sign of a zero as well.
  if (!quarterTurn)
    bits = b.bitXor(bits, b.bitAnd(b.bitcast(x, b.getI32Type()), 0x80000000));
  return b.bitcast(bits, b.getF32Type());
}

/// The libm function in f64, a lane at a time.
template <typename MathOp> Value inLibm(FormulaBuilder &b, Value x) {
  auto emit = [&](ValueRange lane) {
    Value wide = b.extf(lane[0], b.getF64Type());
    return b.truncf(b.math<MathOp>(wide), b.getF32Type());
  };
  if (!isa<VectorType>(x.getType()))
    return emit(x);
  return unrollLanes(b, x, emit);
}

template <typename MathOp>
Value expandSine(FormulaBuilder &b, Value x, bool quarterTurn) {
  Value isLarge = b.cmp(CmpF::OGT, b.abs(x), 1e5);
  if (isa<VectorType>(x.getType()))
    isLarge = b.create<vector::ReductionOp>(vector::CombiningKind::OR, isLarge);
  auto large = [&](OpBuilder &builder, Location loc) {
    FormulaBuilder inner(builder, loc);
    inner.create<scf::YieldOp>(inLibm<MathOp>(inner, x));
  };
  auto small = [&](OpBuilder &builder, Location loc) {
    FormulaBuilder inner(builder, loc);
    inner.create<scf::YieldOp>(reducedSine(inner, x, quarterTurn));
  };
  return b.create<scf::IfOp>(isLarge, large, small).getResult(0);
}

} // namespace

Value fusion::expandSin(FormulaBuilder &b, Value x) {
  return expandSine<math::SinOp>(b, x, /*quarterTurn=*/false);
}

Value fusion::expandCos(FormulaBuilder &b, Value x) {
  return expandSine<math::CosOp>(b, x, /*quarterTurn=*/true);
}
