// RUN: fusion-run --reference %s | FileCheck %s
// Every op rounds to its result type, also where a wider type is near.

func.func @main() -> (tensor<1xf32>, tensor<5xf32>, tensor<5xf32>, tensor<2xf16>,
                      tensor<f16>, tensor<2x4xf32>) {
  // 5000 * 5000 overflows f16 although the product is converted to f32.
  // CHECK: result 0: f32 [1] = inf
  %x = fusion.constant dense<5000.0> : tensor<1xf32>
  %half = fusion.convert %x : (tensor<1xf32>) -> tensor<1xf16>
  %square = fusion.mul %half, %half : (tensor<1xf16>, tensor<1xf16>) -> tensor<1xf16>
  %wide = fusion.convert %square : (tensor<1xf16>) -> tensor<1xf32>

  // A round trip through a narrower type rounds.
  // CHECK: result 1: f32 [5] = 0, 0.14282227, 0.28564453, 0.4284668, 0.57128906
  // CHECK: result 2: f32 [5] = 0, 0.14257812, 0.28515625, 0.42773438, 0.5703125
  %i = fusion.iota {dim = 0 : i64} : () -> tensor<5xf32>
  %seven = fusion.constant dense<7.0> : tensor<5xf32>
  %y = fusion.div %i, %seven : (tensor<5xf32>, tensor<5xf32>) -> tensor<5xf32>
  %y16 = fusion.convert %y : (tensor<5xf32>) -> tensor<5xf16>
  %f16 = fusion.convert %y16 : (tensor<5xf16>) -> tensor<5xf32>
  %yb16 = fusion.convert %y : (tensor<5xf32>) -> tensor<5xbf16>
  %bf16 = fusion.convert %yb16 : (tensor<5xbf16>) -> tensor<5xf32>

  // Ties go to even.
  // CHECK: result 3: f16 [2] = 2048, 2052
  %ties = fusion.constant dense<[2049.0, 2051.0]> : tensor<2xf64>
  %even = fusion.convert %ties : (tensor<2xf64>) -> tensor<2xf16>

  // A sum is accumulated wider than its type: 4096 ones in f16 are 4096.
  // CHECK: result 4: f16 [] = 4096
  %ones = fusion.constant dense<1.0> : tensor<4096xf16>
  %sum = fusion.reduce sum, %ones {dims = array<i64: 0>} : (tensor<4096xf16>) -> tensor<f16>

  // A constant row near the largest float is normalised to the bias.
  // CHECK: result 5: f32 [2, 4] = 1, 2, 3, 4, 1, 2, 3, 4
  %rows = fusion.constant dense<8.5e37> : tensor<2x4xf32>
  %weight = fusion.constant dense<2.0> : tensor<4xf32>
  %bias = fusion.constant dense<[1.0, 2.0, 3.0, 4.0]> : tensor<4xf32>
  %norm = fusion.layer_norm %rows, %weight, %bias {axis = 1 : i64, epsilon = 1.0e-5 : f64}
      : (tensor<2x4xf32>, tensor<4xf32>, tensor<4xf32>) -> tensor<2x4xf32>

  return %wide, %f16, %bf16, %even, %sum, %norm
      : tensor<1xf32>, tensor<5xf32>, tensor<5xf32>, tensor<2xf16>, tensor<f16>, tensor<2x4xf32>
}
