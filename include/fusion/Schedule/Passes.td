//===- Passes.td - from groups to kernels ---------------------------------===//

#ifndef FUSION_SCHEDULE_PASSES_TD
#define FUSION_SCHEDULE_PASSES_TD

include "mlir/Pass/PassBase.td"

def SchedulePass : Pass<"fusion-schedule", "::mlir::ModuleOp"> {
  let summary = "write each group as a tiled kernel";
  let description = [{
    Replaces every `fusion.group` by a `tile.launch` of a `tile.kernel` that the
    first matching schedule writes for the target. Sizes above 16 become parameters
    of the kernel, so groups of one structure share it. The function gets the
    attribute `fusion.symbols`, to which the launches' sizes refer.

    ```mlir
    // Before
    %y = fusion.group "exp" (%a = %x : tensor<64xf32>) -> tensor<64xf32> { ... }
    // After
    tile.kernel @exp(%x: memref<?xf32>, %y: memref<?xf32>, %n: index) ... { ... }
    %y = tile.launch @exp(%x) {sizes = affine_map<() -> (64)>} : (tensor<64xf32>) -> tensor<64xf32>
    ```
  }];
  let options = [
    Option<"target", "target", "std::string", "\"cpu\"",
           "cpu, emulator, or a GPU architecture such as sm_90a">,
    Option<"vectorBits", "vector-bits", "unsigned", "512",
           "width of the CPU's vectors">,
    Option<"processors", "processors", "unsigned", "8",
           "cores of the CPU that a kernel should keep busy">];
  let dependentDialects = ["::fusion::tile::TileDialect",
    "::mlir::arith::ArithDialect", "::mlir::math::MathDialect",
    "::mlir::scf::SCFDialect", "::mlir::vector::VectorDialect",
    "::mlir::memref::MemRefDialect", "::mlir::gpu::GPUDialect"];
  let statistics = [
    Statistic<"numLaunches", "num-launches", "groups scheduled">,
    Statistic<"numKernels", "num-kernels", "kernels written">];
}

def RelaxRoundingPass : Pass<"tile-relax-rounding", "::fusion::tile::KernelOp"> {
  let summary = "keep f32 between ops of a kernel";
  let description = [{
    Removes the rounding of a value to f16 or bf16 where the kernel widens it to
    f32 again: the numerics mode `fast`. Values that are stored are rounded.

    ```mlir
    // Before
    %0 = arith.truncf %x : f32 to bf16
    %1 = arith.extf %0 : bf16 to f32
    // After: %x takes the place of %1
    ```
  }];
}

#endif // FUSION_SCHEDULE_PASSES_TD
