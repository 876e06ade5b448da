// RUN: fusion-opt %s --convert-tile-to-llvm=target=nvvm --split-input-file | FileCheck %s

// CHECK-LABEL: llvm.func @double(
// CHECK-SAME: %[[X:.*]]: !llvm.ptr {llvm.align = 16 : i64, llvm.noalias, llvm.readonly},
// CHECK-SAME: %[[Y:.*]]: !llvm.ptr {llvm.noalias}, %[[N:.*]]: i32)
// CHECK-SAME: nvvm.kernel, nvvm.reqntid = array<i32: 128, 1, 1>, tile.shared_bytes = 0 : i64
// CHECK: nvvm.read.ptx.sreg.ctaid.x
// CHECK: nvvm.read.ptx.sreg.tid.x
// CHECK: %[[I:.*]] = llvm.add %{{.*}}, %{{.*}} : i32
// CHECK: %[[ADDRESS:.*]] = llvm.getelementptr inbounds %[[X]][%[[I]]] : (!llvm.ptr, i32) -> !llvm.ptr, f32
// CHECK: llvm.load %[[ADDRESS]] {alignment = 16 : i64} : !llvm.ptr -> vector<4xf32>
tile.kernel @double(%x: memref<?xf32> {tile.access = "read", tile.align = 16 : i64},
                    %y: memref<?xf32> {tile.access = "write"}, %n: index)
    attributes {grid = affine_map<()[s0] -> (s0 ceildiv 512)>, threads = 128 : i64, index_bits = 32 : i64} {
  %block = gpu.block_id x
  %thread = gpu.thread_id x
  %i = arith.addi %block, %thread : index
  %0 = vector.load %x[%i] {alignment = 16 : i64} : memref<?xf32>, vector<4xf32>
  vector.store %0, %y[%i] {alignment = 16 : i64} : memref<?xf32>, vector<4xf32>
  tile.return
}

// -----

// Shared buffers share the block's dynamic memory, 64 bytes aligned.
// CHECK: llvm.mlir.global external @fusion_shared() {addr_space = 3 : i32, alignment = 128 : i64} : !llvm.array<0 x i8>
// CHECK-LABEL: llvm.func @shared(
// CHECK-SAME: %{{.*}}: i64)
// CHECK-SAME: tile.shared_bytes = 72 : i64
// CHECK: %[[BASE:.*]] = llvm.mlir.addressof @fusion_shared : !llvm.ptr<3>
// CHECK: %[[A:.*]] = llvm.getelementptr %[[BASE]][0]
// CHECK: %[[B:.*]] = llvm.getelementptr %{{.*}}[64] : (!llvm.ptr<3>) -> !llvm.ptr<3>, i8
// CHECK: llvm.getelementptr inbounds %[[B]][%{{.*}}] : (!llvm.ptr<3>, i64) -> !llvm.ptr<3>, f32
// CHECK: nvvm.barrier
// CHECK: nvvm.shfl.sync  bfly
tile.kernel @shared(%x: memref<?xf32>, %n: index)
    attributes {grid = affine_map<()[s0] -> (1)>, threads = 32 : i64} {
  %a = tile.shared : memref<9xi16, #gpu.address_space<workgroup>>
  %b = tile.shared : memref<2xf32, #gpu.address_space<workgroup>>
  %thread = gpu.thread_id x
  %0 = memref.load %b[%thread] : memref<2xf32, #gpu.address_space<workgroup>>
  %1 = memref.load %a[%thread] : memref<9xi16, #gpu.address_space<workgroup>>
  memref.store %1, %a[%n] : memref<9xi16, #gpu.address_space<workgroup>>
  gpu.barrier
  %c1 = arith.constant 1 : i32
  %c32 = arith.constant 32 : i32
  %2, %valid = gpu.shuffle xor %0, %c1, %c32 : f32
  memref.store %2, %x[%thread] : memref<?xf32>
  tile.return
}

// -----

// Libdevice computes what the hardware has no exact instruction for.
// CHECK-LABEL: llvm.func @math(
// CHECK: llvm.intr.sqrt(%{{.*}}) : (vector<2xf32>) -> vector<2xf32>
// CHECK-COUNT-2: llvm.call @__nv_erff
// CHECK-COUNT-2: llvm.call @__nv_fmodf
tile.kernel @math(%x: memref<?xf32>, %i: index)
    attributes {grid = affine_map<()[s0] -> (1)>, threads = 1 : i64} {
  %0 = vector.load %x[%i] : memref<?xf32>, vector<2xf32>
  %1 = math.sqrt %0 : vector<2xf32>
  %2 = math.erf %1 : vector<2xf32>
  %3 = arith.remf %2, %0 : vector<2xf32>
  vector.store %3, %x[%i] : memref<?xf32>, vector<2xf32>
  tile.return
}
