//===- CompositeOps.cpp - verifiers of named compositions -----------------===//
//
// What softmax and the norms accept; `fusion-decompose` says what they mean.
//
//===----------------------------------------------------------------------===//

#include "Dims.h"
#include "VerifyUtils.h"

using namespace mlir;
using namespace fusion;

#define FUSION_COMPOSITE_DIMS(Op)                                              \
  SmallVector<AffineExpr> Op::inferDims(                                       \
      unsigned, ArrayRef<SmallVector<AffineExpr>> operands) {                  \
    return operands.front();                                                   \
  }
FUSION_COMPOSITE_DIMS(SoftmaxOp)
FUSION_COMPOSITE_DIMS(LogSoftmaxOp)
FUSION_COMPOSITE_DIMS(LayerNormOp)
FUSION_COMPOSITE_DIMS(RmsNormOp)
FUSION_COMPOSITE_DIMS(GroupNormOp)
FUSION_COMPOSITE_DIMS(BatchNormOp)
#undef FUSION_COMPOSITE_DIMS

/// Checks that `parameter`, where given, has shape `expected`.
static LogicalResult verifyParameter(Operation *op, StringRef name,
                                     Value parameter,
                                     ArrayRef<int64_t> expected,
                                     StringRef rule) {
  if (!parameter)
    return success();
  auto type = cast<RankedTensorType>(parameter.getType());
  if (mayEqual(type.getShape(), expected))
    return success();
  return op->emitOpError() << "expects '" << name << "' of shape "
                           << formatShape(expected) << " (" << rule << "), got "
                           << formatShape(type);
}

/// Checks that `axis` is a dimension of a tensor of rank `rank`.
static LogicalResult verifyAxis(Operation *op, int64_t axis, int64_t rank) {
  if (axis >= 0 && axis < rank)
    return success();
  return op->emitOpError() << "expects 'axis' to be at least 0 and below the "
                              "rank "
                           << rank << ", got " << axis;
}

/// Checks that `x` has a channel dimension.
static LogicalResult verifyHasChannels(Operation *op, RankedTensorType type) {
  if (type.getRank() >= 2)
    return success();
  return op->emitOpError() << "expects an operand of rank at least 2, [N, C, "
                              "...], got shape "
                           << formatShape(type);
}

LogicalResult SoftmaxOp::verify() {
  // C1
  return verifyDim(*this, getDim(), getX().getType().getRank());
}

LogicalResult LogSoftmaxOp::verify() {
  // C1
  return verifyDim(*this, getDim(), getX().getType().getRank());
}

static constexpr StringLiteral trailingRule = "the dimensions from 'axis' on";
static constexpr StringLiteral channelRule = "one element a channel";

LogicalResult LayerNormOp::verify() {
  RankedTensorType type = getX().getType();
  // C1
  if (failed(verifyAxis(*this, getAxis(), type.getRank())))
    return failure();
  // C2
  ArrayRef<int64_t> trailing = type.getShape().drop_front(getAxis());
  if (failed(verifyParameter(*this, "weight", getWeight(), trailing,
                             trailingRule)))
    return failure();
  return verifyParameter(*this, "bias", getBias(), trailing, trailingRule);
}

LogicalResult RmsNormOp::verify() {
  RankedTensorType type = getX().getType();
  // C1
  if (failed(verifyAxis(*this, getAxis(), type.getRank())))
    return failure();
  // C2
  return verifyParameter(*this, "weight", getWeight(),
                         type.getShape().drop_front(getAxis()), trailingRule);
}

LogicalResult GroupNormOp::verify() {
  RankedTensorType type = getX().getType();
  // C1
  if (failed(verifyHasChannels(*this, type)))
    return failure();
  int64_t channels = type.getDimSize(1), groups = getGroups();
  if (groups < 1 ||
      (!ShapedType::isDynamic(channels) && channels % groups != 0))
    return emitOpError() << "expects 'groups' to be at least 1 and to divide "
                            "the channels of "
                         << formatShape(type) << ", got " << groups;
  // C2
  if (failed(
          verifyParameter(*this, "weight", getWeight(), channels, channelRule)))
    return failure();
  return verifyParameter(*this, "bias", getBias(), channels, channelRule);
}

LogicalResult BatchNormOp::verify() {
  RankedTensorType type = getX().getType();
  // C1
  if (failed(verifyHasChannels(*this, type)))
    return failure();
  // C2
  int64_t channels = type.getDimSize(1);
  std::pair<StringRef, Value> parameters[] = {{"mean", getMean()},
                                              {"variance", getVariance()},
                                              {"weight", getWeight()},
                                              {"bias", getBias()}};
  for (auto [name, parameter] : parameters)
    if (failed(verifyParameter(*this, name, parameter, channels, channelRule)))
      return failure();
  return success();
}
