// RUN: fusion-run %s --no-cache --check --target=cpu | FileCheck %s
// RUN: fusion-run %s --no-cache --check --target=%gpu | FileCheck %s

// CHECK: check 0: passed
// CHECK: check 1: passed

// Rows that no block holds in registers: on a GPU the maximum and the sum of
// exponentials are made in one walk, also where lanes have no element of their
// own and where the last pieces lie beyond the row.
func.func @main(%x: tensor<2x40004xf32>, %y: tensor<3x33333xf64>)
    -> (tensor<2x40004xf32>, tensor<3x33333xf64>) {
  %0 = fusion.softmax %x {dim = 1 : i64} : (tensor<2x40004xf32>) -> tensor<2x40004xf32>
  %1 = fusion.log_softmax %y {dim = 1 : i64} : (tensor<3x33333xf64>) -> tensor<3x33333xf64>
  return %0, %1 : tensor<2x40004xf32>, tensor<3x33333xf64>
}
