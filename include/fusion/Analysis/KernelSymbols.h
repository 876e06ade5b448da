//===- KernelSymbols.h - sizes as a kernel sees them ----------------------===//
//
// A kernel is compiled for a class of sizes. Small static sizes (windows, sizes
// of 1, short vectors) are part of its structure; every other size is a symbol
// of the kernel, passed at launch, of which only a power of two that divides it
// is known. A network with fifty convolutions so needs a handful of kernels.
//
//===----------------------------------------------------------------------===//

#ifndef FUSION_ANALYSIS_KERNELSYMBOLS_H
#define FUSION_ANALYSIS_KERNELSYMBOLS_H

#include "fusion/Analysis/Dims.h"
#include "fusion/Analysis/GroupShape.h"
#include "fusion/Analysis/IndexMath.h"

namespace fusion {

class KernelSymbols {
public:
  /// Largest static size that is part of a kernel's structure.
  static constexpr int64_t kMaxStructural = 16;
  /// Largest divisor of a size that a kernel relies on.
  static constexpr int64_t kMaxDivisor = 64;

  explicit KernelSymbols(mlir::MLIRContext *context) : context(context) {}

  /// The kernel's expression for a size of the function: a constant or a
  /// symbol.
  mlir::AffineExpr get(mlir::AffineExpr hostExpr);
  llvm::SmallVector<mlir::AffineExpr>
  get(llvm::ArrayRef<mlir::AffineExpr> hostExprs);

  /// The function's expression for each symbol.
  llvm::ArrayRef<mlir::AffineExpr> getHostExprs() const { return hostExprs; }
  llvm::ArrayRef<int64_t> getDivisors() const { return divisors; }
  /// The size that `expr` has in this launch where it is static: a hint for the
  /// choice of a configuration, never for correctness.
  std::optional<int64_t> getHint(mlir::AffineExpr expr) const;

private:
  mlir::MLIRContext *context;
  llvm::SmallVector<mlir::AffineExpr> hostExprs;
  llvm::SmallVector<int64_t> divisors;
  llvm::SmallVector<std::optional<int64_t>> hints;
};

/// A group with the sizes of its values as its kernel sees them.
class GroupModel {
public:
  GroupModel(GroupOp group, const DimAnalysis &analysis);

  GroupOp getGroup() const { return group; }
  KernelSymbols &getSymbols() { return symbols; }
  const KernelSymbols &getSymbols() const { return symbols; }
  /// Sizes and strides over the kernel's symbols.
  llvm::ArrayRef<mlir::AffineExpr> getDims(mlir::Value value) const;
  llvm::SmallVector<mlir::AffineExpr> getStrides(mlir::Value value) const;
  /// The value yielded for output `i`.
  mlir::Value getOutput(unsigned i) const;
  unsigned getNumOutputs() const { return group.getNumResults(); }
  mlir::Block &getBody() const { return group.getBody().front(); }
  /// The group as a set of ops over the kernel's sizes; refers to this model.
  GroupView getView() const;
  /// Type that output `i` has in memory; its layout is that of the group's
  /// result.
  mlir::RankedTensorType getOutputType(unsigned i) const;

private:
  mutable GroupOp group;
  KernelSymbols symbols;
  llvm::DenseMap<mlir::Value, llvm::SmallVector<mlir::AffineExpr>> dims;
  llvm::DenseMap<mlir::Value, llvm::SmallVector<mlir::AffineExpr>> strides;
};

} // namespace fusion

#endif // FUSION_ANALYSIS_KERNELSYMBOLS_H
