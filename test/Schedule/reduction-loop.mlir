// RUN: fusion-opt %s --fusion-kernel-pipeline=target=sm_90a | FileCheck %s

// A row that does not fit is walked twice, not three times: the maximum and the
// sum of exponentials are carried together and combined as a pair.
// CHECK-LABEL: tile.kernel @reduce_sub_exp_reduce
// CHECK-SAME: threads = 1024
// CHECK: scf.for {{.*}} -> (vector<4xf32>, vector<4xf32>)
// CHECK-COUNT-8: vector.load
// CHECK: tile.reduce {{.*}} {width = 1024 : i64} : f32, f32
// CHECK-NOT: tile.reduce
// CHECK: scf.for
// CHECK-COUNT-8: vector.load
// CHECK: vector.store
// CHECK-NOT: scf.for
// CHECK: tile.return
func.func @main(%x: tensor<512x131072xf32>) -> tensor<512x131072xf32> {
  %0 = fusion.softmax %x {dim = 1 : i64} : (tensor<512x131072xf32>) -> tensor<512x131072xf32>
  return %0 : tensor<512x131072xf32>
}
