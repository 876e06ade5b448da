//===- Npy.h - NumPy's file format ----------------------------------------===//
//
// Reads and writes .npy files (format versions 1 to 3) of the element types
// that NumPy has; bfloat16, which it lacks, is written as the 2-byte void `|V2`
// that ml_dtypes uses, and read from there.
//
//===----------------------------------------------------------------------===//

#ifndef FUSION_TOOLS_COMMON_NPY_H
#define FUSION_TOOLS_COMMON_NPY_H

#include "HostTensor.h"
#include "llvm/Support/Error.h"

namespace fusion::tools {

llvm::Expected<HostTensor> readNpy(llvm::StringRef path);
llvm::Error writeNpy(const HostTensor &tensor, llvm::StringRef path);

} // namespace fusion::tools

#endif // FUSION_TOOLS_COMMON_NPY_H
