// RUN: fusion-run %s --no-cache --check --target=cpu | FileCheck %s
// RUN: fusion-run %s --no-cache --check --target=%gpu | FileCheck %s

// CHECK: check 0: passed

// A result whose type asks for another physical order.
func.func @main(%x: tensor<3x4x5xf32>) -> tensor<5x3x4xf32, #fusion.layout<order = [1, 2, 0]>> {
  %0 = fusion.transpose %x {permutation = array<i64: 2, 0, 1>} : (tensor<3x4x5xf32>) -> tensor<5x3x4xf32>
  %1 = fusion.neg %0 : (tensor<5x3x4xf32>) -> tensor<5x3x4xf32>
  %2 = fusion.reshape %1 : (tensor<5x3x4xf32>) -> tensor<5x3x4xf32, #fusion.layout<order = [1, 2, 0]>>
  return %2 : tensor<5x3x4xf32, #fusion.layout<order = [1, 2, 0]>>
}
