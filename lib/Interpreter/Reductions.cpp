//===- Reductions.cpp - evaluation of reductions and pooling --------------===//
//
// Floats are combined in double and rounded once, integers modulo 2^64 and
// wrapped once.
//
//===----------------------------------------------------------------------===//

#include "Evaluate.h"
#include "Scalar.h"
#include "Strided.h"
#include "llvm/Support/MathExtras.h"
#include <limits>

using namespace mlir;
using namespace fusion;
using namespace fusion::interpreter;

//===----------------------------------------------------------------------===//
// Reduce
//===----------------------------------------------------------------------===//

/// What combines with any element of the type to give that element.
template <typename T> static T getNeutral(ReduceKind kind, DType dtype) {
  switch (kind) {
  case ReduceKind::sum:
  case ReduceKind::any:
    return 0;
  case ReduceKind::prod:
  case ReduceKind::all:
    return 1;
  case ReduceKind::min:
    if constexpr (std::is_same_v<T, double>)
      return std::numeric_limits<double>::infinity();
    else
      return getMax(dtype);
  case ReduceKind::max:
    if constexpr (std::is_same_v<T, double>)
      return -std::numeric_limits<double>::infinity();
    else
      return getMin(dtype);
  }
  llvm_unreachable("a reduction of no kind");
}

template <typename T> static T combine(ReduceKind kind, T a, T b) {
  switch (kind) {
  case ReduceKind::sum:
    return add(a, b);
  case ReduceKind::prod:
    return mul(a, b);
  case ReduceKind::min:
    return minimum(a, b);
  case ReduceKind::max:
    return maximum(a, b);
  case ReduceKind::any:
    return a || b;
  case ReduceKind::all:
    return a && b;
  }
  llvm_unreachable("a reduction of no kind");
}

Result interpreter::evaluate(ReduceOp op, Operands operands) {
  const Tensor &x = *operands[0];
  ReduceKind kind = op.getKind();
  SmallVector<int64_t> sizes;
  for (auto [dim, size] : llvm::enumerate(x.getSizes())) {
    if (!llvm::is_contained(op.getDims(), dim))
      sizes.push_back(size);
    else if (size == 0 && (kind == ReduceKind::min || kind == ReduceKind::max))
      return op.emitOpError()
             << "has no value: dimension " << dim << " of shape "
             << formatSizes(x.getSizes())
             << " is empty, and a minimum or maximum of nothing is undefined; "
                "reduce a dimension of size at least 1";
  }
  // A walk over the result that stands still along the reduced dimensions.
  SmallVector<int64_t> strides = getRowMajorStrides(sizes);
  Walk to;
  for (unsigned dim = 0, kept = 0; dim < x.getRank(); ++dim)
    to.strides.push_back(
        llvm::is_contained(op.getDims(), dim) ? 0 : strides[kept++]);

  Tensor result(x.getDType(), sizes);
  dispatch(x.getDType(), [&](auto zero) {
    using T = decltype(zero);
    MutableArrayRef<T> out = result.get<T>();
    ArrayRef<T> in = x.get<T>();
    llvm::fill(out, getNeutral<T>(kind, x.getDType()));
    forEachPair(
        x.getSizes(), to, Walk::rowMajor(x.getSizes()),
        [&](int64_t i, int64_t j) { out[i] = combine(kind, out[i], in[j]); });
  });
  return std::move(result).normalize();
}

//===----------------------------------------------------------------------===//
// Arg-reduce
//===----------------------------------------------------------------------===//

/// True if `value` wins over `best`, which stands before it.
static bool wins(ArgReduceKind kind, double value, double best) {
  if (std::isnan(best))
    return false;
  if (std::isnan(value))
    return true;
  return kind == ArgReduceKind::min ? value < best : value > best;
}
static bool wins(ArgReduceKind kind, int64_t value, int64_t best) {
  return kind == ArgReduceKind::min ? value < best : value > best;
}

Result interpreter::evaluate(ArgReduceOp op, Operands operands) {
  const Tensor &x = *operands[0];
  unsigned dim = op.getDim();
  SmallVector<int64_t> sizes(x.getSizes());
  sizes.erase(sizes.begin() + dim);
  if (x.getSize(dim) == 0)
    return op.emitOpError()
           << "has no value: dimension " << dim << " of shape "
           << formatSizes(x.getSizes())
           << " is empty; reduce a dimension of size at least 1";
  Tensor result(getResultDType(op), sizes);
  RowShape rows(x.getSizes(), dim);
  dispatch(x.getDType(), [&](auto zero) {
    using T = decltype(zero);
    ArrayRef<T> in = x.get<T>();
    rows.forEachRow([&](int64_t row, int64_t first) {
      int64_t best = 0;
      for (int64_t i = 1; i < rows.size; ++i)
        if (wins(op.getKind(), in[first + i * rows.inner],
                 in[first + best * rows.inner]))
          best = i;
      result.ints()[row] = best;
    });
  });
  return result;
}

