// RUN: fusion-run --reference %s | FileCheck %s
// Tensors without elements and without dimensions.

func.func @main() -> (tensor<0x3xi64>, tensor<f32>, tensor<f32>, tensor<2xf32>, tensor<2xi1>,
                      tensor<2x3xf32>) {
  // CHECK: result 0: i64 [0, 3] ={{ *$}}
  %none = fusion.constant dense<0.0> : tensor<0x3xf32>
  %arg = fusion.arg_reduce min, %none {dim = 1 : i64} : (tensor<0x3xf32>) -> tensor<0xi64>
  %view = fusion.reshape %arg : (tensor<0xi64>) -> tensor<0x3xi64>
  // CHECK: result 1: f32 [] = 5
  %five = fusion.constant dense<5.0> : tensor<f32>
  %sum = fusion.reduce sum, %five {dims = array<i64>} : (tensor<f32>) -> tensor<f32>
  // CHECK: result 2: f32 [] = 5
  %flip = fusion.reverse %five {dims = array<i64>} : (tensor<f32>) -> tensor<f32>
  // CHECK: result 3: f32 [2] = 1, 1
  %empty = fusion.constant dense<0.0> : tensor<2x0xf32>
  %prod = fusion.reduce prod, %empty {dims = array<i64: 1>} : (tensor<2x0xf32>) -> tensor<2xf32>
  // CHECK: result 4: i1 [2] = 1, 1
  %bools = fusion.constant dense<false> : tensor<2x0xi1>
  %all = fusion.reduce all, %bools {dims = array<i64: 1>} : (tensor<2x0xi1>) -> tensor<2xi1>
  // CHECK: result 5: f32 [2, 3] = 0, 0, 0, 0, 0, 0
  %rows = fusion.constant dense<1.0> : tensor<0x3xf32>
  %matmul = fusion.matmul %empty, %rows : (tensor<2x0xf32>, tensor<0x3xf32>) -> tensor<2x3xf32>
  return %view, %sum, %flip, %prod, %all, %matmul
      : tensor<0x3xi64>, tensor<f32>, tensor<f32>, tensor<2xf32>, tensor<2xi1>, tensor<2x3xf32>
}
