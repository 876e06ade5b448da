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

/// The integer with bits that f64 cannot hold gathered into one below its last:
/// exact in f64, and on the same side of every number that has less than 53
/// bits.
Value gatherLowBits(FormulaBuilder &b, Value x) {
  int64_t limit = int64_t(1) << 53, low = 0x7ff;
  // |x| > 2^53 by one unsigned comparison.
  Value isWide = b.cmp(CmpI::ugt, b.add(x, b.integer(x, limit)), 2 * limit);
  Value hasLow = b.cmp(CmpI::ne, b.bitAnd(x, low), 0);
  Value sticky = b.select(hasLow, b.integer(x, (low + 1) / 2), b.integer(x, 0));
  return b.select(isWide, b.bitOr(b.bitAnd(x, ~low), sticky), x);
}

Value intToFloat(FormulaBuilder &b, Value x, Type to, bool isUnsigned) {
  auto cast = [&](Value x, Type to) -> Value {
    return isUnsigned ? b.cast<arith::UIToFPOp>(x, to)
                      : b.cast<arith::SIToFPOp>(x, to);
  };
  if (to.getIntOrFloatBitWidth() > 16)
    return cast(x, to);
  // Below 24 bits f32 is exact; what exceeds them is infinite in f16 however it
  // is rounded. Only bf16 has the range to notice.
  unsigned width = FormulaBuilder::elementType(x).getIntOrFloatBitWidth();
  if (width <= 16 || to.isF16())
    return b.truncf(cast(x, b.getF32Type()), to);
  if (width == 64)
    x = gatherLowBits(b, x);
  return b.truncf(cast(x, b.getF64Type()), to);
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
