// RUN: fusion-run %s --no-cache --check --target=cpu | FileCheck %s
// RUN: fusion-run %s --no-cache --check --target=%gpu | FileCheck %s

// CHECK: check 0: passed

// 64-bit values through shared memory: ptxas 13 would convert their low words.
func.func @main(%x: tensor<7x13x19xf64>) -> tensor<f64> {
  %0 = fusion.reduce min, %x {dims = array<i64: 0, 1, 2>} : (tensor<7x13x19xf64>) -> tensor<f64>
  return %0 : tensor<f64>
}
