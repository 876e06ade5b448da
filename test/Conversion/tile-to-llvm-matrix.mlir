// RUN: fusion-opt %s --convert-tile-to-llvm=target=nvvm --split-input-file | FileCheck %s
// RUN: fusion-opt %s --convert-tile-to-llvm=target=emulator --split-input-file | FileCheck %s --check-prefix=EMULATOR

// A fragment is taken apart into registers of 32 bits, on the emulator it is
// passed in memory. Kinds are numbered as in the dialect.
// CHECK-LABEL: llvm.func @halves(
// CHECK: %[[WORDS:.*]] = llvm.bitcast %{{.*}} : vector<8xf16> to vector<4xi32>
// CHECK: %[[WORD:.*]] = llvm.extractelement %[[WORDS]]
// CHECK: %[[A0:.*]] = llvm.bitcast %{{.*}} : i32 to vector<2xf16>
// CHECK: %[[D:.*]] = nvvm.mma.sync A[%[[A0]], %{{.*}}, %{{.*}}, %{{.*}}] B[%{{.*}}, %{{.*}}] C[%{{.*}}, %{{.*}}, %{{.*}}, %{{.*}}]
// CHECK-SAME: layoutA = #nvvm.mma_layout<row>, layoutB = #nvvm.mma_layout<col>, shape = #nvvm.shape<m = 16, n = 8, k = 16>
// CHECK-SAME: (vector<2xf16>, vector<2xf16>, f32) -> !llvm.struct<(f32, f32, f32, f32)>
// CHECK: llvm.extractvalue %[[D]][3]
// CHECK: nvvm.mma.sync
// CHECK-SAME: multiplicandAPtxType = #nvvm.mma_type<bf16>
// CHECK-SAME: (i32, i32, f32)

// EMULATOR-LABEL: llvm.func internal @halves.thread(
// EMULATOR-SAME: %[[SELF:[a-z0-9]*]]: !llvm.ptr)
// EMULATOR: %[[B:.*]] = llvm.alloca %{{.*}} x vector<4xf16> {alignment = 16 : i64}
// EMULATOR: llvm.store %{{.*}}, %[[A:.*]] : vector<8xf16>
// EMULATOR: llvm.store %{{.*}}, %[[B]] : vector<4xf16>
// EMULATOR: llvm.store %{{.*}}, %[[SUM:.*]] : vector<4xf32>
// EMULATOR: %[[KIND:.*]] = llvm.mlir.constant(0 : i32)
// EMULATOR: %[[SITE:.*]] = llvm.mlir.constant(0 : i32)
// EMULATOR: llvm.call @fusion_emu_mma(%[[SELF]], %[[A]], %[[B]], %[[SUM]], %[[KIND]], %[[SITE]])
// EMULATOR: llvm.load %[[SUM]]
// EMULATOR: %[[BF16:.*]] = llvm.mlir.constant(1 : i32)
// EMULATOR: %[[NEXT:.*]] = llvm.mlir.constant(1 : i32)
// EMULATOR: llvm.call @fusion_emu_mma(%[[SELF]], %{{.*}}, %{{.*}}, %{{.*}}, %[[BF16]], %[[NEXT]])
tile.kernel @halves(%x: memref<?xf16>, %y: memref<?xbf16>, %z: memref<?xf32>)
    attributes {grid = affine_map<() -> (1)>, threads = 32 : i64} {
  %i = gpu.thread_id x
  %0 = vector.load %x[%i] : memref<?xf16>, vector<8xf16>
  %1 = vector.load %x[%i] : memref<?xf16>, vector<4xf16>
  %2 = vector.load %z[%i] : memref<?xf32>, vector<4xf32>
  %3 = tile.mma m16n8k16_f16 %0, %1, %2 : vector<8xf16>, vector<4xf16>, vector<4xf32>
  %4 = vector.load %y[%i] : memref<?xbf16>, vector<8xbf16>
  %5 = vector.load %y[%i] : memref<?xbf16>, vector<4xbf16>
  %6 = tile.mma m16n8k16_bf16 %4, %5, %3 : vector<8xbf16>, vector<4xbf16>, vector<4xf32>
  vector.store %6, %z[%i] : memref<?xf32>, vector<4xf32>
  tile.return
}

