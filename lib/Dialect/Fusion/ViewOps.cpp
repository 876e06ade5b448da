//===- ViewOps.cpp - verifiers and sizes of view ops and constants --------===//
//
// What view ops accept and what sizes they give. Their index maps are in
// IndexMaps.cpp, and fusion.reshape has a file of its own.
//
//===----------------------------------------------------------------------===//

#include "Dims.h"
#include "VerifyUtils.h"

#include "llvm/ADT/STLExtras.h"

using namespace mlir;
using namespace fusion;

/// Checks that a list attribute has one entry for each of `rank` dimensions.
static LogicalResult verifyEntries(Operation *op, StringRef name,
                                   ArrayRef<int64_t> values, int64_t rank) {
  if (static_cast<int64_t>(values.size()) == rank)
    return success();
  return op->emitOpError() << "expects one entry in '" << name
                           << "' for each of the " << rank
                           << " operand dimensions, got " << formatList(values);
}

/// Checks that the operand that gives the sizes has the shape of the result.
static LogicalResult verifyLike(Operation *op, RankedTensorType like,
                                RankedTensorType result) {
  if (mayEqual(like.getShape(), result.getShape()))
    return success();
  return op->emitOpError() << "expects 'like' to have the shape of the result, "
                              "got "
                           << formatShape(like) << " and "
                           << formatShape(result);
}

//===----------------------------------------------------------------------===//
// constant, iota
//===----------------------------------------------------------------------===//

SmallVector<AffineExpr>
ConstantOp::inferDims(unsigned, ArrayRef<SmallVector<AffineExpr>>) {
  return staticDims(getType());
}

LogicalResult IotaOp::verify() {
  RankedTensorType type = getResult().getType();
  // C1
  if (failed(verifyDim(*this, getDim(), type.getRank())))
    return failure();
  // C2
  if (getLike())
    return verifyLike(*this, getLike().getType(), type);
  // C3
  if (!type.hasStaticShape())
    return emitOpError() << "expects 'like' to give the symbolic sizes of "
                         << formatShape(type)
                         << "; add an operand of that shape";
  return success();
}

SmallVector<AffineExpr>
IotaOp::inferDims(unsigned, ArrayRef<SmallVector<AffineExpr>> operands) {
  return getLike() ? operands.front() : staticDims(getType());
}

//===----------------------------------------------------------------------===//
// broadcast
//===----------------------------------------------------------------------===//

LogicalResult BroadcastOp::verify() {
  RankedTensorType from = getX().getType(), to = getResult().getType();
  ArrayRef<int64_t> dims = getDims();
  // C1
  if (failed(verifyEntries(*this, "dims", dims, from.getRank())))
    return failure();
  for (auto [index, dim] : llvm::enumerate(dims))
    if (dim < 0 || dim >= to.getRank() || (index > 0 && dim <= dims[index - 1]))
      return emitOpError() << "expects 'dims' to increase and to stay at least "
                              "0 and below the result's rank "
                           << to.getRank() << ", got " << formatList(dims);
  // C2
  for (auto [index, dim] : llvm::enumerate(dims))
    if (from.getDimSize(index) != 1 &&
        !mayEqual(from.getDimSize(index), to.getDimSize(dim)))
      return emitOpError() << "expects an operand size that is 1 or equal to "
                              "the result's, got "
                           << formatShape(from) << " to " << formatShape(to)
                           << " with dimension " << index
                           << " of the operand as dimension " << dim;
  // C3
  if (getLike())
    return verifyLike(*this, getLike().getType(), to);
  // C4
  for (int64_t dim = 0; dim < to.getRank(); ++dim) {
    const int64_t *source = llvm::find(dims, dim);
    bool given =
        source != dims.end() && from.getDimSize(source - dims.begin()) != 1;
    if (to.isDynamicDim(dim) && !given)
      return emitOpError() << "expects 'like' to give the symbolic size of "
                              "dimension "
                           << dim << " of " << formatShape(to)
                           << "; add an operand of that shape";
  }
  return success();
}

