// RUN: fusion-opt %s --tile-expand-reduce --split-input-file | FileCheck %s

// Up to a warp: a butterfly of shuffles among all 32 lanes, in fixed order.
// CHECK-LABEL: tile.kernel @warp
tile.kernel @warp(%x: memref<?xf32>)
    attributes {grid = affine_map<() -> (1)>, threads = 64 : i64} {
  // CHECK: %[[THREAD:.*]] = gpu.thread_id x
  %thread = gpu.thread_id x
  // CHECK: %[[X:.*]] = memref.load
  %0 = memref.load %x[%thread] : memref<?xf32>
  // CHECK: %[[LANES:.*]] = arith.constant 32 : i32
  // CHECK: %[[ONE:.*]] = arith.constant 1 : i32
  // CHECK: %[[BITS:.*]] = arith.bitcast %[[X]] : f32 to i32
  // CHECK: %[[OTHER:.*]], %{{.*}} = gpu.shuffle xor %[[BITS]], %[[ONE]], %[[LANES]] : i32
  // CHECK: %[[Y:.*]] = arith.bitcast %[[OTHER]] : i32 to f32
  // CHECK: %[[SUM:.*]] = arith.addf %[[X]], %[[Y]] : f32
  // CHECK: %[[TWO:.*]] = arith.constant 2 : i32
  // CHECK: %[[BITS2:.*]] = arith.bitcast %[[SUM]] : f32 to i32
  // CHECK: gpu.shuffle xor %[[BITS2]], %[[TWO]], %[[LANES]] : i32
  // CHECK: %[[RESULT:.*]] = arith.addf
  // CHECK-NOT: gpu.shuffle
  // CHECK-NOT: gpu.barrier
  // CHECK: memref.store %[[RESULT]]
  %1 = tile.reduce %0 {width = 4 : i64} : f32 {
  ^bb0(%a: f32, %b: f32):
    %2 = arith.addf %a, %b : f32
    tile.yield %2 : f32
  }
  memref.store %1, %x[%thread] : memref<?xf32>
  tile.return
}

// -----

// A single thread has its value already.
// CHECK-LABEL: tile.kernel @alone
tile.kernel @alone(%x: memref<?xf32>, %i: index)
    attributes {grid = affine_map<()[s0] -> (1)>, threads = 1 : i64} {
  // CHECK: %[[X:.*]] = memref.load
  %0 = memref.load %x[%i] : memref<?xf32>
  // CHECK-NEXT: memref.store %[[X]]
  %1 = tile.reduce %0 {width = 1 : i64} : f32 {
  ^bb0(%a: f32, %b: f32):
    %2 = arith.addf %a, %b : f32
    tile.yield %2 : f32
  }
  memref.store %1, %x[%i] : memref<?xf32>
  tile.return
}

// -----

// Above a warp: one word a warp in shared memory, then a butterfly over the
// run's warps. Outside of a loop one barrier is enough.
// CHECK-LABEL: tile.kernel @block
tile.kernel @block(%x: memref<?xf32>)
    attributes {grid = affine_map<() -> (1)>, threads = 256 : i64} {
  // CHECK: %[[SHARED:.*]] = tile.shared : memref<8xi32, #gpu.address_space<workgroup>>
  %thread = gpu.thread_id x
  %0 = memref.load %x[%thread] : memref<?xf32>
  // CHECK-COUNT-5: gpu.shuffle xor
  // CHECK-NOT: gpu.barrier
  // CHECK: scf.if
  // CHECK: memref.store %{{.*}}, %[[SHARED]]
  // CHECK: gpu.barrier
  // CHECK: memref.load %[[SHARED]]
  // CHECK-COUNT-2: gpu.shuffle xor
  // CHECK-NOT: gpu.shuffle
  // CHECK-NOT: gpu.barrier
  %1 = tile.reduce %0 {width = 128 : i64} : f32 {
  ^bb0(%a: f32, %b: f32):
    %2 = arith.addf %a, %b : f32
    tile.yield %2 : f32
  }
  memref.store %1, %x[%thread] : memref<?xf32>
  tile.return
}

// -----

// In a loop a barrier keeps a fast warp from overwriting what others read.
// CHECK-LABEL: tile.kernel @loop
tile.kernel @loop(%x: memref<?xf32>, %n: index)
    attributes {grid = affine_map<()[s0] -> (1)>, threads = 64 : i64} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  // CHECK: scf.for
  scf.for %i = %c0 to %n step %c1 {
    %0 = memref.load %x[%i] : memref<?xf32>
    // CHECK: gpu.barrier
    // CHECK: scf.if
    // CHECK: gpu.barrier
    %1 = tile.reduce %0 {width = 64 : i64} : f32 {
    ^bb0(%a: f32, %b: f32):
      %2 = arith.maximumf %a, %b : f32
      tile.yield %2 : f32
    }
    memref.store %1, %x[%i] : memref<?xf32>
  }
  tile.return
}

// -----

// Narrow values are widened, wide ones travel in halves, an index is as wide as
// the kernel's.
// CHECK-LABEL: tile.kernel @types
tile.kernel @types(%h: memref<?xf16>, %d: memref<?xf64>, %i: index)
    attributes {grid = affine_map<()[s0] -> (1)>, threads = 8 : i64, index_bits = 32 : i64} {
  %0 = memref.load %h[%i] : memref<?xf16>
  %1 = memref.load %d[%i] : memref<?xf64>
  // CHECK: %[[LANES:.*]] = arith.constant 8 : i32
  // CHECK: %[[H:.*]] = arith.bitcast %{{.*}} : f16 to i16
  // CHECK: arith.extui %[[H]] : i16 to i32
  // CHECK: %[[D:.*]] = arith.bitcast %{{.*}} : f64 to i64
  // CHECK: arith.shrui %[[D]]
  // CHECK: arith.index_cast %{{.*}} : index to i32
  // CHECK-COUNT-4: gpu.shuffle xor %{{.*}}, %{{.*}}, %[[LANES]] : i32
  // CHECK-NOT: gpu.shuffle
  %2:3 = tile.reduce %0, %1, %i {width = 2 : i64} : f16, f64, index {
  ^bb0(%a: f16, %b: f64, %c: index, %e: f16, %f: f64, %g: index):
    %3 = arith.addf %a, %e : f16
    %4 = arith.addf %b, %f : f64
    %5 = arith.maxsi %c, %g : index
    tile.yield %3, %4, %5 : f16, f64, index
  }
  memref.store %2#0, %h[%2#2] : memref<?xf16>
  memref.store %2#1, %d[%2#2] : memref<?xf64>
  tile.return
}

// -----

// Above a warp an f64 lies whole in shared memory: ptxas 13 reads a store of the
// low word of a register that holds an f64 as a conversion to an integer.
// CHECK-LABEL: tile.kernel @whole
tile.kernel @whole(%x: memref<?xf64>)
    attributes {grid = affine_map<() -> (1)>, threads = 64 : i64} {
  // CHECK: tile.shared : memref<2xi64, #gpu.address_space<workgroup>>
  // CHECK-NOT: memref.store %{{.*}} : memref<{{.*}}xi32
  %i = gpu.thread_id x
  %0 = memref.load %x[%i] : memref<?xf64>
  %1 = tile.reduce %0 {width = 64 : i64} : f64 {
  ^bb0(%a: f64, %b: f64):
    %2 = arith.addf %a, %b : f64
    tile.yield %2 : f64
  }
  memref.store %1, %x[%i] : memref<?xf64>
  tile.return
}
