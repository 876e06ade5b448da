// RUN: fusion-run %s --no-cache --check --target=cpu | FileCheck %s
// RUN: fusion-run %s --no-cache --check --target=%gpu | FileCheck %s

// CHECK: check 0: passed

// Two reduced dims, a weight along one of them, and an epilogue.
func.func @main(%x: tensor<2x12x5x8xf16>, %w: tensor<12xf16>, %b: tensor<12xf16>) -> tensor<2x12x5x8xf16> {
  %0 = fusion.group_norm %x, %w, %b {groups = 3 : i64, epsilon = 1.0e-5 : f64} : (tensor<2x12x5x8xf16>, tensor<12xf16>, tensor<12xf16>) -> tensor<2x12x5x8xf16>
  %1 = fusion.silu %0 : (tensor<2x12x5x8xf16>) -> tensor<2x12x5x8xf16>
  return %1 : tensor<2x12x5x8xf16>
}
