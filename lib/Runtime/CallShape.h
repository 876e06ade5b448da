//===- CallShape.h - what a call's sizes decide ---------------------------===//
//
// Everything about a call that follows from its symbols alone: results, grids,
// kernel sizes, the arena. Evaluated once for each new set of sizes and shared,
// unchanged, by all calls that have it; a call then only compares numbers.
//
//===----------------------------------------------------------------------===//

#ifndef FUSION_LIB_RUNTIME_CALLSHAPE_H
#define FUSION_LIB_RUNTIME_CALLSHAPE_H

#include "fusion/Runtime/Arena.h"
#include "fusion/Runtime/Executable.h"

namespace fusion::runtime {

/// One launch with its expressions evaluated.
struct LaunchShape {
  int64_t grid = 0;
  int64_t work = 0;
  std::vector<int64_t> sizes;
  std::vector<int64_t> bytes; // of each buffer
};

struct CallShape {
  std::vector<int64_t> symbols;
  /// The form that arguments and results must have; `data` is null. A stride of
  /// `anyStride` is not demanded.
  std::vector<fusion_tensor> arguments, results;
  std::vector<LaunchShape> launches;
  ArenaLayout arena;
};
constexpr int64_t anyStride = INT64_MIN;

/// Reads the plan's symbols from the arguments, whose number, types and ranks
/// are checked on the way; no size or stride is negative after it.
Status readSymbols(const Plan &plan, const fusion_tensor *arguments,
                   size_t numArguments, std::vector<int64_t> &symbols);

/// Evaluates the plan for `shape.symbols`, which came from `arguments`.
Status evaluate(const Plan &plan, const fusion_tensor *arguments,
                CallShape &shape);

/// Checks sizes and strides against the evaluated plan.
Status checkArguments(const Plan &plan, const CallShape &shape,
                      const fusion_tensor *arguments);
/// Checks that arguments have data, as aligned as the plan relies on.
Status checkArgumentData(const Plan &plan, const fusion_tensor *arguments);
/// Checks all of it for results, which must not overlap each other or an
/// argument.
Status checkResults(const Plan &plan, const CallShape &shape,
                    const fusion_tensor *arguments,
                    const fusion_tensor *results, size_t numResults);

/// Elements from the first to the last one that a tensor reaches, 0 when it is
/// empty. Saturates.
int64_t getExtent(const fusion_tensor &tensor);

} // namespace fusion::runtime

#endif // FUSION_LIB_RUNTIME_CALLSHAPE_H
