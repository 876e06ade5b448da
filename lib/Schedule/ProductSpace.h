//===- ProductSpace.h - a contraction as a product of matrices ------------===//
//
// A product or convolution sums over some dims; of its result's dims, one
// operand has some ("rows"), the other has the others ("columns"), and both
// have the rest. Seen so, every contraction is a batch of matrix products, of
// which a tile needs a panel of each operand. This describes which dims play
// which role, and how a kernel walks them.
//
//===----------------------------------------------------------------------===//

#ifndef FUSION_SCHEDULE_PRODUCTSPACE_H
#define FUSION_SCHEDULE_PRODUCTSPACE_H

#include "fusion/Schedule/Domain.h"

namespace fusion {

/// One operand of the product, over the dims of the result and then those that
/// are summed over.
struct ProductOperand {
  HeroRead read;
  /// Offsets in memory, guards and positions met in making an element.
  llvm::SmallVector<mlir::AffineExpr> accesses;

  /// True if some element that it reads is the neighbour of the one at the next
  /// index of `dim`.
  bool isContiguous(unsigned dim) const;
};

class ProductSpace {
public:
  /// Fails where the group's hero is no product of matrices whose columns are
  /// the contiguous dims of the output.
  static std::optional<ProductSpace> get(const GroupModel &model);

  mlir::Operation *hero = nullptr;
  HeroSpec spec;
  ProductOperand row, column;

  /// The result's dims, merged where all that is done with the result allows.
  std::optional<Domain> result;
  /// Merged dims of the result in their roles. The columns of a tile are a run
  /// of the last one; `outer` holds the batch and any other column dims.
  llvm::SmallVector<unsigned> outer, rows;
  unsigned lane = 0;
  /// Dims that are summed over, in the order in which a panel stores them. The
  /// blocked one, a product's only or a convolution's channels, is taken in
  /// blocks and the others whole.
  llvm::SmallVector<unsigned> depth;
  unsigned getBlockedDim() const { return spec.resultRank; }

  mlir::AffineExpr getSize(unsigned merged) const {
    return result->getMerged()[merged].size;
  }
  llvm::SmallVector<mlir::AffineExpr>
  getSizes(llvm::ArrayRef<unsigned> merged) const;
  mlir::AffineExpr getBlockedSize() const { return spec.reduced.front(); }
  /// The product of the extents of the depth dims that are taken whole.
  mlir::AffineExpr getWholeDepth() const;

  /// Neighbours among `dims` merged where `operand` sees them as one run; the
  /// blocked depth dim merges with no dim before it.
  Domain merge(const ProductOperand &operand,
               llvm::ArrayRef<unsigned> dims) const;

private:
  llvm::SmallVector<mlir::AffineExpr> sizes; // of the result, then depth
  mlir::MLIRContext *context = nullptr;
};

} // namespace fusion

#endif // FUSION_SCHEDULE_PRODUCTSPACE_H
