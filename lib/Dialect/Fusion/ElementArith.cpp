//===- ElementArith.cpp - elements of the basic arithmetic ----------------===//
//
// Ops that floats and integers share. Floats follow IEEE 754, and division to
// the floor follows PyTorch step by step, since its rounding is observable.
//
//===----------------------------------------------------------------------===//

#include "ElementInteger.h"

using namespace mlir;
using namespace fusion;

using CmpF = FormulaBuilder::CmpF;
using CmpI = FormulaBuilder::CmpI;

namespace {

//===----------------------------------------------------------------------===//
// Signs
//===----------------------------------------------------------------------===//

/// Sign ops change bits only, NaN's too: f16 and bf16, which targets compute
/// through f32, are taken as integers.
Value maskBits(FormulaBuilder &b, Value half, int64_t clear, int64_t flip) {
  Type type = FormulaBuilder::elementType(half);
  Value bits = b.bitcast(half, b.getI16Type());
  if (clear)
    bits = b.bitAnd(bits, ~clear);
  if (flip)
    bits = b.bitXor(bits, flip);
  return b.bitcast(bits, type);
}

constexpr int64_t halfSign = 0x8000;

Value emitSignFloat(FormulaBuilder &b, Value x) {
  // Unordered or equal: NaN and both zeros are their own sign.
  Value isOwn = b.cmp(CmpF::UEQ, x, 0.0);
  return b.select(isOwn, x, b.copysign(b.constant(x, 1.0), x));
}

//===----------------------------------------------------------------------===//
// Division
//===----------------------------------------------------------------------===//

Value emitFmod(FormulaBuilder &b, Value x, Value y) {
  return b.create<arith::RemFOp>(x, y);
}

/// Whether flooring and truncating division of y into something differ, given
/// the truncating remainder. A NaN remainder may say either.
Value needsFloor(FormulaBuilder &b, Value remainder, Value y) {
  Value signsDiffer =
      b.bitXor(b.cmp(CmpF::OLT, remainder, 0.0), b.cmp(CmpF::OLT, y, 0.0));
  return b.bitAnd(b.cmp(CmpF::UNE, remainder, 0.0), signsDiffer);
}

/// `div_floor_floating` of PyTorch, and Python's `//`.
Value emitFloorDiv(FormulaBuilder &b, Value x, Value y) {
  Value ratio = b.div(x, y);
  Value remainder = emitFmod(b, x, y);
  Value quotient = b.div(b.sub(x, remainder), y);
  quotient =
      b.select(needsFloor(b, remainder, y), b.sub(quotient, 1.0), quotient);
  // The quotient is an integer up to rounding: floor alone would lose 1 where
  // it lies just below.
  Value floor = b.math<math::FloorOp>(quotient);
  Value isBelow = b.cmp(CmpF::OGT, b.sub(quotient, floor), 0.5);
  floor = b.select(isBelow, b.add(floor, 1.0), floor);
  Value zero = b.copysign(b.constant(x, 0.0), ratio);
  floor = b.select(b.cmp(CmpF::OEQ, quotient, 0.0), zero, floor);
  return b.select(b.cmp(CmpF::OEQ, y, 0.0), ratio, floor);
}

/// Python's `%`: a zero has the sign of the divisor as well.
Value emitRemainder(FormulaBuilder &b, Value x, Value y) {
  Value remainder = emitFmod(b, x, y);
  Value moved =
      b.select(needsFloor(b, remainder, y), b.add(remainder, y), remainder);
  return b.select(b.cmp(CmpF::OEQ, remainder, 0.0),
                  b.copysign(b.constant(x, 0.0), y), moved);
}

//===----------------------------------------------------------------------===//
// Minimum and maximum
//===----------------------------------------------------------------------===//

Value emitMin(FormulaBuilder &b, Value x, Value y, bool isUnsigned) {
  if (FormulaBuilder::isFloat(x))
    return b.minimum(x, y);
  if (isUnsigned)
    return b.create<arith::MinUIOp>(x, y);
  return b.create<arith::MinSIOp>(x, y);
}

Value emitMax(FormulaBuilder &b, Value x, Value y, bool isUnsigned) {
  if (FormulaBuilder::isFloat(x))
    return b.maximum(x, y);
  if (isUnsigned)
    return b.create<arith::MaxUIOp>(x, y);
  return b.create<arith::MaxSIOp>(x, y);
}

/// Emits a binary op by its float or its integer form.
template <typename FloatForm, typename IntForm>
Value emitBinary(OpBuilder &builder, Location loc, ValueRange operands,
                 FloatForm floatForm, IntForm intForm, bool isUnsigned) {
  FormulaBuilder b(builder, loc);
  Value x = operands[0], y = operands[1];
  if (FormulaBuilder::isFloat(x))
    return inFloat(b, floatForm, x, y);
  return intForm(b, x, y, isUnsigned);
}

} // namespace

