// RUN: fusion-opt %s --convert-tile-to-llvm=target=emulator --split-input-file | FileCheck %s

// Every access to memory that others see is announced: the kind's bits tell
// writes (1), shared memory (2) and, from bit 8 up, the alignment.
// CHECK-LABEL: llvm.func internal @k.thread(
// CHECK-SAME: %[[X:[a-z0-9]*]]: !llvm.ptr {llvm.noalias, llvm.readonly},
// CHECK-SAME: %[[N:[a-z0-9]*]]: i64, %[[SELF:[a-z0-9]*]]: !llvm.ptr)
// CHECK: %[[OFFSET:.*]] = llvm.mlir.constant(0 : i64)
// CHECK: %[[SHARED:.*]] = llvm.call @fusion_emu_shared(%[[SELF]], %[[OFFSET]])
// CHECK: %[[THREAD:.*]] = llvm.call @fusion_emu_thread_id(%[[SELF]])
// CHECK: llvm.call @fusion_emu_block_id(%[[SELF]])
// CHECK: %[[FROM:.*]] = llvm.getelementptr inbounds %[[X]]
// CHECK: %[[BYTES:.*]] = llvm.mlir.constant(4 : i64)
// CHECK: %[[KIND:.*]] = llvm.mlir.constant(512 : i32)
// CHECK: llvm.call @fusion_emu_access(%[[SELF]], %[[FROM]], %[[BYTES]], %[[KIND]])
// CHECK: llvm.load %[[FROM]]
// CHECK: %[[TO:.*]] = llvm.getelementptr inbounds %[[SHARED]]
// CHECK: %[[WRITE:.*]] = llvm.mlir.constant(515 : i32)
// CHECK: llvm.call @fusion_emu_access(%[[SELF]], %[[TO]], %{{.*}}, %[[WRITE]])
// CHECK: llvm.store %{{.*}}, %[[TO]]
// CHECK: %[[SITE:.*]] = llvm.mlir.constant(0 : i32)
// CHECK: llvm.call @fusion_emu_barrier(%[[SELF]], %[[SITE]])
// CHECK: %[[BITS:.*]] = llvm.zext %{{.*}} : i32 to i64
// CHECK: %[[MODE:.*]] = llvm.mlir.constant(2 : i32)
// CHECK: %[[NEXT:.*]] = llvm.mlir.constant(1 : i32)
// CHECK: llvm.call @fusion_emu_shuffle(%[[SELF]], %[[BITS]], %[[MODE]], %{{.*}}, %{{.*}}, %[[NEXT]])

// CHECK-LABEL: llvm.func @k(
// CHECK-SAME: %{{.*}}: !llvm.ptr, %[[SIZES:.*]]: !llvm.ptr, %[[CALLER:.*]]: !llvm.ptr)
// CHECK: llvm.call @k.thread(%{{.*}}, %{{.*}}, %[[CALLER]])
tile.kernel @k(%x: memref<?xf32> {tile.access = "read"}, %n: index)
    attributes {grid = affine_map<()[s0] -> (1)>, threads = 32 : i64} {
  %s = tile.shared : memref<64xf32, #gpu.address_space<workgroup>>
  %thread = gpu.thread_id x
  %block = gpu.block_id x
  %0 = memref.load %x[%block] : memref<?xf32>
  memref.store %0, %s[%thread] : memref<64xf32, #gpu.address_space<workgroup>>
  gpu.barrier
  %c1 = arith.constant 1 : i32
  %c32 = arith.constant 32 : i32
  %1, %valid = gpu.shuffle down %0, %c1, %c32 : f32
  memref.store %1, %s[%thread] : memref<64xf32, #gpu.address_space<workgroup>>
  tile.return
}

// -----

// A masked lane touches no bytes; scratch memory is nobody else's business.
// CHECK-LABEL: llvm.func internal @masked.thread
// CHECK-COUNT-2: llvm.call @fusion_emu_access
// CHECK-NOT: llvm.call @fusion_emu_access
// CHECK: llvm.intr.masked.load
// CHECK-NOT: llvm.call @fusion_emu_access
// CHECK: llvm.return
tile.kernel @masked(%x: memref<?xf32>, %n: index)
    attributes {grid = affine_map<()[s0] -> (1)>, threads = 1 : i64} {
  %c0 = arith.constant 0 : index
  %zero = arith.constant dense<0.0> : vector<2xf32>
  %mask = vector.create_mask %n : vector<2xi1>
  %0 = vector.maskedload %x[%c0], %mask, %zero
      : memref<?xf32>, vector<2xi1>, vector<2xf32> into vector<2xf32>
  %scratch = memref.alloca() : memref<2xf32>
  vector.store %0, %scratch[%c0] : memref<2xf32>, vector<2xf32>
  tile.return
}
