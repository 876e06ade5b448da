//===- Contractions.cpp - evaluation of matmul and convolution ------------===//
//
// Sums of products in double, or modulo 2^64, rounded or wrapped once. The
// loops are in the order of the definition but for the innermost, which runs
// over neighbours in memory.
//
//===----------------------------------------------------------------------===//

#include "Evaluate.h"
#include "Scalar.h"
#include "Strided.h"
#include "llvm/Support/MathExtras.h"
#include <array>

using namespace mlir;
using namespace fusion;
using namespace fusion::interpreter;

//===----------------------------------------------------------------------===//
// Matmul
//===----------------------------------------------------------------------===//

namespace {
/// A batch of matrices as seen by the product: rows and columns after the
/// transposition, and how far apart neighbours lie.
struct Matrices {
  int64_t rows, cols, rowStride, colStride;

  Matrices(ArrayRef<int64_t> sizes, bool isTransposed) {
    rows = sizes[sizes.size() - 2];
    cols = sizes.back();
    rowStride = cols;
    colStride = 1;
    if (isTransposed) {
      std::swap(rows, cols);
      std::swap(rowStride, colStride);
    }
  }
};
} // namespace

Result interpreter::evaluate(MatmulOp op, Operands operands) {
  const Tensor &lhs = *operands[0], &rhs = *operands[1];
  Matrices a(lhs.getSizes(), op.getTransposeLhs());
  Matrices b(rhs.getSizes(), op.getTransposeRhs());
  ArrayRef<int64_t> batch = lhs.getSizes().drop_back(2);
  if (batch != rhs.getSizes().drop_back(2) || a.cols != b.rows)
    return op.emitOpError()
           << "cannot multiply shapes " << formatSizes(lhs.getSizes())
           << " and " << formatSizes(rhs.getSizes())
           << ": batch sizes and the summed dimension must be equal";
  SmallVector<int64_t> sizes(batch);
  sizes.append({a.rows, b.cols});

  Tensor result(getResultDType(op), sizes);
  dispatch(result.getDType(), [&](auto zero) {
    using T = decltype(zero);
    const T *left = lhs.get<T>().data(), *right = rhs.get<T>().data();
    T *row = result.get<T>().data();
    for (int64_t i = 0, e = getNumElements(batch); i < e; ++i) {
      for (int64_t m = 0; m < a.rows; ++m, row += b.cols)
        for (int64_t k = 0; k < a.cols; ++k) {
          T factor = left[m * a.rowStride + k * a.colStride];
          for (int64_t n = 0; n < b.cols; ++n)
            row[n] = add(row[n],
                         mul(factor, right[k * b.rowStride + n * b.colStride]));
        }
      left += a.rows * a.cols;
      right += b.rows * b.cols;
    }
  });
  return std::move(result).normalize();
}

//===----------------------------------------------------------------------===//
// Convolution
//===----------------------------------------------------------------------===//

namespace {
/// One spatial dimension; a missing one has one position and one tap.
struct ConvDim {
  int64_t size = 1, window = 1, out = 1, stride = 1, low = 0, dilation = 1;

  int64_t getInput(int64_t position, int64_t tap) const {
    return position * stride - low + tap * dilation;
  }
  bool contains(int64_t index) const { return index >= 0 && index < size; }
};

/// A convolution as one in three dimensions.
struct ConvShape {
  int64_t batch, groups, inPerGroup, outPerGroup;
  std::array<ConvDim, 3> dims;

  int64_t getCount(int64_t ConvDim::*member) const {
    return dims[0].*member * dims[1].*member * dims[2].*member;
  }
};
} // namespace

