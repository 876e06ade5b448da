//===- Pipelines.cpp - the passes in their order --------------------------===//

#include "fusion/Compiler/Pipelines.h"
#include "fusion/Conversion/Passes.h"
#include "fusion/Schedule/Passes.h"
#include "fusion/Transforms/Passes.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlow.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Pass/PassRegistry.h"
#include "mlir/Transforms/Passes.h"

using namespace mlir;

namespace fusion {

void buildGraphPipeline(OpPassManager &pm, const PipelineOptions &options) {
  OpPassManager &functions = pm.nest<func::FuncOp>();
  SimplifyPassOptions simplify;
  simplify.disable = llvm::to_vector(options.disable);
  // Composites are matched whole by name, so views around them cancel first.
  functions.addPass(createSimplifyPass(simplify));
  functions.addPass(createDecomposePass());
  functions.addPass(createSplitReductionsPass({options.target}));
  // Decomposition leaves broadcasts and conversions that meet their inverses.
  functions.addPass(createSimplifyPass(simplify));
  functions.addPass(createFormGroupsPass());
}

void buildKernelPipeline(OpPassManager &pm, const PipelineOptions &options) {
  buildGraphPipeline(pm, options);
  SchedulePassOptions schedule;
  schedule.target = options.target;
  schedule.vectorBits = options.vectorBits;
  schedule.processors = options.processors;
  pm.addPass(createSchedulePass(schedule));
  OpPassManager &kernels = pm.nest<tile::KernelOp>();
  if (options.fast)
    kernels.addPass(createRelaxRoundingPass());
}

void buildLLVMPipeline(OpPassManager &pm, const PipelineOptions &options) {
  OpPassManager &kernels = pm.nest<tile::KernelOp>();
  // Schedules leave equal index arithmetic in sibling regions.
  kernels.addPass(createCanonicalizerPass());
  kernels.addPass(createCSEPass());
  kernels.addPass(createTileExpandReduce());
  ConvertTileToLLVMOptions convert;
  if (options.target == "cpu") {
    // LLVM would call libm for each lane.
    pm.addPass(createTileExpandMath());
    convert.target = KernelTarget::CPU;
  } else {
    convert.target = options.target == "emulator" ? KernelTarget::Emulator
                                                  : KernelTarget::NVVM;
  }
  pm.addPass(createConvertTileToLLVM(convert));
}

void registerPipelines() {
  PassPipelineRegistration<PipelineOptions>(
      "fusion-graph-pipeline", "from a graph to groups", buildGraphPipeline);
  PassPipelineRegistration<PipelineOptions>(
      "fusion-kernel-pipeline", "from a graph to kernels and launches",
      buildKernelPipeline);
  PassPipelineRegistration<PipelineOptions>("fusion-llvm-pipeline",
                                            "from kernels to the LLVM dialect",
                                            buildLLVMPipeline);
}

void registerDialects(DialectRegistry &registry) {
  registry.insert<FusionDialect, tile::TileDialect, arith::ArithDialect,
                  cf::ControlFlowDialect, func::FuncDialect, gpu::GPUDialect,
                  LLVM::LLVMDialect, math::MathDialect, memref::MemRefDialect,
                  NVVM::NVVMDialect, scf::SCFDialect, vector::VectorDialect>();
}

} // namespace fusion
