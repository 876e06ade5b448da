//===- SimplifyUtils.cpp - shared by the rewrites of fusion-simplify ------===//
//
// See the header.
//
//===----------------------------------------------------------------------===//

#include "SimplifyUtils.h"

#include "mlir/IR/BuiltinAttributes.h"

using namespace mlir;
using namespace fusion;

TypedAttr fusion::getSplat(Value value) {
  while (Operation *op = value.getDefiningOp()) {
    if (auto constant = dyn_cast<ConstantOp>(op)) {
      auto splat = dyn_cast<SplatElementsAttr>(constant.getValue());
      return splat ? cast<TypedAttr>(splat.getSplatValue<Attribute>())
                   : TypedAttr();
    }
    if (!isa<BroadcastOp, ReshapeOp>(op))
      break;
    value = op->getOperand(0);
  }
  return nullptr;
}

bool fusion::isOne(Value value) {
  TypedAttr splat = getSplat(value);
  if (auto number = dyn_cast_if_present<FloatAttr>(splat))
    return number.getValue().isExactlyValue(1.0);
  auto number = dyn_cast_if_present<IntegerAttr>(splat);
  return number && !number.getType().isInteger(1) && number.getValue().isOne();
}

bool fusion::isIntegerZero(Value value) {
  auto number = dyn_cast_if_present<IntegerAttr>(getSplat(value));
  return number && number.getValue().isZero();
}

bool fusion::isAllOnes(Value value) {
  auto number = dyn_cast_if_present<IntegerAttr>(getSplat(value));
  return number && number.getValue().isAllOnes();
}

bool fusion::isFloatZero(Value value, bool negative) {
  auto number = dyn_cast_if_present<FloatAttr>(getSplat(value));
  return number && number.getValue().isZero() &&
         number.getValue().isNegative() == negative;
}

bool fusion::isFloat(Value value, double number) {
  auto splat = dyn_cast_if_present<FloatAttr>(getSplat(value));
  return splat && splat.getValue().isExactlyValue(number);
}

LogicalResult fusion::replaceWith(Operation *op, Value value,
                                  PatternRewriter &rewriter) {
  if (op->getResult(0).getType() != value.getType())
    return rewriter.notifyMatchFailure(op, "replacement has another layout");
  rewriter.replaceOp(op, value);
  return success();
}

LogicalResult fusion::replaceWithSplat(Operation *op, Attribute element,
                                       PatternRewriter &rewriter) {
  auto type = cast<RankedTensorType>(op->getResult(0).getType());
  if (!type.hasStaticShape())
    return rewriter.notifyMatchFailure(op, "constants have static sizes");
  rewriter.replaceOpWithNewOp<ConstantOp>(
      op, type, DenseElementsAttr::get(type, element));
  return success();
}

bool fusion::hasDeterminedSizes(Type type) {
  return cast<RankedTensorType>(type).getNumDynamicDims() <= 1;
}
