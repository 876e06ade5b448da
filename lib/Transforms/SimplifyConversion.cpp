//===- SimplifyConversion.cpp - chains of conversions ---------------------===//
//
// A conversion through a type that holds every value of the source is one
// conversion. Which types do is a table of ranges, not a heuristic.
//
//===----------------------------------------------------------------------===//

#include "SimplifyUtils.h"

using namespace mlir;
using namespace fusion;

/// Bits of the magnitude of an integer type.
static unsigned getMagnitudeBits(Type type) {
  unsigned width = type.getIntOrFloatBitWidth();
  return type.isUnsignedInteger() || width == 1 ? width : width - 1;
}

/// True if every value of `from` is a value of `to`.
static bool isExact(Type from, Type to) {
  if (from == to)
    return true;
  auto fromFloat = dyn_cast<FloatType>(from), toFloat = dyn_cast<FloatType>(to);
  if (fromFloat && toFloat)
    return APFloat::isRepresentableBy(fromFloat.getFloatSemantics(),
                                      toFloat.getFloatSemantics());
  if (fromFloat || to.isInteger(1))
    return false;
  // The exponent of every float type reaches the least negative integer of as
  // many magnitude bits as its significand has.
  if (toFloat)
    return getMagnitudeBits(from) <= toFloat.getFPMantissaWidth();
  bool fromSigned = from.isSignlessInteger() && !from.isInteger(1);
  if (fromSigned && to.isUnsignedInteger())
    return false;
  return getMagnitudeBits(from) <= getMagnitudeBits(to);
}

static LogicalResult convertOfConvert(ConvertOp op, PatternRewriter &rewriter) {
  auto inner = op.getX().getDefiningOp<ConvertOp>();
  if (!inner)
    return rewriter.notifyMatchFailure(op, "operand is not a conversion");
  Type from = getElementTypeOrSelf(inner.getX());
  Type through = getElementTypeOrSelf(inner);
  Type to = getElementTypeOrSelf(op);
  if (!isExact(from, through))
    return rewriter.notifyMatchFailure(op, "first conversion loses values");
  // Floats saturate where integers wrap.
  if (isa<IntegerType>(from) && isa<FloatType>(through) &&
      isa<IntegerType>(to) && !to.isInteger(1) && !isExact(from, to))
    return rewriter.notifyMatchFailure(
        op, "conversion through a float saturates, a direct one wraps");
  rewriter.replaceOpWithNewOp<ConvertOp>(op, op.getType(), inner.getX());
  return success();
}

ArrayRef<SimplifyRewrite> fusion::getConversionRewrites() {
  static constexpr SimplifyRewrite rewrites[] = {
      {"convert-of-convert",
       "convert(convert(x)) -> convert(x), if the inner one is exact",
       [](RewritePatternSet &set) { set.add(convertOfConvert); }},
  };
  return rewrites;
}