SmallVector<AffineExpr>
BroadcastOp::inferDims(unsigned, ArrayRef<SmallVector<AffineExpr>> operands) {
  if (getLike())
    return operands[1];
  Dims dims = staticDims(getType());
  for (auto [index, dim] : llvm::enumerate(getDims()))
    if (!dims[dim])
      dims[dim] = operands.front()[index];
  return dims;
}

//===----------------------------------------------------------------------===//
// transpose, slice, reverse
//===----------------------------------------------------------------------===//

LogicalResult TransposeOp::verify() {
  RankedTensorType from = getX().getType();
  ArrayRef<int64_t> permutation = getPermutation();
  // C1
  if (!isPermutation(permutation, from.getRank()))
    return emitOpError() << "expects 'permutation' to hold each of the "
                         << from.getRank() << " operand dimensions once, got "
                         << formatList(permutation);
  // C2
  SmallVector<int64_t> permuted;
  for (int64_t dim : permutation)
    permuted.push_back(from.getDimSize(dim));
  return verifyResultShape(*this, permuted, "the operand's, permuted");
}

SmallVector<AffineExpr>
TransposeOp::inferDims(unsigned, ArrayRef<SmallVector<AffineExpr>> operands) {
  Dims dims;
  for (int64_t dim : getPermutation())
    dims.push_back(operands.front()[dim]);
  return dims;
}

LogicalResult SliceOp::verify() {
  RankedTensorType from = getX().getType(), to = getResult().getType();
  // C1
  if (failed(verifyEntries(*this, "starts", getStarts(), from.getRank())) ||
      failed(verifyEntries(*this, "steps", getSteps(), from.getRank())))
    return failure();
  if (to.getRank() != from.getRank())
    return emitOpError() << "expects a result of the operand's rank "
                         << from.getRank() << ", got " << to.getRank()
                         << "; fusion.reshape drops dimensions";
  for (auto [start, step] : llvm::zip_equal(getStarts(), getSteps()))
    if (start < 0 || step < 1)
      return emitOpError() << "expects starts of at least 0 and steps of at "
                              "least 1, got "
                           << formatList(getStarts()) << " and "
                           << formatList(getSteps())
                           << "; fusion.reverse gives negative steps";
  // C2
  for (int64_t dim = 0; dim < from.getRank(); ++dim) {
    if (from.isDynamicDim(dim) || to.isDynamicDim(dim) ||
        to.getDimSize(dim) == 0)
      continue;
    // By division, for a product of sizes and steps may overflow.
    int64_t start = getStarts()[dim], step = getSteps()[dim];
    int64_t room = from.getDimSize(dim) - 1 - start;
    if (room < 0 || to.getDimSize(dim) - 1 > room / step)
      return emitOpError() << "expects the last element read to lie within the "
                              "operand "
                           << formatShape(from) << ", got "
                           << to.getDimSize(dim) << " elements from " << start
                           << " on in steps of " << step << " in dimension "
                           << dim;
  }
  return success();
}

SmallVector<AffineExpr>
SliceOp::inferDims(unsigned, ArrayRef<SmallVector<AffineExpr>> operands) {
  Dims dims = staticDims(getType());
  for (unsigned dim = 0; dim < dims.size(); ++dim)
    if (!dims[dim])
      dims[dim] =
          (operands.front()[dim] - getStarts()[dim]).ceilDiv(getSteps()[dim]);
  return dims;
}

LogicalResult ReverseOp::verify() {
  // C1
  int64_t rank = getX().getType().getRank();
  SmallVector<bool> seen(rank, false);
  for (int64_t dim : getDims()) {
    if (dim < 0 || dim >= rank || seen[dim])
      return emitOpError() << "expects 'dims' to hold distinct dimensions, at "
                              "least 0 and below the rank "
                           << rank << ", got " << formatList(getDims());
    seen[dim] = true;
  }
  return success();
}

SmallVector<AffineExpr>
ReverseOp::inferDims(unsigned, ArrayRef<SmallVector<AffineExpr>> operands) {
  return operands.front();
}

