//===- Passes.td - passes on graphs ---------------------------------------===//

#ifndef FUSION_TRANSFORMS_PASSES_TD
#define FUSION_TRANSFORMS_PASSES_TD

include "mlir/Pass/PassBase.td"

def SimplifyPass : Pass<"fusion-simplify", "::mlir::func::FuncOp"> {
  let summary = "rewrite a graph into an equal one with less work";
  let description = [{
    Applies the rewrites of `fusion::getSimplifyRewrites` with the folds of the
    dialect until none applies, and removes repeated and unused ops. Composition
    of views comes first in value: a graph from a front end is full of reshapes
    and broadcasts that cancel.

    Results keep their bits, NaN payloads aside: each rewrite holds for NaN,
    infinities, signed zeros, and integers that wrap. Each has a name and can be
    left out: `--fusion-simplify=disable=sink-reshape,mul-by-one`.

    ```mlir
    // Before
    %one = fusion.constant dense<1.0> : tensor<4x8xf32>
    %0 = fusion.reshape %x : (tensor<32xf32>) -> tensor<4x8xf32>
    %1 = fusion.mul %0, %one : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xf32>
    %2 = fusion.exp %1 : (tensor<4x8xf32>) -> tensor<4x8xf32>
    // After
    %0 = fusion.exp %x : (tensor<32xf32>) -> tensor<32xf32>
    %1 = fusion.reshape %0 : (tensor<32xf32>) -> tensor<4x8xf32>
    ```
  }];
  let dependentDialects = ["::fusion::FusionDialect"];
  let options = [
    ListOption<"disable", "disable", "std::string",
               "names of rewrites to leave out">];
  let statistics = [
    Statistic<"numRewrites", "num-rewrites", "rewrites that applied">];
}

def DecomposePass : Pass<"fusion-decompose", "::mlir::func::FuncOp"> {
  let summary = "write composite ops out as primitives";
  let description = [{
    Replaces softmax, log-softmax and the norms by elementwise ops, reductions and
    broadcasts, so that they fuse with their neighbours and with each other. f16
    and bf16 are computed in f32 and rounded once. Means are sums of elements that
    are scaled first, so that rows near the largest float do not overflow; the
    variance is the mean of squares of centred elements. Batch norm becomes one
    multiply-add by a scale and a shift computed on `[C]`.

    The number of elements of a mean along symbolic sizes is counted by an integer
    reduction of ones along the same dimensions, which a kernel does beside the
    other reductions.

    ```mlir
    // Before
    %y = fusion.softmax %x {dim = 1 : i64} : (tensor<4x8xf32>) -> tensor<4x8xf32>
    // After
    %0 = fusion.reduce max, %x {dims = array<i64: 1>} : (tensor<4x8xf32>) -> tensor<4xf32>
    %1 = fusion.broadcast %0 {dims = array<i64: 0>} : (tensor<4xf32>) -> tensor<4x8xf32>
    %2 = fusion.sub %x, %1 : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xf32>
    %3 = fusion.exp %2 : (tensor<4x8xf32>) -> tensor<4x8xf32>
    %4 = fusion.reduce sum, %3 {dims = array<i64: 1>} : (tensor<4x8xf32>) -> tensor<4xf32>
    %5 = fusion.broadcast %4 {dims = array<i64: 0>} : (tensor<4xf32>) -> tensor<4x8xf32>
    %y = fusion.div %3, %5 : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xf32>
    ```
  }];
  let dependentDialects = ["::fusion::FusionDialect"];
  let statistics = [
    Statistic<"numDecomposed", "num-decomposed", "composite ops written out">];
}

def SplitReductionsPass : Pass<"fusion-split-reductions", "::mlir::func::FuncOp"> {
  let summary = "cut long reductions with few results into two";
  let description = [{
    A reduction whose results are too few to occupy the target becomes one over
    pieces of its longest dim and one over the pieces. Pieces follow from the
    shapes alone, so results are the same bits in every run. A sum's rounding
    differs from that of one long sum, as any order's does, and is as a rule
    smaller. Reductions of f16 and bf16 are left as they are.

    ```mlir
    // Before
    %s = fusion.reduce sum, %x {dims = array<i64: 0>} : (tensor<1048576xf32>) -> tensor<f32>
    // After
    %0 = fusion.reshape %x : (tensor<1048576xf32>) -> tensor<32x32768xf32>
    %1 = fusion.reduce sum, %0 {dims = array<i64: 1>} : (tensor<32x32768xf32>) -> tensor<32xf32>
    %s = fusion.reduce sum, %1 {dims = array<i64: 0>} : (tensor<32xf32>) -> tensor<f32>
    ```
  }];
  let dependentDialects = ["::fusion::FusionDialect"];
  let options = [
    Option<"target", "target", "std::string", "\"cpu\"",
           "cpu, emulator, or a GPU architecture such as sm_90a">];
  let statistics = [Statistic<"numSplit", "num-split", "reductions cut">];
}

def FormGroupsPass : Pass<"fusion-form-groups", "::mlir::func::FuncOp"> {
  let summary = "decide which ops run as one kernel";
  let description = [{
    Collects ops in `fusion.group` ops, one for each kernel. Of all values that
    pass between groups, the largest is considered first; producer and consumer
    become one group where a schedule can run it well and nothing costly is made
    over and over. Each edge of the graph gets a remark with the rule that decided
    it, the bytes at stake and the reason, also as the function's
    `fusion.remarks` attribute. Has no effect on numerics: an op rounds to its
    result type inside a kernel as it does outside.

    ```mlir
    // Before
    %0 = fusion.exp %x : (tensor<4xf32>) -> tensor<4xf32>
    %1 = fusion.neg %0 : (tensor<4xf32>) -> tensor<4xf32>
    // After
    %0 = fusion.group "exp_neg" (%a = %x : tensor<4xf32>) -> tensor<4xf32> {
      %1 = fusion.exp %a : (tensor<4xf32>) -> tensor<4xf32>
      %2 = fusion.neg %1 : (tensor<4xf32>) -> tensor<4xf32>
      fusion.yield %2 : tensor<4xf32>
    }
    ```
  }];
  let dependentDialects = ["::fusion::FusionDialect"];
  let statistics = [
    Statistic<"numFused", "num-fused", "edges inside a group">,
    Statistic<"numUnfused", "num-unfused", "edges between groups">];
}

#endif // FUSION_TRANSFORMS_PASSES_TD
