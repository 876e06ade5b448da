//===- FusionOps.td - every op of the fusion dialect ----------------------===//
//
// Joins the families and adds the group, the unit of fusion.
//
//===----------------------------------------------------------------------===//

#ifndef FUSION_OPS_TD
#define FUSION_OPS_TD

include "FusionElementwise.td"
include "FusionViews.td"
include "FusionHeroes.td"
include "FusionComposite.td"
include "mlir/Interfaces/ControlFlowInterfaces.td"

def Fusion_GroupOp : Op<Fusion_Dialect, "group", [
    IsolatedFromAbove, RecursiveMemoryEffects, SingleBlock,
    SingleBlockImplicitTerminator<"::fusion::YieldOp">]> {
  let summary = "ops that run as one kernel";
  let description = [{
    A region over block arguments that stand for the operands. It holds at most
    one hero family; `fusion-form-groups` makes groups, a schedule turns each into
    one `tile.kernel`.

    Constraints:
    - (C1) block arguments and operands have equal types, yielded values and
      results too.

    ```mlir
    %y = fusion.group "add_exp" (%a = %x : tensor<4xf32>) -> tensor<4xf32> {
      %0 = fusion.exp %a : (tensor<4xf32>) -> tensor<4xf32>
      fusion.yield %0 : tensor<4xf32>
    }
    ```
  }];
  let arguments = (ins StrAttr:$name,
                       Arg<Variadic<Fusion_Tensor>, "values read">:$inputs);
  let results = (outs Res<Variadic<Fusion_Tensor>, "values written">:$outputs);
  let regions = (region SizedRegion<1>:$body);
  let hasCustomAssemblyFormat = 1;
  let hasVerifier = 1;
}

def Fusion_YieldOp : Op<Fusion_Dialect, "yield", [
    Pure, Terminator, ReturnLike, HasParent<"GroupOp">]> {
  let summary = "the results of a group";
  let description = [{
    ```mlir
    fusion.yield %0 : tensor<4xf32>
    ```
  }];
  let arguments = (ins Arg<Variadic<Fusion_Tensor>, "values written">:$results);
  let assemblyFormat = "attr-dict ($results^ `:` type($results))?";
  let builders = [OpBuilder<(ins), [{}]>];
}

#endif // FUSION_OPS_TD
