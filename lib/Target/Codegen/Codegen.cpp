//===- Codegen.cpp - LLVM IR, its passes and its back ends ----------------===//

#include "fusion/Target/Codegen.h"

#include "mlir/Target/LLVMIR/Dialect/Builtin/BuiltinToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Dialect/LLVMIR/LLVMToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Dialect/NVVM/NVVMToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Export.h"
#include "llvm/IR/DiagnosticInfo.h"
#include "llvm/IR/DiagnosticPrinter.h"
#include "llvm/IR/LegacyPassManager.h"
#include "llvm/Passes/PassBuilder.h"
#include "llvm/Support/raw_ostream.h"

using namespace mlir;
using namespace fusion;

std::unique_ptr<llvm::Module> codegen::translate(ModuleOp module,
                                                 llvm::LLVMContext &context,
                                                 llvm::TargetMachine &machine) {
  registerBuiltinDialectTranslation(*module.getContext());
  registerLLVMDialectTranslation(*module.getContext());
  registerNVVMDialectTranslation(*module.getContext());
  std::unique_ptr<llvm::Module> code =
      translateModuleToLLVMIR(module, context, "fusion");
  if (!code) {
    module.emitError("the kernels cannot be translated to LLVM IR");
    return nullptr;
  }
  code->setTargetTriple(machine.getTargetTriple());
  code->setDataLayout(machine.createDataLayout());
  return code;
}

void codegen::optimize(llvm::Module &code, llvm::TargetMachine &machine) {
  llvm::LoopAnalysisManager loops;
  llvm::FunctionAnalysisManager functions;
  llvm::CGSCCAnalysisManager callGraph;
  llvm::ModuleAnalysisManager modules;
  llvm::PassBuilder builder(&machine);
  builder.registerModuleAnalyses(modules);
  builder.registerCGSCCAnalyses(callGraph);
  builder.registerFunctionAnalyses(functions);
  builder.registerLoopAnalyses(loops);
  builder.crossRegisterProxies(loops, functions, callGraph, modules);
  builder.buildPerModuleDefaultPipeline(llvm::OptimizationLevel::O3)
      .run(code, modules);
}

namespace {
/// Keeps LLVM's errors, which it would print before exiting the process.
struct ErrorCollector : llvm::DiagnosticHandler {
  bool handleDiagnostics(const llvm::DiagnosticInfo &info) override {
    if (info.getSeverity() != llvm::DS_Error)
      return true;
    llvm::raw_string_ostream stream(messages);
    llvm::DiagnosticPrinterRawOStream printer(stream);
    info.print(printer);
    return true;
  }
  std::string messages;
};
} // namespace

FailureOr<std::string> codegen::generate(ModuleOp module, llvm::Module &code,
                                         llvm::TargetMachine &machine,
                                         llvm::CodeGenFileType fileType) {
  auto collector = std::make_unique<ErrorCollector>();
  ErrorCollector &errors = *collector;
  code.getContext().setDiagnosticHandler(std::move(collector));

  llvm::SmallString<0> output;
  llvm::raw_svector_ostream stream(output);
  llvm::legacy::PassManager passes;
  if (machine.addPassesToEmitFile(passes, stream, nullptr, fileType))
    return module.emitError("LLVM cannot generate such code for ")
           << machine.getTargetCPU();
  passes.run(code);
  if (!errors.messages.empty())
    return module.emitError("LLVM cannot generate code for ")
           << machine.getTargetCPU() << ": " << errors.messages;
  return output.str().str();
}
