// RUN: fusion-run %s --no-cache --check --target=cpu | FileCheck %s
// RUN: fusion-run %s --no-cache --check --target=%gpu | FileCheck %s

// CHECK: check 0: passed

// A strided vector operand, and an epilogue.
func.func @main(%a: tensor<9x20xf32>, %b: tensor<33x20xf32>, %c: tensor<33xf32>) -> tensor<9x33xf32> {
  %0 = fusion.matmul %a, %b {transpose_rhs} : (tensor<9x20xf32>, tensor<33x20xf32>) -> tensor<9x33xf32>
  %1 = fusion.broadcast %c {dims = array<i64: 1>} : (tensor<33xf32>) -> tensor<9x33xf32>
  %2 = fusion.add %0, %1 : (tensor<9x33xf32>, tensor<9x33xf32>) -> tensor<9x33xf32>
  %3 = fusion.relu %2 : (tensor<9x33xf32>) -> tensor<9x33xf32>
  return %3 : tensor<9x33xf32>
}
