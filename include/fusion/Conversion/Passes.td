//===- Passes.td - from tile programs to the LLVM dialect -----------------===//

#ifndef FUSION_CONVERSION_PASSES_TD
#define FUSION_CONVERSION_PASSES_TD

include "mlir/Pass/PassBase.td"

def TileExpandReduce : Pass<"tile-expand-reduce", "::fusion::tile::KernelOp"> {
  let summary = "write reductions over threads as shuffles and shared memory";
  let description = [{
    A `tile.reduce` of up to 32 threads becomes a butterfly of warp shuffles. A
    wider one reduces each warp so, passes one value a warp through shared memory
    and reduces those by a second butterfly in every warp. Each reduction owns its
    shared buffer, so only one that a loop repeats needs a second barrier. Values
    of any type travel as 32-bit words.

    The tree of combinations depends on nothing but the width: results are the
    same bits in every thread and every run. Numerics are unchanged.

    ```mlir
    // Before
    %s = tile.reduce %x {width = 2 : i64} : f32 {
    ^bb0(%a: f32, %b: f32):
      %0 = arith.addf %a, %b : f32
      tile.yield %0 : f32
    }
    // After
    %w = arith.bitcast %x : f32 to i32
    %v, %valid = gpu.shuffle xor %w, %c1, %c32 : i32
    %y = arith.bitcast %v : i32 to f32
    %s = arith.addf %x, %y : f32
    ```
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::gpu::GPUDialect",
                           "::mlir::memref::MemRefDialect", "::mlir::scf::SCFDialect",
                           "::mlir::vector::VectorDialect"];
  let statistics = [
    Statistic<"numExpanded", "num-expanded", "reductions written out">];
}

def TileExpandMath : Pass<"tile-expand-math"> {
  let summary = "write mathematical functions as polynomials for the CPU";
  let description = [{
    Rewrites math ops on f32, scalars and vectors alike, into arith at full vector
    width: exp, exp2, expm1, tanh, erf, log, log1p, log2, log10, pow, sin, cos. The
    results are within 1.6 ulp for every operand, special values as in C23. Other
    functions, and f64, are unrolled to scalars, which libm computes.

    Runs before `convert-tile-to-llvm` on the CPU. Numerics: the functions named
    round differently from libm's, within the error stated.

    ```mlir
    // Before
    %y = math.sinh %x : vector<2xf32>
    // After
    %0 = vector.extract %x[0] : f32 from vector<2xf32>
    %1 = math.sinh %0 : f32
    %2 = vector.extract %x[1] : f32 from vector<2xf32>
    %3 = math.sinh %2 : f32
    %y = vector.from_elements %1, %3 : vector<2xf32>
    ```
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::math::MathDialect",
                           "::mlir::scf::SCFDialect", "::mlir::vector::VectorDialect"];
}

def ConvertTileToLLVM : Pass<"convert-tile-to-llvm", "::mlir::ModuleOp"> {
  let summary = "convert kernels to functions of the LLVM dialect";
  let description = [{
    Every `tile.kernel` becomes an `llvm.func` of the same name, in the form that
    the target's launch calls; functions that only launch kernels are dropped.
    Reductions must have been written out by `tile-expand-reduce`.

    - `cpu`: `void name(ptr buffers, ptr sizes, i64 first, i64 end)` runs a range
      of blocks of one thread each.
    - `nvvm`: a kernel whose parameters are the buffers' pointers and the sizes, the
      latter as wide as `index_bits`. Shared buffers lie at fixed offsets in the
      dynamic shared memory, whose size is the function's `tile.shared_bytes`.
    - `emulator`: `void name(ptr buffers, ptr sizes, ptr thread)` runs one thread.
      The emulator hears of every access, and of all that threads do together, by
      calls of the functions in Target/Emulator.h.

    No op gets a fast-math flag: numerics are unchanged. Exact functions become
    instructions; the rest calls libm, or libdevice on `nvvm`.

    ```mlir
    // Before
    tile.kernel @double(%x: memref<?xf32> {tile.access = "read"}, ...)
    // After, on nvvm
    llvm.func @double(%x: !llvm.ptr {llvm.noalias, llvm.readonly}, ...)
        attributes {nvvm.kernel, nvvm.reqntid = array<i32: 256, 1, 1>}
    ```
  }];
  let dependentDialects = ["::mlir::LLVM::LLVMDialect", "::mlir::NVVM::NVVMDialect",
                           "::mlir::arith::ArithDialect", "::mlir::cf::ControlFlowDialect",
                           "::mlir::func::FuncDialect", "::mlir::math::MathDialect",
                           "::mlir::scf::SCFDialect", "::mlir::ub::UBDialect",
                           "::mlir::vector::VectorDialect"];
  let options = [
    Option<"target", "target", "::fusion::KernelTarget",
           /*default=*/"::fusion::KernelTarget::CPU", "form of the kernels",
           [{::llvm::cl::values(
             clEnumValN(::fusion::KernelTarget::CPU, "cpu", "a loop over blocks"),
             clEnumValN(::fusion::KernelTarget::NVVM, "nvvm", "an NVIDIA GPU's kernel"),
             clEnumValN(::fusion::KernelTarget::Emulator, "emulator",
                        "one thread, under the emulator's eyes"))}]>];
}

#endif // FUSION_CONVERSION_PASSES_TD
