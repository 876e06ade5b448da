//===- ExpandMathLog.cpp - logarithms and power on f32 --------------------===//
//
// log and log1p stay in f32. log2, log10 and pow compute in f64, for pow
// because y log2(x) needs more bits than f32 has, for the others because people
// expect log10(1000) to be 3: their results are almost always correctly
// rounded.
//
//===----------------------------------------------------------------------===//

#include "ExpandMath.h"

using namespace mlir;
using namespace fusion;

using CmpF = FormulaBuilder::CmpF;

namespace {

constexpr int64_t exponentMask32 = ~int64_t(0x7fffff);
constexpr int64_t threeQuarters = 0x3f400000;

/// log(1 + f) + e ln 2 for f in [-1/4, 1/2] and an integer e.
Value logOfMantissa(FormulaBuilder &b, Value f, Value e) {
  Value square = b.mul(f, f);
  Value q =
      horner(b, f,
             {-0x1.718efp-5, 0x1.accf96p-4, -0x1.0d9942p-3, 0x1.288438p-3,
              -0x1.54ee3p-3, 0x1.996976p-3, -0x1.000046p-2, 0x1.5555a4p-2});
  // The smallest summand first.
  Value sum = b.mul(b.mul(f, square), q);
  sum = b.fma(e, -0x1.05c61p-29, sum);
  sum = b.fma(square, -0.5, sum);
  return b.fma(e, 0x1.62e43p-1, b.add(f, sum));
}

/// The result outside of the domain's inside, where `pole` is the operand of
/// the result -infinity: NaN below it, infinity and NaN for themselves.
Value patchLog(FormulaBuilder &b, Value result, Value x, double pole) {
  result = b.select(b.cmp(CmpF::OLT, x, FormulaBuilder::infinity), result, x);
  Value outside = b.select(b.cmp(CmpF::OEQ, x, pole),
                           b.constant(x, -FormulaBuilder::infinity),
                           b.constant(x, FormulaBuilder::nan));
  return b.select(b.cmp(CmpF::OLE, x, pole), outside, result);
}

/// log2(x) of an f64 that came from an f32, positive and finite, to 2^-45; of
/// any other a number without meaning.
Value log2InDouble(FormulaBuilder &b, Value x) {
  // x = 2^e m with m in [sqrt(1/2), sqrt(2)].
  Value bits = b.bitcast(x, b.getI64Type());
  Value offset = b.sub(bits, b.integer(bits, 0x3fe6a09e667f3bcd));
  Value m = b.bitcast(b.sub(bits, b.bitAnd(offset, ~((int64_t(1) << 52) - 1))),
                      b.getF64Type());
  // The integer e becomes a float by way of the low bits of 1.5 * 2^52: AVX2
  // has no conversion.
  Value shifted = b.ashr(offset, 52);
  shifted = b.add(shifted, b.integer(bits, 0x4338000000000000));
  Value e = b.sub(b.bitcast(shifted, b.getF64Type()), 0x1.8p52);
  // An odd series in s = (m - 1) / (m + 1).
  Value s = b.div(b.sub(m, 1.0), b.add(m, 1.0));
  Value p = horner(b, b.mul(s, s),
                   {0x1.21ae50e171566p-2, 0x1.47958dc1b54aep-2,
                    0x1.a61a2d1cf5384p-2, 0x1.2776c2960d78dp-1,
                    0x1.ec709dc538954p-1, 0x1.71547652b8257p+1});
  return b.fma(p, s, e);
}

} // namespace

Value fusion::expandLog(FormulaBuilder &b, Value x) {
  // Subnormals are brought into the range where the exponent's bits count.
  Value isSubnormal = b.cmp(CmpF::OLT, x, 0x1p-126);
  Value normal = b.select(isSubnormal, b.mul(x, 0x1p23), x);
  Value correction =
      b.select(isSubnormal, b.constant(x, -23.0), b.constant(x, 0.0));
  // x = 2^e m with m in [3/4, 3/2).
  Value bits = b.bitcast(normal, b.getI32Type());
  Value offset = b.sub(bits, b.integer(bits, threeQuarters));
  Value m =
      b.bitcast(b.sub(bits, b.bitAnd(offset, exponentMask32)), b.getF32Type());
  Value e = b.cast<arith::SIToFPOp>(b.ashr(offset, 23), b.getF32Type());
  Value result = logOfMantissa(b, b.sub(m, 1.0), b.add(e, correction));
  return patchLog(b, result, x, 0.0);
}