//===----------------------------------------------------------------------===//
// Pool
//===----------------------------------------------------------------------===//

namespace {
/// One dimension that windows slide over.
struct PoolDim {
  int64_t size, window, stride, low, high, dilation;

  /// Number of windows, which is negative where the first does not fit.
  int64_t getOutputSize(bool ceilMode) const {
    int64_t room = size + low + high - dilation * (window - 1) - 1;
    if (!ceilMode)
      return llvm::divideFloorSigned(room, stride) + 1;
    // A window must not start beyond the operand and its low padding: it would
    // hold high padding only.
    return std::min(llvm::divideCeilSigned(room, stride) + 1,
                    llvm::divideCeilSigned(size + low, stride));
  }
};
} // namespace

/// Splits a row-major index.
static void split(int64_t linear, ArrayRef<int64_t> sizes,
                  MutableArrayRef<int64_t> index) {
  for (size_t dim = sizes.size(); dim-- > 0; linear /= sizes[dim])
    index[dim] = linear % sizes[dim];
}

Result interpreter::evaluate(PoolOp op, Operands operands) {
  const Tensor &x = *operands[0];
  unsigned rank = op.getWindow().size(), leading = x.getRank() - rank;
  SmallVector<PoolDim> dims;
  SmallVector<int64_t> sizes(x.getSizes().take_front(leading));
  for (unsigned d = 0; d < rank; ++d) {
    dims.push_back({x.getSize(leading + d), op.getWindow()[d],
                    op.getStrides()[d], op.getPadLow()[d], op.getPadHigh()[d],
                    op.getDilations()[d]});
    sizes.push_back(dims.back().getOutputSize(op.getCeilMode()));
    if (sizes.back() < 0)
      return op.emitOpError()
             << "has a window that does not fit into dimension " << leading + d
             << " of shape " << formatSizes(x.getSizes())
             << "; use a smaller window or more padding";
  }

  Tensor result(x.getDType(), sizes);
  ArrayRef<int64_t> inSizes = x.getSizes().drop_front(leading);
  ArrayRef<int64_t> outSizes = ArrayRef(sizes).drop_front(leading);
  ArrayRef<int64_t> window = op.getWindow();
  SmallVector<int64_t> strides = getRowMajorStrides(inSizes);
  int64_t batch = getNumElements(x.getSizes().take_front(leading));
  int64_t inCount = getNumElements(inSizes);
  int64_t outCount = getNumElements(outSizes);
  int64_t windowCount = getNumElements(window);
  bool isMax = op.getKind() == PoolKind::max;
  SmallVector<int64_t> out(rank), tap(rank);

  dispatch(x.getDType(), [&](auto zero) {
    using T = decltype(zero);
    for (int64_t b = 0; b < batch; ++b) {
      ArrayRef<T> image = x.get<T>().slice(b * inCount, inCount);
      for (int64_t o = 0; o < outCount; ++o) {
        split(o, outSizes, out);
        T value = isMax ? getNeutral<T>(ReduceKind::max, x.getDType()) : 0;
        int64_t divisor = 0;
        for (int64_t w = 0; w < windowCount; ++w) {
          split(w, window, tap);
          bool isInside = true, isCounted = true;
          int64_t offset = 0;
          for (unsigned d = 0; d < rank; ++d) {
            const PoolDim &dim = dims[d];
            int64_t i = out[d] * dim.stride - dim.low + tap[d] * dim.dilation;
            isInside &= i >= 0 && i < dim.size;
            isCounted &= i < dim.size + dim.high;
            offset += i * strides[d];
          }
          if (isInside)
            value = isMax ? maximum(value, image[offset])
                          : add(value, image[offset]);
          divisor += op.getCountIncludePad() ? isCounted : isInside;
        }
        // An average of nothing is 0.
        if (!isMax && divisor)
          value /= divisor;
        result.get<T>()[b * outCount + o] = value;
      }
    }
  });
  return std::move(result).normalize();
}
