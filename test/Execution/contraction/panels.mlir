// RUN: fusion-run %s --no-cache --check --target=cpu | FileCheck %s
// RUN: fusion-run %s --no-cache --check --target=%gpu | FileCheck %s

// CHECK: check 0: passed
// CHECK: check 1: passed
// CHECK: check 2: passed
// CHECK: check 3: passed

// Panels of every layout: either operand turned, depths beyond a block, runs of
// columns that a convolution's rows cut, a sum of nothing.
func.func @main(%a: tensor<61x700xf32>, %b: tensor<45x700xf32>, %c: tensor<700x61xf32>,
                %x: tensor<2x20x9x11xf32>, %w: tensor<24x20x3x3xf32>, %e: tensor<40x0xf32>, %f: tensor<0x40xf32>)
    -> (tensor<61x45xf32>, tensor<61x45xf32>, tensor<2x24x5x11xf32>, tensor<40x40xf32>) {
  %0 = fusion.matmul %a, %b {transpose_rhs} : (tensor<61x700xf32>, tensor<45x700xf32>) -> tensor<61x45xf32>
  %1 = fusion.matmul %c, %b {transpose_lhs, transpose_rhs} : (tensor<700x61xf32>, tensor<45x700xf32>) -> tensor<61x45xf32>
  %2 = fusion.conv %x, %w {strides = array<i64: 2, 1>, pad_low = array<i64: 1, 1>, pad_high = array<i64: 1, 1>, dilations = array<i64: 1, 1>, groups = 1 : i64} : (tensor<2x20x9x11xf32>, tensor<24x20x3x3xf32>) -> tensor<2x24x5x11xf32>
  %3 = fusion.matmul %e, %f : (tensor<40x0xf32>, tensor<0x40xf32>) -> tensor<40x40xf32>
  return %0, %1, %2, %3 : tensor<61x45xf32>, tensor<61x45xf32>, tensor<2x24x5x11xf32>, tensor<40x40xf32>
}
