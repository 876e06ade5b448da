// RUN: fusion-opt %s --verify-roundtrip | FileCheck %s

// CHECK-LABEL: tile.kernel @double(
// CHECK-SAME: %{{.*}}: memref<?xf32> {tile.access = "read", tile.align = 16 : i64},
// CHECK-SAME: %{{.*}}: memref<?xf32> {tile.access = "write"},
// CHECK-SAME: %{{.*}}: index {tile.divisor = 4 : i64})
// CHECK-SAME: attributes {grid = #[[GRID:.*]], index_bits = 32 : i64, threads = 256 : i64}
// CHECK: tile.return
tile.kernel @double(%x: memref<?xf32> {tile.access = "read", tile.align = 16 : i64},
                    %y: memref<?xf32> {tile.access = "write"},
                    %n: index {tile.divisor = 4 : i64})
    attributes {grid = affine_map<()[s0] -> (s0 ceildiv 256)>,
                threads = 256 : i64, index_bits = 32 : i64} {
  %block = gpu.block_id x
  %thread = gpu.thread_id x
  %c256 = arith.constant 256 : index
  %first = arith.muli %block, %c256 : index
  %i = arith.addi %first, %thread : index
  %inside = arith.cmpi slt, %i, %n : index
  scf.if %inside {
    %0 = memref.load %x[%i] : memref<?xf32>
    %1 = arith.addf %0, %0 : f32
    memref.store %1, %y[%i] : memref<?xf32>
  }
  tile.return
}

// CHECK-LABEL: func.func @main
// CHECK: tile.launch @double(%{{.*}}) {sizes = #{{.*}}} : (tensor<?xf32>) -> tensor<?xf32>
func.func @main(%x: tensor<?xf32>) -> tensor<?xf32> {
  %y = tile.launch @double(%x) {sizes = affine_map<()[s0] -> (s0)>}
      : (tensor<?xf32>) -> tensor<?xf32>
  return %y : tensor<?xf32>
}

// A kernel without sizes, with scratch memory of its own and the default
// index_bits.
// CHECK-LABEL: tile.kernel @scratch(
// CHECK-SAME: attributes {grid = #{{.*}}, threads = 1 : i64}
tile.kernel @scratch(%y: memref<?xi8>)
    attributes {grid = affine_map<() -> (1)>, threads = 1 : i64} {
  %c0 = arith.constant 0 : index
  %scratch = memref.alloca() : memref<4xi8>
  %0 = memref.load %scratch[%c0] : memref<4xi8>
  memref.store %0, %y[%c0] : memref<?xi8>
  tile.return
}

// Bool is stored in bytes and unsigned integers without a sign.
// CHECK-LABEL: func.func @storage
func.func @storage() -> (tensor<4xi1>, tensor<4xui8>) {
  %0 = tile.launch @scratch() {sizes = affine_map<() -> ()>} : () -> tensor<4xi1>
  %1 = tile.launch @scratch() {sizes = affine_map<() -> ()>} : () -> tensor<4xui8>
  return %0, %1 : tensor<4xi1>, tensor<4xui8>
}

// CHECK-LABEL: tile.kernel @reductions(
tile.kernel @reductions(%x: memref<?xf32>)
    attributes {grid = affine_map<() -> (1)>, threads = 64 : i64} {
  // CHECK: tile.shared : memref<64x65xf32, #gpu.address_space<workgroup>>
  %s = tile.shared : memref<64x65xf32, #gpu.address_space<workgroup>>
  %thread = gpu.thread_id x
  %0 = memref.load %x[%thread] : memref<?xf32>
  // CHECK: tile.reduce %{{.*}} {width = 64 : i64} : f32 {
  // CHECK: tile.yield %{{.*}} : f32
  %1 = tile.reduce %0 {width = 64 : i64} : f32 {
  ^bb0(%a: f32, %b: f32):
    %2 = arith.addf %a, %b : f32
    tile.yield %2 : f32
  }
  // CHECK: tile.reduce %{{.*}}, %{{.*}} {width = 32 : i64} : f32, index {
  // CHECK: ^bb0(%{{.*}}: f32, %{{.*}}: index, %{{.*}}: f32, %{{.*}}: index):
  %3:2 = tile.reduce %1, %thread {width = 32 : i64} : f32, index {
  ^bb0(%a: f32, %i: index, %b: f32, %j: index):
    %less = arith.cmpf olt, %a, %b : f32
    %4 = arith.select %less, %a, %b : f32
    %5 = arith.select %less, %i, %j : index
    tile.yield %4, %5 : f32, index
  }
  memref.store %3#0, %x[%3#1] : memref<?xf32>
  tile.return
}
