//===- FusionViews.td - constants and ops that move elements --------------===//
//
// Each result element of a view op is an element of an operand, found by an
// affine map. Inside a kernel a view costs index arithmetic only.
//
//===----------------------------------------------------------------------===//

#ifndef FUSION_VIEWS_TD
#define FUSION_VIEWS_TD

include "FusionBase.td"
include "FusionInterfaces.td"
include "mlir/Interfaces/SideEffectInterfaces.td"

class Fusion_Op<string mnemonic, list<Trait> traits = []>
    : Op<Fusion_Dialect, mnemonic, !listconcat(traits, [Pure,
        DeclareOpInterfaceMethods<Fusion_DimsInterface>])> {
  let assemblyFormat =
      "operands attr-dict `:` functional-type(operands, results)";
}

class Fusion_ViewOp<string mnemonic, list<Trait> traits = []>
    : Fusion_Op<mnemonic, !listconcat(traits, [
        DeclareOpInterfaceMethods<Fusion_IndexMapInterface, ["isView", "getAccesses"]>])> {
  let hasVerifier = 1;
}

def Fusion_ConstantOp : Fusion_Op<"constant", [ConstantLike,
    AllTypesMatch<["value", "result"]>]> {
  let summary = "a tensor known at compile time";
  let description = [{
    ```mlir
    %c = fusion.constant dense<1.0> : tensor<f32>
    ```
    A splat becomes an immediate of the kernels that read it; any other value is
    stored with the executable. The shape is static.
  }];
  let arguments = (ins ElementsAttr:$value);
  let results = (outs Res<Fusion_Tensor, "the value">:$result);
  let assemblyFormat = "attr-dict $value";
  let hasFolder = 1;
}

def Fusion_IotaOp : Fusion_Op<"iota"> {
  let summary = "the index along one dimension";
  let description = [{
    Element `[i0, i1, ...]` is `i_dim` converted to the element type. `like` gives
    the sizes of a result with symbolic sizes; its elements are not read.

    Constraints:
    - (C1) `dim` is a dimension of the result.
    - (C2) `like`, where given, has the shape of the result.
    - (C3) `like` is given where the result has a symbolic size.

    ```mlir
    %i = fusion.iota {dim = 1 : i64} : () -> tensor<4x8xi32>
    ```
  }];
  let arguments = (ins Arg<Optional<Fusion_Tensor>, "source of the sizes">:$like,
                       I64Attr:$dim);
  let results = (outs Res<Fusion_NumberTensor, "indices">:$result);
  let hasVerifier = 1;
}

def Fusion_BroadcastOp : Fusion_ViewOp<"broadcast", [
    AllElementTypesMatch<["x", "result"]>]> {
  let summary = "repetition along new dimensions and dimensions of size 1";
  let description = [{
    Dimension `i` of the operand becomes dimension `dims[i]` of the result; a
    dimension of size 1 is repeated, also one that is 1 at run time only. Other
    result dimensions are new. `like` gives the sizes of a result with symbolic
    sizes; its elements are not read.

    Constraints:
    - (C1) `dims` has one entry for each operand dimension, increasing, each a
      dimension of the result.
    - (C2) an operand size is 1 or equal to the result's.
    - (C3) `like`, where given, has the shape of the result.
    - (C4) `like` is given where a new or repeated dimension is symbolic.

    ```mlir
    %y = fusion.broadcast %x {dims = array<i64: 1>} : (tensor<8xf32>) -> tensor<4x8xf32>
    ```
  }];
  let arguments = (ins Arg<Fusion_Tensor, "the operand">:$x,
                       Arg<Optional<Fusion_Tensor>, "source of the sizes">:$like,
                       DenseI64ArrayAttr:$dims);
  let results = (outs Res<Fusion_Tensor, "repeated operand">:$result);
  let hasFolder = 1;
}

def Fusion_ReshapeOp : Fusion_ViewOp<"reshape", [
    AllElementTypesMatch<["x", "result"]>]> {
  let summary = "the same elements, in row-major order, under another shape";
  let description = [{
    Constraints:
    - (C1) operand and result have the same number of elements, where both are
      static.
    - (C2) at most one symbolic result size is neither named nor equal in position
      to an operand's; it is inferred from the number of elements.

    ```mlir
    %y = fusion.reshape %x : (tensor<4x6xf32>) -> tensor<2x12xf32>
    ```
  }];
  let arguments = (ins Arg<Fusion_Tensor, "the operand">:$x);
  let results = (outs Res<Fusion_Tensor, "another shape">:$result);
  let hasFolder = 1;
  let hasCanonicalizer = 1;
}

def Fusion_TransposeOp : Fusion_ViewOp<"transpose", [
    AllElementTypesMatch<["x", "result"]>]> {
  let summary = "permutation of dimensions";
  let description = [{
    Result dimension `i` is operand dimension `permutation[i]`.

    Constraints:
    - (C1) `permutation` is a permutation of the operand's dimensions.
    - (C2) the result's shape is the operand's, permuted.

    ```mlir
    %y = fusion.transpose %x {permutation = array<i64: 1, 0>} : (tensor<4x6xf32>) -> tensor<6x4xf32>
    ```
  }];
  let arguments = (ins Arg<Fusion_Tensor, "the operand">:$x,
                       DenseI64ArrayAttr:$permutation);
  let results = (outs Res<Fusion_Tensor, "permuted operand">:$result);
  let hasFolder = 1;
  let hasCanonicalizer = 1;
}

