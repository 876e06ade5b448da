// RUN: fusion-run %s --no-cache --check --target=cpu | FileCheck %s
// RUN: fusion-run %s --no-cache --check --target=%gpu | FileCheck %s

// CHECK: check 0: passed
// CHECK: check 1: passed
// CHECK: check 2: passed

// Indices that differ by lane, that are one for a row of a table, and random
// ones that often lie outside.
func.func @main(%x: tensor<7x100xf32>, %i: tensor<7x37xi32>, %table: tensor<50x24xbf16>, %k: tensor<9xi64>)
    -> (tensor<7x37xf32>, tensor<9x24xbf16>, tensor<7x37xf32>) {
  %0 = fusion.gather %x, %i {dim = 1 : i64} : (tensor<7x100xf32>, tensor<7x37xi32>) -> tensor<7x37xf32>
  %1 = fusion.broadcast %k {dims = array<i64: 0>} : (tensor<9xi64>) -> tensor<9x24xi64>
  %2 = fusion.gather %table, %1 {dim = 0 : i64} : (tensor<50x24xbf16>, tensor<9x24xi64>) -> tensor<9x24xbf16>
  %3 = fusion.exp %x : (tensor<7x100xf32>) -> tensor<7x100xf32>
  %4 = fusion.iota {dim = 1 : i64} : () -> tensor<7x37xi32>
  %5 = fusion.gather %3, %4 {dim = 1 : i64} : (tensor<7x100xf32>, tensor<7x37xi32>) -> tensor<7x37xf32>
  return %0, %2, %5 : tensor<7x37xf32>, tensor<9x24xbf16>, tensor<7x37xf32>
}
