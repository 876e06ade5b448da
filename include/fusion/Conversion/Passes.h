//===- Passes.h - from tile programs to the LLVM dialect ------------------===//

#ifndef FUSION_CONVERSION_PASSES_H
#define FUSION_CONVERSION_PASSES_H

#include "mlir/Pass/Pass.h"

namespace fusion {

/// Who runs a kernel, and so what form it takes in the LLVM dialect.
enum class KernelTarget { CPU, NVVM, Emulator };

/// Attribute of a converted kernel: bytes of shared memory of a block.
inline constexpr llvm::StringLiteral sharedBytesAttrName = "tile.shared_bytes";

#define GEN_PASS_DECL
#define GEN_PASS_REGISTRATION
#include "fusion/Conversion/Passes.h.inc"

} // namespace fusion

#endif // FUSION_CONVERSION_PASSES_H
