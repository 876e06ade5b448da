//===- Dims.h - sizes of every value of a function ------------------------===//
//
// The size of each dimension of each tensor, as an affine expression over the
// function's symbols: the sizes of arguments that are not static, and the
// strides of arguments that are not dense. Equal sizes get equal expressions.
//
//===----------------------------------------------------------------------===//

#ifndef FUSION_ANALYSIS_DIMS_H
#define FUSION_ANALYSIS_DIMS_H

#include "fusion/Dialect/Fusion/FusionDialect.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace fusion {

/// Where a symbol's value comes from: size `dim` of an argument, or its stride.
struct DimSymbol {
  unsigned argument = 0;
  unsigned dim = 0;
  bool stride = false;
};

/// On a tile.launch: the sizes of its results, which no op shows any more.
inline constexpr llvm::StringLiteral kResultDimsAttrName = "fusion.result_dims";
/// On a tile.launch of a contraction: its multiply-adds over the function's
/// symbols, where they outweigh the bytes it moves.
inline constexpr llvm::StringLiteral kWorkAttrName = "fusion.work";

class DimAnalysis {
public:
  /// Analyses all of `function`, groups' regions included. Emits a diagnostic
  /// and fails where a size follows from no argument.
  static mlir::FailureOr<DimAnalysis> create(mlir::func::FuncOp function);

  llvm::ArrayRef<DimSymbol> getSymbols() const { return symbols; }
  llvm::ArrayRef<mlir::AffineExpr> getDims(mlir::Value value) const;
  /// Distances between neighbours in memory, in elements.
  llvm::SmallVector<mlir::AffineExpr> getStrides(mlir::Value value) const;
  /// The number of elements.
  mlir::AffineExpr getNumElements(mlir::Value value) const;
  /// The sizes of each value over the function's symbols, for a launch's
  /// attribute `kResultDimsAttrName`.
  mlir::ArrayAttr getDimsAttr(mlir::ValueRange values) const;
  /// `symbols` as the function attribute that tile.launch refers to.
  mlir::ArrayAttr getSymbolsAttr(mlir::Builder &builder) const;

private:
  mlir::LogicalResult visit(mlir::Operation *op);
  mlir::LogicalResult setResult(mlir::OpResult result,
                                llvm::ArrayRef<mlir::AffineExpr> inferred);
  mlir::AffineExpr getSymbol(mlir::Type type, unsigned dim);
  mlir::AffineExpr addSymbol(DimSymbol symbol);

  mlir::MLIRContext *context = nullptr;
  llvm::SmallVector<DimSymbol> symbols;
  llvm::DenseMap<mlir::StringAttr, mlir::AffineExpr> named;
  llvm::DenseMap<mlir::Value, llvm::SmallVector<mlir::AffineExpr>> dims;
  llvm::DenseMap<mlir::Value, llvm::SmallVector<mlir::AffineExpr>> strides;
};

/// Dense strides of a tensor with these sizes, in the order of its type.
llvm::SmallVector<mlir::AffineExpr>
getDenseStrides(mlir::RankedTensorType type,
                llvm::ArrayRef<mlir::AffineExpr> dims);

/// True for a reshape between row-major types: another name for its operand's
/// memory. Any other reshape moves elements.
bool isAlias(ReshapeOp reshape);

/// The value whose memory `value` is another name for.
mlir::Value stripAliases(mlir::Value value);

/// "file:line:column" of the user's source, empty where it is not known.
std::string toString(mlir::Location loc);

} // namespace fusion

#endif // FUSION_ANALYSIS_DIMS_H
