//===- TileOps.td - kernels as tiled loops --------------------------------===//
//
// A kernel is one thread's program: scf loops over arith, math, vector and
// memref ops, with gpu ops for block and thread ids, barriers and shuffles.
// This dialect adds what upstream lacks: the kernel with its grid as an
// expression of sizes, the launch on tensors, shared buffers, reductions, and
// products and copies in a form that the emulator runs, too.
//
//===----------------------------------------------------------------------===//

#ifndef TILE_OPS_TD
#define TILE_OPS_TD

include "mlir/IR/OpBase.td"
include "mlir/IR/BuiltinAttributes.td"
include "mlir/IR/EnumAttr.td"
include "mlir/IR/SymbolInterfaces.td"
include "mlir/Interfaces/FunctionInterfaces.td"
include "mlir/Interfaces/ControlFlowInterfaces.td"
include "mlir/Interfaces/InferTypeOpInterface.td"
include "mlir/Interfaces/SideEffectInterfaces.td"

def Tile_Dialect : Dialect {
  let name = "tile";
  let cppNamespace = "::fusion::tile";
  let summary = "tiled kernels: grid, threads, shared memory, fragments";
  let description = [{
    Ops say what they mean; only a conversion knows PTX. That lets the emulator run
    the very same kernel on a CPU. See RATIONALE.md.
  }];
  let dependentDialects = ["::mlir::gpu::GPUDialect"];
  let useDefaultAttributePrinterParser = 1;
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

//===----------------------------------------------------------------------===//
// Tensor cores
//===----------------------------------------------------------------------===//

def Tile_MmaKind : I32EnumAttr<"MmaKind", "shape and operands of an mma", [
  I32EnumAttrCase<"m16n8k16_f16", 0>, I32EnumAttrCase<"m16n8k16_bf16", 1>,
  I32EnumAttrCase<"m16n8k8_tf32", 2>, I32EnumAttrCase<"m16n8k32_s8", 3>,
  I32EnumAttrCase<"m16n8k32_u8", 4>, I32EnumAttrCase<"m8n8k4_f64", 5>]> {
  let cppNamespace = "::fusion::tile";
  let genSpecializedAttr = 0;
}
def Tile_MmaKindAttr : EnumAttr<Tile_Dialect, Tile_MmaKind, "mma_kind">;

def Tile_MmaOp : Tile_Op<"mma", [Pure, AllTypesMatch<["c", "result"]>]> {
  let summary = "product of fragments, added to an accumulator, by a warp";
  let description = [{
    The 32 threads of a warp compute `A * B + C` together, all of them in the same
    op. Each holds its part of every tile as a vector, a fragment; `FragmentLayout`
    of Fragment.h says which element lies where. `kind` gives the tiles' sizes (A
    is m x k, B is k x n, C and the result are m x n) and the operands' type:

    | kind | A | B | C, result |
    |---|---|---|---|
    | `m16n8k16_f16` | `vector<8xf16>` | `vector<4xf16>` | `vector<4xf32>` |
    | `m16n8k16_bf16` | `vector<8xbf16>` | `vector<4xbf16>` | `vector<4xf32>` |
    | `m16n8k8_tf32` | `vector<4xf32>` | `vector<2xf32>` | `vector<4xf32>` |
    | `m16n8k32_s8`, `m16n8k32_u8` | `vector<16xi8>` | `vector<8xi8>` | `vector<4xi32>` |
    | `m8n8k4_f64` | `vector<1xf64>` | `vector<1xf64>` | `vector<2xf64>` |

    Of an operand in tf32 only the upper 19 bits of each f32 are read: that
    truncates, and `tile.round_tf32` before it rounds. Products are exact. In what
    order they are added, and how a sum of f32 is rounded on the way, is the
    hardware's choice; sums of i32 wrap.

    Constraints:
    - (C1) the fragments' types are those of `kind`.
    - (C2) the kernel's `threads` is a multiple of 32.

    ```mlir
    %d = tile.mma m16n8k16_f16 %a, %b, %c : vector<8xf16>, vector<4xf16>, vector<4xf32>
    ```
  }];
  let arguments = (ins Tile_MmaKindAttr:$kind,
                       Arg<AnyVectorOfNonZeroRank, "fragment of A">:$a,
                       Arg<AnyVectorOfNonZeroRank, "fragment of B">:$b,
                       Arg<AnyVectorOfNonZeroRank, "fragment of C">:$c);
  let results = (outs Res<AnyVectorOfNonZeroRank, "fragment of the sum">:$result);
  let assemblyFormat = [{
    $kind $a `,` $b `,` $c attr-dict `:` type($a) `,` type($b) `,` type($c)
  }];
  let hasVerifier = 1;
}

def Tile_RoundTF32Op : Tile_Op<"round_tf32", [Pure, SameOperandsAndResultType]> {
  let summary = "f32 rounded to the precision of tf32";
  let description = [{
    Rounds to 10 bits behind the binary point: to the nearest such number, of two
    as near to the one farther from zero. The result is an f32 whose low 13 bits
    are zero; NaN becomes a NaN that `tile.mma` sees as one. Any target computes it.

    ```mlir
    %y = tile.round_tf32 %x : vector<4xf32>
    ```
  }];
  let arguments = (ins Arg<AnyTypeOf<[F32, VectorOfRankAndType<[1], [F32]>]>,
                           "values in f32">:$input);
  let results = (outs Res<AnyTypeOf<[F32, VectorOfRankAndType<[1], [F32]>]>,
                          "rounded values">:$result);
  let assemblyFormat = "$input attr-dict `:` type($input)";
}

