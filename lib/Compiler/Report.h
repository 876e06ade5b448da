//===- Report.h - what was compiled, as JSON ------------------------------===//

#ifndef FUSION_LIB_COMPILER_REPORT_H
#define FUSION_LIB_COMPILER_REPORT_H

#include "fusion/Analysis/Dims.h"
#include "fusion/Compiler/Compiler.h"
#include "fusion/Dialect/Tile/TileDialect.h"
#include "llvm/Support/JSON.h"

namespace fusion {

/// What the graph moves through memory and how many kernels it takes when each
/// of its ops runs on its own, as an eager framework does.
struct UnfusedCost {
  int64_t bytes = 0;
  int64_t minimumBytes = 0; // arguments and results once
  int64_t kernels = 0;
};
UnfusedCost getUnfusedCost(mlir::func::FuncOp function,
                           const DimAnalysis &dims);

/// Milliseconds of a phase of the compilation.
using Timing = std::vector<std::pair<std::string, double>>;

/// The JSON that fusion_executable_report documents; `function` holds launches.
std::string makeReport(mlir::func::FuncOp function, const DimAnalysis &dims,
                       const CompileOptions &options, const UnfusedCost &before,
                       const Timing &timing);

} // namespace fusion

#endif // FUSION_LIB_COMPILER_REPORT_H
