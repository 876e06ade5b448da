//===- GraphBuilder.h - builds fusion ops with inferred types -------------===//
//
// What rewrites use to write graphs: each method derives its result type from
// its operands. Private to the library.
//
//===----------------------------------------------------------------------===//

#ifndef FUSION_LIB_TRANSFORMS_GRAPHBUILDER_H
#define FUSION_LIB_TRANSFORMS_GRAPHBUILDER_H

#include "fusion/Dialect/Fusion/FusionDialect.h"

#include "mlir/IR/Builders.h"

namespace fusion {

/// `type` with another element type and without strides, which only arguments
/// have.
mlir::RankedTensorType getComputedType(mlir::Type type, mlir::Type elementType);

/// `0..rank-1` without `dims`.
llvm::SmallVector<int64_t> getOtherDims(int64_t rank,
                                        llvm::ArrayRef<int64_t> dims);

class GraphBuilder {
public:
  GraphBuilder(mlir::OpBuilder &builder, mlir::Location loc)
      : builder(builder), loc(loc) {}

  template <typename OpTy> mlir::Value unary(mlir::Value x) {
    return OpTy::create(builder, loc, computed(x), x);
  }
  template <typename OpTy>
  mlir::Value binary(mlir::Value lhs, mlir::Value rhs) {
    return OpTy::create(builder, loc, computed(lhs), lhs, rhs);
  }

  /// `x` itself where it has the element type already.
  mlir::Value convert(mlir::Value x, mlir::Type elementType);
  /// `x` in exactly this type, which differs in element type or layout only.
  mlir::Value convertTo(mlir::Value x, mlir::Type type);

  /// `value` repeated to the shape of `like`, in `elementType`.
  mlir::Value splat(double value, mlir::Type elementType, mlir::Value like);
  mlir::Value splat(mlir::TypedAttr value, mlir::Value like);

  /// `x` repeated to the shape of `like`; dimension `i` becomes `dims[i]`.
  mlir::Value broadcast(mlir::Value x, llvm::ArrayRef<int64_t> dims,
                        mlir::Value like);
  /// The same to a type whose symbolic sizes are all the operand's.
  mlir::Value repeat(mlir::Value x, llvm::ArrayRef<int64_t> dims,
                     mlir::Type type);
  mlir::Value reduce(ReduceKind kind, mlir::Value x,
                     llvm::ArrayRef<int64_t> dims);
  mlir::Value reshape(mlir::Value x, mlir::Type type);

private:
  mlir::Type computed(mlir::Value x) {
    return getComputedType(x.getType(),
                           mlir::getElementTypeOrSelf(x.getType()));
  }

  mlir::OpBuilder &builder;
  mlir::Location loc;
};

} // namespace fusion

#endif // FUSION_LIB_TRANSFORMS_GRAPHBUILDER_H
