//===- SimplifyConstants.cpp - constants with equal elements --------------===//
//
// A splat stays a splat through views and conversions. Kernels take it as an
// immediate, so its shape costs nothing.
//
//===----------------------------------------------------------------------===//

#include "SimplifyUtils.h"

#include "mlir/IR/BuiltinAttributes.h"

using namespace mlir;
using namespace fusion;

template <typename OpTy>
static LogicalResult viewOfSplat(OpTy op, PatternRewriter &rewriter) {
  TypedAttr splat = getSplat(op.getX());
  if (!splat)
    return rewriter.notifyMatchFailure(op, "operand is no splat constant");
  return replaceWithSplat(op, splat, rewriter);
}

static LogicalResult padOfSplat(PadOp op, PatternRewriter &rewriter) {
  TypedAttr splat = getSplat(op.getX());
  if (!splat || splat != getSplat(op.getValue()))
    return rewriter.notifyMatchFailure(op, "padding differs from the operand");
  return replaceWithSplat(op, splat, rewriter);
}

/// `number` as fusion.convert converts it to the float type `type`.
static FloatAttr convertToFloat(Attribute number, FloatType type) {
  APFloat value(type.getFloatSemantics());
  bool lossy;
  if (auto from = dyn_cast<FloatAttr>(number)) {
    value = from.getValue();
    value.convert(type.getFloatSemantics(), APFloat::rmNearestTiesToEven,
                  &lossy);
  } else {
    auto integer = cast<IntegerAttr>(number);
    bool isSigned = !integer.getType().isUnsignedInteger() &&
                    !integer.getType().isInteger(1);
    value.convertFromAPInt(integer.getValue(), isSigned,
                           APFloat::rmNearestTiesToEven);
  }
  return FloatAttr::get(type, value);
}

/// `number` as fusion.convert converts it to the integer type `type`: floats
/// saturate and NaN gives 0 (as APFloat does), integers wrap.
static IntegerAttr convertToInteger(Attribute number, IntegerType type) {
  unsigned width = type.getWidth();
  if (auto from = dyn_cast<FloatAttr>(number)) {
    if (width == 1)
      return IntegerAttr::get(type, APInt(1, !from.getValue().isZero()));
    APSInt value(width, type.isUnsigned());
    bool exact;
    from.getValue().convertToInteger(value, APFloat::rmTowardZero, &exact);
    return IntegerAttr::get(type, value);
  }
  auto from = cast<IntegerAttr>(number);
  if (width == 1)
    return IntegerAttr::get(type, APInt(1, !from.getValue().isZero()));
  bool isSigned =
      !from.getType().isUnsignedInteger() && !from.getType().isInteger(1);
  return IntegerAttr::get(type, isSigned ? from.getValue().sextOrTrunc(width)
                                         : from.getValue().zextOrTrunc(width));
}

static LogicalResult convertOfSplat(ConvertOp op, PatternRewriter &rewriter) {
  TypedAttr splat = getSplat(op.getX());
  if (!splat)
    return rewriter.notifyMatchFailure(op, "operand is no splat constant");
  Type element = getElementTypeOrSelf(op.getType());
  TypedAttr converted;
  if (auto floatType = dyn_cast<FloatType>(element))
    converted = convertToFloat(splat, floatType);
  else
    converted = convertToInteger(splat, cast<IntegerType>(element));

  auto type = cast<RankedTensorType>(op.getType());
  if (type.hasStaticShape())
    return replaceWithSplat(op, converted, rewriter);
  // With symbolic sizes the constant is a scalar that is broadcast.
  auto spread = op.getX().getDefiningOp<BroadcastOp>();
  if (!spread || !spread.getLike())
    return rewriter.notifyMatchFailure(op, "operand is no broadcast constant");
  auto scalarType = RankedTensorType::get({}, element);
  Value scalar = ConstantOp::create(
      rewriter, op.getLoc(), scalarType,
      DenseElementsAttr::get(scalarType, Attribute(converted)));
  rewriter.replaceOpWithNewOp<BroadcastOp>(op, type, scalar, spread.getLike(),
                                           ArrayRef<int64_t>());
  return success();
}

ArrayRef<SimplifyRewrite> fusion::getConstantRewrites() {
  static constexpr SimplifyRewrite rewrites[] = {
      {"view-of-splat",
       "broadcast(constant splat) -> constant splat, all views",
       [](RewritePatternSet &set) {
         set.add(viewOfSplat<BroadcastOp>);
         set.add(viewOfSplat<ReshapeOp>);
         set.add(viewOfSplat<TransposeOp>);
         set.add(viewOfSplat<SliceOp>);
         set.add(viewOfSplat<ReverseOp>);
         set.add(padOfSplat);
       }},
      {"convert-of-splat", "convert(constant splat) -> constant splat",
       [](RewritePatternSet &set) { set.add(convertOfSplat); }},
  };
  return rewrites;
}
