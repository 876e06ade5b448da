//===- Execution.h - runs of a graph --------------------------------------===//

#ifndef FUSION_TOOLS_FUSION_RUN_EXECUTION_H
#define FUSION_TOOLS_FUSION_RUN_EXECUTION_H

#include "common/Call.h"
#include "common/HostTensor.h"
#include <vector>

namespace fusion::tools {

/// Milliseconds of one run, over a number of them.
struct Timing {
  double median = 0, best = 0;
  size_t numRuns = 0;
};

/// Runs an executable once, into poisoned results. With `timing` it is run many
/// more times, after a few to warm up.
llvm::Expected<std::vector<HostTensor>>
execute(const Executable &executable, llvm::ArrayRef<HostTensor> arguments,
        Timing *timing);

/// Results of the reference evaluator.
llvm::Expected<std::vector<HostTensor>>
evaluateReference(llvm::StringRef text, llvm::ArrayRef<HostTensor> arguments);

} // namespace fusion::tools

#endif // FUSION_TOOLS_FUSION_RUN_EXECUTION_H
