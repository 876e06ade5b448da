//===- FusionHeroes.td - reductions and contractions ----------------------===//
//
// Ops that combine many elements into one. A group holds at most one family of
// them, its hero; the others around it are prologue and epilogue.
//
//===----------------------------------------------------------------------===//

#ifndef FUSION_HEROES_TD
#define FUSION_HEROES_TD

include "FusionViews.td"

def Fusion_ReduceOp : Fusion_Op<"reduce", [
    AllElementTypesMatch<["x", "result"]>]> {
  let summary = "combination of all elements along dimensions";
  let description = [{
    Combines the elements along `dims`, which the result lacks. f16 and bf16 are
    accumulated in f32 and rounded once; integers wrap. `min` and `max` give NaN
    if any element is NaN. Nothing combined gives 0, 1, false and true for `sum`,
    `prod`, `any` and `all`, and is an error for `min` and `max`.

    Constraints:
    - (C1) `dims` are distinct dimensions of the operand, increasing.
    - (C2) the result's shape is the operand's without `dims`.
    - (C3) `any` and `all` combine i1, the others numbers.
    - (C4) `min` and `max` reduce no dimension of size 0.

    ```mlir
    %y = fusion.reduce sum, %x {dims = array<i64: 1>} : (tensor<4x8xf32>) -> tensor<4xf32>
    ```
  }];
  let arguments = (ins Fusion_ReduceKindAttr:$kind,
                       Arg<Fusion_Tensor, "the operand">:$x,
                       DenseI64ArrayAttr:$dims);
  let results = (outs Res<Fusion_Tensor, "operand without `dims`">:$result);
  let assemblyFormat =
      "`` $kind `,` operands attr-dict `:` functional-type(operands, results)";
  let hasVerifier = 1;
  let hasFolder = 1;
}

def Fusion_ArgReduceOp : Fusion_Op<"arg_reduce"> {
  let summary = "index of the smallest or largest element along a dimension";
  let description = [{
    The index along `dim` of the first element that equals the extremum; of the
    first NaN where there is one.

    Constraints:
    - (C1) `dim` is a dimension of the operand, of size at least 1.
    - (C2) the result's shape is the operand's without `dim`.

    ```mlir
    %i = fusion.arg_reduce max, %x {dim = 1 : i64} : (tensor<4x8xf32>) -> tensor<4xi64>
    ```
  }];
  let arguments = (ins Fusion_ArgReduceKindAttr:$kind,
                       Arg<Fusion_NumberTensor, "the operand">:$x, I64Attr:$dim);
  let results = (outs Res<Fusion_IndexTensor, "indices">:$result);
  let assemblyFormat =
      "`` $kind `,` operands attr-dict `:` functional-type(operands, results)";
  let hasVerifier = 1;
}

def Fusion_MatmulOp : Fusion_Op<"matmul"> {
  let summary = "batched matrix product";
  let description = [{
    The last two dimensions are matrices, the leading ones a batch:
    `result[b.., m, n] = sum over k of lhs[b.., m, k] * rhs[b.., k, n]`, where a
    transposed operand is stored `[.., k, m]` or `[.., n, k]`. f16 and bf16 are
    multiplied and accumulated in f32, f32 in f32 with fused multiply-adds,
    integers in 32 bits or their own width if wider, wrapping; the sum is rounded
    once to the result type.

    Constraints:
    - (C1) all ranks are equal and at least 2.
    - (C2) batch sizes agree.
    - (C3) the sizes of `k` agree, and the result is `m x n`.
    - (C4) the operands' element types agree; the result has that type, or f32 for
      f16 and bf16, or i32 for 8-bit integers.

    ```mlir
    %c = fusion.matmul %a, %b {transpose_rhs} : (tensor<4x8xf32>, tensor<16x8xf32>) -> tensor<4x16xf32>
    ```
  }];
  let arguments = (ins Arg<Fusion_NumberTensor, "left matrices">:$lhs,
                       Arg<Fusion_NumberTensor, "right matrices">:$rhs,
                       UnitAttr:$transpose_lhs, UnitAttr:$transpose_rhs);
  let results = (outs Res<Fusion_NumberTensor, "products">:$result);
  let hasVerifier = 1;
}

