// RUN: fusion-opt %s --split-input-file --verify-diagnostics

// Mma (C1): the type of A.
tile.kernel @mma_a() attributes {grid = affine_map<() -> (1)>, threads = 32 : i64} {
  %a = arith.constant dense<0.0> : vector<4xf16>
  %c = arith.constant dense<0.0> : vector<4xf32>
  // expected-error @below {{fragment of A must be 'vector<8xf16>' for m16n8k16_f16, but is 'vector<4xf16>'}}
  %d = tile.mma m16n8k16_f16 %a, %a, %c : vector<4xf16>, vector<4xf16>, vector<4xf32>
  tile.return
}

// -----

// Mma (C1): the type of B.
tile.kernel @mma_b() attributes {grid = affine_map<() -> (1)>, threads = 32 : i64} {
  %a = arith.constant dense<0.0> : vector<8xbf16>
  %b = arith.constant dense<0.0> : vector<4xf16>
  %c = arith.constant dense<0.0> : vector<4xf32>
  // expected-error @below {{fragment of B must be 'vector<4xbf16>' for m16n8k16_bf16, but is 'vector<4xf16>'}}
  %d = tile.mma m16n8k16_bf16 %a, %b, %c : vector<8xbf16>, vector<4xf16>, vector<4xf32>
  tile.return
}

// -----

// Mma (C1): the type of the accumulator.
tile.kernel @mma_c() attributes {grid = affine_map<() -> (1)>, threads = 32 : i64} {
  %a = arith.constant dense<0> : vector<16xi8>
  %b = arith.constant dense<0> : vector<8xi8>
  %c = arith.constant dense<0.0> : vector<4xf32>
  // expected-error @below {{fragment of C must be 'vector<4xi32>' for m16n8k32_u8, but is 'vector<4xf32>'}}
  %d = tile.mma m16n8k32_u8 %a, %b, %c : vector<16xi8>, vector<8xi8>, vector<4xf32>
  tile.return
}

// -----

// Mma (C2): whole warps.
// expected-note @below {{see the kernel}}
tile.kernel @mma_warps() attributes {grid = affine_map<() -> (1)>, threads = 48 : i64} {
  %a = arith.constant dense<0.0> : vector<1xf64>
  %c = arith.constant dense<0.0> : vector<2xf64>
  // expected-error @below {{needs whole warps: the kernel's threads must be a multiple of 32, but are 48}}
  %d = tile.mma m8n8k4_f64 %a, %a, %c : vector<1xf64>, vector<1xf64>, vector<2xf64>
  tile.return
}

// -----

// LoadMatrix (C1): shared memory.
tile.kernel @load_space(%x: memref<?xf16>, %i: index)
    attributes {grid = affine_map<()[s0] -> (1)>, threads = 32 : i64} {
  // expected-error @below {{buffer must be a static memref in #gpu.address_space<workgroup>, but is 'memref<?xf16>'}}
  %0 = tile.load_matrix %x[%i] : memref<?xf16>, vector<2xf16>
  tile.return
}

// -----

// LoadMatrix (C1): the size of elements.
tile.kernel @load_element(%i: index)
    attributes {grid = affine_map<()[s0] -> (1)>, threads = 32 : i64} {
  %s = tile.shared : memref<64xf64, #gpu.address_space<workgroup>>
  // expected-error @below {{buffer must have elements of 8, 16 or 32 bits, but is 'memref<64xf64, #gpu.address_space<workgroup>>'}}
  %0 = tile.load_matrix %s[%i] : memref<64xf64, #gpu.address_space<workgroup>>, vector<2xf64>
  tile.return
}

// -----

// LoadMatrix (C1): an index for each dimension.
tile.kernel @load_indices(%i: index)
    attributes {grid = affine_map<()[s0] -> (1)>, threads = 32 : i64} {
  %s = tile.shared : memref<8x8xf16, #gpu.address_space<workgroup>>
  // expected-error @below {{buffer must have an index for each of its 2 dimensions, but has 1}}
  %0 = tile.load_matrix %s[%i] : memref<8x8xf16, #gpu.address_space<workgroup>>, vector<2xf16>
  tile.return
}

// -----

// LoadMatrix (C2): the type of the result's elements.
tile.kernel @load_type(%i: index)
    attributes {grid = affine_map<()[s0] -> (1)>, threads = 32 : i64} {
  %s = tile.shared : memref<64xf16, #gpu.address_space<workgroup>>
  // expected-error @below {{result must be a vector of 'f16' of 4, 8 or 16 bytes, one, two or four matrices, but is 'vector<2xbf16>'}}
  %0 = tile.load_matrix %s[%i] : memref<64xf16, #gpu.address_space<workgroup>>, vector<2xbf16>
  tile.return
}

// -----

