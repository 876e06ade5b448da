//===- ElementConvert.cpp - elements of convert ---------------------------===//
//
// Every conversion rounds once and never reaches what arith leaves undefined.
// The two hard cases are wide integers to bf16, where going through f32 would
// round twice, and floats to integers out of range.
//
//===----------------------------------------------------------------------===//

#include "ElementUtils.h"

using namespace mlir;
using namespace fusion;

using CmpF = FormulaBuilder::CmpF;
using CmpI = FormulaBuilder::CmpI;

namespace {

Value floatToFloat(FormulaBuilder &b, Value x, Type to) {
  // f16 and bf16 meet in f32, which holds either.
  if (FormulaBuilder::elementType(x) != to)
    x = widenHalf(b, x);
  Type from = FormulaBuilder::elementType(x);
  if (from == to)
    return x;
  bool isWidening = from.getIntOrFloatBitWidth() < to.getIntOrFloatBitWidth();
  return isWidening ? b.extf(x, to) : b.truncf(x, to);
}

/// Where |x| > 2^limit, the integer with its last `count` bits gathered into
/// the highest of them: shorter, and on the same side of every tie of bf16.
Value gatherLowBits(FormulaBuilder &b, Value x, unsigned limit,
                    unsigned count) {
  int64_t bound = int64_t(1) << limit, low = (int64_t(1) << count) - 1;
  // Both signs by one unsigned comparison.
  Value isWide = b.cmp(CmpI::ugt, b.add(x, b.integer(x, bound)), 2 * bound);
  Value hasLow = b.cmp(CmpI::ne, b.bitAnd(x, low), 0);
  Value sticky = b.select(hasLow, b.integer(x, int64_t(1) << (count - 1)),
                          b.integer(x, 0));
  return b.select(isWide, b.bitOr(b.bitAnd(x, ~low), sticky), x);
}

Value intToFloat(FormulaBuilder &b, Value x, Type to, bool isUnsigned) {
  bool isWide = to.getIntOrFloatBitWidth() > 16;
  unsigned width = FormulaBuilder::elementType(x).getIntOrFloatBitWidth();
  // To 16 bits by way of f32. Up to 24 bits that is exact, and what exceeds
  // them is infinite in f16 however it is rounded; for bf16 it is made to fit.
  // Beyond 2^n ties are multiples of 2^(n-8): the bits below may be gathered.
  if (to.isBF16() && width == 32)
    x = gatherLowBits(b, x, /*limit=*/24, /*count=*/8);
  if (to.isBF16() && width == 64)
    for (auto [limit, count] : {std::pair(24, 12), {35, 26}, {49, 40}})
      x = gatherLowBits(b, x, limit, count);
  Type first = isWide ? to : b.getF32Type();
  Value result = isUnsigned ? b.cast<arith::UIToFPOp>(x, first)
                            : b.cast<arith::SIToFPOp>(x, first);
  return isWide ? result : b.truncf(result, to);
}

/// Truncates toward zero and saturates; NaN gives 0.
Value floatToInt(FormulaBuilder &b, Value x, Type to, bool isUnsigned) {
  x = widenHalf(b, x);
  unsigned width = to.getIntOrFloatBitWidth();
  // From `least` up to but excluding `end` the cast is defined: powers of two,
  // or zero, which every float type holds. The greatest integer would round up.
  double least = isUnsigned ? 0.0 : -std::ldexp(1.0, width - 1);
  double end = std::ldexp(1.0, isUnsigned ? width : width - 1);
  Value isBig = b.cmp(CmpF::OGE, x, end);
  Value lowest = b.constant(x, least);
  // NaN fails the first comparison; what is too big is patched afterwards.
  Value safe = b.select(b.cmp(CmpF::OGE, x, lowest), x, lowest);
  safe = b.select(isBig, lowest, safe);
  // Narrow types by way of i32, to which targets have instructions.
  Type wide = b.getIntegerType(std::max(width, 32u));
  Value result = b.cast<arith::FPToSIOp>(safe, wide);
  APInt most =
      isUnsigned ? APInt::getMaxValue(width) : APInt::getSignedMaxValue(width);
  result = b.select(isBig, b.integer(result, most.getLimitedValue()), result);
  result = b.select(b.isNaN(x), b.integer(result, 0), result);
  return wide == to ? result : b.cast<arith::TruncIOp>(result, to);
}

Value intToInt(FormulaBuilder &b, Value x, Type to, bool isUnsigned) {
  unsigned from = FormulaBuilder::elementType(x).getIntOrFloatBitWidth();
  unsigned width = to.getIntOrFloatBitWidth();
  if (from == width)
    return x;
  if (from > width)
    return b.cast<arith::TruncIOp>(x, to);
  return isUnsigned ? b.cast<arith::ExtUIOp>(x, to)
                    : b.cast<arith::ExtSIOp>(x, to);
}

} // namespace

Value fusion::ConvertOp::emitElement(OpBuilder &builder, Location loc,
                                     ValueRange operands) {
  FormulaBuilder b(builder, loc);
  Value x = operands[0];
  Type to = getStorageType(getElementTypeOrSelf(getType()));
  if (FormulaBuilder::isFloat(x)) {
    if (to.isInteger(1))
      return b.cmp(CmpF::UNE, widenHalf(b, x), 0.0);
    return isa<FloatType>(to) ? floatToFloat(b, x, to)
                              : floatToInt(b, x, to, isUnsigned(getResult()));
  }
  if (isa<FloatType>(to))
    return intToFloat(b, x, to, isUnsigned(getX()));
  if (to.isInteger(1) && !FormulaBuilder::elementType(x).isInteger(1))
    return b.cmp(CmpI::ne, x, 0);
  return intToInt(b, x, to, isUnsigned(getX()));
}
unsigned fusion::ConvertOp::getElementCost() { return 1; }
