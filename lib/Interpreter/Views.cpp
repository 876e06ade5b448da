//===- Views.cpp - evaluation of constants and ops that move elements -----===//
//
// A view is a copy between two strided walks over the same box of indices.
//
//===----------------------------------------------------------------------===//

#include "Evaluate.h"
#include "Strided.h"
#include "mlir/IR/DialectResourceBlobManager.h"

#include <cmath>

using namespace mlir;
using namespace fusion;
using namespace fusion::interpreter;

/// Copies a box of indices of `source` onto one of `target`.
static void copyBox(ArrayRef<int64_t> sizes, Tensor &target, const Walk &to,
                    const Tensor &source, const Walk &from) {
  dispatch(source.getDType(), [&](auto zero) {
    using T = decltype(zero);
    MutableArrayRef<T> out = target.get<T>();
    ArrayRef<T> in = source.get<T>();
    forEachPair(sizes, to, from, [&](int64_t i, int64_t j) { out[i] = in[j]; });
  });
}

/// The tensor of `sizes` whose elements lie along `from` in `x`.
static Tensor view(const Tensor &x, ArrayRef<int64_t> sizes, const Walk &from) {
  Tensor result(x.getDType(), sizes);
  copyBox(sizes, result, Walk::rowMajor(sizes), x, from);
  return result;
}

/// Sizes of the result type; symbolic ones from `like`, where given.
static FailureOr<SmallVector<int64_t>> getSizes(Operation *op,
                                                const Tensor *like) {
  auto type = cast<RankedTensorType>(op->getResult(0).getType());
  SmallVector<int64_t> sizes(type.getShape());
  for (auto [dim, size] : llvm::enumerate(sizes)) {
    if (!ShapedType::isDynamic(size))
      continue;
    if (!like)
      return op->emitOpError() << "has a result whose size of dimension " << dim
                               << " is symbolic; give 'like' to define it";
    size = like->getSize(dim);
  }
  return sizes;
}

//===----------------------------------------------------------------------===//
// Sources
//===----------------------------------------------------------------------===//

/// Elements of a resource lie in memory as those of any tensor.
static Result readResource(ConstantOp op, DenseResourceElementsAttr attribute,
                           DType dtype) {
  ArrayRef<int64_t> sizes = attribute.getType().getShape();
  AsmResourceBlob *blob = attribute.getRawHandle().getBlob();
  int64_t bytes = getNumElements(sizes) * getByteSize(dtype);
  if (!blob || static_cast<int64_t>(blob->getData().size()) != bytes)
    return op.emitOpError() << "has a resource that is missing or not of "
                            << bytes << " bytes, the size of its type";
  return Tensor::read(dtype, sizes, getRowMajorStrides(sizes),
                      blob->getData().data());
}

Result interpreter::evaluate(ConstantOp op, Operands) {
  DType dtype = getResultDType(op);
  if (auto resource = dyn_cast<DenseResourceElementsAttr>(op.getValue()))
    return readResource(op, resource, dtype);
  Tensor result(dtype, cast<ShapedType>(op.getType()).getShape());
  auto elements = dyn_cast<DenseElementsAttr>(op.getValue());
  if (!elements)
    return op.emitOpError("has a value that is neither dense elements nor a "
                          "dense resource; write it as one of these");
  if (result.isFloat()) {
    for (auto [out, value] :
         llvm::zip_equal(result.floats(), elements.getValues<APFloat>())) {
      APFloat wide = value;
      bool losesInfo;
      wide.convert(APFloat::IEEEdouble(), APFloat::rmNearestTiesToEven,
                   &losesInfo);
      out = wide.convertToDouble();
    }
    return result;
  }
  for (auto [out, value] :
       llvm::zip_equal(result.ints(), elements.getValues<APInt>()))
    out = wrapTo(dtype, value.getSExtValue());
  return result;
}

Result interpreter::evaluate(IotaOp op, Operands operands) {
  FailureOr<SmallVector<int64_t>> sizes =
      getSizes(op, operands.empty() ? nullptr : operands[0]);
  if (failed(sizes))
    return failure();
  Tensor result(getResultDType(op), *sizes);
  Walk index{0, SmallVector<int64_t>(sizes->size(), 0)};
  index.strides[op.getDim()] = 1;
  dispatch(result.getDType(), [&](auto zero) {
    using T = decltype(zero);
    MutableArrayRef<T> out = result.get<T>();
    forEachPair(*sizes, Walk::rowMajor(*sizes), index,
                [&](int64_t i, int64_t value) { out[i] = value; });
  });
  return std::move(result).normalize();
}

