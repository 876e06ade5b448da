//===- FusionBase.td - the fusion dialect, its attributes and type sets ---===//
//
// What every other file of the dialect builds on: the dialect itself, the
// layout attribute that gives a tensor type its physical form, the element
// types, and the enumerations used as op attributes.
//
//===----------------------------------------------------------------------===//

#ifndef FUSION_BASE_TD
#define FUSION_BASE_TD

include "mlir/IR/OpBase.td"
include "mlir/IR/AttrTypeBase.td"
include "mlir/IR/EnumAttr.td"
include "mlir/IR/TensorEncoding.td"

def Fusion_Dialect : Dialect {
  let name = "fusion";
  let cppNamespace = "::fusion";
  let summary = "graphs of tensor operations, the input of the fusion compiler";
  let description = [{
    A graph is a `func.func` whose body is a list of fusion ops on builtin
    ranked tensors, by value. Sizes may be symbolic (`?`), named through
    `#fusion.layout`, and the physical order of dimensions is a property of the
    type. Semantics are those of the field's eager frameworks: every op rounds
    to its result type. See RATIONALE.md for why.
  }];
  let useDefaultAttributePrinterParser = 1;
  let hasConstantMaterializer = 1;
  let dependentDialects = ["::mlir::func::FuncDialect"];
}

//===----------------------------------------------------------------------===//
// Layout
//===----------------------------------------------------------------------===//

def Fusion_LayoutAttr : AttrDef<Fusion_Dialect, "Layout", [
    DeclareAttrInterfaceMethods<VerifiableTensorEncoding>]> {
  let mnemonic = "layout";
  let summary = "physical form and symbolic names of a tensor's dimensions";
  let description = [{
    The encoding of a ranked tensor.

    - `order`: the dimensions from outermost to innermost in memory; a
      permutation of `0..rank-1`. Empty means row-major.
    - `strides`: in elements, `-1` for a stride that is known at run time only.
      Empty means dense in `order`. Only function arguments may carry strides.
    - `symbols`: a name for each dimension, `""` for none. Two symbolic
      dimensions of one function with the same name have the same size.

    ```mlir
    // An NHWC image batch whose batch size is the symbol N.
    tensor<?x64x56x56xf16, #fusion.layout<order = [0, 2, 3, 1], symbols = ["N", "", "", ""]>>
    ```

    Constraints:
    - (C1) `order` is empty or a permutation of the dimensions.
    - (C2) `strides` is empty or has one entry a dimension, each at least -1.
    - (C3) `symbols` is empty or has one entry a dimension.
    - (C4) `order` and `strides` are not both given.
  }];
  let parameters = (ins
    OptionalArrayRefParameter<"int64_t">:$order,
    OptionalArrayRefParameter<"int64_t">:$strides,
    OptionalArrayRefParameter<"::mlir::StringAttr">:$symbols);
  let hasCustomAssemblyFormat = 1;
}

//===----------------------------------------------------------------------===//
// Element types
//===----------------------------------------------------------------------===//

// Signless integers are signed; `ui8` is the one unsigned type; `i1` is bool.
defvar FloatTypes = [F64, F32, F16, BF16];
defvar IntTypes = [I8, I16, I32, I64, UI8];

def Fusion_Tensor : RankedTensorOf<!listconcat(FloatTypes, IntTypes, [I1])>;
def Fusion_FloatTensor : RankedTensorOf<FloatTypes>;
def Fusion_NumberTensor : RankedTensorOf<!listconcat(FloatTypes, IntTypes)>;
def Fusion_IntTensor : RankedTensorOf<IntTypes>;
def Fusion_BitsTensor : RankedTensorOf<!listconcat(IntTypes, [I1])>;
def Fusion_BoolTensor : RankedTensorOf<[I1]>;
def Fusion_IndexTensor : RankedTensorOf<[I32, I64]>;

//===----------------------------------------------------------------------===//
// Enumerations
//===----------------------------------------------------------------------===//

class Fusion_Enum<string name, string summary, list<I32EnumAttrCase> cases>
    : I32EnumAttr<name, summary, cases> {
  let cppNamespace = "::fusion";
  let genSpecializedAttr = 0;
}

class Fusion_EnumAttr<Fusion_Enum info, string mnemonic>
    : EnumAttr<Fusion_Dialect, info, mnemonic>;

def Fusion_CompareKind : Fusion_Enum<"CompareKind", "comparison", [
  I32EnumAttrCase<"eq", 0>, I32EnumAttrCase<"ne", 1>, I32EnumAttrCase<"lt", 2>,
  I32EnumAttrCase<"le", 3>, I32EnumAttrCase<"gt", 4>, I32EnumAttrCase<"ge", 5>]>;
def Fusion_CompareKindAttr : Fusion_EnumAttr<Fusion_CompareKind, "compare_kind">;

def Fusion_ReduceKind : Fusion_Enum<"ReduceKind", "reduction", [
  I32EnumAttrCase<"sum", 0>, I32EnumAttrCase<"prod", 1>,
  I32EnumAttrCase<"min", 2>, I32EnumAttrCase<"max", 3>,
  I32EnumAttrCase<"any", 4>, I32EnumAttrCase<"all", 5>]>;
def Fusion_ReduceKindAttr : Fusion_EnumAttr<Fusion_ReduceKind, "reduce_kind">;

def Fusion_ArgReduceKind : Fusion_Enum<"ArgReduceKind", "arg-reduction", [
  I32EnumAttrCase<"min", 0>, I32EnumAttrCase<"max", 1>]>;
def Fusion_ArgReduceKindAttr
    : Fusion_EnumAttr<Fusion_ArgReduceKind, "arg_reduce_kind">;

def Fusion_PoolKind : Fusion_Enum<"PoolKind", "pooling", [
  I32EnumAttrCase<"max", 0>, I32EnumAttrCase<"avg", 1>]>;
def Fusion_PoolKindAttr : Fusion_EnumAttr<Fusion_PoolKind, "pool_kind">;

def Fusion_Approximation : Fusion_Enum<"Approximation", "form of GELU", [
  I32EnumAttrCase<"none", 0>, I32EnumAttrCase<"tanh", 1>]>;
def Fusion_ApproximationAttr
    : Fusion_EnumAttr<Fusion_Approximation, "approximation">;

#endif // FUSION_BASE_TD
