//===- fusion-reduce.cpp - makes a failing graph small --------------------===//
//
// Removes what a script does not need to see the failure:
//
//   fusion-reduce graph.mlir -fusion-cut-graph=test=fails.sh
//
// The script gets a file and exits with 1 where the failure is still there.
// Upstream's reduction passes work as in mlir-reduce.
//
//===----------------------------------------------------------------------===//

#include "CutGraph.h"
#include "common/Dialects.h"
#include "fusion/Transforms/Passes.h"
#include "mlir/IR/MLIRContext.h"
#include "mlir/Tools/mlir-reduce/MlirReduceMain.h"
#include "mlir/Transforms/Passes.h"

int main(int argc, char **argv) {
  mlir::DialectRegistry registry;
  fusion::tools::registerDialects(registry);
  // For -opt-reduction-pass, which keeps the outcome of a pass if it is
  // smaller.
  mlir::registerTransformsPasses();
  fusion::registerFusionTransformsPasses();
  fusion::tools::registerCutGraphPass();
  mlir::MLIRContext context(registry);
  return mlir::failed(mlir::mlirReduceMain(argc, argv, context));
}
