// RUN: fusion-opt %s --fusion-kernel-pipeline=target=sm_90a | FileCheck %s

// Columns: a thread sums vectors down the rows, threads that share a column meet
// once, and one of them stores.
// CHECK-LABEL: tile.kernel @reduce_kernel
// CHECK-SAME: threads = 256
// CHECK: scf.for {{.*}} -> (vector<4xf32>)
// CHECK: vector.load {{.*}} vector<4xf32>
// CHECK: tile.reduce {{.*}} {width = 4 : i64} : f32, f32, f32, f32
// CHECK: scf.if
// CHECK-NEXT: vector.store {{.*}} vector<4xf32>
func.func @main(%x: tensor<64x4096xf32>) -> tensor<4096xf32> {
  %0 = fusion.reduce sum, %x {dims = array<i64: 0>} : (tensor<64x4096xf32>) -> tensor<4096xf32>
  return %0 : tensor<4096xf32>
}
