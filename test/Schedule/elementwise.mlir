// RUN: fusion-opt %s --fusion-kernel-pipeline=target=sm_90a | FileCheck %s

// A chain with a broadcast is one pass: a thread has one vector of 16 bytes, and
// no mask where 4 divides the rows' length.
// CHECK: affine_map<()[s0, s1] -> (s1 * (s0 ceildiv 1024))>
// CHECK-LABEL: tile.kernel @add_kernel
// CHECK-SAME: threads = 256
// CHECK: scf.if
// CHECK-COUNT-2: vector.load {{.*}} {alignment = 16 : i64} : memref<?xf32>, vector<4xf32>
// CHECK: arith.addf {{.*}} : vector<4xf32>
// CHECK-NEXT: vector.store {{.*}} {alignment = 16 : i64}
// CHECK-NOT: masked
// CHECK: tile.return
func.func @main(%x: tensor<64x4096xf32>, %b: tensor<4096xf32>) -> tensor<64x4096xf32> {
  %0 = fusion.broadcast %b {dims = array<i64: 1>} : (tensor<4096xf32>) -> tensor<64x4096xf32>
  %1 = fusion.add %x, %0 : (tensor<64x4096xf32>, tensor<64x4096xf32>) -> tensor<64x4096xf32>
  return %1 : tensor<64x4096xf32>
}
