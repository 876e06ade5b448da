//===- ElementCompare.cpp - elements of comparisons, tests and select -----===//

#include "ElementUtils.h"

using namespace mlir;
using namespace fusion;

using CmpF = FormulaBuilder::CmpF;
using CmpI = FormulaBuilder::CmpI;

namespace {

/// Ordered but for `ne`, which is true with NaN.
CmpF floatPredicate(CompareKind kind) {
  switch (kind) {
  case CompareKind::eq:
    return CmpF::OEQ;
  case CompareKind::ne:
    return CmpF::UNE;
  case CompareKind::lt:
    return CmpF::OLT;
  case CompareKind::le:
    return CmpF::OLE;
  case CompareKind::gt:
    return CmpF::OGT;
  case CompareKind::ge:
    return CmpF::OGE;
  }
  llvm_unreachable("every comparison has a predicate");
}

CmpI intPredicate(CompareKind kind, bool isUnsigned) {
  switch (kind) {
  case CompareKind::eq:
    return CmpI::eq;
  case CompareKind::ne:
    return CmpI::ne;
  case CompareKind::lt:
    return isUnsigned ? CmpI::ult : CmpI::slt;
  case CompareKind::le:
    return isUnsigned ? CmpI::ule : CmpI::sle;
  case CompareKind::gt:
    return isUnsigned ? CmpI::ugt : CmpI::sgt;
  case CompareKind::ge:
    return isUnsigned ? CmpI::uge : CmpI::sge;
  }
  llvm_unreachable("every comparison has a predicate");
}

} // namespace

Value fusion::CompareOp::emitElement(OpBuilder &builder, Location loc,
                                     ValueRange operands) {
  FormulaBuilder b(builder, loc);
  Value x = operands[0], y = operands[1];
  if (!FormulaBuilder::isFloat(x))
    return b.cmp(intPredicate(getKind(), isUnsigned(getLhs())), x, y);
  return b.cmp(floatPredicate(getKind()), widenHalf(b, x), widenHalf(b, y));
}
unsigned fusion::CompareOp::getElementCost() { return 1; }

Value fusion::IsNanOp::emitElement(OpBuilder &builder, Location loc,
                                   ValueRange operands) {
  FormulaBuilder b(builder, loc);
  return b.isNaN(widenHalf(b, operands[0]));
}
unsigned fusion::IsNanOp::getElementCost() { return 1; }

Value fusion::IsInfOp::emitElement(OpBuilder &builder, Location loc,
                                   ValueRange operands) {
  FormulaBuilder b(builder, loc);
  return b.cmp(CmpF::OEQ, b.abs(widenHalf(b, operands[0])),
               FormulaBuilder::infinity);
}
unsigned fusion::IsInfOp::getElementCost() { return 1; }

Value fusion::IsFiniteOp::emitElement(OpBuilder &builder, Location loc,
                                      ValueRange operands) {
  FormulaBuilder b(builder, loc);
  return b.cmp(CmpF::OLT, b.abs(widenHalf(b, operands[0])),
               FormulaBuilder::infinity);
}
unsigned fusion::IsFiniteOp::getElementCost() { return 1; }

Value fusion::SelectOp::emitElement(OpBuilder &builder, Location loc,
                                    ValueRange operands) {
  return FormulaBuilder(builder, loc)
      .select(operands[0], operands[1], operands[2]);
}
unsigned fusion::SelectOp::getElementCost() { return 1; }
