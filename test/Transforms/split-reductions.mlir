// RUN: fusion-opt %s --fusion-split-reductions=target=sm_90a | FileCheck %s

// CHECK-LABEL: func.func @all
func.func @all(%x: tensor<4194304xf32>) -> tensor<f32> {
  // CHECK: fusion.reshape {{.*}} -> tensor<128x32768xf32>
  // CHECK: fusion.reduce sum, {{.*}}dims = array<i64: 1>{{.*}} -> tensor<128xf32>
  // CHECK: fusion.reduce sum, {{.*}}dims = array<i64: 0>{{.*}} -> tensor<f32>
  %0 = fusion.reduce sum, %x {dims = array<i64: 0>} : (tensor<4194304xf32>) -> tensor<f32>
  return %0 : tensor<f32>
}

// A length that no count of pieces divides is padded with what changes nothing.
// CHECK-LABEL: func.func @padded
func.func @padded(%x: tensor<4000003xf32>) -> tensor<f32> {
  // CHECK: dense<0xFF800000>
  // CHECK: fusion.pad
  %0 = fusion.reduce max, %x {dims = array<i64: 0>} : (tensor<4000003xf32>) -> tensor<f32>
  return %0 : tensor<f32>
}

// CHECK-LABEL: func.func @enough_rows
func.func @enough_rows(%x: tensor<512x40960xf32>) -> tensor<512xf32> {
  // CHECK-NOT: fusion.reshape
  %0 = fusion.reduce sum, %x {dims = array<i64: 1>} : (tensor<512x40960xf32>) -> tensor<512xf32>
  return %0 : tensor<512xf32>
}
