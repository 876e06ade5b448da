//===- Interpreter.h - reference evaluator of the fusion dialect ----------===//
//
// Evaluates a graph op by op on the host, written to be obviously right rather
// than fast. It shares nothing with the code generator, so that a kernel and
// its reference are wrong in the same way only if the dialect's definition is.
//
//===----------------------------------------------------------------------===//

#ifndef FUSION_INTERPRETER_INTERPRETER_H
#define FUSION_INTERPRETER_INTERPRETER_H

#include "fusion/Interpreter/Tensor.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace fusion::interpreter {

/// Results of `function` for these arguments. Sizes come from the data; symbols
/// of `#fusion.layout` are bound by the arguments that carry them. A wrong
/// argument, an op that has no value for these sizes and an op of another
/// dialect are errors, emitted as diagnostics.
mlir::FailureOr<llvm::SmallVector<Tensor>>
evaluate(mlir::func::FuncOp function, llvm::ArrayRef<Tensor> arguments);

/// Checks number, element types and shapes of `arguments` without evaluating.
mlir::LogicalResult checkArguments(mlir::func::FuncOp function,
                                   llvm::ArrayRef<Tensor> arguments);

} // namespace fusion::interpreter

#endif // FUSION_INTERPRETER_INTERPRETER_H
