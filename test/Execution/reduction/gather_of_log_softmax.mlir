// RUN: fusion-run %s --no-cache --check --target=cpu | FileCheck %s
// RUN: fusion-run %s --no-cache --check --target=%gpu | FileCheck %s
// RUN: fusion-opt %s --fusion-graph-pipeline | FileCheck %s --check-prefix=ONE

// CHECK: check 0: passed

// The loss of a label is part of the row's kernel.
// ONE-COUNT-1: fusion.group
// ONE-NOT: fusion.group
func.func @main(%x: tensor<9x300xf32>, %labels: tensor<9x1xi64>) -> tensor<9x1xf32> {
  %0 = fusion.log_softmax %x {dim = 1 : i64} : (tensor<9x300xf32>) -> tensor<9x300xf32>
  %1 = fusion.gather %0, %labels {dim = 1 : i64} : (tensor<9x300xf32>, tensor<9x1xi64>) -> tensor<9x1xf32>
  %2 = fusion.neg %1 : (tensor<9x1xf32>) -> tensor<9x1xf32>
  return %2 : tensor<9x1xf32>
}
