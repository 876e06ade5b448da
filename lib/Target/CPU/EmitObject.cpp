//===- EmitObject.cpp - LLVM dialect to object code -----------------------===//
//
// Code is for the machine at hand, with its widest vectors: LLVM by itself
// splits 512 bits into halves on CPUs that once slowed down for them.
//
//===----------------------------------------------------------------------===//

#include "fusion/Target/CPU.h"
#include "fusion/Target/Codegen.h"

#include "llvm/MC/TargetRegistry.h"
#include "llvm/Support/TargetSelect.h"
#include "llvm/TargetParser/Host.h"
#include "llvm/TargetParser/SubtargetFeature.h"

using namespace mlir;
using namespace fusion;

static unsigned getVectorBits(const llvm::StringMap<bool> &features) {
  if (features.lookup("avx512f") && features.lookup("avx512vl") &&
      features.lookup("avx512bw") && features.lookup("avx512dq"))
    return 512;
  return features.lookup("avx2") ? 256 : 128;
}

const CpuTarget &CpuTarget::host() {
  static const CpuTarget target = [] {
    llvm::StringMap<bool> available = llvm::sys::getHostCPUFeatures();
    // The map has no order, but the key of a kernel must.
    SmallVector<StringRef> names(available.keys());
    llvm::sort(names);
    llvm::SubtargetFeatures features;
    for (StringRef name : names)
      features.AddFeature(name, available.lookup(name));
    return CpuTarget{llvm::sys::getHostCPUName().str(), features.getString(),
                     getVectorBits(available)};
  }();
  return target;
}

static std::unique_ptr<llvm::TargetMachine>
createMachine(const CpuTarget &cpu) {
  static const llvm::Target *target = [] {
    llvm::InitializeNativeTarget();
    llvm::InitializeNativeTargetAsmPrinter();
    std::string error;
    return llvm::TargetRegistry::lookupTarget(
        llvm::Triple(llvm::sys::getDefaultTargetTriple()), error);
  }();
  llvm::TargetOptions options;
  options.AllowFPOpFusion = llvm::FPOpFusion::Strict;
  // The linker may put code and libm anywhere in the address space.
  return std::unique_ptr<llvm::TargetMachine>(target->createTargetMachine(
      llvm::Triple(llvm::sys::getDefaultTargetTriple()), cpu.cpu, cpu.features,
      options, llvm::Reloc::PIC_, llvm::CodeModel::Small,
      llvm::CodeGenOptLevel::Aggressive));
}

static void addAttributes(llvm::Module &code, const CpuTarget &target) {
  std::string width = std::to_string(target.vectorBits);
  for (llvm::Function &function : code) {
    if (function.isDeclaration())
      continue;
    function.addFnAttr("target-cpu", target.cpu);
    function.addFnAttr("target-features", target.features);
    function.addFnAttr("prefer-vector-width", width);
    function.addFnAttr("min-legal-vector-width", width);
  }
}

FailureOr<std::string> fusion::emitObject(ModuleOp module,
                                          const CpuTarget &target) {
  std::unique_ptr<llvm::TargetMachine> machine = createMachine(target);
  llvm::LLVMContext context;
  std::unique_ptr<llvm::Module> code =
      codegen::translate(module, context, *machine);
  if (!code)
    return failure();
  addAttributes(*code, target);
  codegen::optimize(*code, *machine);
  return codegen::generate(module, *code, *machine,
                           llvm::CodeGenFileType::ObjectFile);
}
