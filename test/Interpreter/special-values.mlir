// RUN: fusion-run --reference %s | FileCheck %s
// NaN, infinities and signed zeros.

func.func @main() -> (tensor<3xf32>, tensor<3xf64>, tensor<1xf64>, tensor<1xf32>,
                      tensor<3xf64>, tensor<3xf32>, tensor<3xi64>, tensor<3xi64>,
                      tensor<5xf32>, tensor<5xi8>, tensor<4x2xf32>) {
  // Rounding the quotient down would give 10, 5 and 30.
  // CHECK: result 0: f32 [3] = 9, 4, 29
  %a32 = fusion.constant dense<[1.0, 0.5, 6.0]> : tensor<3xf32>
  %b32 = fusion.constant dense<[0.1, 0.1, 0.2]> : tensor<3xf32>
  %f32 = fusion.floor_div %a32, %b32 : (tensor<3xf32>, tensor<3xf32>) -> tensor<3xf32>
  // CHECK: result 1: f64 [3] = 9, 4, 29
  %a64 = fusion.constant dense<[1.0, 0.5, 6.0]> : tensor<3xf64>
  %b64 = fusion.constant dense<[0.1, 0.1, 0.2]> : tensor<3xf64>
  %f64 = fusion.floor_div %a64, %b64 : (tensor<3xf64>, tensor<3xf64>) -> tensor<3xf64>
  // A third is below 1 / 3 in f64 and above it in f32.
  // CHECK: result 2: f64 [1] = 3
  %one64 = fusion.constant dense<1.0> : tensor<1xf64>
  %three64 = fusion.constant dense<3.0> : tensor<1xf64>
  %third64 = fusion.div %one64, %three64 : (tensor<1xf64>, tensor<1xf64>) -> tensor<1xf64>
  %q64 = fusion.floor_div %one64, %third64 : (tensor<1xf64>, tensor<1xf64>) -> tensor<1xf64>
  // CHECK: result 3: f32 [1] = 2
  %one32 = fusion.constant dense<1.0> : tensor<1xf32>
  %three32 = fusion.constant dense<3.0> : tensor<1xf32>
  %third32 = fusion.div %one32, %three32 : (tensor<1xf32>, tensor<1xf32>) -> tensor<1xf32>
  %q32 = fusion.floor_div %one32, %third32 : (tensor<1xf32>, tensor<1xf32>) -> tensor<1xf32>
  // CHECK: result 4: f64 [3] = nan, nan, nan
  %inf = fusion.constant dense<[0x7FF8000000000000, 0x7FF0000000000000, 0xFFF0000000000000]> : tensor<3xf64>
  %ones = fusion.constant dense<1.0> : tensor<3xf64>
  %nans = fusion.floor_div %inf, %ones : (tensor<3xf64>, tensor<3xf64>) -> tensor<3xf64>

  // ceil gives -0.0, and -0.0 + 0.0 is 0.0: the sum is no no-op.
  // CHECK: result 5: f32 [3] = inf, inf, inf
  %x = fusion.constant dense<[-0.5, -0.1, -0.9]> : tensor<3xf32>
  %zeros = fusion.constant dense<0.0> : tensor<3xf32>
  %ceil = fusion.ceil %x : (tensor<3xf32>) -> tensor<3xf32>
  %sum = fusion.add %ceil, %zeros : (tensor<3xf32>, tensor<3xf32>) -> tensor<3xf32>
  %reciprocal = fusion.reciprocal %sum : (tensor<3xf32>) -> tensor<3xf32>

  // The first NaN wins, then the first of equal elements.
  // CHECK: result 6: i64 [3] = 1, 1, 0
  %rows = fusion.constant dense<[[1.0, 5.0, 5.0, 3.0],
                                 [2.0, 0x7FC00000, 9.0, 0x7FC00000],
                                 [-0.0, 0.0, -1.0, -1.0]]> : tensor<3x4xf32>
  %max = fusion.arg_reduce max, %rows {dim = 1 : i64} : (tensor<3x4xf32>) -> tensor<3xi64>
  // CHECK: result 7: i64 [3] = 0, 1, 2
  %min = fusion.arg_reduce min, %rows {dim = 1 : i64} : (tensor<3x4xf32>) -> tensor<3xi64>

  // CHECK: result 8: f32 [5] = 0, nan, nan, 2, 0
  %p = fusion.constant dense<[-0.0, 0x7FC00000, 1.0, 2.0, 0.0]> : tensor<5xf32>
  %q = fusion.constant dense<[0.0, 1.0, 0x7FC00000, -3.0, -0.0]> : tensor<5xf32>
  %maximum = fusion.max %p, %q : (tensor<5xf32>, tensor<5xf32>) -> tensor<5xf32>

  // CHECK: result 9: i8 [5] = 127, -128, 0, -1, 127
  %wild = fusion.constant dense<[1.0e30, -1.0e30, 0x7FC00000, -1.9, 127.9]> : tensor<5xf32>
  %saturated = fusion.convert %wild : (tensor<5xf32>) -> tensor<5xi8>

  // Softmax of infinities; large finite values do not overflow.
  // CHECK: result 10: f32 [4, 2] = 0.5, 0.5, 0, 1, nan, nan, nan, nan
  %s = fusion.constant dense<[[1.7e14, 1.7e14], [-1.0e14, 1.0e14],
                              [0x7F800000, 1.0], [0xFF800000, 0xFF800000]]> : tensor<4x2xf32>
  %softmax = fusion.softmax %s {dim = 1 : i64} : (tensor<4x2xf32>) -> tensor<4x2xf32>

  return %f32, %f64, %q64, %q32, %nans, %reciprocal, %max, %min, %maximum, %saturated, %softmax
      : tensor<3xf32>, tensor<3xf64>, tensor<1xf64>, tensor<1xf32>, tensor<3xf64>, tensor<3xf32>,
        tensor<3xi64>, tensor<3xi64>, tensor<5xf32>, tensor<5xi8>, tensor<4x2xf32>
}
