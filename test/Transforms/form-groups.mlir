// RUN: fusion-opt %s --fusion-form-groups --split-input-file | FileCheck %s

// A chain is one group, and each of its edges has a remark.
// CHECK-LABEL: func.func @chain
// CHECK-SAME: bytes = 32 : i64, consumer = "neg"{{.*}}fused = true, producer = "exp"
func.func @chain(%x: tensor<8xf32>) -> tensor<8xf32> {
  // CHECK: fusion.group "exp_neg"
  // CHECK-NOT: fusion.group
  %0 = fusion.exp %x : (tensor<8xf32>) -> tensor<8xf32>
  %1 = fusion.neg %0 : (tensor<8xf32>) -> tensor<8xf32>
  return %1 : tensor<8xf32>
}

// -----

// An addend that widens the result is no epilogue of the product.
// CHECK-LABEL: func.func @widening
// CHECK-SAME: fused = false, producer = "matmul"{{.*}}rule = "shape"
func.func @widening(%a: tensor<3x3xf32>, %b: tensor<3x1xf32>, %c: tensor<1x4xf32>) -> tensor<3x4xf32> {
  // CHECK: fusion.group "matmul"
  // CHECK: fusion.group "add"
  %0 = fusion.matmul %a, %b : (tensor<3x3xf32>, tensor<3x1xf32>) -> tensor<3x1xf32>
  %1 = fusion.broadcast %0 {dims = array<i64: 0, 1>} : (tensor<3x1xf32>) -> tensor<3x4xf32>
  %2 = fusion.broadcast %c {dims = array<i64: 0, 1>} : (tensor<1x4xf32>) -> tensor<3x4xf32>
  %3 = fusion.add %1, %2 : (tensor<3x4xf32>, tensor<3x4xf32>) -> tensor<3x4xf32>
  return %3 : tensor<3x4xf32>
}

// -----

// Results never share memory with an argument or with each other.
// CHECK-LABEL: func.func @aliases
func.func @aliases(%x: tensor<4xf32>) -> (tensor<4xf32>, tensor<2x2xf32>) {
  // CHECK-DAG: fusion.group "copy"
  // CHECK-DAG: fusion.group "reshape"
  %0 = fusion.reshape %x : (tensor<4xf32>) -> tensor<2x2xf32>
  return %x, %0 : tensor<4xf32>, tensor<2x2xf32>
}
