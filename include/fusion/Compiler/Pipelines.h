//===- Pipelines.h - the passes in their order ----------------------------===//

#ifndef FUSION_COMPILER_PIPELINES_H
#define FUSION_COMPILER_PIPELINES_H

#include "mlir/IR/DialectRegistry.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Pass/PassOptions.h"
#include <string>
#include <vector>

namespace fusion {

struct PipelineOptions : mlir::PassPipelineOptions<PipelineOptions> {
  Option<std::string> target{
      *this, "target",
      llvm::cl::desc("cpu, emulator, or a GPU architecture such as sm_90a"),
      llvm::cl::init("cpu")};
  Option<bool> fast{*this, "fast",
                    llvm::cl::desc("keep f32 between the ops of a kernel"),
                    llvm::cl::init(false)};
  Option<unsigned> vectorBits{*this, "vector-bits",
                              llvm::cl::desc("width of the CPU's vectors"),
                              llvm::cl::init(512)};
  Option<unsigned> processors{
      *this, "processors",
      llvm::cl::desc("cores of the CPU that a kernel should keep busy"),
      llvm::cl::init(8)};
  ListOption<std::string> disable{
      *this, "disable", llvm::cl::desc("names of rewrites not to run")};
};

/// Graph to groups: `fusion-graph-pipeline`.
void buildGraphPipeline(mlir::OpPassManager &pm,
                        const PipelineOptions &options);
/// Graph to kernels and launches: `fusion-kernel-pipeline`.
void buildKernelPipeline(mlir::OpPassManager &pm,
                         const PipelineOptions &options);
/// Kernels to the LLVM dialect: `fusion-llvm-pipeline`.
void buildLLVMPipeline(mlir::OpPassManager &pm, const PipelineOptions &options);

void registerPipelines();

/// All dialects that any stage of the compiler holds.
void registerDialects(mlir::DialectRegistry &registry);

} // namespace fusion

#endif // FUSION_COMPILER_PIPELINES_H