/// Adds `weight` times the shifted image to the outputs that it reaches.
template <typename T>
static void addTap(const ConvShape &shape, std::array<int64_t, 3> tap, T weight,
                   const T *image, T *out) {
  const auto &[depth, height, width] = shape.dims;
  for (int64_t d = 0; d < depth.out; ++d) {
    int64_t inD = depth.getInput(d, tap[0]);
    if (!depth.contains(inD))
      continue;
    for (int64_t h = 0; h < height.out; ++h) {
      int64_t inH = height.getInput(h, tap[1]);
      if (!height.contains(inH))
        continue;
      const T *inRow = image + (inD * height.size + inH) * width.size;
      T *outRow = out + (d * height.out + h) * width.out;
      for (int64_t w = 0; w < width.out; ++w) {
        int64_t inW = width.getInput(w, tap[2]);
        if (width.contains(inW))
          outRow[w] = add(outRow[w], mul(weight, inRow[inW]));
      }
    }
  }
}

template <typename T>
static void convolve(const ConvShape &shape, const Tensor &x,
                     const Tensor &weight, const Tensor *bias, Tensor &result) {
  int64_t imageCount = shape.getCount(&ConvDim::size);
  int64_t outCount = shape.getCount(&ConvDim::out);
  int64_t features = shape.groups * shape.outPerGroup;
  for (int64_t n = 0; n < shape.batch; ++n)
    for (int64_t k = 0; k < features; ++k) {
      auto out = result.get<T>().slice((n * features + k) * outCount, outCount);
      if (bias)
        llvm::fill(out, bias->get<T>()[k]);
      const T *taps = weight.get<T>().data() +
                      k * shape.inPerGroup * shape.getCount(&ConvDim::window);
      int64_t group = k / shape.outPerGroup;
      for (int64_t c = 0; c < shape.inPerGroup; ++c) {
        int64_t channel = (n * shape.groups + group) * shape.inPerGroup + c;
        const T *image = x.get<T>().data() + channel * imageCount;
        for (int64_t d = 0; d < shape.dims[0].window; ++d)
          for (int64_t h = 0; h < shape.dims[1].window; ++h)
            for (int64_t w = 0; w < shape.dims[2].window; ++w)
              addTap(shape, {d, h, w}, *taps++, image, out.data());
      }
    }
}

Result interpreter::evaluate(ConvOp op, Operands operands) {
  const Tensor &x = *operands[0], &weight = *operands[1];
  const Tensor *bias = operands.size() > 2 ? operands[2] : nullptr;
  ConvShape shape;
  shape.batch = x.getSize(0);
  shape.groups = op.getGroups();
  shape.inPerGroup = weight.getSize(1);
  shape.outPerGroup = weight.getSize(0) / shape.groups;
  if (x.getSize(1) != shape.inPerGroup * shape.groups ||
      weight.getSize(0) % shape.groups != 0 ||
      (bias && bias->getSize(0) != weight.getSize(0)))
    return op.emitOpError()
           << "has channels that do not agree: input "
           << formatSizes(x.getSizes()) << ", weight "
           << formatSizes(weight.getSizes()) << ", " << shape.groups
           << " groups; the weight is [K, C / groups, window...], the bias [K]";

  SmallVector<int64_t> sizes{x.getSize(0), weight.getSize(0)};
  unsigned rank = x.getRank() - 2;
  for (unsigned d = 0; d < rank; ++d) {
    ConvDim &dim = shape.dims[3 - rank + d];
    dim.size = x.getSize(2 + d);
    dim.window = weight.getSize(2 + d);
    dim.stride = op.getStrides()[d];
    dim.low = op.getPadLow()[d];
    dim.dilation = op.getDilations()[d];
    int64_t room = dim.size + dim.low + op.getPadHigh()[d] -
                   dim.dilation * (dim.window - 1) - 1;
    dim.out = llvm::divideFloorSigned(room, dim.stride) + 1;
    if (dim.out < 0)
      return op.emitOpError() << "has a window that does not fit: input "
                              << formatSizes(x.getSizes()) << ", weight "
                              << formatSizes(weight.getSizes())
                              << "; use a smaller window or more padding";
    sizes.push_back(dim.out);
  }

  Tensor result(getResultDType(op), sizes);
  dispatch(result.getDType(), [&](auto zero) {
    convolve<decltype(zero)>(shape, x, weight, bias, result);
  });
  return std::move(result).normalize();
}