def Tile_LoadMatrixOp : Tile_Op<"load_matrix"> {
  let summary = "fragments of 8 x 8 matrices from shared memory, by a warp";
  let description = [{
    The 32 threads of a warp load 1, 2 or 4 matrices together, all of them in the
    same op. A matrix is 8 rows of 16 bytes, 8 x 8 elements of 16 bits. Lane `l`
    names row `l mod 8` of matrix `l / 8` by the index of its first element;
    indices of lanes past the last matrix are ignored. Lane `l` receives 4 bytes of
    every matrix, those at `4 * (l mod 4)` of row `l / 4`: of 16 bits the element
    `(l / 4, 2 * (l mod 4))` and the one beside it. With `transposed` it receives
    the element `(2 * (l mod 4), l / 4)` and the one below. Matrices come one after
    the other in the result. `FragmentLayout::getMatrixRow` says which rows to name
    for an operand of `tile.mma`.

    Constraints:
    - (C1) the buffer is in the workgroup's address space, of elements of 8, 16 or
      32 bits, and has an index for each dimension.
    - (C2) the result is a vector of the buffer's elements, of 4, 8 or 16 bytes.
    - (C3) only elements of 16 bits are transposed.
    - (C4) the kernel's `threads` is a multiple of 32.
    - (C5) each row begins at a multiple of 16 bytes; not verified.

    ```mlir
    %a = tile.load_matrix %s[%row, %column] : memref<64x72xf16, #gpu.address_space<workgroup>>, vector<8xf16>
    %b = tile.load_matrix %t[%k, %n] transposed : memref<32x72xf16, #gpu.address_space<workgroup>>, vector<4xf16>
    ```
  }];
  let arguments = (ins Arg<AnyMemRef, "shared buffer", [MemRead]>:$buffer,
                       Arg<Variadic<Index>, "start of this lane's row">:$indices,
                       UnitAttr:$transposed);
  let results = (outs Res<AnyVectorOfNonZeroRank, "this lane's elements">:$result);
  let assemblyFormat = [{
    $buffer `[` $indices `]` (`transposed` $transposed^)? attr-dict
    `:` type($buffer) `,` type($result)
  }];
  let hasVerifier = 1;
  let extraClassDeclaration = [{
    /// 1, 2 or 4: a lane gets 4 bytes of each.
    int64_t getNumMatrices();
  }];
}

//===----------------------------------------------------------------------===//
// Asynchronous copies
//===----------------------------------------------------------------------===//

def Tile_AsyncCopyOp : Tile_Op<"async_copy", [AttrSizedOperandSegments]> {
  let summary = "copy from a buffer to shared memory, beside the thread";
  let description = [{
    Copies `count` consecutive elements. The copy is under way until a
    `tile.async_wait` of this thread completes the group to which
    `tile.async_commit` adds it; until then nobody may touch the destination. From
    then on it is as if the thread had stored it at the wait: the block's other
    threads need a barrier after that. Where `condition` is false, zeros are
    written and nothing is read.

    Constraints:
    - (C1) the source is a flat buffer `memref<?xT>`, the destination a buffer of the
      same elements in the workgroup's address space.
    - (C2) the destination has an index for each dimension.
    - (C3) the elements are 4, 8 or 16 bytes.
    - (C4) source and destination are aligned to that many bytes; not verified.

    ```mlir
    tile.async_copy %x[%i] to %s[%row, %column], 8 if %inside : memref<?xf16> to memref<64x72xf16, #gpu.address_space<workgroup>>
    ```
  }];
  let arguments = (ins Arg<AnyMemRef, "buffer", [MemRead]>:$source,
                       Arg<Index, "first element to read">:$sourceIndex,
                       Arg<AnyMemRef, "shared buffer", [MemWrite]>:$destination,
                       Arg<Variadic<Index>, "where it goes">:$indices,
                       I64Attr:$count,
                       Arg<Optional<I1>, "whether to read">:$condition);
  let assemblyFormat = [{
    $source `[` $sourceIndex `]` `to` $destination `[` $indices `]` `,` $count
    (`if` $condition^)? attr-dict `:` type($source) `to` type($destination)
  }];
  let hasVerifier = 1;
  let extraClassDeclaration = [{
    /// 4, 8 or 16.
    int64_t getNumBytes();
  }];
}

def Tile_AsyncCommitOp : Tile_Op<"async_commit"> {
  let summary = "end of a group of asynchronous copies";
  let description = [{
    Makes a group, maybe an empty one, of the copies that this thread has issued
    since its last group.

    ```mlir
    tile.async_commit
    ```
  }];
  let assemblyFormat = "attr-dict";
}

def Tile_AsyncWaitOp : Tile_Op<"async_wait"> {
  let summary = "completion of groups of asynchronous copies";
  let description = [{
    Waits until at most the last `pending` groups of this thread are under way.

    Constraints:
    - (C1) `pending` is not negative.

    ```mlir
    tile.async_wait {pending = 1 : i64}
    ```
  }];
  let arguments = (ins I64Attr:$pending);
  let assemblyFormat = "attr-dict";
  let hasVerifier = 1;
}

#endif // TILE_OPS_TD