/// Defines a binary op by functions (b, x, y) for floats and
/// (b, x, y, isUnsigned) for integers.
#define FUSION_BINARY(OP, COST, FLOAT_FORM, INT_FORM)                          \
  Value fusion::OP::emitElement(OpBuilder &builder, Location loc,              \
                                ValueRange operands) {                         \
    return emitBinary(builder, loc, operands, FLOAT_FORM, INT_FORM,            \
                      isUnsigned(getLhs()));                                   \
  }                                                                            \
  unsigned fusion::OP::getElementCost() { return COST; }

/// The same where both forms are one method of the builder.
#define FUSION_BINARY_METHOD(OP, COST, METHOD)                                 \
  FUSION_BINARY(                                                               \
      OP, COST,                                                                \
      [](FormulaBuilder &b, Value x, Value y) { return b.METHOD(x, y); },      \
      [](FormulaBuilder &b, Value x, Value y, bool) {                          \
        return b.METHOD(x, y);                                                 \
      })

FUSION_BINARY_METHOD(AddOp, 1, add)
FUSION_BINARY_METHOD(SubOp, 1, sub)
FUSION_BINARY_METHOD(MulOp, 1, mul)
FUSION_BINARY(
    DivOp, 8, [](FormulaBuilder &b, Value x, Value y) { return b.div(x, y); },
    emitIntDiv)
FUSION_BINARY(FloorDivOp, 40, emitFloorDiv, emitIntFloorDiv)
FUSION_BINARY(RemainderOp, 30, emitRemainder, emitIntRemainder)
FUSION_BINARY(FmodOp, 24, emitFmod, emitIntFmod)
FUSION_BINARY(
    PowOp, 40,
    [](FormulaBuilder &b, Value x, Value y) -> Value {
      return b.create<math::PowFOp>(x, y);
    },
    emitIntPow)
FUSION_BINARY(
    MinOp, 1,
    [](FormulaBuilder &b, Value x, Value y) { return b.minimum(x, y); },
    emitMin)
FUSION_BINARY(
    MaxOp, 1,
    [](FormulaBuilder &b, Value x, Value y) { return b.maximum(x, y); },
    emitMax)

Value fusion::ClampOp::emitElement(OpBuilder &builder, Location loc,
                                   ValueRange operands) {
  FormulaBuilder b(builder, loc);
  auto emit = [&](FormulaBuilder &b, Value x, Value lo, Value hi) {
    bool unsignedType = isUnsigned(getX());
    return emitMin(b, emitMax(b, x, lo, unsignedType), hi, unsignedType);
  };
  return inFloat(b, emit, operands[0], operands[1], operands[2]);
}
unsigned fusion::ClampOp::getElementCost() { return 2; }

Value fusion::AbsOp::emitElement(OpBuilder &builder, Location loc,
                                 ValueRange operands) {
  FormulaBuilder b(builder, loc);
  Value x = operands[0];
  if (isHalf(x))
    return maskBits(b, x, halfSign, 0);
  if (FormulaBuilder::isFloat(x))
    return b.abs(x);
  if (isUnsigned(getX()))
    return x;
  return b.create<arith::MaxSIOp>(x, b.sub(b.integer(x, 0), x));
}
unsigned fusion::AbsOp::getElementCost() { return 1; }

Value fusion::NegOp::emitElement(OpBuilder &builder, Location loc,
                                 ValueRange operands) {
  FormulaBuilder b(builder, loc);
  Value x = operands[0];
  if (isHalf(x))
    return maskBits(b, x, 0, halfSign);
  if (FormulaBuilder::isFloat(x))
    return b.neg(x);
  return b.sub(b.integer(x, 0), x);
}
unsigned fusion::NegOp::getElementCost() { return 1; }

Value fusion::SignOp::emitElement(OpBuilder &builder, Location loc,
                                  ValueRange operands) {
  FormulaBuilder b(builder, loc);
  Value x = operands[0];
  if (FormulaBuilder::isFloat(x))
    return inFloat(b, emitSignFloat, x);
  Type type = FormulaBuilder::elementType(x);
  if (isUnsigned(getX()))
    return b.cast<arith::ExtUIOp>(b.cmp(CmpI::ne, x, 0), type);
  return b.sub(b.cast<arith::ExtUIOp>(b.cmp(CmpI::sgt, x, 0), type),
               b.cast<arith::ExtUIOp>(b.cmp(CmpI::slt, x, 0), type));
}
unsigned fusion::SignOp::getElementCost() { return 2; }

Value fusion::CopysignOp::emitElement(OpBuilder &builder, Location loc,
                                      ValueRange operands) {
  FormulaBuilder b(builder, loc);
  Value x = operands[0], y = operands[1];
  if (!isHalf(x))
    return b.copysign(x, y);
  Type type = FormulaBuilder::elementType(x);
  Value magnitude = b.bitAnd(b.bitcast(x, b.getI16Type()), ~halfSign);
  Value sign = b.bitAnd(b.bitcast(y, b.getI16Type()), halfSign);
  return b.bitcast(b.bitOr(magnitude, sign), type);
}
unsigned fusion::CopysignOp::getElementCost() { return 1; }
