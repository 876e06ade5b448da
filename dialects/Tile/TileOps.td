//===- TileOps.td - kernels as tiled loops --------------------------------===//
//
// A kernel is one thread's program: scf loops over arith, math, vector and
// memref ops, with gpu ops for block and thread ids, barriers and shuffles.
// This dialect adds what upstream lacks: the kernel with its grid as an
// expression of sizes, the launch on tensors, shared buffers and reductions.
//
//===----------------------------------------------------------------------===//

#ifndef TILE_OPS_TD
#define TILE_OPS_TD

include "mlir/IR/OpBase.td"
include "mlir/IR/BuiltinAttributes.td"
include "mlir/IR/SymbolInterfaces.td"
include "mlir/Interfaces/FunctionInterfaces.td"
include "mlir/Interfaces/ControlFlowInterfaces.td"
include "mlir/Interfaces/SideEffectInterfaces.td"

def Tile_Dialect : Dialect {
  let name = "tile";
  let cppNamespace = "::fusion::tile";
  let summary = "tiled kernels: grid, threads, shared memory, reductions";
  let description = [{
    Ops say what they mean; only a conversion knows PTX. That lets the emulator run
    the very same kernel on a CPU. See RATIONALE.md.
  }];
  let dependentDialects = ["::mlir::gpu::GPUDialect"];
}

class Tile_Op<string mnemonic, list<Trait> traits = []>
    : Op<Tile_Dialect, mnemonic, traits>;

def Tile_KernelOp : Tile_Op<"kernel", [
    FunctionOpInterface, IsolatedFromAbove, Symbol, AutomaticAllocationScope]> {
  let summary = "a kernel: the program of one thread";
  let description = [{
    Arguments are buffers (`memref<?xT>`, flat, in elements), then sizes (`index`).
    `grid` gives the number of blocks as an affine expression whose symbols are the
    size arguments in order; `threads` is the number of threads a block. Buffer
    argument attributes: `tile.access` is "read" or "write"; `tile.align` the
    alignment in bytes that the launch guarantees. Size argument attribute:
    `tile.divisor`, a number that divides the size. `index_bits` (32 or 64) is the
    width of `index` on a GPU.

    Constraints:
    - (C1) buffers precede sizes, buffers are rank-1 memrefs of dynamic size.
    - (C2) `grid` has no dims, one result, and as many symbols as there are sizes.
    - (C3) `threads` is from 1 to 1024; `index_bits` is 32 or 64.
    - (C4) the kernel has no results.

    ```mlir
    tile.kernel @double(%x: memref<?xf32> {tile.access = "read"}, %y: memref<?xf32> {tile.access = "write"}, %n: index)
        attributes {grid = affine_map<()[s0] -> (s0 ceildiv 256)>, threads = 256 : i64, index_bits = 32 : i64} {
      %b = gpu.block_id x
      ...
      tile.return
    }
    ```
  }];
  let arguments = (ins SymbolNameAttr:$sym_name,
                       TypeAttrOf<FunctionType>:$function_type,
                       AffineMapAttr:$grid, I64Attr:$threads,
                       DefaultValuedAttr<I64Attr, "64">:$index_bits,
                       OptionalAttr<DictArrayAttr>:$arg_attrs,
                       OptionalAttr<DictArrayAttr>:$res_attrs);
  let regions = (region AnyRegion:$body);
  let hasCustomAssemblyFormat = 1;
  let hasVerifier = 1;
  let extraClassDeclaration = [{
    mlir::ArrayRef<mlir::Type> getArgumentTypes() { return getFunctionType().getInputs(); }
    mlir::ArrayRef<mlir::Type> getResultTypes() { return getFunctionType().getResults(); }
    mlir::Region *getCallableRegion() { return &getBody(); }
    /// Number of leading buffer arguments; the rest are sizes.
    unsigned getNumBuffers();
  }];
}

