//===- Linker.h - object code into this process ---------------------------===//
//
// What executables need of the CPU target: no MLIR, and no compiler.
//
//===----------------------------------------------------------------------===//

#ifndef FUSION_TARGET_CPU_LINKER_H
#define FUSION_TARGET_CPU_LINKER_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"

namespace fusion::runtime {

/// Makes executables for the CPU runnable: installs the linker of their code.
void registerCpuTarget();

/// Lets code that is linked by executables created from now on call functions
/// of this process.
void addLinkerSymbols(
    llvm::ArrayRef<std::pair<llvm::StringRef, void *>> symbols);

} // namespace fusion::runtime

#endif // FUSION_TARGET_CPU_LINKER_H
