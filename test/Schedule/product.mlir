// RUN: fusion-opt %s --fusion-kernel-pipeline="target=cpu vector-bits=512 processors=2" | FileCheck %s
// RUN: fusion-opt %s --fusion-kernel-pipeline="target=cpu vector-bits=256 processors=2" | FileCheck %s --check-prefix=AVX2
// RUN: fusion-opt %s --fusion-kernel-pipeline=target=sm_90a | FileCheck %s --check-prefix=GPU

// On a CPU panels are packed, and 13 or 14 rows by 2 vectors of sums stay in 32
// registers; 6 rows where there are 16. The epilogue reads the sums once.
// CHECK-LABEL: tile.kernel @matmul_relu
// CHECK-COUNT-3: tile.shared
// CHECK: memref.load
// CHECK-COUNT-28: math.fma {{.*}} : vector<16xf32>
// CHECK-NOT: math.fma
// CHECK: scf.for
// CHECK: arith.maximumf
// CHECK: vector.store {{.*}} %arg2
// AVX2-LABEL: tile.kernel @matmul_relu
// AVX2-COUNT-12: math.fma {{.*}} : vector<8xf32>
// AVX2-NOT: math.fma
// GPU-LABEL: tile.kernel @matmul_relu
// GPU-COUNT-4: math.fma {{.*}} : vector<4xf32>
// GPU-NOT: math.fma
func.func @main(%a: tensor<256x512xf32>, %b: tensor<512x1024xf32>) -> tensor<256x1024xf32> {
  %0 = fusion.matmul %a, %b : (tensor<256x512xf32>, tensor<512x1024xf32>) -> tensor<256x1024xf32>
  %1 = fusion.relu %0 : (tensor<256x1024xf32>) -> tensor<256x1024xf32>
  return %1 : tensor<256x1024xf32>
}
