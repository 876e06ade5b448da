// RUN: fusion-run %s --no-cache --check --target=cpu | FileCheck %s
// RUN: fusion-run %s --no-cache --check --target=%gpu | FileCheck %s

// CHECK: check 0: passed
// CHECK: check 1: passed
// CHECK: check 2: passed
// CHECK: check 3: passed

// Unrolled windows with rows left over, depthwise and with few channels a
// group; products with a vector on either side.
func.func @main(%x: tensor<2x8x11x13xf32>, %w: tensor<8x1x3x3xf32>, %g: tensor<8x4x3x2xf32>,
                %a: tensor<1x300xf32>, %b: tensor<70x300xf32>, %c: tensor<70x1xf16>, %d: tensor<45x70xf16>)
    -> (tensor<2x8x11x13xf32>, tensor<2x8x5x12xf32>, tensor<1x70xf32>, tensor<45x1xf16>) {
  %0 = fusion.conv %x, %w {strides = array<i64: 1, 1>, pad_low = array<i64: 1, 1>, pad_high = array<i64: 1, 1>, dilations = array<i64: 1, 1>, groups = 8 : i64} : (tensor<2x8x11x13xf32>, tensor<8x1x3x3xf32>) -> tensor<2x8x11x13xf32>
  %1 = fusion.conv %x, %g {strides = array<i64: 2, 1>, pad_low = array<i64: 0, 0>, pad_high = array<i64: 0, 0>, dilations = array<i64: 1, 1>, groups = 2 : i64} : (tensor<2x8x11x13xf32>, tensor<8x4x3x2xf32>) -> tensor<2x8x5x12xf32>
  %2 = fusion.matmul %a, %b {transpose_rhs} : (tensor<1x300xf32>, tensor<70x300xf32>) -> tensor<1x70xf32>
  %3 = fusion.matmul %d, %c : (tensor<45x70xf16>, tensor<70x1xf16>) -> tensor<45x1xf16>
  return %0, %1, %2, %3 : tensor<2x8x11x13xf32>, tensor<2x8x5x12xf32>, tensor<1x70xf32>, tensor<45x1xf16>
}
