//===- Executable.h - a plan made ready to run ----------------------------===//
//
// Loads a plan's kernels (driver API on a GPU, linked object code on the CPU,
// the emulator's scheduler elsewhere) and runs it: evaluates sizes, checks the
// arguments, lays temporaries out in one arena, launches. No MLIR, and no LLVM
// but the object linker behind CpuCode.
//
//===----------------------------------------------------------------------===//

#ifndef FUSION_RUNTIME_EXECUTABLE_H
#define FUSION_RUNTIME_EXECUTABLE_H

#include "fusion-c/fusion.h"
#include "fusion/Runtime/Plan.h"
#include <memory>
#include <string>
#include <utility>

namespace fusion::runtime {

/// What went wrong, in the words of fusion_error. An empty kind is success.
struct Status {
  std::string kind, message, location, remedy;
  bool failed() const { return !kind.empty(); }
  static Status success() { return {}; }
  static Status error(std::string kind, std::string message,
                      std::string remedy = "", std::string location = "") {
    return {std::move(kind), std::move(message), std::move(location),
            std::move(remedy)};
  }
};

/// Linked machine code for one kernel on the CPU. Implemented in Target/CPU and
/// Target/Emulator by ORC, so that Runtime itself stays free of LLVM.
///
/// CPU kernel:      void name(void **buffers, int64_t *sizes,
///                            int64_t firstBlock, int64_t endBlock)
/// Emulator kernel: void name(void **buffers, int64_t *sizes, void *thread)
class CodeLoader {
public:
  virtual ~CodeLoader() = default;
  /// Address of `kernel.name` in the linked `kernel.code`, or an error.
  virtual Status load(const Kernel &kernel, void *&address) = 0;
};
using CodeLoaderFactory = std::unique_ptr<CodeLoader> (*)(TargetKind);
/// Set by registerCpuTarget before any executable is created.
void setCodeLoaderFactory(CodeLoaderFactory factory);

/// Runs the blocks of one emulated launch, checking every access. Implemented
/// in Target/Emulator. `bytes[i]` is the size of buffer i.
using EmulatedLaunch = Status (*)(void *kernel, const Kernel &info,
                                  void **buffers, const int64_t *bytes,
                                  const bool *written, size_t numBuffers,
                                  int64_t *sizes, int64_t grid);
void setEmulatedLaunch(EmulatedLaunch launch);

/// Where machine code that is linked when a GPU executable loads is kept.
struct CacheOptions {
  bool use = true;
  std::string folder; // "" is the default one
};

/// A plan made ready to run. All members are safe on several threads.
class Executable {
public:
  /// Takes the plan and loads its kernels; a GPU's are loaded at the first run,
  /// which needs the device that the plan was compiled for.
  static Status create(Plan plan, std::unique_ptr<Executable> &result,
                       CacheOptions cache = {});
  ~Executable();

  const Plan &getPlan() const;
  /// Sizes, strides and types of the results for these arguments, whose data is
  /// not looked at; `results` has room for all.
  Status infer(const fusion_tensor *arguments, size_t numArguments,
               fusion_tensor *results);
  /// Runs into `results`, which the caller allocated as `infer` says. On a GPU
  /// it only enqueues in `stream`, in the context of the device that holds the
  /// tensors. `workspace` may be null.
  Status run(const fusion_tensor *arguments, size_t numArguments,
             const fusion_tensor *results, size_t numResults, void *stream,
             const fusion_allocator *workspace);

private:
  Executable();
  struct Impl;
  std::unique_ptr<Impl> impl;
};

} // namespace fusion::runtime

#endif // FUSION_RUNTIME_EXECUTABLE_H
