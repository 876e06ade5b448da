//===- Arguments.h - what a graph is run on -------------------------------===//

#ifndef FUSION_TOOLS_FUSION_RUN_ARGUMENTS_H
#define FUSION_TOOLS_FUSION_RUN_ARGUMENTS_H

#include "common/HostTensor.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/Support/Error.h"
#include <vector>

namespace fusion::tools {

/// Arguments for `@main` of a graph in text: the first are read from `files`,
/// the others are random. `sizes` holds entries "N=4" for the symbol N, or "16"
/// for every other symbolic size; symbols of arguments from files come from
/// those.
llvm::Expected<std::vector<HostTensor>>
makeArguments(llvm::StringRef text, llvm::ArrayRef<std::string> files,
              llvm::ArrayRef<std::string> sizes, uint64_t seed);

/// Number of results of `@main`.
llvm::Expected<size_t> getNumResults(llvm::StringRef text);

} // namespace fusion::tools

#endif // FUSION_TOOLS_FUSION_RUN_ARGUMENTS_H
