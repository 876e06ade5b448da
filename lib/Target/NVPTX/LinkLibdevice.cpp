//===- LinkLibdevice.cpp - the called functions of libdevice --------------===//
//
// Libdevice asks `__nvvm_reflect(name)` in which mode it shall compute. LLVM
// answers the questions that it knows and takes the rest for a no, which would
// make square roots approximate; so all of them are answered here.
//
//===----------------------------------------------------------------------===//

#include "Libdevice.h"

#include "llvm/Bitcode/BitcodeReader.h"
#include "llvm/IR/Constants.h"
#include "llvm/IR/Instructions.h"
#include "llvm/Linker/Linker.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Transforms/IPO/Internalize.h"

using namespace fusion;

static bool isLibdeviceCall(const llvm::Function &function) {
  return function.isDeclaration() && function.getName().starts_with("__nv_");
}

/// The string that `argument`, a pointer to a constant, holds.
static llvm::StringRef getString(const llvm::Value *argument) {
  auto *global =
      llvm::dyn_cast<llvm::GlobalVariable>(argument->stripPointerCasts());
  if (!global || !global->hasInitializer())
    return {};
  auto *data =
      llvm::dyn_cast<llvm::ConstantDataSequential>(global->getInitializer());
  return data && data->isCString() ? data->getAsCString() : llvm::StringRef();
}

/// Answers the questions of libdevice but for the architecture, which LLVM
/// knows.
static void answerReflect(llvm::Module &code) {
  llvm::Function *reflect = code.getFunction("__nvvm_reflect");
  if (!reflect)
    return;
  for (llvm::User *user : llvm::make_early_inc_range(reflect->users())) {
    auto *call = llvm::dyn_cast<llvm::CallInst>(user);
    if (!call)
      continue;
    llvm::StringRef name = getString(call->getArgOperand(0));
    if (name == "__CUDA_ARCH")
      continue;
    bool isPrecise = name == "__CUDA_PREC_SQRT" || name == "__CUDA_PREC_DIV";
    call->replaceAllUsesWith(
        llvm::ConstantInt::get(call->getType(), isPrecise));
    call->eraseFromParent();
  }
}

llvm::Error nvptx::linkLibdevice(llvm::Module &code) {
  auto call = llvm::find_if(code, isLibdeviceCall);
  if (call == code.end())
    return llvm::Error::success();
  llvm::StringRef bitcode = getLibdeviceBitcode();
  if (bitcode.empty())
    return llvm::createStringError(
        "'%s' is a function of libdevice, which this build of fusion is "
        "without; build it with FUSION_LIBDEVICE set to libdevice.10.bc of the "
        "CUDA toolkit",
        call->getName().str().c_str());

  auto library = llvm::getLazyBitcodeModule(
      llvm::MemoryBufferRef(bitcode, "libdevice"), code.getContext());
  if (!library)
    return library.takeError();
  // What libdevice was compiled for is close enough to be linked quietly.
  (*library)->setTargetTriple(code.getTargetTriple());
  (*library)->setDataLayout(code.getDataLayout());
  auto internalize = [](llvm::Module &module, const llvm::StringSet<> &linked) {
    llvm::internalizeModule(module, [&](const llvm::GlobalValue &value) {
      return !linked.contains(value.getName());
    });
  };
  if (llvm::Linker::linkModules(code, std::move(*library),
                                llvm::Linker::LinkOnlyNeeded, internalize))
    return llvm::createStringError("libdevice cannot be linked");
  answerReflect(code);
  return llvm::Error::success();
}
