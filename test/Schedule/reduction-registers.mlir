// RUN: fusion-opt %s --fusion-kernel-pipeline=target=sm_90a | FileCheck %s

// A row that fits stays in registers: each of its elements is read once, though
// two reductions and the result need it.
// CHECK: affine_map<()[s0, s1] -> (s0 ceildiv 2)>
// CHECK-LABEL: tile.kernel @reduce_sub_exp_reduce
// CHECK-SAME: threads = 128
// CHECK-COUNT-4: vector.load %arg0{{.*}} vector<4xf32>
// CHECK: tile.reduce {{.*}} {width = 64 : i64} : f32
// CHECK: arith.maximumf
// CHECK-NOT: vector.load
// CHECK: tile.reduce {{.*}} {width = 64 : i64} : f32
// CHECK: arith.addf
// CHECK-NOT: vector.load
// CHECK-COUNT-4: vector.store
// CHECK: tile.return
func.func @main(%x: tensor<512x1024xf32>) -> tensor<512x1024xf32> {
  %0 = fusion.softmax %x {dim = 1 : i64} : (tensor<512x1024xf32>) -> tensor<512x1024xf32>
  return %0 : tensor<512x1024xf32>
}
