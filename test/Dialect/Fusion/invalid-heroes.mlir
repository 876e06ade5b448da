// RUN: fusion-opt %s --split-input-file --verify-diagnostics

// One case for each numbered constraint of the dialect's operations.

// reduce C1
func.func @f(%x: tensor<4x8xf32>) {
  // expected-error @+1 {{expects 'dims' to increase and to stay at least 0 and below the rank 2, got [1, 0]}}
  %0 = fusion.reduce sum, %x {dims = array<i64: 1, 0>} : (tensor<4x8xf32>) -> tensor<f32>
  return
}

// -----

// reduce C2
func.func @f(%x: tensor<4x8xf32>) {
  // expected-error @+1 {{expects a result of shape [4] (the operand's without 'dims'), got [8]}}
  %0 = fusion.reduce sum, %x {dims = array<i64: 1>} : (tensor<4x8xf32>) -> tensor<8xf32>
  return
}

// -----

// reduce C3
func.func @f(%x: tensor<4xi1>) {
  // expected-error @+1 {{expects numbers for 'sum', got 'i1'; convert the operand with fusion.convert}}
  %0 = fusion.reduce sum, %x {dims = array<i64: 0>} : (tensor<4xi1>) -> tensor<i1>
  return
}

// -----

// reduce C3, logical
func.func @f(%x: tensor<4xf32>) {
  // expected-error @+1 {{expects i1 for 'any', got 'f32'; convert the operand with fusion.convert}}
  %0 = fusion.reduce any, %x {dims = array<i64: 0>} : (tensor<4xf32>) -> tensor<f32>
  return
}

// -----

// reduce C4
func.func @f(%x: tensor<4x0xf32>) {
  // expected-error @+1 {{expects at least one element along each reduced dimension for 'max', got operand [4, 0] reduced along [1]}}
  %0 = fusion.reduce max, %x {dims = array<i64: 1>} : (tensor<4x0xf32>) -> tensor<4xf32>
  return
}

// -----

// arg_reduce C1
func.func @f(%x: tensor<4xf32>) {
  // expected-error @+1 {{expects 'dim' to be at least 0 and below the rank 1, got 2}}
  %0 = fusion.arg_reduce max, %x {dim = 2 : i64} : (tensor<4xf32>) -> tensor<i64>
  return
}

// -----

// arg_reduce C1, size
func.func @f(%x: tensor<0xf32>) {
  // expected-error @+1 {{expects at least one element along dimension 0, got operand [0]}}
  %0 = fusion.arg_reduce max, %x {dim = 0 : i64} : (tensor<0xf32>) -> tensor<i64>
  return
}

// -----

// arg_reduce C2
func.func @f(%x: tensor<4x8xf32>) {
  // expected-error @+1 {{expects a result of shape [8] (the operand's without 'dim'), got [4]}}
  %0 = fusion.arg_reduce max, %x {dim = 0 : i64} : (tensor<4x8xf32>) -> tensor<4xi64>
  return
}

// -----

// matmul C1
func.func @f(%x: tensor<4x8xf32>, %y: tensor<2x8x16xf32>) {
  // expected-error @+1 {{expects operands and result of one rank, at least 2, got shapes [4, 8], [2, 8, 16] and [4, 16]; fusion.broadcast adds batch dimensions}}
  %0 = fusion.matmul %x, %y : (tensor<4x8xf32>, tensor<2x8x16xf32>) -> tensor<4x16xf32>
  return
}

// -----

// matmul C2
func.func @f(%x: tensor<1x4x8xf32>, %y: tensor<2x8x16xf32>) {
  // expected-error @+1 {{expects equal batch sizes, got shapes [1, 4, 8], [2, 8, 16] and [2, 4, 16]; fusion.broadcast repeats a batch}}
  %0 = fusion.matmul %x, %y : (tensor<1x4x8xf32>, tensor<2x8x16xf32>) -> tensor<2x4x16xf32>
  return
}

// -----

// matmul C3
func.func @f(%x: tensor<4x8xf32>, %y: tensor<16x8xf32>) {
  // expected-error @+1 {{expects equal sizes to sum over, got 8 in [4, 8] and 16 in [16, 8]; check 'transpose_lhs' and 'transpose_rhs'}}
  %0 = fusion.matmul %x, %y : (tensor<4x8xf32>, tensor<16x8xf32>) -> tensor<4x8xf32>
  return
}

// -----

// matmul C3, result
func.func @f(%x: tensor<4x8xf32>, %y: tensor<16x8xf32>) {
  // expected-error @+1 {{expects a result of shape [4, 16] (m x n), got [16, 4]}}
  %0 = fusion.matmul %x, %y {transpose_rhs} : (tensor<4x8xf32>, tensor<16x8xf32>) -> tensor<16x4xf32>
  return
}

// -----

