// RUN: fusion-run %s --no-cache --check --target=cpu | FileCheck %s
// RUN: fusion-run %s --no-cache --check --target=%gpu | FileCheck %s

// CHECK: check 0: passed

// Whole tiles and what is left over at both edges.
func.func @main(%x: tensor<131x70xf32>, %y: tensor<70x131xf32>) -> tensor<70x131xf32> {
  %0 = fusion.transpose %x {permutation = array<i64: 1, 0>} : (tensor<131x70xf32>) -> tensor<70x131xf32>
  %1 = fusion.add %0, %y : (tensor<70x131xf32>, tensor<70x131xf32>) -> tensor<70x131xf32>
  return %1 : tensor<70x131xf32>
}
