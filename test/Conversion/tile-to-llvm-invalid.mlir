// RUN: fusion-opt %s --convert-tile-to-llvm=target=cpu --split-input-file --verify-diagnostics

// expected-error @below {{must have one thread a block on the CPU, but has 32}}
tile.kernel @threads() attributes {grid = affine_map<() -> (1)>, threads = 32 : i64} {
  tile.return
}

// -----

tile.kernel @reduction(%n: index)
    attributes {grid = affine_map<()[s0] -> (1)>, threads = 1 : i64} {
  // expected-error @below {{must be written out before the conversion to LLVM; run tile-expand-reduce first}}
  %0 = tile.reduce %n {width = 1 : i64} : index {
  ^bb0(%a: index, %b: index):
    tile.yield %a : index
  }
  tile.return
}

// -----

tile.kernel @dimension(%x: memref<?xf32>)
    attributes {grid = affine_map<() -> (1)>, threads = 1 : i64} {
  // expected-error @below {{failed to legalize operation 'gpu.block_id'}}
  %i = gpu.block_id y
  %0 = memref.load %x[%i] : memref<?xf32>
  memref.store %0, %x[%i] : memref<?xf32>
  tile.return
}
