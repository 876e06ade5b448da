// RUN: fusion-run %s --no-cache --check --target=cpu | FileCheck %s
// RUN: fusion-run %s --no-cache --check --target=%gpu | FileCheck %s

// CHECK: check 0: passed

// Windows that run over the edge count what is there.
func.func @main(%x: tensor<1x3x6x6xf32>) -> tensor<1x3x4x4xf32> {
  %0 = fusion.pool avg, %x {window = array<i64: 3, 3>, strides = array<i64: 2, 2>, pad_low = array<i64: 1, 1>, pad_high = array<i64: 1, 1>, dilations = array<i64: 1, 1>, ceil_mode, count_include_pad} : (tensor<1x3x6x6xf32>) -> tensor<1x3x4x4xf32>
  return %0 : tensor<1x3x4x4xf32>
}