// -----

// CHECK-LABEL: llvm.func @others(
// CHECK-COUNT-2: nvvm.convert.float.to.tf32 %{{.*}} {rnd = #nvvm.fp_rnd_mode<rna>}
// CHECK: nvvm.mma.sync
// CHECK-SAME: multiplicandAPtxType = #nvvm.mma_type<tf32>
// CHECK-SAME: shape = #nvvm.shape<m = 16, n = 8, k = 8>
// CHECK: nvvm.mma.sync
// CHECK-SAME: intOverflowBehavior = #nvvm.mma_int_overflow<wrapped>
// CHECK-SAME: multiplicandAPtxType = #nvvm.mma_type<s8>
// CHECK-SAME: shape = #nvvm.shape<m = 16, n = 8, k = 32>
// CHECK: nvvm.mma.sync
// CHECK-SAME: multiplicandAPtxType = #nvvm.mma_type<u8>
// CHECK: nvvm.mma.sync
// CHECK-SAME: shape = #nvvm.shape<m = 8, n = 8, k = 4>
// CHECK-SAME: (f64, f64, f64) -> !llvm.struct<(f64, f64)>

// Rounding to tf32 is arithmetic on the bits, but for a NaN.
// EMULATOR-LABEL: llvm.func internal @others.thread(
// EMULATOR-DAG: %[[MASK:.*]] = llvm.mlir.constant(dense<-8192> : vector<2xi32>)
// EMULATOR-DAG: %[[HALF:.*]] = llvm.mlir.constant(dense<4096> : vector<2xi32>)
// EMULATOR: %[[SUM:.*]] = llvm.add %{{.*}}, %[[HALF]]
// EMULATOR: llvm.and %[[SUM]], %[[MASK]]
// EMULATOR: llvm.fcmp "uno"
// EMULATOR-COUNT-4: llvm.call @fusion_emu_mma
tile.kernel @others(%x: memref<?xf32>, %y: memref<?xi8>, %z: memref<?xi32>, %w: memref<?xf64>)
    attributes {grid = affine_map<() -> (1)>, threads = 32 : i64} {
  %i = gpu.thread_id x
  %0 = vector.load %x[%i] : memref<?xf32>, vector<4xf32>
  %1 = vector.load %x[%i] : memref<?xf32>, vector<2xf32>
  %2 = tile.round_tf32 %1 : vector<2xf32>
  %3 = tile.mma m16n8k8_tf32 %0, %2, %0 : vector<4xf32>, vector<2xf32>, vector<4xf32>
  vector.store %3, %x[%i] : memref<?xf32>, vector<4xf32>
  %4 = vector.load %y[%i] : memref<?xi8>, vector<16xi8>
  %5 = vector.load %y[%i] : memref<?xi8>, vector<8xi8>
  %6 = vector.load %z[%i] : memref<?xi32>, vector<4xi32>
  %7 = tile.mma m16n8k32_s8 %4, %5, %6 : vector<16xi8>, vector<8xi8>, vector<4xi32>
  %8 = tile.mma m16n8k32_u8 %4, %5, %7 : vector<16xi8>, vector<8xi8>, vector<4xi32>
  vector.store %8, %z[%i] : memref<?xi32>, vector<4xi32>
  %9 = vector.load %w[%i] : memref<?xf64>, vector<1xf64>
  %10 = vector.load %w[%i] : memref<?xf64>, vector<2xf64>
  %11 = tile.mma m8n8k4_f64 %9, %9, %10 : vector<1xf64>, vector<1xf64>, vector<2xf64>
  vector.store %11, %w[%i] : memref<?xf64>, vector<2xf64>
  tile.return
}

// -----

