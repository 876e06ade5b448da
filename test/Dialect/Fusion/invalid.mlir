// RUN: fusion-opt %s --split-input-file --verify-diagnostics

// One case for each numbered constraint of the dialect's operations.

// layout C1
// expected-error @+1 {{expects 'order' to be a permutation of the 2 dimensions, got [0, 0]}}
func.func private @f(tensor<4x8xf32, #fusion.layout<order = [0, 0]>>)

// -----

// layout C2
// expected-error @+1 {{expects one entry in 'strides' for each of the 2 dimensions, got [1]}}
func.func private @f(tensor<4x8xf32, #fusion.layout<strides = [1]>>)

// -----

// layout C2, the value
// expected-error @+1 {{expects strides of at least 0, or -1 for one known at run time only, got [-2, 1]}}
func.func private @f(tensor<4x8xf32, #fusion.layout<strides = [-2, 1]>>)

// -----

// layout C3
// expected-error @+1 {{expects one entry in 'symbols' for each of the 2 dimensions, got 1; write "" for a dimension without a name}}
func.func private @f(tensor<?x8xf32, #fusion.layout<symbols = ["N"]>>)

// -----

// layout C4
// expected-error @+1 {{expects either 'order' or 'strides', got both; strides already give the order}}
func.func private @f(tensor<4x8xf32, #fusion.layout<order = [1, 0], strides = [1, 4]>>)

// -----

// layout, a part twice
// expected-error @+1 {{'order' is given twice}}
func.func private @f(tensor<4x8xf32, #fusion.layout<order = [1, 0], order = [1, 0]>>)

// -----

// layout, an unknown part
// expected-error @+1 {{expects 'order', 'strides' or 'symbols', got 'tile'}}
func.func private @f(tensor<4x8xf32, #fusion.layout<tile = [1, 0]>>)

// -----

// unary C1, shape
func.func @f(%x: tensor<4xf32>) {
  // expected-error @+1 {{requires the same shape for all operands and results}}
  %0 = fusion.exp %x : (tensor<4xf32>) -> tensor<5xf32>
  return
}

// -----

// unary C1, element type
func.func @f(%x: tensor<4xf32>) {
  // expected-error @+1 {{requires the same element type for all operands and results}}
  %0 = fusion.exp %x : (tensor<4xf32>) -> tensor<4xf16>
  return
}

// -----

// float op on integers
func.func @f(%x: tensor<4xi32>) {
  // expected-error @+1 {{must be ranked tensor of}}
  %0 = fusion.exp %x : (tensor<4xi32>) -> tensor<4xi32>
  return
}

// -----

// test C1
func.func @f(%x: tensor<4xf32>) {
  // expected-error @+1 {{requires the same shape for all operands and results}}
  %0 = fusion.is_nan %x : (tensor<4xf32>) -> tensor<5xi1>
  return
}

// -----

// convert C1
func.func @f(%x: tensor<4xf32>) {
  // expected-error @+1 {{requires the same shape for all operands and results}}
  %0 = fusion.convert %x : (tensor<4xf32>) -> tensor<5xf16>
  return
}

// -----

// binary C1
func.func @f(%x: tensor<4xf32>, %y: tensor<1xf32>) {
  // expected-error @+1 {{requires the same shape for all operands and results}}
  %0 = fusion.add %x, %y : (tensor<4xf32>, tensor<1xf32>) -> tensor<4xf32>
  return
}

// -----

// compare C1
func.func @f(%x: tensor<4xf32>, %y: tensor<4xf16>) {
  // expected-error @+1 {{requires the same element type for all operands}}
  %0 = fusion.compare lt, %x, %y : (tensor<4xf32>, tensor<4xf16>) -> tensor<4xi1>
  return
}

// -----

// select C1
func.func @f(%c: tensor<1xi1>, %x: tensor<4xf32>) {
  // expected-error @+1 {{requires the same shape for all operands and results}}
  %0 = fusion.select %c, %x, %x : (tensor<1xi1>, tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  return
}

// -----

// select C2
func.func @f(%c: tensor<4xi1>, %x: tensor<4xf32>, %y: tensor<4xf16>) {
  // expected-error @+1 {{failed to verify that all of {on_true, on_false, result} have same element type}}
  %0 = fusion.select %c, %x, %y : (tensor<4xi1>, tensor<4xf32>, tensor<4xf16>) -> tensor<4xf32>
  return
}

// -----

// clamp C1
func.func @f(%x: tensor<4xf32>, %y: tensor<4xf16>) {
  // expected-error @+1 {{requires the same element type for all operands and results}}
  %0 = fusion.clamp %x, %y, %y : (tensor<4xf32>, tensor<4xf16>, tensor<4xf16>) -> tensor<4xf32>
  return
}

// -----

// iota C1
func.func @f() {
  // expected-error @+1 {{expects 'dim' to be at least 0 and below the rank 1, got 1}}
  %0 = fusion.iota {dim = 1 : i64} : () -> tensor<4xi32>
  return
}

// -----

// iota C2
func.func @f(%x: tensor<5xf32>) {
  // expected-error @+1 {{expects 'like' to have the shape of the result, got [5] and [4]}}
  %0 = fusion.iota %x {dim = 0 : i64} : (tensor<5xf32>) -> tensor<4xi32>
  return
}

// -----

// iota C3
func.func @f() {
  // expected-error @+1 {{expects 'like' to give the symbolic sizes of [?]; add an operand of that shape}}
  %0 = fusion.iota {dim = 0 : i64} : () -> tensor<?xi32>
  return
}

// -----

// broadcast C1, entries
func.func @f(%x: tensor<8xf32>) {
  // expected-error @+1 {{expects one entry in 'dims' for each of the 1 operand dimensions, got []}}
  %0 = fusion.broadcast %x {dims = array<i64>} : (tensor<8xf32>) -> tensor<4x8xf32>
  return
}

// -----

// broadcast C1, order
func.func @f(%x: tensor<4x8xf32>) {
  // expected-error @+1 {{expects 'dims' to increase and to stay at least 0 and below the result's rank 2, got [1, 0]}}
  %0 = fusion.broadcast %x {dims = array<i64: 1, 0>} : (tensor<4x8xf32>) -> tensor<8x4xf32>
  return
}

// -----

// broadcast C2
func.func @f(%x: tensor<7xf32>) {
  // expected-error @+1 {{expects an operand size that is 1 or equal to the result's, got [7] to [4, 8] with dimension 0 of the operand as dimension 1}}
  %0 = fusion.broadcast %x {dims = array<i64: 1>} : (tensor<7xf32>) -> tensor<4x8xf32>
  return
}

// -----

// broadcast C3
func.func @f(%x: tensor<f32>, %y: tensor<5xf32>) {
  // expected-error @+1 {{expects 'like' to have the shape of the result, got [5] and [4]}}
  %0 = fusion.broadcast %x, %y {dims = array<i64>} : (tensor<f32>, tensor<5xf32>) -> tensor<4xf32>
  return
}

// -----

// broadcast C4
func.func @f(%x: tensor<8xf32>) {
  // expected-error @+1 {{expects 'like' to give the symbolic size of dimension 0 of [?, 8]; add an operand of that shape}}
  %0 = fusion.broadcast %x {dims = array<i64: 1>} : (tensor<8xf32>) -> tensor<?x8xf32>
  return
}

// -----

// reshape C1
func.func @f(%x: tensor<4x6xf32>) {
  // expected-error @+1 {{expects as many elements in the result as in the operand, got 25 in [5, 5] and 24 in [4, 6]}}
  %0 = fusion.reshape %x : (tensor<4x6xf32>) -> tensor<5x5xf32>
  return
}

// -----

// reshape C2
func.func @f(%x: tensor<?x6xf32>) {
  // expected-error @+1 {{expects at most one symbolic result size to infer, got dimensions [1, 2] of [?, ?, ?] from [?, 6]; name the sizes with #fusion.layout<symbols>}}
  %0 = fusion.reshape %x : (tensor<?x6xf32>) -> tensor<?x?x?xf32>
  return
}

// -----

// transpose C1
func.func @f(%x: tensor<4x6xf32>) {
  // expected-error @+1 {{expects 'permutation' to hold each of the 2 operand dimensions once, got [0, 0]}}
  %0 = fusion.transpose %x {permutation = array<i64: 0, 0>} : (tensor<4x6xf32>) -> tensor<4x6xf32>
  return
}

// -----

// transpose C2
func.func @f(%x: tensor<4x6xf32>) {
  // expected-error @+1 {{expects a result of shape [6, 4] (the operand's, permuted), got [4, 6]}}
  %0 = fusion.transpose %x {permutation = array<i64: 1, 0>} : (tensor<4x6xf32>) -> tensor<4x6xf32>
  return
}

// -----

// slice C1, entries
func.func @f(%x: tensor<4xf32>) {
  // expected-error @+1 {{expects one entry in 'starts' for each of the 1 operand dimensions, got [0, 0]}}
  %0 = fusion.slice %x {starts = array<i64: 0, 0>, steps = array<i64: 1>} : (tensor<4xf32>) -> tensor<4xf32>
  return
}

// -----

// slice C1, values
func.func @f(%x: tensor<4xf32>) {
  // expected-error @+1 {{expects starts of at least 0 and steps of at least 1, got [0] and [0]; fusion.reverse gives negative steps}}
  %0 = fusion.slice %x {starts = array<i64: 0>, steps = array<i64: 0>} : (tensor<4xf32>) -> tensor<4xf32>
  return
}

// -----

// slice, rank
func.func @f(%x: tensor<4x1xf32>) {
  // expected-error @+1 {{expects a result of the operand's rank 2, got 1; fusion.reshape drops dimensions}}
  %0 = fusion.slice %x {starts = array<i64: 0, 0>, steps = array<i64: 1, 1>} : (tensor<4x1xf32>) -> tensor<4xf32>
  return
}

// -----

// slice C2
func.func @f(%x: tensor<4xf32>) {
  // expected-error @+1 {{expects the last element read to lie within the operand [4], got 3 elements from 1 on in steps of 2 in dimension 0}}
  %0 = fusion.slice %x {starts = array<i64: 1>, steps = array<i64: 2>} : (tensor<4xf32>) -> tensor<3xf32>
  return
}

// -----

// reverse C1
func.func @f(%x: tensor<4xf32>) {
  // expected-error @+1 {{expects 'dims' to hold distinct dimensions, at least 0 and below the rank 1, got [0, 0]}}
  %0 = fusion.reverse %x {dims = array<i64: 0, 0>} : (tensor<4xf32>) -> tensor<4xf32>
  return
}

// -----

// pad C1
func.func @f(%x: tensor<4xf32>, %v: tensor<f32>) {
  // expected-error @+1 {{expects one entry in 'high' for each of the 1 operand dimensions, got []}}
  %0 = fusion.pad %x, %v {low = array<i64: 1>, high = array<i64>} : (tensor<4xf32>, tensor<f32>) -> tensor<5xf32>
  return
}

// -----

// pad C2
func.func @f(%x: tensor<4xf32>, %v: tensor<f32>) {
  // expected-error @+1 {{expects a result of shape [6] (low + size + high), got [7]}}
  %0 = fusion.pad %x, %v {low = array<i64: 1>, high = array<i64: 1>} : (tensor<4xf32>, tensor<f32>) -> tensor<7xf32>
  return
}

// -----

// pad C2, negative
func.func @f(%x: tensor<4xf32>, %v: tensor<f32>) {
  // expected-error @+1 {{expects result sizes of at least 0, got 'low' [-3] and 'high' [-2] for operand [4]}}
  %0 = fusion.pad %x, %v {low = array<i64: -3>, high = array<i64: -2>} : (tensor<4xf32>, tensor<f32>) -> tensor<?xf32>
  return
}

// -----

// pad C3
func.func @f(%x: tensor<4xf32>, %v: tensor<1xf32>) {
  // expected-error @+1 {{expects 'value' to have rank 0, got shape [1]}}
  %0 = fusion.pad %x, %v {low = array<i64: 1>, high = array<i64: 1>} : (tensor<4xf32>, tensor<1xf32>) -> tensor<6xf32>
  return
}

// -----

// concat C1, operands
func.func @f() {
  // expected-error @+1 {{expected 1 or more operands, but found 0}}
  %0 = fusion.concat {dim = 0 : i64} : () -> tensor<4xf32>
  return
}

// -----

// concat C1, dim
func.func @f(%x: tensor<4xf32>) {
  // expected-error @+1 {{expects 'dim' to be at least 0 and below the rank 1, got -1}}
  %0 = fusion.concat %x {dim = -1 : i64} : (tensor<4xf32>) -> tensor<4xf32>
  return
}

// -----

// concat C2
func.func @f(%x: tensor<4x6xf32>, %y: tensor<4x5xf32>) {
  // expected-error @+1 {{expects sizes other than that of dimension 0 to agree with the result [8, 6], got operand 1 of shape [4, 5]}}
  %0 = fusion.concat %x, %y {dim = 0 : i64} : (tensor<4x6xf32>, tensor<4x5xf32>) -> tensor<8x6xf32>
  return
}

// -----

// concat C2, rank
func.func @f(%x: tensor<4xf32>, %y: tensor<4x5xf32>) {
  // expected-error @+1 {{expects operands of the result's rank 1, got operand 1 of shape [4, 5]}}
  %0 = fusion.concat %x, %y {dim = 0 : i64} : (tensor<4xf32>, tensor<4x5xf32>) -> tensor<8xf32>
  return
}

// -----

// concat C3
func.func @f(%x: tensor<4xf32>) {
  // expected-error @+1 {{expects a result of shape [8] (the sum of the operands' sizes along 'dim'), got [7]}}
  %0 = fusion.concat %x, %x {dim = 0 : i64} : (tensor<4xf32>, tensor<4xf32>) -> tensor<7xf32>
  return
}

// -----

// gather C1
func.func @f(%x: tensor<5xf32>, %i: tensor<4xi64>) {
  // expected-error @+1 {{expects 'dim' to be at least 0 and below the rank 1, got 1}}
  %0 = fusion.gather %x, %i {dim = 1 : i64} : (tensor<5xf32>, tensor<4xi64>) -> tensor<4xf32>
  return
}

// -----

// gather C2
func.func @f(%x: tensor<5x3xf32>, %i: tensor<4x1xi64>) {
  // expected-error @+1 {{expects indices of the operand's shape but along dimension 0, got operand [5, 3] and indices [4, 1]; fusion.broadcast repeats indices}}
  %0 = fusion.gather %x, %i {dim = 0 : i64} : (tensor<5x3xf32>, tensor<4x1xi64>) -> tensor<4x1xf32>
  return
}

// -----

// gather C3
func.func @f(%x: tensor<5x3xf32>, %i: tensor<4x3xi64>) {
  // expected-error @+1 {{that of the indices}}
  %0 = fusion.gather %x, %i {dim = 0 : i64} : (tensor<5x3xf32>, tensor<4x3xi64>) -> tensor<5x3xf32>
  return
}