Value fusion::expandLog1p(FormulaBuilder &b, Value x) {
  // 1 + x = 2^e (1 + f). The rounded sum gives e; f = 2^-e x + (2^-e - 1) is
  // then exact up to one rounding. 2^-e may be subnormal, four times it not.
  Value bits = b.bitcast(b.add(x, 1.0), b.getI32Type());
  Value exponent =
      b.bitAnd(b.sub(bits, b.integer(bits, threeQuarters)), exponentMask32);
  Value e = b.cast<arith::SIToFPOp>(b.ashr(exponent, 23), b.getF32Type());
  int64_t four = 0x40800000;
  Value scale =
      b.bitcast(b.sub(b.integer(bits, four), exponent), b.getF32Type());
  scale = b.mul(scale, 0.25);
  Value f = b.fma(x, scale, b.sub(scale, 1.0));
  // The sum of log1p(-0.0) is 0.0.
  Value result = b.copysign(logOfMantissa(b, f, e), x);
  return patchLog(b, result, x, -1.0);
}

Value fusion::expandLog2(FormulaBuilder &b, Value x) {
  Value log = log2InDouble(b, b.extf(x, b.getF64Type()));
  return patchLog(b, b.truncf(log, b.getF32Type()), x, 0.0);
}

Value fusion::expandLog10(FormulaBuilder &b, Value x) {
  Value log = log2InDouble(b, b.extf(x, b.getF64Type()));
  log = b.mul(log, 0x1.34413509f79ffp-2); // log10(2)
  return patchLog(b, b.truncf(log, b.getF32Type()), x, 0.0);
}

Value fusion::expandPow(FormulaBuilder &b, Value x, Value y) {
  Type f64 = b.getF64Type();
  Value a = b.abs(x);
  Value wide = b.extf(a, f64);
  // |x|^y = 2^(y log2|x|), with log2 of 0, infinity and NaN put in by hand.
  Value isFinite = b.cmp(CmpF::OLT, a, FormulaBuilder::infinity);
  Value log = b.select(isFinite, log2InDouble(b, wide), wide);
  Value isZero = b.cmp(CmpF::OEQ, a, 0.0);
  log = b.select(isZero, b.constant(log, -FormulaBuilder::infinity), log);
  Value exponent = b.mul(b.extf(y, f64), log);
  // f32 overflows and vanishes well inside of these bounds.
  Value power = exp2InDouble(b, atMost(b, atLeast(b, exponent, -200.0), 200.0));
  Value result = b.truncf(power, b.getF32Type());

  // (-1)^infinity is 1; the exponent was 0 * infinity.
  Value one = b.constant(x, 1.0);
  Value isUnit = b.bitAnd(b.cmp(CmpF::OEQ, a, one), b.cmp(CmpF::ORD, y, y));
  result = b.select(isUnit, one, result);
  // A negative base: odd exponents keep the sign, fractions are NaN.
  auto isWhole = [&](Value v) {
    return b.cmp(CmpF::OEQ, v, b.math<math::TruncOp>(v));
  };
  Value yIsWhole = isWhole(y);
  Value halfIsWhole = isWhole(b.mul(y, 0.5));
  Value keepsSign = b.bitAnd(yIsWhole, b.bitXor(halfIsWhole, 1));
  result = b.select(keepsSign, b.copysign(result, x), result);
  Value isUndefined = b.bitAnd(b.bitAnd(b.cmp(CmpF::OLT, x, 0.0), isFinite),
                               b.bitXor(yIsWhole, 1));
  Value nan = b.constant(x, FormulaBuilder::nan);
  result = b.select(isUndefined, nan, result);
  // 1 to any power and any number to the power 0, NaN too.
  Value isOne = b.bitOr(b.cmp(CmpF::OEQ, x, one), b.cmp(CmpF::OEQ, y, 0.0));
  return b.select(isOne, one, result);
}
