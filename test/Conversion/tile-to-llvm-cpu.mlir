// RUN: fusion-opt %s --convert-tile-to-llvm=target=cpu --split-input-file | FileCheck %s

// The body knows that its buffers do not alias; the function that the launch
// calls unpacks them and runs a range of blocks.
// CHECK-LABEL: llvm.func internal @double.block
// CHECK-SAME: (%[[X:.*]]: !llvm.ptr {llvm.align = 64 : i64, llvm.noalias, llvm.readonly},
// CHECK-SAME: %[[Y:.*]]: !llvm.ptr {llvm.noalias}, %[[N:.*]]: i64, %{{.*}}: !llvm.ptr, %[[BLOCK:.*]]: i64)
// CHECK-SAME: always_inline
// CHECK: %[[FIRST:.*]] = llvm.mul %[[BLOCK]], %{{.*}} : i64
// CHECK: %[[ADDRESS:.*]] = llvm.getelementptr inbounds %[[X]][%[[FIRST]]] : (!llvm.ptr, i64) -> !llvm.ptr, f32
// CHECK: %[[VALUE:.*]] = llvm.load %[[ADDRESS]] {alignment = 64 : i64} : !llvm.ptr -> vector<16xf32>
// CHECK: %[[SUM:.*]] = llvm.fadd %[[VALUE]], %[[VALUE]] : vector<16xf32>
// CHECK: llvm.store %[[SUM]], %{{.*}} {alignment = 4 : i64, nontemporal} : vector<16xf32>, !llvm.ptr
// CHECK: llvm.return

// CHECK-LABEL: llvm.func @double(
// CHECK-SAME: %[[BUFFERS:.*]]: !llvm.ptr, %[[SIZES:.*]]: !llvm.ptr, %[[BEGIN:.*]]: i64, %[[END:.*]]: i64, %[[SCRATCH:.*]]: !llvm.ptr)
// CHECK: %[[P1:.*]] = llvm.getelementptr inbounds %[[BUFFERS]][1]
// CHECK: %[[Y0:.*]] = llvm.load %[[P1]] : !llvm.ptr -> !llvm.ptr
// CHECK: llvm.br ^[[HEADER:.*]](%[[BEGIN]] : i64)
// CHECK: ^[[HEADER]](%[[I:.*]]: i64):
// CHECK: llvm.icmp "slt" %[[I]], %[[END]]
// CHECK: llvm.call @double.block(%{{.*}}, %[[Y0]], %{{.*}}, %[[SCRATCH]], %[[I]])
tile.kernel @double(%x: memref<?xf32> {tile.access = "read", tile.align = 64 : i64},
                    %y: memref<?xf32> {tile.access = "write"}, %n: index)
    attributes {grid = affine_map<()[s0] -> (s0 ceildiv 16)>, threads = 1 : i64} {
  %block = gpu.block_id x
  %c16 = arith.constant 16 : index
  %i = arith.muli %block, %c16 : index
  %0 = vector.load %x[%i] {alignment = 64 : i64} : memref<?xf32>, vector<16xf32>
  %1 = arith.addf %0, %0 : vector<16xf32>
  vector.store %1, %y[%i] {nontemporal = true} : memref<?xf32>, vector<16xf32>
  tile.return
}

// -----

// A block has one thread: it meets nobody, and shared memory is the scratch that
// the runtime keeps for the thread.
// CHECK-LABEL: llvm.func internal @alone.block
// CHECK-SAME: {llvm.noalias}, %[[OWN:.*]]: !llvm.ptr, %{{.*}}: i64) attributes
// CHECK-SAME: tile.shared_bytes = 32 : i64
// CHECK: llvm.getelementptr %[[OWN]][0] : (!llvm.ptr) -> !llvm.ptr, i8
// CHECK-NOT: llvm.call
// CHECK: llvm.return
tile.kernel @alone(%y: memref<?xf32>)
    attributes {grid = affine_map<() -> (1)>, threads = 1 : i64} {
  %s = tile.shared : memref<8xf32, #gpu.address_space<workgroup>>
  %thread = gpu.thread_id x
  %c1 = arith.constant 1 : i32
  %0 = memref.load %s[%thread] : memref<8xf32, #gpu.address_space<workgroup>>
  gpu.barrier
  %1, %valid = gpu.shuffle xor %0, %c1, %c1 : f32
  memref.store %1, %y[%thread] : memref<?xf32>
  tile.return
}

// -----

// Scratch memory is a place of the stack, even in a loop.
// CHECK-LABEL: llvm.func internal @scratch.block
// CHECK-NEXT: llvm.mlir.constant(1 : i64)
// CHECK-NEXT: %[[SCRATCH:.*]] = llvm.alloca %{{.*}} x !llvm.array<32 x i8> {alignment = 64 : i64}
// CHECK: llvm.cond_br
// CHECK: %[[ROW:.*]] = llvm.mul %{{.*}}, %{{.*}} overflow<nsw> : i64
// CHECK: %[[AT:.*]] = llvm.add %[[ROW]], %{{.*}} overflow<nsw> : i64
// CHECK: llvm.getelementptr inbounds %[[SCRATCH]][%[[AT]]]
tile.kernel @scratch(%y: memref<?xi8>, %n: index)
    attributes {grid = affine_map<()[s0] -> (1)>, threads = 1 : i64} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  scf.for %i = %c0 to %n step %c1 {
    %scratch = memref.alloca() : memref<4x8xi8>
    %0 = memref.load %y[%i] : memref<?xi8>
    memref.store %0, %scratch[%c1, %i] : memref<4x8xi8>
    memref.prefetch %y[%i], read, locality<3>, data : memref<?xi8>
  }
  tile.return
}

// -----

// Exact functions are instructions, others calls; 16 bits are computed in 32
// and rounded by integer operations.
// CHECK-LABEL: llvm.func @erff(f32) -> f32
// CHECK-LABEL: llvm.func internal @math.block
// CHECK: llvm.intr.sqrt(%{{.*}}) : (f32) -> f32
// CHECK: llvm.call @erff
// CHECK-NOT: llvm.fptrunc
// CHECK: llvm.fmul %{{.*}}, %{{.*}} : f32
// CHECK-NOT: llvm.fptrunc
// CHECK: llvm.store %{{.*}}, %{{.*}} {alignment = 2 : i64} : i16, !llvm.ptr
tile.kernel @math(%x: memref<?xf32>, %y: memref<?xbf16>, %i: index)
    attributes {grid = affine_map<()[s0] -> (1)>, threads = 1 : i64} {
  %0 = memref.load %x[%i] : memref<?xf32>
  %1 = math.sqrt %0 : f32
  %2 = math.erf %1 : f32
  memref.store %2, %x[%i] : memref<?xf32>
  %3 = arith.truncf %2 : f32 to bf16
  %4 = arith.mulf %3, %3 : bf16
  memref.store %4, %y[%i] : memref<?xbf16>
  tile.return
}

// -----

// What only launches kernels is no part of their code.
// CHECK-NOT: func.func
// CHECK-LABEL: llvm.func @nothing
// CHECK-NOT: func.func
tile.kernel @nothing() attributes {grid = affine_map<() -> (1)>, threads = 1 : i64} {
  tile.return
}
func.func @main() {
  tile.launch @nothing() {sizes = affine_map<() -> ()>} : () -> ()
  return
}