def Tile_ReturnOp : Tile_Op<"return", [Pure, Terminator, HasParent<"KernelOp">]> {
  let summary = "end of a kernel";
  let description = [{
    ```mlir
    tile.return
    ```
  }];
  let assemblyFormat = "attr-dict";
}

def Tile_LaunchOp : Tile_Op<"launch", [Pure,
    DeclareOpInterfaceMethods<SymbolUserOpInterface>]> {
  let summary = "one run of a kernel on tensors";
  let description = [{
    Runs the kernel on the operands' buffers and one new buffer for each result, in
    this order. `sizes` gives the kernel's size arguments as expressions of the
    function's symbols (the function's `fusion.symbols` attribute: `[argument,
    dimension]` for a size, `[argument, rank + dimension]` for a stride).

    Constraints:
    - (C1) the callee is a `tile.kernel` with one buffer for each operand and result,
      of the same storage type.
    - (C2) `sizes` has one result for each size argument of the kernel.

    ```mlir
    %y = tile.launch @double(%x) {sizes = affine_map<()[s0] -> (s0)>} : (tensor<?xf32>) -> tensor<?xf32>
    ```
  }];
  let arguments = (ins FlatSymbolRefAttr:$callee,
                       Arg<Variadic<AnyRankedTensor>, "tensors read">:$inputs,
                       AffineMapAttr:$sizes);
  let results = (outs Res<Variadic<AnyRankedTensor>, "tensors written">:$outputs);
  let assemblyFormat =
      "$callee `(` $inputs `)` attr-dict `:` functional-type($inputs, $outputs)";
}

def Tile_SharedOp : Tile_Op<"shared", [MemoryEffects<[MemAlloc]>]> {
  let summary = "a buffer in the block's shared memory";
  let description = [{
    All threads of a block see one buffer, whose contents are undefined at first.

    Constraints:
    - (C1) the type is a static memref in the workgroup address space.
    - (C2) the op stands in the kernel's entry block.

    ```mlir
    %s = tile.shared : memref<64x65xf32, #gpu.address_space<workgroup>>
    ```
  }];
  let results = (outs Res<AnyMemRef, "the buffer">:$buffer);
  let assemblyFormat = "attr-dict `:` type($buffer)";
  let hasVerifier = 1;
}

def Tile_ReduceOp : Tile_Op<"reduce", [
    Pure, SingleBlock, AllTypesMatch<["inputs", "results"]>]> {
  let summary = "combination of one value of each of several threads";
  let description = [{
    Each aligned run of `width` consecutive threads combines its values by the
    region, and every one of them receives the result. All threads of the block
    take part. The order of combination is fixed: results are bitwise equal over
    runs. The region takes two sets of values and yields one; it is commutative.

    Constraints:
    - (C1) `width` is a power of two that divides the kernel's threads.
    - (C2) the region takes each input's type twice and yields it once.

    ```mlir
    %s = tile.reduce %x {width = 256 : i64} : f32 {
    ^bb0(%a: f32, %b: f32):
      %0 = arith.addf %a, %b : f32
      tile.yield %0 : f32
    }
    ```
  }];
  let arguments = (ins Arg<Variadic<AnyType>, "this thread's values">:$inputs,
                       I64Attr:$width);
  let results = (outs Res<Variadic<AnyType>, "combined values">:$results);
  let regions = (region SizedRegion<1>:$combiner);
  let assemblyFormat =
      "$inputs attr-dict `:` type($inputs) $combiner";
  let hasVerifier = 1;
}

def Tile_YieldOp : Tile_Op<"yield", [
    Pure, Terminator, ReturnLike, HasParent<"ReduceOp">]> {
  let summary = "the combined values of a reduction's region";
  let description = [{
    ```mlir
    tile.yield %0 : f32
    ```
  }];
  let arguments = (ins Arg<Variadic<AnyType>, "combined values">:$values);
  let assemblyFormat = "attr-dict ($values^ `:` type($values))?";
}

#endif // TILE_OPS_TD
