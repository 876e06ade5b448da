// RUN: fusion-opt %s --split-input-file --verify-diagnostics

// Kernel (C1): sizes come last.
// expected-error @below {{argument #2 must be a size of type index, as it follows the 1 buffers, but is 'f32'; buffers precede sizes}}
tile.kernel @sizes_last(%x: memref<?xf32>, %n: index, %y: f32)
    attributes {grid = affine_map<()[s0, s1] -> (s0)>, threads = 1 : i64} {
  tile.return
}

// -----

// Kernel (C1): buffers are flat.
// expected-error @below {{argument #0 must be a flat buffer memref<?xT>, but is 'memref<?x4xf32>'}}
tile.kernel @flat(%x: memref<?x4xf32>)
    attributes {grid = affine_map<() -> (1)>, threads = 1 : i64} {
  tile.return
}

// -----

// Kernel (C2): the grid is an expression of symbols.
// expected-error @below {{grid must be one expression of symbols, but is affine_map<(d0) -> (d0)>}}
tile.kernel @grid_dims(%n: index)
    attributes {grid = affine_map<(d0) -> (d0)>, threads = 1 : i64} {
  tile.return
}

// -----

// Kernel (C2): one symbol for each size.
// expected-error @below {{grid must have a symbol for each of the 2 sizes, but has 1}}
tile.kernel @grid_symbols(%n: index, %m: index)
    attributes {grid = affine_map<()[s0] -> (s0)>, threads = 1 : i64} {
  tile.return
}

// -----

// Kernel (C3): the number of threads.
// expected-error @below {{threads must be from 1 to 1024, but is 2048}}
tile.kernel @threads()
    attributes {grid = affine_map<() -> (1)>, threads = 2048 : i64} {
  tile.return
}

// -----

// Kernel (C3): the width of an index.
// expected-error @below {{index_bits must be 32 or 64, but is 16}}
tile.kernel @index_bits()
    attributes {grid = affine_map<() -> (1)>, threads = 1 : i64, index_bits = 16 : i64} {
  tile.return
}

// -----

// Kernel (C4): no results.
// expected-error @below {{must have no results: a kernel writes to buffers}}
tile.kernel @results() -> f32
    attributes {grid = affine_map<() -> (1)>, threads = 1 : i64} {
  tile.return
}

// -----

// expected-error @below {{must have a body}}
tile.kernel @declaration()
    attributes {grid = affine_map<() -> (1)>, threads = 1 : i64}

// -----

// Launch (C1): the callee exists.
func.func @no_kernel(%x: tensor<4xf32>) {
  // expected-error @below {{callee @missing must be a tile.kernel of this module}}
  tile.launch @missing(%x) {sizes = affine_map<() -> ()>} : (tensor<4xf32>) -> ()
  return
}

// -----

// Launch (C1): as many tensors as buffers.
// expected-note @below {{see the kernel's arguments}}
tile.kernel @two(%x: memref<?xf32>, %y: memref<?xf32>)
    attributes {grid = affine_map<() -> (1)>, threads = 1 : i64} {
  tile.return
}
func.func @tensors(%x: tensor<4xf32>) {
  // expected-error @below {{must have one operand or result for each of the 2 buffers of the kernel, but has 1}}
  tile.launch @two(%x) {sizes = affine_map<() -> ()>} : (tensor<4xf32>) -> ()
  return
}

// -----

// Launch (C1): the storage type.
// expected-note @below {{see the kernel's arguments}}
tile.kernel @bytes(%x: memref<?xi8>, %y: memref<?xf32>)
    attributes {grid = affine_map<() -> (1)>, threads = 1 : i64} {
  tile.return
}
func.func @storage(%x: tensor<4xi1>) -> tensor<4xf64> {
  // expected-error @below {{buffer #1 holds 'f32' in the kernel, but 'tensor<4xf64>' is stored as 'f64'}}
  %y = tile.launch @bytes(%x) {sizes = affine_map<() -> ()>} : (tensor<4xi1>) -> tensor<4xf64>
  return %y : tensor<4xf64>
}

// -----

// Launch (C2): a value for each size.
tile.kernel @sized(%n: index)
    attributes {grid = affine_map<()[s0] -> (s0)>, threads = 1 : i64} {
  tile.return
}
func.func @sizes() {
  // expected-error @below {{sizes must have no dims and one result for each of the kernel's 1 sizes, but is affine_map<() -> (4, 5)>}}
  tile.launch @sized() {sizes = affine_map<() -> (4, 5)>} : () -> ()
  return
}

// -----

// Shared (C1): static, in the workgroup's address space.
tile.kernel @shared_space()
    attributes {grid = affine_map<() -> (1)>, threads = 1 : i64} {
  // expected-error @below {{must have a static memref type in #gpu.address_space<workgroup>, but has 'memref<4xf32>'}}
  %s = tile.shared : memref<4xf32>
  tile.return
}

// -----

// Shared (C2): in the entry block.
tile.kernel @shared_place(%n: index)
    attributes {grid = affine_map<()[s0] -> (1)>, threads = 1 : i64} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  scf.for %i = %c0 to %n step %c1 {
    // expected-error @below {{must stand in the entry block of a tile.kernel, so that the buffer lives as long as the block}}
    %s = tile.shared : memref<4xf32, #gpu.address_space<workgroup>>
  }
  tile.return
}

// -----

// Reduce (C1): a power of two.
tile.kernel @width(%n: index)
    attributes {grid = affine_map<()[s0] -> (1)>, threads = 64 : i64} {
  // expected-error @below {{width must be a power of two, but is 48}}
  %0 = tile.reduce %n {width = 48 : i64} : index {
  ^bb0(%a: index, %b: index):
    tile.yield %a : index
  }
  tile.return
}

// -----

// Reduce (C1): within the block.
tile.kernel @width(%n: index)
    attributes {grid = affine_map<()[s0] -> (1)>, threads = 64 : i64} {
  // expected-error @below {{width must divide the kernel's 64 threads, but is 128}}
  %0 = tile.reduce %n {width = 128 : i64} : index {
  ^bb0(%a: index, %b: index):
    tile.yield %a : index
  }
  tile.return
}

// -----

// Reduce (C2): the region's arguments.
tile.kernel @combiner(%n: index)
    attributes {grid = affine_map<()[s0] -> (1)>, threads = 64 : i64} {
  // expected-error @below {{region must take each input's type twice: 'index', 'index', but takes 'index'}}
  %0 = tile.reduce %n {width = 64 : i64} : index {
  ^bb0(%a: index):
    tile.yield %a : index
  }
  tile.return
}

// -----

// Reduce (C2): what the region yields.
tile.kernel @combiner(%n: index)
    attributes {grid = affine_map<()[s0] -> (1)>, threads = 64 : i64} {
  // expected-error @below {{region must yield each input's type once: 'index'}}
  %0 = tile.reduce %n {width = 64 : i64} : index {
  ^bb0(%a: index, %b: index):
    tile.yield %a, %b : index, index
  }
  tile.return
}