//===----------------------------------------------------------------------===//
// Views of one operand
//===----------------------------------------------------------------------===//

Result interpreter::evaluate(BroadcastOp op, Operands operands) {
  const Tensor &x = *operands[0];
  auto type = cast<RankedTensorType>(op.getType());
  SmallVector<int64_t> sizes(type.getShape());
  // Without `like` a symbolic size is that of the operand's dimension.
  for (auto [dim, size] : llvm::zip_equal(op.getDims(), x.getSizes()))
    if (ShapedType::isDynamic(sizes[dim]))
      sizes[dim] = size;
  if (operands.size() > 1 || llvm::any_of(sizes, ShapedType::isDynamic)) {
    FailureOr<SmallVector<int64_t>> given =
        getSizes(op, operands.size() > 1 ? operands[1] : nullptr);
    if (failed(given))
      return failure();
    sizes = *given;
  }
  Walk from{0, SmallVector<int64_t>(sizes.size(), 0)};
  for (auto [dim, size, stride] : llvm::zip_equal(
           op.getDims(), x.getSizes(), getRowMajorStrides(x.getSizes()))) {
    if (size == sizes[dim])
      from.strides[dim] = stride;
    else if (size != 1)
      return op.emitOpError()
             << "has an operand of shape " << formatSizes(x.getSizes())
             << " that does not broadcast to " << formatSizes(sizes)
             << "; a repeated dimension has size 1";
  }
  return view(x, sizes, from);
}

Result interpreter::evaluate(ReshapeOp op, Operands operands,
                             const Symbols &symbols) {
  const Tensor &x = *operands[0];
  auto type = cast<RankedTensorType>(op.getType());
  auto operandType = cast<RankedTensorType>(op.getX().getType());
  LayoutAttr layout = getLayout(type);
  SmallVector<int64_t> sizes(type.getShape());
  SmallVector<unsigned> unknown;
  for (auto [dim, size] : llvm::enumerate(sizes)) {
    if (!ShapedType::isDynamic(size))
      continue;
    StringRef name = layout && !layout.getSymbols().empty()
                         ? layout.getSymbols()[dim].getValue()
                         : "";
    auto symbol = symbols.find(name);
    if (!name.empty() && symbol != symbols.end())
      size = symbol->second;
    else
      unknown.push_back(dim);
  }
  // One unknown size follows from the number of elements. Of several, those
  // that are symbolic in the operand at the same position are its sizes, the
  // last one excepted where all of them are.
  if (unknown.size() > 1) {
    unsigned last = unknown.back();
    llvm::erase_if(unknown, [&](unsigned dim) {
      if (dim >= x.getRank() || !operandType.isDynamicDim(dim))
        return false;
      sizes[dim] = x.getSize(dim);
      return true;
    });
    if (unknown.empty())
      unknown.push_back(last);
  }
  if (unknown.size() > 1)
    return op.emitOpError("has several result sizes that nothing defines; name "
                          "them by #fusion.layout symbols");
  if (unknown.size() == 1) {
    int64_t &size = sizes[unknown[0]];
    size = 1;
    int64_t known = getNumElements(sizes);
    size = known ? x.getNumElements() / known : 0;
  }
  if (getNumElements(sizes) != x.getNumElements())
    return op.emitOpError()
           << "cannot view shape " << formatSizes(x.getSizes()) << " as "
           << formatSizes(sizes) << ": the numbers of elements differ";
  Walk flat{0, {1}};
  Tensor result(x.getDType(), sizes);
  copyBox({x.getNumElements()}, result, flat, x, flat);
  return result;
}

Result interpreter::evaluate(TransposeOp op, Operands operands) {
  const Tensor &x = *operands[0];
  SmallVector<int64_t> strides = getRowMajorStrides(x.getSizes()), sizes;
  Walk from;
  for (int64_t dim : op.getPermutation()) {
    sizes.push_back(x.getSize(dim));
    from.strides.push_back(strides[dim]);
  }
  return view(x, sizes, from);
}

Result interpreter::evaluate(SliceOp op, Operands operands) {
  const Tensor &x = *operands[0];
  SmallVector<int64_t> sizes(cast<ShapedType>(op.getType()).getShape());
  Walk from = Walk::rowMajor(x.getSizes());
  for (auto [dim, size] : llvm::enumerate(sizes)) {
    int64_t start = op.getStarts()[dim], step = op.getSteps()[dim];
    int64_t available = x.getSize(dim) - start;
    if (ShapedType::isDynamic(size))
      size = available > 0 ? (available + step - 1) / step : 0;
    if (size > 0 && (size - 1) * step >= available)
      return op.emitOpError()
             << "reads index " << start + (size - 1) * step << " of dimension "
             << dim << ", beyond its size " << x.getSize(dim)
             << "; shorten the result or start earlier";
    from.offset += start * from.strides[dim];
    from.strides[dim] *= step;
  }
  return view(x, sizes, from);
}

