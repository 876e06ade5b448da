//===- Evaluate.h - evaluation of single ops ------------------------------===//
//
// One overload an op, grouped in files by family. Each computes the sizes of
// its result from the operands' data; the caller checks them against the type.
//
//===----------------------------------------------------------------------===//

#ifndef FUSION_LIB_INTERPRETER_EVALUATE_H
#define FUSION_LIB_INTERPRETER_EVALUATE_H

#include "fusion/Dialect/Fusion/FusionDialect.h"
#include "fusion/Interpreter/Tensor.h"
#include "llvm/ADT/StringMap.h"

namespace fusion::interpreter {

/// The operands' values, in the op's order; a missing optional operand has
/// none.
using Operands = llvm::ArrayRef<const Tensor *>;
using Result = mlir::FailureOr<Tensor>;
/// Sizes of the named dimensions seen so far.
using Symbols = llvm::StringMap<int64_t>;

/// The element type of an op's only result.
DType getResultDType(mlir::Operation *op);

/// Elementwise.cpp. An op of another dialect is an error.
Result evaluateElementwise(mlir::Operation *op, Operands operands);

// Views.cpp
Result evaluate(ConstantOp op, Operands operands);
Result evaluate(IotaOp op, Operands operands);
Result evaluate(BroadcastOp op, Operands operands);
Result evaluate(ReshapeOp op, Operands operands, const Symbols &symbols);
Result evaluate(TransposeOp op, Operands operands);
Result evaluate(SliceOp op, Operands operands);
Result evaluate(ReverseOp op, Operands operands);
Result evaluate(PadOp op, Operands operands);
Result evaluate(ConcatOp op, Operands operands);
Result evaluate(GatherOp op, Operands operands);

// Reductions.cpp
Result evaluate(ReduceOp op, Operands operands);
Result evaluate(ArgReduceOp op, Operands operands);
Result evaluate(PoolOp op, Operands operands);

// Contractions.cpp
Result evaluate(MatmulOp op, Operands operands);
Result evaluate(ConvOp op, Operands operands);

// Composites.cpp
Result evaluate(SoftmaxOp op, Operands operands);
Result evaluate(LogSoftmaxOp op, Operands operands);
Result evaluate(LayerNormOp op, Operands operands);
Result evaluate(RmsNormOp op, Operands operands);
Result evaluate(GroupNormOp op, Operands operands);
Result evaluate(BatchNormOp op, Operands operands);

} // namespace fusion::interpreter

#endif // FUSION_LIB_INTERPRETER_EVALUATE_H
