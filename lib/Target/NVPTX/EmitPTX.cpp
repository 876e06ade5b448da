//===- EmitPTX.cpp - LLVM dialect to PTX ----------------------------------===//
//
// No floating-point contraction and no flushing of denormals: an op rounds as
// the graph says. PTX is of the oldest version that has the architecture's
// features, since a driver takes none newer than itself.
//
//===----------------------------------------------------------------------===//

#include "Libdevice.h"
#include "fusion/Target/Codegen.h"
#include "fusion/Target/NVPTX.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/MC/TargetRegistry.h"
#include "llvm/Support/Error.h"

using namespace mlir;
using namespace fusion;

extern "C" {
void LLVMInitializeNVPTXTarget();
void LLVMInitializeNVPTXTargetInfo();
void LLVMInitializeNVPTXTargetMC();
void LLVMInitializeNVPTXAsmPrinter();
}

namespace {
struct Architecture {
  llvm::StringRef name;
  llvm::StringRef ptxFeature;
};
} // namespace

/// PTX 7.8 has the bfloat16 conversions of sm_80, 8.0 wgmma and TMA.
static constexpr Architecture architectures[] = {
    {"sm_80", "+ptx78"},   {"sm_86", "+ptx78"},   {"sm_87", "+ptx78"},
    {"sm_89", "+ptx78"},   {"sm_90", "+ptx80"},   {"sm_90a", "+ptx80"},
    {"sm_100", "+ptx86"},  {"sm_100a", "+ptx86"}, {"sm_103", "+ptx88"},
    {"sm_103a", "+ptx88"}, {"sm_120", "+ptx87"},  {"sm_120a", "+ptx87"},
    {"sm_121", "+ptx88"},  {"sm_121a", "+ptx88"}};

llvm::ArrayRef<llvm::StringRef> fusion::getPTXArchitectures() {
  static const auto names = llvm::map_to_vector(
      architectures, [](const Architecture &arch) { return arch.name; });
  return names;
}

static std::unique_ptr<llvm::TargetMachine>
createMachine(const Architecture &arch) {
  static const llvm::Target *target = [] {
    LLVMInitializeNVPTXTargetInfo();
    LLVMInitializeNVPTXTarget();
    LLVMInitializeNVPTXTargetMC();
    LLVMInitializeNVPTXAsmPrinter();
    std::string error;
    return llvm::TargetRegistry::lookupTarget(
        llvm::Triple("nvptx64-nvidia-cuda"), error);
  }();
  llvm::TargetOptions options;
  options.AllowFPOpFusion = llvm::FPOpFusion::Strict;
  return std::unique_ptr<llvm::TargetMachine>(target->createTargetMachine(
      llvm::Triple("nvptx64-nvidia-cuda"), arch.name, arch.ptxFeature, options,
      llvm::Reloc::PIC_, std::nullopt, llvm::CodeGenOptLevel::Aggressive));
}

FailureOr<std::string> fusion::emitPTX(ModuleOp module, llvm::StringRef name) {
  const Architecture *arch =
      llvm::find_if(architectures, [&](const Architecture &candidate) {
        return candidate.name == name;
      });
  if (arch == std::end(architectures))
    return module.emitError("unknown GPU architecture '")
           << name << "'; use one of "
           << llvm::join(getPTXArchitectures(), ", ");

  std::unique_ptr<llvm::TargetMachine> machine = createMachine(*arch);
  llvm::LLVMContext context;
  std::unique_ptr<llvm::Module> code =
      codegen::translate(module, context, *machine);
  if (!code)
    return failure();
  if (llvm::Error error = nvptx::linkLibdevice(*code))
    return module.emitError(llvm::toString(std::move(error)));
  codegen::optimize(*code, *machine);
  return codegen::generate(module, *code, *machine,
                           llvm::CodeGenFileType::AssemblyFile);
}
