//===- Strided.h - walks over strided data --------------------------------===//
//
// Iteration over all indices of a shape with two running offsets: what views,
// reductions and copies share. The offsets advance by addition, so there is no
// work and no allocation that depends on the rank in the innermost loop.
//
//===----------------------------------------------------------------------===//

#ifndef FUSION_LIB_INTERPRETER_STRIDED_H
#define FUSION_LIB_INTERPRETER_STRIDED_H

#include "fusion/Interpreter/Tensor.h"

namespace fusion::interpreter {

/// Where index `i` lies: `offset + sum(i[d] * strides[d])`.
struct Walk {
  int64_t offset = 0;
  llvm::SmallVector<int64_t> strides;

  static Walk rowMajor(llvm::ArrayRef<int64_t> sizes) {
    return {0, getRowMajorStrides(sizes)};
  }
};

/// Calls `function(offset in a, offset in b)` for every index of `sizes`, in
/// row-major order.
template <typename Function>
void forEachPair(llvm::ArrayRef<int64_t> sizes, const Walk &a, const Walk &b,
                 Function &&function) {
  if (getNumElements(sizes) == 0)
    return;
  size_t rank = sizes.size();
  if (rank == 0)
    return function(a.offset, b.offset);
  llvm::SmallVector<int64_t> index(rank, 0);
  int64_t offsetA = a.offset, offsetB = b.offset;
  while (true) {
    for (int64_t i = 0; i < sizes[rank - 1]; ++i)
      function(offsetA + i * a.strides[rank - 1],
               offsetB + i * b.strides[rank - 1]);
    // Carry into the outer dimensions.
    size_t dim = rank - 1;
    while (true) {
      if (dim == 0)
        return;
      --dim;
      offsetA += a.strides[dim];
      offsetB += b.strides[dim];
      if (++index[dim] < sizes[dim])
        break;
      offsetA -= index[dim] * a.strides[dim];
      offsetB -= index[dim] * b.strides[dim];
      index[dim] = 0;
    }
  }
}

/// A shape seen as rows along one dimension: element `i` of row `(outer,
/// inner)` lies at `(outer * size + i) * inner count + inner`.
struct RowShape {
  int64_t outer = 1, size = 1, inner = 1;

  RowShape(llvm::ArrayRef<int64_t> sizes, unsigned dim)
      : outer(getNumElements(sizes.take_front(dim))), size(sizes[dim]),
        inner(getNumElements(sizes.drop_front(dim + 1))) {}

  /// Calls `function(row number, offset of the first element)`; the elements
  /// of the row are `inner` apart.
  template <typename Function> void forEachRow(Function &&function) const {
    for (int64_t o = 0; o < outer; ++o)
      for (int64_t i = 0; i < inner; ++i)
        function(o * inner + i, o * size * inner + i);
  }
};

} // namespace fusion::interpreter

#endif // FUSION_LIB_INTERPRETER_STRIDED_H
