//===- PlanBuilder.h - launches as a plan ---------------------------------===//

#ifndef FUSION_LIB_COMPILER_PLANBUILDER_H
#define FUSION_LIB_COMPILER_PLANBUILDER_H

#include "fusion/Analysis/Dims.h"
#include "fusion/Dialect/Tile/TileDialect.h"
#include "fusion/Runtime/Plan.h"

namespace fusion {

/// Writes arguments, results, constants, temporaries and launches of
/// `function`, which holds tile.launch ops, reshapes and constants only.
/// `kernelNumbers` maps the names of kernels to their numbers in the plan.
mlir::LogicalResult buildPlan(mlir::func::FuncOp function,
                              const llvm::StringMap<int32_t> &kernelNumbers,
                              runtime::Plan &plan);

/// A size in the runtime's form.
runtime::SizeExpr toSizeExpr(mlir::AffineExpr expr);

} // namespace fusion

#endif // FUSION_LIB_COMPILER_PLANBUILDER_H