//===----------------------------------------------------------------------===//
// pad, concat
//===----------------------------------------------------------------------===//

LogicalResult PadOp::verify() {
  RankedTensorType from = getX().getType();
  // C1
  if (failed(verifyEntries(*this, "low", getLow(), from.getRank())) ||
      failed(verifyEntries(*this, "high", getHigh(), from.getRank())))
    return failure();
  // C2
  SmallVector<int64_t> padded(from.getShape());
  for (auto [size, low, high] : llvm::zip_equal(padded, getLow(), getHigh())) {
    if (ShapedType::isDynamic(size))
      continue;
    size += low + high;
    if (size < 0)
      return emitOpError() << "expects result sizes of at least 0, got 'low' "
                           << formatList(getLow()) << " and 'high' "
                           << formatList(getHigh()) << " for operand "
                           << formatShape(from);
  }
  if (failed(verifyResultShape(*this, padded, "low + size + high")))
    return failure();
  // C3
  if (getValue().getType().getRank() != 0)
    return emitOpError() << "expects 'value' to have rank 0, got shape "
                         << formatShape(getValue().getType());
  return success();
}

SmallVector<AffineExpr>
PadOp::inferDims(unsigned, ArrayRef<SmallVector<AffineExpr>> operands) {
  Dims dims;
  for (auto [size, low, high] :
       llvm::zip_equal(operands.front(), getLow(), getHigh()))
    dims.push_back(size + (low + high));
  return dims;
}

LogicalResult ConcatOp::verify() {
  RankedTensorType to = getResult().getType();
  // C1 (a trait asks for an operand)
  if (failed(verifyDim(*this, getDim(), to.getRank())))
    return failure();
  // C2
  int64_t total = 0;
  for (auto [index, type] : llvm::enumerate(getOperands().getTypes())) {
    SmallVector<int64_t> shape(cast<RankedTensorType>(type).getShape());
    if (shape.size() != to.getShape().size())
      return emitOpError() << "expects operands of the result's rank "
                           << to.getRank() << ", got operand " << index
                           << " of shape " << formatShape(shape);
    int64_t size = shape[getDim()];
    total = ShapedType::isDynamic(size) || ShapedType::isDynamic(total)
                ? ShapedType::kDynamic
                : total + size;
    shape[getDim()] = to.getDimSize(getDim());
    if (!mayEqual(shape, to.getShape()))
      return emitOpError() << "expects sizes other than that of dimension "
                           << getDim() << " to agree with the result "
                           << formatShape(to) << ", got operand " << index
                           << " of shape " << formatShape(type);
  }
  // C3
  SmallVector<int64_t> expected(to.getShape());
  expected[getDim()] = total;
  return verifyResultShape(*this, expected,
                           "the sum of the operands' sizes along 'dim'");
}

SmallVector<AffineExpr>
ConcatOp::inferDims(unsigned, ArrayRef<SmallVector<AffineExpr>> operands) {
  Dims dims = operands.front();
  for (const Dims &other : operands.drop_front())
    dims[getDim()] = dims[getDim()] + other[getDim()];
  return dims;
}

//===----------------------------------------------------------------------===//
// gather
//===----------------------------------------------------------------------===//

LogicalResult GatherOp::verify() {
  RankedTensorType from = getX().getType(), at = getIndices().getType();
  // C1
  if (failed(verifyDim(*this, getDim(), from.getRank())))
    return failure();
  // C2
  SmallVector<int64_t> expected(from.getShape());
  if (at.getRank() == from.getRank())
    expected[getDim()] = at.getDimSize(getDim());
  if (!mayEqual(expected, at.getShape()))
    return emitOpError() << "expects indices of the operand's shape but along "
                            "dimension "
                         << getDim() << ", got operand " << formatShape(from)
                         << " and indices " << formatShape(at)
                         << "; fusion.broadcast repeats indices";
  // C3
  return verifyResultShape(*this, at.getShape(), "that of the indices");
}

SmallVector<AffineExpr>
GatherOp::inferDims(unsigned, ArrayRef<SmallVector<AffineExpr>> operands) {
  return operands[1];
}
