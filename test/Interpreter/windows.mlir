// RUN: fusion-run --reference %s | FileCheck %s
// Pooling that rounds up, asymmetric padding, groups.

func.func @main() -> (tensor<1x1x4x4xf32>, tensor<1x1x3x4xf32>, tensor<1x1x2x2xf32>,
                      tensor<1x4x1xf32>) {
  // Over 36 ones: an inner window divides by 9, an edge by 6 and the corner by 4
  // where the padding counts.
  // CHECK: result 0: f32 [1, 1, 4, 4] = 16, 24, 24, 12, 24, 36, 36, 18, 24, 36, 36, 18, 12, 18, 18, 9
  %x = fusion.constant dense<36.0> : tensor<1x1x6x6xf32>
  %avg = fusion.pool avg, %x {window = array<i64: 3, 3>, strides = array<i64: 2, 2>,
      pad_low = array<i64: 1, 1>, pad_high = array<i64: 1, 1>, dilations = array<i64: 1, 1>,
      ceil_mode, count_include_pad} : (tensor<1x1x6x6xf32>) -> tensor<1x1x4x4xf32>

  // No window lies in the padding only: 3 x 4, not 4 x 4.
  // CHECK: result 1: f32 [1, 1, 3, 4] = 0, 2, 4, 6, 0, 2, 4, 6, 0, 2, 4, 6
  %y = fusion.iota {dim = 3 : i64} : () -> tensor<1x1x6x7xf32>
  %max = fusion.pool max, %y {window = array<i64: 1, 1>, strides = array<i64: 2, 2>,
      pad_low = array<i64: 0, 0>, pad_high = array<i64: 0, 0>, dilations = array<i64: 1, 1>,
      ceil_mode} : (tensor<1x1x6x7xf32>) -> tensor<1x1x3x4xf32>

  // Padding above and to the left only.
  // CHECK: result 2: f32 [1, 1, 2, 2] = 2, 7, 5, 11
  %z = fusion.constant dense<[[[[1.0, 1.0, 1.0, 1.0], [1.0, 1.0, 1.0, 1.0],
                                [1.0, 1.0, 1.0, 1.0], [1.0, 1.0, 1.0, 1.0]]]]> : tensor<1x1x4x4xf32>
  %w = fusion.constant dense<[[[[1.0, 2.0, 1.0], [2.0, 1.0, 1.0], [3.0, 1.0, -1.0]]]]> : tensor<1x1x3x3xf32>
  %conv = fusion.conv %z, %w {strides = array<i64: 2, 2>, pad_low = array<i64: 1, 1>,
      pad_high = array<i64: 0, 0>, dilations = array<i64: 1, 1>}
      : (tensor<1x1x4x4xf32>, tensor<1x1x3x3xf32>) -> tensor<1x1x2x2xf32>

  // Two groups of one channel with two features each.
  // CHECK: result 3: f32 [1, 4, 1] = 3, 6, 15, 20
  %c = fusion.constant dense<[[[3.0], [5.0]]]> : tensor<1x2x1xf32>
  %g = fusion.constant dense<[[[1.0]], [[2.0]], [[3.0]], [[4.0]]]> : tensor<4x1x1xf32>
  %grouped = fusion.conv %c, %g {strides = array<i64: 1>, pad_low = array<i64: 0>,
      pad_high = array<i64: 0>, dilations = array<i64: 1>, groups = 2 : i64}
      : (tensor<1x2x1xf32>, tensor<4x1x1xf32>) -> tensor<1x4x1xf32>
  return %avg, %max, %conv, %grouped
      : tensor<1x1x4x4xf32>, tensor<1x1x3x4xf32>, tensor<1x1x2x2xf32>, tensor<1x4x1xf32>
}
