// RUN: fusion-opt %s --fusion-kernel-pipeline="target=cpu vector-bits=512" | FileCheck %s

// The taps of a small window are unrolled, and rows of results share what they
// read: 8 rows of a 3x3 window need 10 x 3 vectors, not 72.
// CHECK-LABEL: tile.kernel @conv_kernel
// CHECK: scf.if
// CHECK-COUNT-30: vector.{{(masked)?}}load %arg0
// CHECK-NOT: load %arg0
// CHECK: tile.return
func.func @main(%x: tensor<1x32x64x64xf32>, %w: tensor<32x1x3x3xf32>) -> tensor<1x32x64x64xf32> {
  %0 = fusion.conv %x, %w {strides = array<i64: 1, 1>, pad_low = array<i64: 1, 1>, pad_high = array<i64: 1, 1>, dilations = array<i64: 1, 1>, groups = 32 : i64} : (tensor<1x32x64x64xf32>, tensor<32x1x3x3xf32>) -> tensor<1x32x64x64xf32>
  return %0 : tensor<1x32x64x64xf32>
}