// matmul C4, operands
func.func @f(%x: tensor<4x4xf32>, %y: tensor<4x4xf16>) {
  // expected-error @+1 {{expects operands of one element type, got 'f32' and 'f16'; convert one with fusion.convert}}
  %0 = fusion.matmul %x, %y : (tensor<4x4xf32>, tensor<4x4xf16>) -> tensor<4x4xf32>
  return
}

// -----

// matmul C4, result
func.func @f(%x: tensor<4x4xf16>) {
  // expected-error @+1 {{expects a result of the operands' element type, or f32 for f16 and bf16, or i32 for 8-bit integers, got 'f64' for 'f16'}}
  %0 = fusion.matmul %x, %x : (tensor<4x4xf16>, tensor<4x4xf16>) -> tensor<4x4xf64>
  return
}

// -----

// conv C1
func.func @f(%x: tensor<2x3x8x8xf32>, %w: tensor<4x3x3xf32>) {
  // expected-error @+1 {{expects operand, weight and result of one rank, 3 to 5, got shapes [2, 3, 8, 8], [4, 3, 3] and [2, 4, 8, 8]}}
  %0 = fusion.conv %x, %w {strides = array<i64: 1, 1>, pad_low = array<i64: 1, 1>,
      pad_high = array<i64: 1, 1>, dilations = array<i64: 1, 1>}
      : (tensor<2x3x8x8xf32>, tensor<4x3x3xf32>) -> tensor<2x4x8x8xf32>
  return
}

// -----

// conv C2, entries
func.func @f(%x: tensor<2x3x8x8xf32>, %w: tensor<4x3x3x3xf32>) {
  // expected-error @+1 {{expects one entry in 'strides' for each of the 2 spatial dimensions, got [1]}}
  %0 = fusion.conv %x, %w {strides = array<i64: 1>, pad_low = array<i64: 1, 1>,
      pad_high = array<i64: 1, 1>, dilations = array<i64: 1, 1>}
      : (tensor<2x3x8x8xf32>, tensor<4x3x3x3xf32>) -> tensor<2x4x8x8xf32>
  return
}

// -----

// conv C2, values
func.func @f(%x: tensor<2x3x8x8xf32>, %w: tensor<4x3x3x3xf32>) {
  // expected-error @+1 {{expects 'dilations' to be at least 1, got [0, 1]}}
  %0 = fusion.conv %x, %w {strides = array<i64: 1, 1>, pad_low = array<i64: 1, 1>,
      pad_high = array<i64: 1, 1>, dilations = array<i64: 0, 1>}
      : (tensor<2x3x8x8xf32>, tensor<4x3x3x3xf32>) -> tensor<2x4x8x8xf32>
  return
}

// -----

// conv C3, groups
func.func @f(%x: tensor<2x3x8x8xf32>, %w: tensor<4x3x3x3xf32>) {
  // expected-error @+1 {{expects 'groups' to be at least 1 and to divide the channels of operand [2, 3, 8, 8] and weight [4, 3, 3, 3], got 2}}
  %0 = fusion.conv %x, %w {strides = array<i64: 1, 1>, pad_low = array<i64: 1, 1>,
      pad_high = array<i64: 1, 1>, dilations = array<i64: 1, 1>, groups = 2 : i64}
      : (tensor<2x3x8x8xf32>, tensor<4x3x3x3xf32>) -> tensor<2x4x8x8xf32>
  return
}

// -----

// conv C3, weight
func.func @f(%x: tensor<2x3x8x8xf32>, %w: tensor<4x2x3x3xf32>) {
  // expected-error @+1 {{expects a weight with 3 input channels (C / groups), got shape [4, 2, 3, 3] for operand [2, 3, 8, 8] in 1 groups}}
  %0 = fusion.conv %x, %w {strides = array<i64: 1, 1>, pad_low = array<i64: 1, 1>,
      pad_high = array<i64: 1, 1>, dilations = array<i64: 1, 1>}
      : (tensor<2x3x8x8xf32>, tensor<4x2x3x3xf32>) -> tensor<2x4x8x8xf32>
  return
}

// -----

// conv C4
func.func @f(%x: tensor<2x3x8x8xf32>, %w: tensor<4x3x3x3xf32>) {
  // expected-error @+1 {{expects a result of shape [2, 4, 8, 8] ((size + low + high - dilation * (window - 1) - 1) / stride + 1), got [2, 4, 6, 6]}}
  %0 = fusion.conv %x, %w {strides = array<i64: 1, 1>, pad_low = array<i64: 1, 1>,
      pad_high = array<i64: 1, 1>, dilations = array<i64: 1, 1>}
      : (tensor<2x3x8x8xf32>, tensor<4x3x3x3xf32>) -> tensor<2x4x6x6xf32>
  return
}

// -----

// conv C4, window
func.func @f(%x: tensor<2x3x1x8xf32>, %w: tensor<4x3x7x3xf32>) {
  // expected-error @+1 {{expects result sizes of at least 0, got -3 for spatial dimension 0 of operand [2, 3, 1, 8]; pad the operand or use a smaller window}}
  %0 = fusion.conv %x, %w {strides = array<i64: 1, 1>, pad_low = array<i64: 1, 1>,
      pad_high = array<i64: 1, 1>, dilations = array<i64: 1, 1>}
      : (tensor<2x3x1x8xf32>, tensor<4x3x7x3xf32>) -> tensor<2x4x8x8xf32>
  return
}

