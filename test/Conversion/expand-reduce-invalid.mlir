// RUN: fusion-opt %s --tile-expand-reduce --split-input-file --verify-diagnostics

tile.kernel @type(%x: memref<?xf32>, %i: index)
    attributes {grid = affine_map<()[s0] -> (1)>, threads = 32 : i64} {
  %0 = arith.constant 0 : i128
  // expected-error @below {{cannot pass a value of type 'i128' between threads; use index, integers and floats of up to 64 bits, or vectors of rank 1 of these}}
  %1 = tile.reduce %0 {width = 32 : i64} : i128 {
  ^bb0(%a: i128, %b: i128):
    tile.yield %a : i128
  }
  tile.return
}

// -----

tile.kernel @partial_warp(%x: memref<?xf32>, %i: index)
    attributes {grid = affine_map<()[s0] -> (1)>, threads = 48 : i64} {
  // expected-error @below {{needs whole warps: the kernel's threads must be a multiple of 32 or a power of two, but are 48}}
  %1 = tile.reduce %i {width = 16 : i64} : index {
  ^bb0(%a: index, %b: index):
    tile.yield %a : index
  }
  tile.return
}
