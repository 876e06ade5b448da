//===- Libdevice.h - NVIDIA's device functions ----------------------------===//

#ifndef FUSION_LIB_TARGET_NVPTX_LIBDEVICE_H
#define FUSION_LIB_TARGET_NVPTX_LIBDEVICE_H

#include "llvm/ADT/StringRef.h"
#include "llvm/IR/Module.h"
#include "llvm/Support/Error.h"

namespace fusion::nvptx {

/// The embedded libdevice.10.bc; empty if the build found none.
llvm::StringRef getLibdeviceBitcode();

/// Links the functions of libdevice that `code` calls into it, in their strict
/// form: denormals kept, square roots rounded right.
llvm::Error linkLibdevice(llvm::Module &code);

} // namespace fusion::nvptx

#endif // FUSION_LIB_TARGET_NVPTX_LIBDEVICE_H
