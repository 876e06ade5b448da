//===- fusion-opt.cpp - runs passes and pipelines on text -----------------===//
//
// Reads a graph or a kernel at any stage, runs the passes or the named pipeline
// asked for, and prints the result. Every stage of the compiler is a pass here.
//
//===----------------------------------------------------------------------===//

#include "fusion/Compiler/Pipelines.h"
#include "fusion/Conversion/Passes.h"
#include "fusion/Schedule/Passes.h"
#include "fusion/Transforms/Passes.h"
#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Tools/mlir-opt/MlirOptMain.h"
#include "mlir/Transforms/Passes.h"

int main(int argc, char **argv) {
  mlir::DialectRegistry registry;
  fusion::registerDialects(registry);
  registry.insert<mlir::affine::AffineDialect>();

  mlir::registerTransformsPasses();
  fusion::registerFusionTransformsPasses();
  fusion::registerFusionSchedulePasses();
  fusion::registerFusionConversionPasses();
  fusion::registerPipelines();

  return mlir::asMainReturnCode(
      mlir::MlirOptMain(argc, argv, "fusion graph compiler\n", registry));
}
