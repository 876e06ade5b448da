//===- FusionComposite.td - named compositions ----------------------------===//
//
// Ops that keep their name until `fusion-decompose` writes them out, so that
// reports speak the user's words and a schedule may match them whole.
//
//===----------------------------------------------------------------------===//

#ifndef FUSION_COMPOSITE_TD
#define FUSION_COMPOSITE_TD

include "FusionViews.td"

class Fusion_CompositeOp<string mnemonic, list<Trait> traits = []>
    : Fusion_Op<mnemonic, traits> {
  let hasVerifier = 1;
}

class Fusion_SoftmaxBase<string mnemonic, string formula>
    : Fusion_CompositeOp<mnemonic, [SameOperandsAndResultShape,
                                    SameOperandsAndResultElementType]> {
  let summary = formula;
  let description = [{
    Along `dim`, with `m` the maximum of the row: }] # formula # [{. f16 and bf16 are
    computed in f32 and rounded once. A row that holds NaN or plus infinity, or only
    minus infinities, is NaN, as in eager frameworks.

    Constraints:
    - (C1) `dim` is a dimension of the operand.

    ```mlir
    %y = fusion.}] # mnemonic # [{ %x {dim = 1 : i64} : (tensor<4x8xf32>) -> tensor<4x8xf32>
    ```
  }];
  let arguments = (ins Arg<Fusion_FloatTensor, "the operand">:$x, I64Attr:$dim);
  let results = (outs Res<Fusion_FloatTensor, "same type">:$result);
}
def Fusion_SoftmaxOp
    : Fusion_SoftmaxBase<"softmax", "exp(x - m) / sum(exp(x - m))">;
def Fusion_LogSoftmaxOp
    : Fusion_SoftmaxBase<"log_softmax", "x - m - log(sum(exp(x - m)))">;

def Fusion_LayerNormOp : Fusion_CompositeOp<"layer_norm", [
    AttrSizedOperandSegments, AllTypesMatch<["x", "result"]>]> {
  let summary = "normalisation over the trailing dimensions";
  let description = [{
    `(x - mean) * rsqrt(variance + epsilon) * weight + bias` over the dimensions
    from `axis` on (Ba et al., 2016); the variance is the biased one. f16 and bf16
    are computed in f32 and rounded once. Rows near the largest float do not
    overflow.

    Constraints:
    - (C1) `axis` is a dimension of the operand.
    - (C2) `weight` and `bias` have the shape of the dimensions from `axis` on.

    ```mlir
    %y = fusion.layer_norm %x, %w, %b {axis = 1 : i64, epsilon = 1.0e-5 : f64}
        : (tensor<4x8xf32>, tensor<8xf32>, tensor<8xf32>) -> tensor<4x8xf32>
    ```
  }];
  let arguments = (ins Arg<Fusion_FloatTensor, "the operand">:$x,
                       Arg<Optional<Fusion_FloatTensor>, "scale">:$weight,
                       Arg<Optional<Fusion_FloatTensor>, "shift, only with scale">:$bias,
                       I64Attr:$axis, F64Attr:$epsilon);
  let results = (outs Res<Fusion_FloatTensor, "same type">:$result);
  let assemblyFormat = [{
    $x (`,` $weight^ (`,` $bias^)?)? attr-dict `:` functional-type(operands, results)
  }];
}

def Fusion_RmsNormOp : Fusion_CompositeOp<"rms_norm", [
    AllTypesMatch<["x", "result"]>]> {
  let summary = "division by the root mean square over the trailing dimensions";
  let description = [{
    `x * rsqrt(mean(x^2) + epsilon) * weight` over the dimensions from `axis` on
    (Zhang and Sennrich, 2019). f16 and bf16 are computed in f32, rounded once.

    Constraints:
    - (C1) `axis` is a dimension of the operand.
    - (C2) `weight` has the shape of the dimensions from `axis` on.

    ```mlir
    %y = fusion.rms_norm %x, %w {axis = 1 : i64, epsilon = 1.0e-6 : f64}
        : (tensor<4x8xf32>, tensor<8xf32>) -> tensor<4x8xf32>
    ```
  }];
  let arguments = (ins Arg<Fusion_FloatTensor, "the operand">:$x,
                       Arg<Optional<Fusion_FloatTensor>, "scale">:$weight,
                       I64Attr:$axis, F64Attr:$epsilon);
  let results = (outs Res<Fusion_FloatTensor, "same type">:$result);
}

def Fusion_GroupNormOp : Fusion_CompositeOp<"group_norm", [
    AttrSizedOperandSegments, AllTypesMatch<["x", "result"]>]> {
  let summary = "normalisation over groups of channels and all positions";
  let description = [{
    Layer norm's formula over each sample's `C / groups` channels and all spatial
    positions of `x [N, C, spatial...]`, then `* weight[c] + bias[c]` (Wu and He,
    2018). One group a channel is instance norm.

    Constraints:
    - (C1) the operand has rank at least 2, and `groups` divides C.
    - (C2) `weight` and `bias` have C elements.

    ```mlir
    %y = fusion.group_norm %x, %w, %b {groups = 2 : i64, epsilon = 1.0e-5 : f64}
        : (tensor<2x8x4x4xf32>, tensor<8xf32>, tensor<8xf32>) -> tensor<2x8x4x4xf32>
    ```
  }];
  let arguments = (ins Arg<Fusion_FloatTensor, "input, [N, C, spatial...]">:$x,
                       Arg<Optional<Fusion_FloatTensor>, "scale, [C]">:$weight,
                       Arg<Optional<Fusion_FloatTensor>, "shift, [C], only with scale">:$bias,
                       I64Attr:$groups, F64Attr:$epsilon);
  let results = (outs Res<Fusion_FloatTensor, "same type">:$result);
  let assemblyFormat = [{
    $x (`,` $weight^ (`,` $bias^)?)? attr-dict `:` functional-type(operands, results)
  }];
}

def Fusion_BatchNormOp : Fusion_CompositeOp<"batch_norm", [
    AttrSizedOperandSegments, AllTypesMatch<["x", "result"]>]> {
  let summary = "normalisation of channels by given statistics";
  let description = [{
    `(x - mean[c]) * rsqrt(variance[c] + epsilon) * weight[c] + bias[c]` for
    `x [N, C, ...]`: inference's batch norm (Ioffe and Szegedy, 2015).

    Constraints:
    - (C1) the operand has rank at least 2.
    - (C2) `mean`, `variance`, `weight` and `bias` have C elements.

    ```mlir
    %y = fusion.batch_norm %x, %m, %v, %w, %b {epsilon = 1.0e-5 : f64}
        : (tensor<2x8x4x4xf32>, tensor<8xf32>, tensor<8xf32>, tensor<8xf32>, tensor<8xf32>)
        -> tensor<2x8x4x4xf32>
    ```
  }];
  let arguments = (ins Arg<Fusion_FloatTensor, "input, [N, C, ...]">:$x,
                       Arg<Fusion_FloatTensor, "[C]">:$mean,
                       Arg<Fusion_FloatTensor, "[C]">:$variance,
                       Arg<Optional<Fusion_FloatTensor>, "scale, [C]">:$weight,
                       Arg<Optional<Fusion_FloatTensor>, "shift, [C], only with scale">:$bias,
                       F64Attr:$epsilon);
  let results = (outs Res<Fusion_FloatTensor, "same type">:$result);
  let assemblyFormat = [{
    $x `,` $mean `,` $variance (`,` $weight^ (`,` $bias^)?)? attr-dict `:`
    functional-type(operands, results)
  }];
}

#endif // FUSION_COMPOSITE_TD
