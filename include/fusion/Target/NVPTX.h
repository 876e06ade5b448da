//===- NVPTX.h - kernels as PTX for NVIDIA GPUs ---------------------------===//

#ifndef FUSION_TARGET_NVPTX_H
#define FUSION_TARGET_NVPTX_H

#include "mlir/IR/BuiltinOps.h"

namespace fusion {

/// The architectures that PTX can be written for, "sm_80" first.
llvm::ArrayRef<llvm::StringRef> getPTXArchitectures();

/// PTX of the kernels of `module`, which convert-tile-to-llvm{target=nvvm} has
/// made, for a GPU of architecture `arch`. Emits an error if `arch` is unknown
/// or if a kernel calls a function that libdevice should provide and this build
/// is without it.
mlir::FailureOr<std::string> emitPTX(mlir::ModuleOp module,
                                     llvm::StringRef arch);

} // namespace fusion

#endif // FUSION_TARGET_NVPTX_H