// Copies of 16 bytes go past the first cache; a condition gives the number of
// bytes to read.
// CHECK-LABEL: llvm.func @copies(
// CHECK: %[[FROM:.*]] = llvm.addrspacecast %{{.*}} : !llvm.ptr to !llvm.ptr<1>
// CHECK: %[[SIZE:.*]] = llvm.mlir.constant(16 : i32)
// CHECK: %[[NONE:.*]] = llvm.mlir.constant(0 : i32)
// CHECK: %[[READ:.*]] = llvm.select %{{.*}}, %[[SIZE]], %[[NONE]]
// CHECK: nvvm.cp.async.shared.global %{{.*}}, %[[FROM]], 16, cache = cg, %[[READ]]
// CHECK: nvvm.cp.async.shared.global %{{.*}}, %{{.*}}, 4, cache = ca : !llvm.ptr<3>, !llvm.ptr<1>
// CHECK: nvvm.cp.async.commit.group
// CHECK: nvvm.cp.async.wait.group 1
// CHECK: %[[ROW:.*]] = llvm.getelementptr inbounds %{{.*}}[%{{.*}}] : (!llvm.ptr<3>, i64) -> !llvm.ptr<3>, bf16
// CHECK: nvvm.ldmatrix %[[ROW]]
// CHECK-SAME: eltType = #nvvm.ld_st_matrix_elt_type<b16>, layout = #nvvm.mma_layout<row>, num = 4 : i32
// CHECK: nvvm.ldmatrix
// CHECK-SAME: layout = #nvvm.mma_layout<col>, num = 1 : i32
// CHECK: llvm.bitcast %{{.*}} : i32 to vector<2xbf16>

// EMULATOR-LABEL: llvm.func internal @copies.thread(
// EMULATOR-SAME: %[[SELF:[a-z0-9]*]]: !llvm.ptr)
// EMULATOR: %[[BYTES:.*]] = llvm.mlir.constant(16 : i32)
// EMULATOR: %[[READ:.*]] = llvm.zext %{{.*}} : i1 to i32
// EMULATOR: llvm.call @fusion_emu_async_copy(%[[SELF]], %{{.*}}, %{{.*}}, %[[BYTES]], %[[READ]])
// EMULATOR: %[[YES:.*]] = llvm.mlir.constant(1 : i32)
// EMULATOR: llvm.call @fusion_emu_async_copy(%[[SELF]], %{{.*}}, %{{.*}}, %{{.*}}, %[[YES]])
// EMULATOR: llvm.call @fusion_emu_async_commit(%[[SELF]])
// EMULATOR: %[[ONE:.*]] = llvm.mlir.constant(1 : i32)
// EMULATOR: llvm.call @fusion_emu_async_wait(%[[SELF]], %[[ONE]])
// EMULATOR: %[[FOUR:.*]] = llvm.mlir.constant(4 : i32)
// EMULATOR: %[[PLAIN:.*]] = llvm.mlir.constant(0 : i32)
// EMULATOR: llvm.call @fusion_emu_load_matrix(%[[SELF]], %{{.*}}, %[[RESULT:.*]], %[[FOUR]], %[[PLAIN]], %{{.*}})
// EMULATOR: llvm.load %[[RESULT]] {{.*}} -> vector<8xi16>
tile.kernel @copies(%x: memref<?xbf16>, %n: index)
    attributes {grid = affine_map<()[s0] -> (1)>, threads = 32 : i64} {
  %s = tile.shared : memref<16x8xbf16, #gpu.address_space<workgroup>>
  %i = gpu.thread_id x
  %c0 = arith.constant 0 : index
  %inside = arith.cmpi slt, %i, %n : index
  tile.async_copy %x[%i] to %s[%i, %c0], 8 if %inside : memref<?xbf16> to memref<16x8xbf16, #gpu.address_space<workgroup>>
  tile.async_copy %x[%i] to %s[%i, %c0], 2 : memref<?xbf16> to memref<16x8xbf16, #gpu.address_space<workgroup>>
  tile.async_commit
  tile.async_wait {pending = 1 : i64}
  gpu.barrier
  %0 = tile.load_matrix %s[%i, %c0] : memref<16x8xbf16, #gpu.address_space<workgroup>>, vector<8xbf16>
  %1 = tile.load_matrix %s[%i, %c0] transposed : memref<16x8xbf16, #gpu.address_space<workgroup>>, vector<2xbf16>
  vector.store %0, %x[%i] : memref<?xbf16>, vector<8xbf16>
  vector.store %1, %x[%i] : memref<?xbf16>, vector<2xbf16>
  tile.return
}
