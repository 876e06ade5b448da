//===- ExpandMathExp.cpp - exponentials, tanh and erf on f32 --------------===//
//
// All rest on x = n ln 2 + r, |r| <= ln 2 / 2, and a polynomial for e^r. Adding
// 1.5 * 2^23 rounds to the integer n and leaves it in the low bits of the sum,
// so that 2^n is a shift away and no conversion is needed.
//
//===----------------------------------------------------------------------===//

#include "ExpandMath.h"

using namespace mlir;
using namespace fusion;

using CmpF = FormulaBuilder::CmpF;

namespace {

constexpr double roundingMagic = 0x1.8p23;

/// An operand split for an exponential.
struct Reduced {
  Value magic;     ///< the sum whose low bits are n
  Value n;         ///< the integer, as a float
  Value remainder; ///< what is left: |remainder| <= 1/2, or ln 2 / 2 for base e
};

/// x = n ln 2 + r, for |x| < 2^21.
Reduced reduceBaseE(FormulaBuilder &b, Value x) {
  Value magic = b.fma(x, 0x1.715476p+0, b.constant(x, roundingMagic));
  Value n = b.sub(magic, roundingMagic);
  // ln 2 in two parts, the first with zeros at its end: n times it is exact.
  Value r = b.fma(n, -0x1.62e43p-1, x);
  return {magic, n, b.fma(n, 0x1.05c61p-29, r)};
}

/// e^r.
Value expPolynomial(FormulaBuilder &b, Value r) {
  return horner(b, r,
                {0x1.6a4d7ep-10, 0x1.12399p-7, 0x1.5558bp-5, 0x1.555492p-3,
                 0x1.fffffcp-2, 1.0, 1.0});
}

/// The bits of 2^n at the exponent's place, without the bias.
Value exponentBits(FormulaBuilder &b, Value magic) {
  return b.shl(b.bitcast(magic, b.getI32Type()), 23);
}

/// 2^n / 2^halvings for results that stay normal.
Value powerOfTwo(FormulaBuilder &b, Value magic, unsigned halvings = 0) {
  int64_t bias = int64_t(127 - halvings) << 23;
  Value bits = exponentBits(b, magic);
  return b.bitcast(b.add(bits, b.integer(bits, bias)), b.getF32Type());
}

/// p 2^n for n in [-252, 254], by two powers: either one is a normal number,
/// and only the second multiplication can overflow or round to a subnormal.
Value scaleByPower(FormulaBuilder &b, Value p, Value magic) {
  int64_t one = int64_t(127) << 23, exponent = ~int64_t(0x7fffff);
  Value whole = exponentBits(b, magic);
  Value half = b.bitAnd(b.ashr(whole, 1), exponent);
  Value rest = b.sub(whole, half);
  auto power = [&](Value bits) {
    return b.bitcast(b.add(bits, b.integer(bits, one)), b.getF32Type());
  };
  return b.mul(b.mul(p, power(half)), power(rest));
}

/// e^x for x in [-87, 88].
Value expInNormalRange(FormulaBuilder &b, Value x) {
  Reduced reduced = reduceBaseE(b, x);
  return b.mul(expPolynomial(b, reduced.remainder),
               powerOfTwo(b, reduced.magic));
}

} // namespace

Value fusion::expandExp(FormulaBuilder &b, Value x) {
  // Beyond these bounds the result is 0 or infinity.
  Reduced reduced = reduceBaseE(b, atMost(b, atLeast(b, x, -104.0), 89.0));
  return scaleByPower(b, expPolynomial(b, reduced.remainder), reduced.magic);
}

Value fusion::expandExp2(FormulaBuilder &b, Value x) {
  x = atMost(b, atLeast(b, x, -150.5), 129.0);
  Value magic = b.add(x, roundingMagic);
  Value r = b.sub(x, b.sub(magic, roundingMagic));
  Value p = horner(b, r,
                   {0x1.4176c4p-13, 0x1.5f0966p-10, 0x1.3b2dd6p-7,
                    0x1.c6af7ap-5, 0x1.ebfbdcp-3, 0x1.62e43p-1, 1.0});
  return scaleByPower(b, p, magic);
}

