//===- ElementInteger.cpp - integer division, power, bits and shifts ------===//
//
// Integer results are the same on every target, so nothing here may reach what
// arith leaves undefined: division by zero and overflow, shifts past the width.
// Operands that would are replaced beforehand, and the result patched.
//
//===----------------------------------------------------------------------===//

#include "ElementInteger.h"

using namespace mlir;
using namespace fusion;

using CmpI = FormulaBuilder::CmpI;

namespace {

/// Divisors by which division is undefined or patched are replaced by 1: zero,
/// and -1, by which the most negative number overflows.
struct SafeDivisor {
  SafeDivisor(FormulaBuilder &b, Value divisor, bool isUnsigned) {
    isZero = b.cmp(CmpI::eq, divisor, 0);
    Value isUnsafe = isZero;
    if (!isUnsigned) {
      isMinusOne = b.cmp(CmpI::eq, divisor, -1);
      isUnsafe = b.bitOr(isZero, isMinusOne);
    }
    value = b.select(isUnsafe, b.integer(divisor, 1), divisor);
  }

  /// The quotient by the real divisor: 0 by zero, the wrapping -x by -1.
  Value patch(FormulaBuilder &b, Value quotient, Value x) const {
    Value zero = b.integer(x, 0);
    if (isMinusOne)
      quotient = b.select(isMinusOne, b.sub(zero, x), quotient);
    return b.select(isZero, zero, quotient);
  }

  Value value;
  Value isZero;
  Value isMinusOne;
};

/// True where a remainder is not zero and has another sign than the divisor:
/// where truncating and flooring division differ.
Value needsFloor(FormulaBuilder &b, Value remainder, Value divisor) {
  return b.bitAnd(b.cmp(CmpI::ne, remainder, 0),
                  b.cmp(CmpI::slt, b.bitXor(remainder, divisor), 0));
}

} // namespace

Value fusion::emitIntDiv(FormulaBuilder &b, Value x, Value y, bool isUnsigned) {
  SafeDivisor divisor(b, y, isUnsigned);
  Value quotient = isUnsigned
                       ? Value(b.create<arith::DivUIOp>(x, divisor.value))
                       : Value(b.create<arith::DivSIOp>(x, divisor.value));
  return divisor.patch(b, quotient, x);
}

Value fusion::emitIntFloorDiv(FormulaBuilder &b, Value x, Value y,
                              bool isUnsigned) {
  if (isUnsigned)
    return emitIntDiv(b, x, y, isUnsigned);
  SafeDivisor divisor(b, y, isUnsigned);
  Value quotient = b.create<arith::DivSIOp>(x, divisor.value);
  Value remainder = b.sub(x, b.mul(quotient, divisor.value));
  quotient = b.select(needsFloor(b, remainder, divisor.value),
                      b.sub(quotient, b.integer(x, 1)), quotient);
  return divisor.patch(b, quotient, x);
}

Value fusion::emitIntFmod(FormulaBuilder &b, Value x, Value y,
                          bool isUnsigned) {
  // By the replacement divisor 1 the remainder is 0, as wanted for 0 and -1.
  SafeDivisor divisor(b, y, isUnsigned);
  if (isUnsigned)
    return b.create<arith::RemUIOp>(x, divisor.value);
  return b.create<arith::RemSIOp>(x, divisor.value);
}

Value fusion::emitIntRemainder(FormulaBuilder &b, Value x, Value y,
                               bool isUnsigned) {
  Value remainder = emitIntFmod(b, x, y, isUnsigned);
  if (isUnsigned)
    return remainder;
  return b.select(needsFloor(b, remainder, y), b.add(remainder, y), remainder);
}

Value fusion::emitIntPow(FormulaBuilder &b, Value base, Value exponent,
                         bool isUnsigned) {
  // Squaring, unrolled over the bits of a non-negative exponent: a loop would
  // not be arith. Whether a bit is set is the lowest bit of a shift.
  unsigned width = FormulaBuilder::elementType(base).getIntOrFloatBitWidth();
  unsigned bits = isUnsigned ? width : width - 1;
  Value one = b.integer(base, 1);
  Value result = one, square = base;
  for (unsigned bit = 0; bit < bits; ++bit) {
    Value isSet = b.cast<arith::TruncIOp>(b.lshr(exponent, bit), b.getI1Type());
    result = b.select(isSet, b.mul(result, square), result);
    if (bit + 1 < bits)
      square = b.mul(square, square);
  }
  if (isUnsigned)
    return result;
  // The loop leaves out the sign bit: for a base of 1 or -1 it is right all the
  // same, since only the parity counts.
  Value isUnit = b.bitOr(b.cmp(CmpI::eq, base, 1), b.cmp(CmpI::eq, base, -1));
  Value isValid = b.bitOr(b.cmp(CmpI::sge, exponent, 0), isUnit);
  return b.select(isValid, result, b.integer(base, 0));
}

//===----------------------------------------------------------------------===//
// Bits
//===----------------------------------------------------------------------===//

Value fusion::NotOp::emitElement(OpBuilder &builder, Location loc,
                                 ValueRange operands) {
  FormulaBuilder b(builder, loc);
  return b.bitXor(operands[0], -1);
}

Value fusion::AndOp::emitElement(OpBuilder &builder, Location loc,
                                 ValueRange operands) {
  return FormulaBuilder(builder, loc).bitAnd(operands[0], operands[1]);
}

Value fusion::OrOp::emitElement(OpBuilder &builder, Location loc,
                                ValueRange operands) {
  return FormulaBuilder(builder, loc).bitOr(operands[0], operands[1]);
}

Value fusion::XorOp::emitElement(OpBuilder &builder, Location loc,
                                 ValueRange operands) {
  return FormulaBuilder(builder, loc).bitXor(operands[0], operands[1]);
}

Value fusion::ShiftLeftOp::emitElement(OpBuilder &builder, Location loc,
                                       ValueRange operands) {
  FormulaBuilder b(builder, loc);
  Value x = operands[0], count = operands[1];
  Value zero = b.integer(x, 0);
  // Unsigned, a negative count is past the width too.
  unsigned width = FormulaBuilder::elementType(x).getIntOrFloatBitWidth();
  Value inRange = b.cmp(CmpI::ult, count, width);
  // Masked rather than chosen: NVPTX drops a choice of the count, then shifts
  // an i64 by the count's low 32 bits.
  Value masked =
      arith::AndIOp::create(builder, loc, count, b.integer(x, width - 1));
  return b.select(inRange, b.shl(x, masked), zero);
}

Value fusion::ShiftRightOp::emitElement(OpBuilder &builder, Location loc,
                                        ValueRange operands) {
  FormulaBuilder b(builder, loc);
  Value x = operands[0], count = operands[1];
  unsigned width = FormulaBuilder::elementType(x).getIntOrFloatBitWidth();
  Value inRange = b.cmp(CmpI::ult, count, width);
  // width - 1 leaves copies of the sign, as a longer shift would.
  if (!isUnsigned(getLhs()))
    return b.ashr(x, b.select(inRange, count, b.integer(x, width - 1)));
  Value zero = b.integer(x, 0);
  return b.select(inRange, b.lshr(x, b.select(inRange, count, zero)), zero);
}

unsigned fusion::NotOp::getElementCost() { return 1; }
unsigned fusion::AndOp::getElementCost() { return 1; }
unsigned fusion::OrOp::getElementCost() { return 1; }
unsigned fusion::XorOp::getElementCost() { return 1; }
unsigned fusion::ShiftLeftOp::getElementCost() { return 3; }
unsigned fusion::ShiftRightOp::getElementCost() { return 3; }
