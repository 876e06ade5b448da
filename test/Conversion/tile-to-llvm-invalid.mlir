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

// -----

// What only a GPU has.
tile.kernel @mma(%x: memref<?xf64>)
    attributes {grid = affine_map<() -> (1)>, threads = 32 : i64} {
  %a = arith.constant dense<1.0> : vector<1xf64>
  %c = arith.constant dense<1.0> : vector<2xf64>
  // expected-error @below {{is for GPUs only; schedule the kernel for the CPU with vector ops instead}}
  %0 = tile.mma m8n8k4_f64 %a, %a, %c : vector<1xf64>, vector<1xf64>, vector<2xf64>
  tile.return
}

// -----

tile.kernel @copy(%x: memref<?xf32>, %i: index)
    attributes {grid = affine_map<()[s0] -> (1)>, threads = 1 : i64} {
  %s = tile.shared : memref<4xf32, #gpu.address_space<workgroup>>
  // expected-error @below {{is for GPUs only; schedule the kernel for the CPU with vector ops instead}}
  tile.async_copy %x[%i] to %s[%i], 4 : memref<?xf32> to memref<4xf32, #gpu.address_space<workgroup>>
  tile.return
}
