// RUN: fusion-opt %s --fusion-kernel-pipeline=target=sm_90a | FileCheck %s

// An input that is contiguous along another dim than the output goes through
// shared memory, whose rows are padded by one element against bank conflicts;
// the other input is read as it is stored.
// CHECK: affine_map<()[s0, s1] -> ((s1 ceildiv 64) * (s0 ceildiv 64))>
// CHECK-LABEL: tile.kernel @add_kernel
// CHECK: tile.shared : memref<64x65xf32, #gpu.address_space<workgroup>>
// CHECK-COUNT-4: vector.load %arg0{{.*}} vector<4xf32>
// CHECK-NOT: vector.load %arg0
// CHECK: gpu.barrier
// CHECK-NOT: vector.load %arg0
// CHECK-COUNT-4: vector.store {{.*}} %arg2{{.*}} vector<4xf32>
// CHECK-NOT: gpu.barrier
// CHECK: tile.return
func.func @main(%x: tensor<256x512xf32>, %y: tensor<512x256xf32>) -> tensor<512x256xf32> {
  %0 = fusion.transpose %x {permutation = array<i64: 1, 0>} : (tensor<256x512xf32>) -> tensor<512x256xf32>
  %1 = fusion.add %0, %y : (tensor<512x256xf32>, tensor<512x256xf32>) -> tensor<512x256xf32>
  return %1 : tensor<512x256xf32>
}
