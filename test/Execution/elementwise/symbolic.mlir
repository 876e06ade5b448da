// RUN: fusion-run %s --no-cache --check --target=cpu | FileCheck %s
// RUN: fusion-run %s --no-cache --check --target=%gpu | FileCheck %s

// CHECK: check 0: passed

// Sizes known at run time, named and not.
func.func @main(%x: tensor<?x24xf32>, %y: tensor<?x24xf32, #fusion.layout<symbols = ["N", ""]>>) -> tensor<?x24xf32> {
  %0 = fusion.exp %x : (tensor<?x24xf32>) -> tensor<?x24xf32>
  %1 = fusion.slice %0 {starts = array<i64: 1, 0>, steps = array<i64: 1, 1>} : (tensor<?x24xf32>) -> tensor<?x24xf32>
  return %1 : tensor<?x24xf32>
}
