//===- WindowOps.cpp - convolution and pooling ----------------------------===//
//
// Verifiers and sizes of the ops that slide a window. Both count their windows
// by `WindowDim`.
//
//===----------------------------------------------------------------------===//

#include "Dims.h"
#include "VerifyUtils.h"

#include "llvm/ADT/STLExtras.h"

using namespace mlir;
using namespace fusion;

namespace {

/// A list attribute with the least value that an entry may have.
struct WindowList {
  StringRef name;
  ArrayRef<int64_t> values;
  int64_t least;
};

} // namespace

static LogicalResult verifyWindowLists(Operation *op,
                                       ArrayRef<WindowList> lists,
                                       size_t spatialRank) {
  for (const WindowList &list : lists) {
    if (list.values.size() != spatialRank)
      return op->emitOpError()
             << "expects one entry in '" << list.name << "' for each of the "
             << spatialRank << " spatial dimensions, got "
             << formatList(list.values);
    for (int64_t value : list.values)
      if (value < list.least)
        return op->emitOpError()
               << "expects '" << list.name << "' to be at least " << list.least
               << ", got " << formatList(list.values);
  }
  return success();
}

/// Sets `sizes` from position `first` on to the number of windows along each
/// dimension. Fails where a window does not fit into the padded operand.
static LogicalResult countWindows(Operation *op, ArrayRef<WindowDim> windows,
                                  size_t first, SmallVectorImpl<int64_t> &sizes,
                                  RankedTensorType operand) {
  for (auto [index, window] : llvm::enumerate(windows)) {
    int64_t &size = sizes[first + index];
    if (ShapedType::isDynamic(size))
      continue;
    size = window.count(size);
    if (size < 0)
      return op->emitOpError()
             << "expects result sizes of at least 0, got " << size
             << " for spatial dimension " << index << " of operand "
             << formatShape(operand) << "; pad the operand or use a smaller "
             << "window";
  }
  return success();
}

//===----------------------------------------------------------------------===//
// conv
//===----------------------------------------------------------------------===//

static SmallVector<WindowDim> getWindows(ConvOp op, ArrayRef<int64_t> window) {
  SmallVector<WindowDim> dims;
  for (auto [index, size] : llvm::enumerate(window))
    dims.push_back({size, op.getStrides()[index], op.getPadLow()[index],
                    op.getPadHigh()[index], op.getDilations()[index]});
  return dims;
}

LogicalResult ConvOp::verify() {
  RankedTensorType from = getX().getType(), to = getResult().getType();
  RankedTensorType weight = getWeight().getType();
  int64_t rank = from.getRank();
  // C1
  if (rank < 3 || rank > 5 || weight.getRank() != rank || to.getRank() != rank)
    return emitOpError() << "expects operand, weight and result of one rank, 3 "
                            "to 5, got shapes "
                         << formatShape(from) << ", " << formatShape(weight)
                         << " and " << formatShape(to);
  // C2
  if (failed(
          verifyWindowLists(*this,
                            {{"strides", getStrides(), 1},
                             {"pad_low", getPadLow(), ShapedType::kDynamic},
                             {"pad_high", getPadHigh(), ShapedType::kDynamic},
                             {"dilations", getDilations(), 1}},
                            rank - 2)))
    return failure();
  // C3
  int64_t groups = getGroups();
  int64_t inputs = from.getDimSize(1), outputs = weight.getDimSize(0);
  bool dividesInputs =
      ShapedType::isDynamic(inputs) || (groups > 0 && inputs % groups == 0);
  bool dividesOutputs =
      ShapedType::isDynamic(outputs) || (groups > 0 && outputs % groups == 0);
  if (groups < 1 || !dividesInputs || !dividesOutputs)
    return emitOpError() << "expects 'groups' to be at least 1 and to divide "
                            "the channels of operand "
                         << formatShape(from) << " and weight "
                         << formatShape(weight) << ", got " << groups;
  if (!ShapedType::isDynamic(inputs) &&
      !mayEqual(weight.getDimSize(1), inputs / groups))
    return emitOpError() << "expects a weight with " << inputs / groups
                         << " input channels (C / groups), got shape "
                         << formatShape(weight) << " for operand "
                         << formatShape(from) << " in " << groups << " groups";
  // C4
  SmallVector<int64_t> expected(from.getShape());
  expected[1] = outputs;
  ArrayRef<int64_t> window = weight.getShape().drop_front(2);
  if (llvm::any_of(window, ShapedType::isDynamic))
    return emitOpError() << "expects a weight with a static window, got shape "
                         << formatShape(weight);
  if (failed(
          countWindows(*this, getWindows(*this, window), 2, expected, from)) ||
      failed(verifyResultShape(*this, expected,
                               "(size + low + high - dilation * (window - 1) "
                               "- 1) / stride + 1")))
    return failure();
  // C5
  if (getBias()) {
    RankedTensorType bias = getBias().getType();
    if (!mayEqual(bias.getShape(), outputs))
      return emitOpError() << "expects a bias of shape " << formatShape(outputs)
                           << ", got " << formatShape(bias);
  }
  // C6
  for (Type type : getOperandTypes())
    if (getElementTypeOrSelf(type) != to.getElementType())
      return emitOpError() << "expects operands of the result's element type "
                           << to.getElementType() << ", got "
                           << getElementTypeOrSelf(type)
                           << "; convert it with fusion.convert";
  return success();
}

