// RUN: fusion-run %s --no-cache --check --target=cpu | FileCheck %s
// RUN: fusion-run %s --no-cache --check --target=%gpu | FileCheck %s

// CHECK: check 0: passed

// Strides, dilation, groups and padding that differ by side.
func.func @main(%x: tensor<2x6x9x11xf32>, %w: tensor<4x3x3x2xf32>, %b: tensor<4xf32>) -> tensor<2x4x5x11xf32> {
  %0 = fusion.conv %x, %w, %b {strides = array<i64: 2, 1>, pad_low = array<i64: 1, 0>, pad_high = array<i64: 2, 2>, dilations = array<i64: 1, 2>, groups = 2 : i64} : (tensor<2x6x9x11xf32>, tensor<4x3x3x2xf32>, tensor<4xf32>) -> tensor<2x4x5x11xf32>
  return %0 : tensor<2x4x5x11xf32>
}