Value fusion::expandExpM1(FormulaBuilder &b, Value x) {
  Reduced reduced = reduceBaseE(b, atMost(b, atLeast(b, x, -20.0), 89.0));
  Value r = reduced.remainder;
  Value q = horner(b, r,
                   {0x1.6b9c74p-10, 0x1.12254cp-7, 0x1.5556f2p-5, 0x1.5554b4p-3,
                    0x1.fffffep-2});
  q = b.fma(b.mul(r, r), q, r);
  // 2^n (q + 1) - 1 by halves, since 2^128 is no float. Where n = 0 the result
  // is q itself: half of a subnormal would lose its last bit.
  Value half = powerOfTwo(b, reduced.magic, /*halvings=*/1);
  Value scaled = b.fma(half, q, b.sub(half, 0.5));
  Value result =
      b.select(b.cmp(CmpF::OEQ, reduced.n, 0.0), q, b.add(scaled, scaled));
  return b.copysign(result, x);
}

Value fusion::expandTanh(FormulaBuilder &b, Value x) {
  Value a = b.abs(x), square = b.mul(x, x);
  Value q = horner(b, square,
                   {-0x1.9c9642p-8, 0x1.5982a2p-6, -0x1.b931fep-5,
                    0x1.110d6ap-3, -0x1.55554cp-2});
  Value small = b.fma(b.mul(a, square), q, a);
  // 1 - 2 / (e^2a + 1), which cancels for small a; at 20 it is 1.
  Value e = expInNormalRange(b, atMost(b, b.add(a, a), 20.0));
  Value large = b.sub(b.constant(x, 1.0), b.div(2.0, b.add(e, 1.0)));
  return b.copysign(b.select(b.cmp(CmpF::OLT, a, 0.55), small, large), x);
}

Value fusion::expandErf(FormulaBuilder &b, Value x) {
  Value a = b.abs(x);
  Value p = horner(b, b.mul(x, x),
                   {-0x1.387352p-11, 0x1.46d9c4p-8, -0x1.b67c02p-6,
                    0x1.ce1986p-4, -0x1.8126e2p-2, 0x1.06eba6p-3});
  Value small = b.fma(a, p, a);
  // 1 - erfc(a), with log(erfc(a)) = a g(a) - a; at 4 it is 1.
  Value t = atMost(b, a, 4.0);
  Value g = horner(b, t,
                   {0x1.c0c69cp-13, -0x1.a565d2p-9, 0x1.77080ap-6,
                    -0x1.af2736p-4, -0x1.457cdcp-1, -0x1.07328cp-3});
  Value erfc = expInNormalRange(b, b.fma(g, t, b.neg(t)));
  Value large = b.sub(b.constant(x, 1.0), erfc);
  return b.copysign(b.select(b.cmp(CmpF::OLT, a, 0.925), small, large), x);
}

Value fusion::exp2InDouble(FormulaBuilder &b, Value x) {
  constexpr double magicDouble = 0x1.8p52;
  Value magic = b.add(x, magicDouble);
  Value r = b.sub(x, b.sub(magic, magicDouble));
  Value p = horner(
      b, r,
      {0x1.61afb95d02c2cp-20, 0x1.00db13532e48ep-16, 0x1.430acd5d6c946p-13,
       0x1.5d8747d79cc3ep-10, 0x1.3b2ab5c44f720p-7, 0x1.c6b08dd4bcb19p-5,
       0x1.ebfbdff9329dfp-3, 0x1.62e42fef85f70p-1, 0x1.ffffffffff799p-1});
  Value bits = b.shl(b.bitcast(magic, b.getI64Type()), 52);
  bits = b.add(bits, b.integer(bits, int64_t(1023) << 52));
  return b.mul(p, b.bitcast(bits, b.getF64Type()));
}