// LoadMatrix (C2): the number of matrices.
tile.kernel @load_count(%i: index)
    attributes {grid = affine_map<()[s0] -> (1)>, threads = 32 : i64} {
  %s = tile.shared : memref<64xf16, #gpu.address_space<workgroup>>
  // expected-error @below {{one, two or four matrices, but is 'vector<6xf16>'}}
  %0 = tile.load_matrix %s[%i] : memref<64xf16, #gpu.address_space<workgroup>>, vector<6xf16>
  tile.return
}

// -----

// LoadMatrix (C3): what can be transposed.
tile.kernel @load_transposed(%i: index)
    attributes {grid = affine_map<()[s0] -> (1)>, threads = 32 : i64} {
  %s = tile.shared : memref<64xf32, #gpu.address_space<workgroup>>
  // expected-error @below {{transposes elements of 16 bits only, but has 'f32'}}
  %0 = tile.load_matrix %s[%i] transposed : memref<64xf32, #gpu.address_space<workgroup>>, vector<2xf32>
  tile.return
}

// -----

// LoadMatrix (C4): whole warps.
// expected-note @below {{see the kernel}}
tile.kernel @load_warps(%i: index)
    attributes {grid = affine_map<()[s0] -> (1)>, threads = 16 : i64} {
  %s = tile.shared : memref<64xf16, #gpu.address_space<workgroup>>
  // expected-error @below {{needs whole warps: the kernel's threads must be a multiple of 32, but are 16}}
  %0 = tile.load_matrix %s[%i] : memref<64xf16, #gpu.address_space<workgroup>>, vector<2xf16>
  tile.return
}

// -----

// AsyncCopy (C1): from a flat buffer.
tile.kernel @copy_source(%i: index)
    attributes {grid = affine_map<()[s0] -> (1)>, threads = 32 : i64} {
  %s = tile.shared : memref<64xf32, #gpu.address_space<workgroup>>
  // expected-error @below {{source must be a flat buffer memref<?xT>, but is 'memref<64xf32, #gpu.address_space<workgroup>>'}}
  tile.async_copy %s[%i] to %s[%i], 4 : memref<64xf32, #gpu.address_space<workgroup>> to memref<64xf32, #gpu.address_space<workgroup>>
  tile.return
}

// -----

// AsyncCopy (C1): to shared memory.
tile.kernel @copy_destination(%x: memref<?xf32>, %i: index)
    attributes {grid = affine_map<()[s0] -> (1)>, threads = 32 : i64} {
  // expected-error @below {{destination must be a static memref in #gpu.address_space<workgroup>, but is 'memref<?xf32>'}}
  tile.async_copy %x[%i] to %x[%i], 4 : memref<?xf32> to memref<?xf32>
  tile.return
}

// -----

// AsyncCopy (C1): of the same elements.
tile.kernel @copy_elements(%x: memref<?xf32>, %i: index)
    attributes {grid = affine_map<()[s0] -> (1)>, threads = 32 : i64} {
  %s = tile.shared : memref<64xf16, #gpu.address_space<workgroup>>
  // expected-error @below {{must copy elements as they are, but the source holds 'f32' and the destination 'f16'}}
  tile.async_copy %x[%i] to %s[%i], 4 : memref<?xf32> to memref<64xf16, #gpu.address_space<workgroup>>
  tile.return
}

// -----

// AsyncCopy (C2): an index for each dimension.
tile.kernel @copy_indices(%x: memref<?xf32>, %i: index)
    attributes {grid = affine_map<()[s0] -> (1)>, threads = 32 : i64} {
  %s = tile.shared : memref<8x8xf32, #gpu.address_space<workgroup>>
  // expected-error @below {{destination must have an index for each of its 2 dimensions, but has 1}}
  tile.async_copy %x[%i] to %s[%i], 4 : memref<?xf32> to memref<8x8xf32, #gpu.address_space<workgroup>>
  tile.return
}

// -----

// AsyncCopy (C3): the size of a copy.
tile.kernel @copy_size(%x: memref<?xf16>, %i: index)
    attributes {grid = affine_map<()[s0] -> (1)>, threads = 32 : i64} {
  %s = tile.shared : memref<64xf16, #gpu.address_space<workgroup>>
  // expected-error @below {{must copy 4, 8 or 16 bytes, but 1 elements of 'f16' are 2}}
  tile.async_copy %x[%i] to %s[%i], 1 : memref<?xf16> to memref<64xf16, #gpu.address_space<workgroup>>
  tile.return
}

// -----

// AsyncWait (C1): no number of groups is below zero.
tile.kernel @pending() attributes {grid = affine_map<() -> (1)>, threads = 32 : i64} {
  // expected-error @below {{pending must not be negative, but is -1}}
  tile.async_wait {pending = -1 : i64}
  tile.return
}
