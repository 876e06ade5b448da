//===- CPU.h - kernels as object code for this machine --------------------===//

#ifndef FUSION_TARGET_CPU_H
#define FUSION_TARGET_CPU_H

#include "mlir/IR/BuiltinOps.h"

namespace fusion {

/// A CPU to generate code for.
struct CpuTarget {
  /// LLVM's name of it, "sapphirerapids".
  std::string cpu;
  /// LLVM's list of what it has, "+avx2,+fma,...".
  std::string features;
  /// Width of its vectors in bits.
  unsigned vectorBits = 128;

  /// The CPU that this process runs on.
  static const CpuTarget &host();
  /// Equal for CPUs that can run each other's code.
  std::string getKey() const { return cpu + ";" + features; }
};

/// Object code of the functions of `module`, which convert-tile-to-llvm has
/// made for the CPU or the emulator. Emits an error if LLVM refuses.
mlir::FailureOr<std::string>
emitObject(mlir::ModuleOp module, const CpuTarget &target = CpuTarget::host());

} // namespace fusion

#endif // FUSION_TARGET_CPU_H