SmallVector<AffineExpr>
ConvOp::inferDims(unsigned, ArrayRef<SmallVector<AffineExpr>> operands) {
  Dims dims = operands[0];
  dims[1] = operands[1][0];
  ArrayRef<int64_t> window = getWeight().getType().getShape().drop_front(2);
  for (auto [index, dim] : llvm::enumerate(getWindows(*this, window)))
    dims[2 + index] = dim.count(dims[2 + index]);
  return dims;
}

//===----------------------------------------------------------------------===//
// pool
//===----------------------------------------------------------------------===//

static SmallVector<WindowDim> getWindows(PoolOp op) {
  SmallVector<WindowDim> dims;
  for (auto [index, size] : llvm::enumerate(op.getWindow()))
    dims.push_back({size, op.getStrides()[index], op.getPadLow()[index],
                    op.getPadHigh()[index], op.getDilations()[index],
                    op.getCeilMode()});
  return dims;
}

LogicalResult PoolOp::verify() {
  RankedTensorType from = getX().getType();
  int64_t spatialRank = getWindow().size();
  // C1
  if (spatialRank < 1 || spatialRank > from.getRank())
    return emitOpError() << "expects 'window' to have at least 1 entry and at "
                            "most one for each of the "
                         << from.getRank() << " operand dimensions, got "
                         << formatList(getWindow());
  if (failed(verifyWindowLists(*this,
                               {{"window", getWindow(), 1},
                                {"strides", getStrides(), 1},
                                {"pad_low", getPadLow(), 0},
                                {"pad_high", getPadHigh(), 0},
                                {"dilations", getDilations(), 1}},
                               spatialRank)))
    return failure();
  // C2
  SmallVector<int64_t> expected(from.getShape());
  if (failed(countWindows(*this, getWindows(*this),
                          from.getRank() - spatialRank, expected, from)) ||
      failed(verifyResultShape(*this, expected,
                               "(size + low + high - dilation * (window - 1) "
                               "- 1) / stride + 1")))
    return failure();
  // C3
  if (getKind() == PoolKind::avg && !isa<FloatType>(from.getElementType()))
    return emitOpError() << "expects floats for 'avg', got "
                         << from.getElementType()
                         << "; convert the operand with fusion.convert";
  return success();
}

SmallVector<AffineExpr>
PoolOp::inferDims(unsigned, ArrayRef<SmallVector<AffineExpr>> operands) {
  Dims dims = operands.front();
  size_t first = dims.size() - getWindow().size();
  for (auto [index, dim] : llvm::enumerate(getWindows(*this)))
    dims[first + index] = dim.count(dims[first + index]);
  return dims;
}
