// RUN: fusion-run %s --no-cache --check --target=cpu | FileCheck %s
// RUN: fusion-run %s --no-cache --check --target=%gpu | FileCheck %s

// CHECK: check 0: passed

// Pads and concatenations whose borders fall inside a vector.
func.func @main(%x: tensor<3x21xf32>, %y: tensor<3x6xf32>) -> tensor<3x32xf32> {
  %c = fusion.constant dense<2.0> : tensor<f32>
  %0 = fusion.pad %x, %c {low = array<i64: 0, 3>, high = array<i64: 0, 2>} : (tensor<3x21xf32>, tensor<f32>) -> tensor<3x26xf32>
  %1 = fusion.concat %0, %y {dim = 1 : i64} : (tensor<3x26xf32>, tensor<3x6xf32>) -> tensor<3x32xf32>
  %2 = fusion.exp %1 : (tensor<3x32xf32>) -> tensor<3x32xf32>
  return %2 : tensor<3x32xf32>
}