def Fusion_SliceOp : Fusion_ViewOp<"slice", [
    AllElementTypesMatch<["x", "result"]>]> {
  let summary = "a strided range of each dimension";
  let description = [{
    Result index `i` reads operand index `starts + i * steps`. The sizes are those
    of the result type; a symbolic result size runs to the end of the operand.

    Constraints:
    - (C1) `starts` and `steps` have one entry a dimension, starts at least 0,
      steps at least 1.
    - (C2) the last element read lies within the operand, where sizes are static.

    ```mlir
    %y = fusion.slice %x {starts = array<i64: 0, 2>, steps = array<i64: 1, 2>} : (tensor<4x8xf32>) -> tensor<4x3xf32>
    ```
  }];
  let arguments = (ins Arg<Fusion_Tensor, "the operand">:$x,
                       DenseI64ArrayAttr:$starts, DenseI64ArrayAttr:$steps);
  let results = (outs Res<Fusion_Tensor, "the range">:$result);
  let hasFolder = 1;
}

def Fusion_ReverseOp : Fusion_ViewOp<"reverse", [
    AllTypesMatch<["x", "result"]>]> {
  let summary = "reversal of dimensions";
  let description = [{
    Index `i` of each dimension in `dims` reads index `size - 1 - i`.

    Constraints:
    - (C1) `dims` are distinct dimensions of the operand.

    ```mlir
    %y = fusion.reverse %x {dims = array<i64: 0>} : (tensor<4x8xf32>) -> tensor<4x8xf32>
    ```
  }];
  let arguments = (ins Arg<Fusion_Tensor, "the operand">:$x,
                       DenseI64ArrayAttr:$dims);
  let results = (outs Res<Fusion_Tensor, "reversed operand">:$result);
}

def Fusion_GatherOp : Fusion_Op<"gather", [
    AllElementTypesMatch<["x", "result"]>]> {
  let summary = "elements chosen by indices along one dimension";
  let description = [{
    Element `[..., i, ...]` of the result, `i` along `dim`, is the operand's element
    `[..., indices[..., i, ...], ...]`. An index that is negative or not below the
    operand's size reads nothing and gives NaN, for other types than floats 0.
    Rows of a table are gathered by indices that are broadcast along the others.

    Constraints:
    - (C1) `dim` is a dimension of the operand.
    - (C2) operand and indices have one rank, and equal sizes but along `dim`.
    - (C3) the result's shape is that of the indices.

    ```mlir
    %y = fusion.gather %x, %i {dim = 1 : i64} : (tensor<4x100xf32>, tensor<4x2xi64>) -> tensor<4x2xf32>
    ```
  }];
  let arguments = (ins Arg<Fusion_Tensor, "the operand">:$x,
                       Arg<Fusion_IntTensor, "positions along `dim`">:$indices,
                       I64Attr:$dim);
  let results = (outs Res<Fusion_Tensor, "chosen elements">:$result);
  let hasVerifier = 1;
}

def Fusion_PadOp : Fusion_ViewOp<"pad", [
    AllElementTypesMatch<["x", "value", "result"]>]> {
  let summary = "elements added to, or cut from, both ends of each dimension";
  let description = [{
    Result index `i` reads operand index `i - low`, or `value` where that lies
    outside. Negative amounts cut elements off.

    Constraints:
    - (C1) `low` and `high` have one entry a dimension.
    - (C2) a result size is `low + size + high`, at least 0.
    - (C3) `value` has rank 0.

    ```mlir
    %y = fusion.pad %x, %v {low = array<i64: 1>, high = array<i64: 2>} : (tensor<4xf32>, tensor<f32>) -> tensor<7xf32>
    ```
  }];
  let arguments = (ins Arg<Fusion_Tensor, "the operand">:$x,
                       Arg<Fusion_Tensor, "the element added, rank 0">:$value,
                       DenseI64ArrayAttr:$low, DenseI64ArrayAttr:$high);
  let results = (outs Res<Fusion_Tensor, "padded operand">:$result);
  let hasFolder = 1;
}

def Fusion_ConcatOp : Fusion_ViewOp<"concat", [
    SameOperandsAndResultElementType]> {
  let summary = "operands one after the other along a dimension";
  let description = [{
    Constraints:
    - (C1) there is at least one operand, and `dim` is a dimension of the result.
    - (C2) sizes other than that of `dim` agree.
    - (C3) the result's size along `dim` is the sum of the operands'.

    ```mlir
    %z = fusion.concat %x, %y {dim = 0 : i64} : (tensor<4xf32>, tensor<2xf32>) -> tensor<6xf32>
    ```
  }];
  let arguments = (ins Arg<Variadic<Fusion_Tensor>, "the operands">:$operands,
                       I64Attr:$dim);
  let results = (outs Res<Fusion_Tensor, "all elements">:$result);
  let hasFolder = 1;
}

#endif // FUSION_VIEWS_TD
