// RUN: fusion-opt %s --verify-roundtrip | FileCheck %s

// CHECK-LABEL: tile.kernel @mma(
tile.kernel @mma(%n: index) attributes {grid = affine_map<()[s0] -> (s0)>, threads = 64 : i64} {
  %f16a = arith.constant dense<1.0> : vector<8xf16>
  %f16b = arith.constant dense<1.0> : vector<4xf16>
  %bf16a = arith.constant dense<1.0> : vector<8xbf16>
  %bf16b = arith.constant dense<1.0> : vector<4xbf16>
  %tf32b = arith.constant dense<1.0> : vector<2xf32>
  %f32 = arith.constant dense<1.0> : vector<4xf32>
  %i8a = arith.constant dense<1> : vector<16xi8>
  %i8b = arith.constant dense<1> : vector<8xi8>
  %i32 = arith.constant dense<1> : vector<4xi32>
  %f64a = arith.constant dense<1.0> : vector<1xf64>
  %f64c = arith.constant dense<1.0> : vector<2xf64>
  // CHECK: tile.mma m16n8k16_f16 %{{.*}}, %{{.*}}, %{{.*}} : vector<8xf16>, vector<4xf16>, vector<4xf32>
  %0 = tile.mma m16n8k16_f16 %f16a, %f16b, %f32 : vector<8xf16>, vector<4xf16>, vector<4xf32>
  // CHECK: tile.mma m16n8k16_bf16 %{{.*}} : vector<8xbf16>, vector<4xbf16>, vector<4xf32>
  %1 = tile.mma m16n8k16_bf16 %bf16a, %bf16b, %0 : vector<8xbf16>, vector<4xbf16>, vector<4xf32>
  // CHECK: tile.round_tf32 %{{.*}} : vector<4xf32>
  %2 = tile.round_tf32 %1 : vector<4xf32>
  // CHECK: tile.mma m16n8k8_tf32 %{{.*}} : vector<4xf32>, vector<2xf32>, vector<4xf32>
  %3 = tile.mma m16n8k8_tf32 %2, %tf32b, %2 : vector<4xf32>, vector<2xf32>, vector<4xf32>
  // CHECK: tile.mma m16n8k32_s8 %{{.*}} : vector<16xi8>, vector<8xi8>, vector<4xi32>
  %4 = tile.mma m16n8k32_s8 %i8a, %i8b, %i32 : vector<16xi8>, vector<8xi8>, vector<4xi32>
  // CHECK: tile.mma m16n8k32_u8
  %5 = tile.mma m16n8k32_u8 %i8a, %i8b, %4 : vector<16xi8>, vector<8xi8>, vector<4xi32>
  // CHECK: tile.mma m8n8k4_f64 %{{.*}} : vector<1xf64>, vector<1xf64>, vector<2xf64>
  %6 = tile.mma m8n8k4_f64 %f64a, %f64a, %f64c : vector<1xf64>, vector<1xf64>, vector<2xf64>
  %x = arith.constant 1.0 : f32
  // CHECK: tile.round_tf32 %{{.*}} : f32
  %7 = tile.round_tf32 %x : f32
  tile.return
}

// CHECK-LABEL: tile.kernel @copies(
tile.kernel @copies(%x: memref<?xf16>, %i: index)
    attributes {grid = affine_map<()[s0] -> (s0)>, threads = 32 : i64} {
  %s = tile.shared : memref<16x72xf16, #gpu.address_space<workgroup>>
  %t = tile.shared : memref<64xi8, #gpu.address_space<workgroup>>
  %c = arith.constant true
  // CHECK: tile.async_copy %{{.*}}[%{{.*}}] to %{{.*}}[%{{.*}}, %{{.*}}], 8 : memref<?xf16> to memref<16x72xf16, #gpu.address_space<workgroup>>
  tile.async_copy %x[%i] to %s[%i, %i], 8 : memref<?xf16> to memref<16x72xf16, #gpu.address_space<workgroup>>
  // CHECK: tile.async_copy %{{.*}}[%{{.*}}] to %{{.*}}[%{{.*}}, %{{.*}}], 2 if %{{.*}} : memref<?xf16> to
  tile.async_copy %x[%i] to %s[%i, %i], 2 if %c : memref<?xf16> to memref<16x72xf16, #gpu.address_space<workgroup>>
  // CHECK: tile.async_commit
  tile.async_commit
  // CHECK: tile.async_wait {pending = 0 : i64}
  tile.async_wait {pending = 0 : i64}
  // CHECK: tile.load_matrix %{{.*}}[%{{.*}}, %{{.*}}] : memref<16x72xf16, #gpu.address_space<workgroup>>, vector<8xf16>
  %0 = tile.load_matrix %s[%i, %i] : memref<16x72xf16, #gpu.address_space<workgroup>>, vector<8xf16>
  // CHECK: tile.load_matrix %{{.*}}[%{{.*}}, %{{.*}}] transposed : memref<16x72xf16, #gpu.address_space<workgroup>>, vector<2xf16>
  %1 = tile.load_matrix %s[%i, %i] transposed : memref<16x72xf16, #gpu.address_space<workgroup>>, vector<2xf16>
  // CHECK: tile.load_matrix %{{.*}}[%{{.*}}] : memref<64xi8, #gpu.address_space<workgroup>>, vector<8xi8>
  %2 = tile.load_matrix %t[%i] : memref<64xi8, #gpu.address_space<workgroup>>, vector<8xi8>
  tile.return
}