Result interpreter::evaluate(ReverseOp op, Operands operands) {
  const Tensor &x = *operands[0];
  Walk from = Walk::rowMajor(x.getSizes());
  for (int64_t dim : op.getDims()) {
    from.offset += (x.getSize(dim) - 1) * from.strides[dim];
    from.strides[dim] = -from.strides[dim];
  }
  return view(x, x.getSizes(), from);
}

//===----------------------------------------------------------------------===//
// Pad and concat
//===----------------------------------------------------------------------===//

Result interpreter::evaluate(PadOp op, Operands operands) {
  const Tensor &x = *operands[0], &value = *operands[1];
  Walk from = Walk::rowMajor(x.getSizes());
  SmallVector<int64_t> sizes, box;
  SmallVector<int64_t> starts;
  for (auto [size, low, high] :
       llvm::zip_equal(x.getSizes(), op.getLow(), op.getHigh())) {
    int64_t padded = low + size + high;
    if (padded < 0)
      return op.emitOpError()
             << "cuts more than there is off shape "
             << formatSizes(x.getSizes()) << "; use smaller negative amounts";
    sizes.push_back(padded);
    // The range of result indices that lies within the operand.
    int64_t begin = std::max<int64_t>(low, 0);
    int64_t end = std::min(low + size, padded);
    starts.push_back(begin);
    box.push_back(std::max<int64_t>(end - begin, 0));
  }
  Tensor result(x.getDType(), sizes);
  dispatch(x.getDType(), [&](auto zero) {
    using T = decltype(zero);
    llvm::fill(result.get<T>(), value.get<T>()[0]);
  });
  Walk to = Walk::rowMajor(sizes);
  for (auto [dim, start] : llvm::enumerate(starts)) {
    to.offset += start * to.strides[dim];
    from.offset += (start - op.getLow()[dim]) * from.strides[dim];
  }
  copyBox(box, result, to, x, from);
  return result;
}

Result interpreter::evaluate(ConcatOp op, Operands operands) {
  unsigned dim = op.getDim();
  SmallVector<int64_t> sizes(operands[0]->getSizes());
  sizes[dim] = 0;
  for (const Tensor *operand : operands) {
    SmallVector<int64_t> expected = sizes;
    expected[dim] = operand->getSize(dim);
    if (operand->getSizes() != ArrayRef<int64_t>(expected))
      return op.emitOpError()
             << "has operands of shapes "
             << formatSizes(operands[0]->getSizes()) << " and "
             << formatSizes(operand->getSizes())
             << "; all sizes but that of dimension " << dim << " must be equal";
    sizes[dim] += operand->getSize(dim);
  }
  Tensor result(operands[0]->getDType(), sizes);
  Walk to = Walk::rowMajor(sizes);
  for (const Tensor *operand : operands) {
    ArrayRef<int64_t> box = operand->getSizes();
    copyBox(box, result, to, *operand, Walk::rowMajor(box));
    to.offset += operand->getSize(dim) * to.strides[dim];
  }
  return result;
}

//===----------------------------------------------------------------------===//
// gather
//===----------------------------------------------------------------------===//

Result interpreter::evaluate(GatherOp op, Operands operands) {
  const Tensor &x = *operands[0], &indices = *operands[1];
  int64_t size = x.getSize(op.getDim());
  // Where element [..., 0, ...] of the operand lies for an index of the result.
  Walk first{0, getRowMajorStrides(x.getSizes())};
  int64_t stride = first.strides[op.getDim()];
  first.strides[op.getDim()] = 0;
  Tensor result(x.getDType(), indices.getSizes());
  dispatch(x.getDType(), [&](auto zero) {
    using T = decltype(zero);
    T missing = x.isFloat() ? T(std::nan("")) : T(0);
    forEachPair(indices.getSizes(), Walk::rowMajor(indices.getSizes()), first,
                [&](int64_t to, int64_t from) {
                  int64_t at = indices.ints()[to];
                  bool exists = at >= 0 && at < size;
                  result.get<T>()[to] =
                      exists ? x.get<T>()[from + at * stride] : missing;
                });
  });
  return result;
}
