//===- Fragment.h - where the elements of an mma's operands lie -----------===//
//
// A fragment is what one lane of a warp holds of a tile. In all layouts of
// mma.sync each bit of a lane's number, and of an element's number within the
// fragment, moves the position by a step of its own along the row or the
// column: a layout is its list of steps. Schedules take expressions of the lane
// from it and need no table.
//
//===----------------------------------------------------------------------===//

#ifndef FUSION_DIALECT_TILE_FRAGMENT_H
#define FUSION_DIALECT_TILE_FRAGMENT_H

#include "fusion/Dialect/Tile/TileDialect.h"

#include "mlir/IR/AffineExpr.h"

namespace fusion::tile {

/// A is m x k, B is k x n, the accumulator m x n.
struct MmaShape {
  int64_t m, n, k;
};
MmaShape getMmaShape(MmaKind kind);

/// The accumulator's role is also the result's.
enum class FragmentRole { A, B, Accumulator };

/// The type of a lane's fragment.
mlir::VectorType getFragmentType(MmaKind kind, FragmentRole role,
                                 mlir::MLIRContext *context);

/// A place in a tile, or the way from one to another. The rows of B are along
/// k, its columns along n.
struct FragmentPosition {
  int64_t row = 0, column = 0;
};

/// A place that depends on the lane.
struct FragmentIndex {
  mlir::AffineExpr row, column;
};

class FragmentLayout {
public:
  FragmentLayout(MmaKind kind, FragmentRole role);

  int64_t getNumRows() const { return numRows; }
  int64_t getNumColumns() const { return numColumns; }
  /// Elements of one lane.
  int64_t getNumElements() const { return int64_t(1) << elementSteps.size(); }

  FragmentPosition getPosition(int64_t lane, int64_t element) const;

  /// The same for an expression of the lane, which is from 0 to 31.
  FragmentIndex getIndex(mlir::AffineExpr lane, int64_t element) const;

  /// Whether a tile.load_matrix loads the fragment from memory that holds the
  /// tile with consecutive elements along k or, with `transposed`, across it.
  bool canLoadMatrix(bool transposed) const;

  /// The position at which the row of 16 bytes begins that `lane` names in that
  /// tile.load_matrix. A fragment of two matrices asks lanes 0 to 15; the
  /// others name the same rows again.
  FragmentIndex getMatrixRow(mlir::AffineExpr lane, bool transposed) const;

private:
  int64_t numRows, numColumns;
  /// Whether the fragment fills 32-bit registers, and k runs along the columns.
  bool isOperand, isA;
  int64_t elementsPerRegister;
  /// Steps of bit 0, 1, ... of the number.
  llvm::SmallVector<FragmentPosition> laneSteps, elementSteps;
};

} // namespace fusion::tile

#endif // FUSION_DIALECT_TILE_FRAGMENT_H