def Fusion_ConvOp : Fusion_Op<"conv"> {
  let summary = "convolution in one to three dimensions";
  let description = [{
    Cross-correlation of `x [N, C, spatial...]` with `weight [K, C / groups,
    window...]`, giving `[N, K, spatial...]`, plus `bias [K]`. The physical order
    (channels first or last) is a matter of the types' layouts. Spatial output size:
    `(size + low + high - dilation * (window - 1) - 1) / stride + 1`. Accumulation
    and rounding as in `fusion.matmul`, the bias added before the rounding.

    Constraints:
    - (C1) operand, weight and result have equal rank, 3 to 5.
    - (C2) `strides`, `pad_low`, `pad_high`, `dilations` have one entry for each
      spatial dimension; strides and dilations are at least 1.
    - (C3) `groups` is at least 1 and divides C and K; the weight has C / groups
      input channels.
    - (C4) the result's sizes follow from the formula, at least 0.
    - (C5) the bias has K elements.
    - (C6) all element types agree.

    ```mlir
    %y = fusion.conv %x, %w {strides = array<i64: 1, 1>, pad_low = array<i64: 1, 1>,
        pad_high = array<i64: 1, 1>, dilations = array<i64: 1, 1>, groups = 1 : i64}
        : (tensor<2x3x8x8xf32>, tensor<4x3x3x3xf32>) -> tensor<2x4x8x8xf32>
    ```
  }];
  let arguments = (ins Arg<Fusion_NumberTensor, "input, [N, C, spatial...]">:$x,
                       Arg<Fusion_NumberTensor, "[K, C / groups, window...]">:$weight,
                       Arg<Optional<Fusion_NumberTensor>, "[K]">:$bias,
                       DenseI64ArrayAttr:$strides, DenseI64ArrayAttr:$pad_low,
                       DenseI64ArrayAttr:$pad_high, DenseI64ArrayAttr:$dilations,
                       DefaultValuedAttr<I64Attr, "1">:$groups);
  let results = (outs Res<Fusion_NumberTensor, "[N, K, spatial...]">:$result);
  let hasVerifier = 1;
  let assemblyFormat = [{
    $x `,` $weight (`,` $bias^)? attr-dict `:`
    functional-type(operands, results)
  }];
}

def Fusion_PoolOp : Fusion_Op<"pool", [
    AllElementTypesMatch<["x", "result"]>]> {
  let summary = "maximum or average of windows over the trailing dimensions";
  let description = [{
    Windows slide over the last `window.size()` dimensions of `x`. Output size:
    `(size + low + high - dilation * (window - 1) - 1) / stride + 1`, the division
    rounded up with `ceil_mode`, in which case a window that would start beyond
    `size + low` is dropped. Padding never wins a `max` (NaN does). `avg` divides
    by the number of window elements within the operand and its stated padding, or
    within the operand alone unless `count_include_pad`: PyTorch's rules.

    Constraints:
    - (C1) `window`, `strides`, `pad_low`, `pad_high`, `dilations` have the same
      size, at least 1 and at most the rank; windows, strides, dilations are at
      least 1, paddings at least 0.
    - (C2) the result's sizes follow from the formula, at least 0; leading sizes
      are the operand's.
    - (C3) `avg` takes floats.

    ```mlir
    %y = fusion.pool max, %x {window = array<i64: 2, 2>, strides = array<i64: 2, 2>,
        pad_low = array<i64: 0, 0>, pad_high = array<i64: 0, 0>, dilations = array<i64: 1, 1>}
        : (tensor<2x4x8x8xf32>) -> tensor<2x4x4x4xf32>
    ```
  }];
  let arguments = (ins Fusion_PoolKindAttr:$kind,
                       Arg<Fusion_NumberTensor, "the operand">:$x,
                       DenseI64ArrayAttr:$window, DenseI64ArrayAttr:$strides,
                       DenseI64ArrayAttr:$pad_low, DenseI64ArrayAttr:$pad_high,
                       DenseI64ArrayAttr:$dilations, UnitAttr:$ceil_mode,
                       UnitAttr:$count_include_pad);
  let results = (outs Res<Fusion_NumberTensor, "one element a window">:$result);
  let assemblyFormat =
      "`` $kind `,` operands attr-dict `:` functional-type(operands, results)";
  let hasVerifier = 1;
}

#endif // FUSION_HEROES_TD
