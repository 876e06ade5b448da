// RUN: fusion-run %s --no-cache --check --target=cpu | FileCheck %s
// RUN: fusion-run %s --no-cache --check --target=%gpu | FileCheck %s

// CHECK: check 0: passed

// A group that no schedule but the general one takes.
func.func @main(%a: tensor<4x8xf32>, %b: tensor<8x6xf32>) -> tensor<4xf32> {
  %0 = fusion.group "mixed" (%x = %a : tensor<4x8xf32>, %y = %b : tensor<8x6xf32>) -> tensor<4xf32> {
    %1 = fusion.matmul %x, %y : (tensor<4x8xf32>, tensor<8x6xf32>) -> tensor<4x6xf32>
    %2 = fusion.reduce max, %1 {dims = array<i64: 1>} : (tensor<4x6xf32>) -> tensor<4xf32>
    fusion.yield %2 : tensor<4xf32>
  }
  return %0 : tensor<4xf32>
}
