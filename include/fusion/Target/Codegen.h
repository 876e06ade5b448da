//===- Codegen.h - what the targets that use LLVM have in common ----------===//
//
// From a module of the LLVM dialect to text or object code, in three steps that
// a target goes between: to add a library, or attributes to functions.
//
//===----------------------------------------------------------------------===//

#ifndef FUSION_TARGET_CODEGEN_H
#define FUSION_TARGET_CODEGEN_H

#include "mlir/IR/BuiltinOps.h"
#include "llvm/IR/Module.h"
#include "llvm/Support/CodeGen.h"
#include "llvm/Target/TargetMachine.h"

namespace fusion::codegen {

/// Translates `module` to LLVM IR for `machine`, or emits an error.
std::unique_ptr<llvm::Module> translate(mlir::ModuleOp module,
                                        llvm::LLVMContext &context,
                                        llvm::TargetMachine &machine);

/// Runs LLVM's -O3 passes.
void optimize(llvm::Module &code, llvm::TargetMachine &machine);

/// Generates assembly or object code; errors are those of `module`.
mlir::FailureOr<std::string> generate(mlir::ModuleOp module, llvm::Module &code,
                                      llvm::TargetMachine &machine,
                                      llvm::CodeGenFileType fileType);

} // namespace fusion::codegen

#endif // FUSION_TARGET_CODEGEN_H