// -----

// conv, symbolic window
func.func @f(%x: tensor<2x3x8x8xf32>, %w: tensor<4x3x?x3xf32>) {
  // expected-error @+1 {{expects a weight with a static window, got shape [4, 3, ?, 3]}}
  %0 = fusion.conv %x, %w {strides = array<i64: 1, 1>, pad_low = array<i64: 1, 1>,
      pad_high = array<i64: 1, 1>, dilations = array<i64: 1, 1>}
      : (tensor<2x3x8x8xf32>, tensor<4x3x?x3xf32>) -> tensor<2x4x8x8xf32>
  return
}

// -----

// conv C5
func.func @f(%x: tensor<2x3x8x8xf32>, %w: tensor<4x3x3x3xf32>, %b: tensor<3xf32>) {
  // expected-error @+1 {{expects a bias of shape [4], got [3]}}
  %0 = fusion.conv %x, %w, %b {strides = array<i64: 1, 1>, pad_low = array<i64: 1, 1>,
      pad_high = array<i64: 1, 1>, dilations = array<i64: 1, 1>}
      : (tensor<2x3x8x8xf32>, tensor<4x3x3x3xf32>, tensor<3xf32>) -> tensor<2x4x8x8xf32>
  return
}

// -----

// conv C6
func.func @f(%x: tensor<2x3x8x8xf32>, %w: tensor<4x3x3x3xf16>) {
  // expected-error @+1 {{expects operands of the result's element type 'f32', got 'f16'; convert it with fusion.convert}}
  %0 = fusion.conv %x, %w {strides = array<i64: 1, 1>, pad_low = array<i64: 1, 1>,
      pad_high = array<i64: 1, 1>, dilations = array<i64: 1, 1>}
      : (tensor<2x3x8x8xf32>, tensor<4x3x3x3xf16>) -> tensor<2x4x8x8xf32>
  return
}

// -----

// pool C1, rank
func.func @f(%x: tensor<2x4x8x8xf32>) {
  // expected-error @+1 {{expects 'window' to have at least 1 entry and at most one for each of the 4 operand dimensions, got []}}
  %0 = fusion.pool max, %x {window = array<i64>, strides = array<i64: 2, 2>,
      pad_low = array<i64: 0, 0>, pad_high = array<i64: 0, 0>, dilations = array<i64: 1, 1>}
      : (tensor<2x4x8x8xf32>) -> tensor<2x4x4x4xf32>
  return
}

// -----

// pool C1, entries
func.func @f(%x: tensor<2x4x8x8xf32>) {
  // expected-error @+1 {{expects one entry in 'strides' for each of the 2 spatial dimensions, got [2]}}
  %0 = fusion.pool max, %x {window = array<i64: 2, 2>, strides = array<i64: 2>,
      pad_low = array<i64: 0, 0>, pad_high = array<i64: 0, 0>, dilations = array<i64: 1, 1>}
      : (tensor<2x4x8x8xf32>) -> tensor<2x4x4x4xf32>
  return
}

// -----

// pool C1, values
func.func @f(%x: tensor<2x4x8x8xf32>) {
  // expected-error @+1 {{expects 'pad_low' to be at least 0, got [-1, 0]}}
  %0 = fusion.pool max, %x {window = array<i64: 2, 2>, strides = array<i64: 2, 2>,
      pad_low = array<i64: -1, 0>, pad_high = array<i64: 0, 0>, dilations = array<i64: 1, 1>}
      : (tensor<2x4x8x8xf32>) -> tensor<2x4x4x4xf32>
  return
}

// -----

// pool C2
func.func @f(%x: tensor<2x4x8x8xf32>) {
  // expected-error @+1 {{expects a result of shape [2, 4, 4, 4] ((size + low + high - dilation * (window - 1) - 1) / stride + 1), got [2, 4, 5, 4]}}
  %0 = fusion.pool max, %x {window = array<i64: 2, 2>, strides = array<i64: 2, 2>,
      pad_low = array<i64: 0, 0>, pad_high = array<i64: 0, 0>, dilations = array<i64: 1, 1>}
      : (tensor<2x4x8x8xf32>) -> tensor<2x4x5x4xf32>
  return
}

// -----

// pool C3
func.func @f(%x: tensor<2x4x8x8xi32>) {
  // expected-error @+1 {{expects floats for 'avg', got 'i32'; convert the operand with fusion.convert}}
  %0 = fusion.pool avg, %x {window = array<i64: 2, 2>, strides = array<i64: 2, 2>,
      pad_low = array<i64: 0, 0>, pad_high = array<i64: 0, 0>, dilations = array<i64: 1, 1>}
      : (tensor<2x4x8x8xi32>) -> tensor<2x4x4x4xi32>
  return
}
