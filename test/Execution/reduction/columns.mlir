// RUN: fusion-run %s --no-cache --check --target=cpu | FileCheck %s
// RUN: fusion-run %s --no-cache --check --target=%gpu | FileCheck %s

// CHECK: check 0: passed

// The contiguous dim is kept.
func.func @main(%x: tensor<66x75xf32>) -> tensor<75xf32> {
  %0 = fusion.tanh %x : (tensor<66x75xf32>) -> tensor<66x75xf32>
  %1 = fusion.reduce sum, %0 {dims = array<i64: 0>} : (tensor<66x75xf32>) -> tensor<75xf32>
  return %1 : tensor<75xf32>
}
