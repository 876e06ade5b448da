//===- LinkObject.cpp - object code into this process ---------------------===//
//
// The code of each kernel is linked by itself, so that equal names in different
// kernels do no harm. JITLink alone is enough: ORC's LLJIT would bring a
// compiler along, which an executable from the cache has no use for.
//
//===----------------------------------------------------------------------===//

#include "fusion/Runtime/Executable.h"
#include "fusion/Target/CPU/Linker.h"

#include "llvm/ExecutionEngine/Orc/AbsoluteSymbols.h"
#include "llvm/ExecutionEngine/Orc/Core.h"
#include "llvm/ExecutionEngine/Orc/ExecutionUtils.h"
#include "llvm/ExecutionEngine/Orc/ObjectLinkingLayer.h"
#include "llvm/ExecutionEngine/Orc/SelfExecutorProcessControl.h"
#include "llvm/Support/Error.h"
#include "llvm/Support/MemoryBuffer.h"
#include <map>
#include <mutex>

using namespace fusion::runtime;
using namespace llvm::orc;

//===----------------------------------------------------------------------===//
// Symbols of this process
//===----------------------------------------------------------------------===//

namespace {
struct ProcessSymbols {
  std::mutex mutex;
  std::map<std::string, void *> addresses;
};
} // namespace

static ProcessSymbols &getProcessSymbols() {
  static ProcessSymbols symbols;
  return symbols;
}

void fusion::runtime::addLinkerSymbols(
    llvm::ArrayRef<std::pair<llvm::StringRef, void *>> symbols) {
  ProcessSymbols &all = getProcessSymbols();
  std::lock_guard<std::mutex> lock(all.mutex);
  for (auto [name, address] : symbols)
    all.addresses[name.str()] = address;
}

//===----------------------------------------------------------------------===//
// The linker
//===----------------------------------------------------------------------===//

static Status linkError(const Kernel &kernel, llvm::Error error) {
  return Status::error(
      "compile",
      "the code of kernel '" + kernel.name +
          "' cannot be linked: " + llvm::toString(std::move(error)),
      "compile the graph again on this machine");
}

namespace {
class ObjectLinker : public CodeLoader {
public:
  static std::unique_ptr<CodeLoader> create() {
    auto control = SelfExecutorProcessControl::Create();
    if (!control) {
      llvm::consumeError(control.takeError());
      return nullptr;
    }
    std::unique_ptr<ObjectLinker> linker(new ObjectLinker(std::move(*control)));
    if (llvm::Error error = linker->defineLibrary()) {
      llvm::consumeError(std::move(error));
      return nullptr;
    }
    return linker;
  }

  ~ObjectLinker() override {
    if (llvm::Error error = session.endSession())
      llvm::consumeError(std::move(error));
  }

  Status load(const Kernel &kernel, void *&address) override {
    JITDylib &dylib = session.createBareJITDylib(kernel.name + "." +
                                                 std::to_string(numKernels++));
    dylib.addToLinkOrder(library);
    auto object =
        llvm::MemoryBuffer::getMemBufferCopy(kernel.code, kernel.name);
    if (llvm::Error error = layer.add(dylib, std::move(object)))
      return linkError(kernel, std::move(error));
    auto symbol = session.lookup({&dylib}, kernel.name);
    if (!symbol)
      return linkError(kernel, symbol.takeError());
    address = symbol->getAddress().toPtr<void *>();
    return Status::success();
  }

private:
  explicit ObjectLinker(std::unique_ptr<ExecutorProcessControl> control)
      : session(std::move(control)),
        layer(session, session.getExecutorProcessControl().getMemMgr()),
        library(session.createBareJITDylib("library")) {
    // Errors come back from lookups; the default would print them, too.
    session.setErrorReporter(
        [](llvm::Error error) { llvm::consumeError(std::move(error)); });
  }

  /// What kernels may call: our functions, libm, then anything in the process.
  llvm::Error defineLibrary() {
    SymbolMap symbols;
    {
      ProcessSymbols &all = getProcessSymbols();
      std::lock_guard<std::mutex> lock(all.mutex);
      for (const auto &[name, address] : all.addresses)
        symbols[session.intern(name)] = {ExecutorAddr::fromPtr(address),
                                         llvm::JITSymbolFlags::Exported};
    }
    if (llvm::Error error = library.define(absoluteSymbols(std::move(symbols))))
      return error;
    // A process that loads us privately does not show libm to a search of it.
    if (auto libm = DynamicLibrarySearchGenerator::Load("libm.so.6", '\0'))
      library.addGenerator(std::move(*libm));
    else
      llvm::consumeError(libm.takeError());
    auto process = DynamicLibrarySearchGenerator::GetForCurrentProcess('\0');
    if (!process)
      return process.takeError();
    library.addGenerator(std::move(*process));
    return llvm::Error::success();
  }

  ExecutionSession session;
  ObjectLinkingLayer layer;
  JITDylib &library;
  unsigned numKernels = 0;
};
} // namespace

void fusion::runtime::registerCpuTarget() {
  setCodeLoaderFactory([](TargetKind) -> std::unique_ptr<CodeLoader> {
    return ObjectLinker::create();
  });
}
