// RUN: fusion-run %s --no-cache --check --target=cpu | FileCheck %s
// RUN: fusion-run %s --no-cache --check --target=%gpu | FileCheck %s

// CHECK: check 0: passed

// A bias over an odd inner size: no vector divides it.
func.func @main(%x: tensor<5x37xf32>, %b: tensor<37xf32>) -> tensor<5x37xf32> {
  %0 = fusion.broadcast %b {dims = array<i64: 1>} : (tensor<37xf32>) -> tensor<5x37xf32>
  %1 = fusion.add %x, %0 : (tensor<5x37xf32>, tensor<5x37xf32>) -> tensor<5x37xf32>
  %2 = fusion.gelu %1 : (tensor<5x37xf32>) -> tensor<5x37xf32>
  return %2 : tensor<5x37xf32>
}
