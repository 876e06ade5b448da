// RUN: fusion-opt %s --split-input-file --verify-diagnostics

// One case for each numbered constraint of the dialect's operations.

// softmax C1
func.func @f(%x: tensor<4x8xf32>) {
  // expected-error @+1 {{expects 'dim' to be at least 0 and below the rank 2, got 2}}
  %0 = fusion.softmax %x {dim = 2 : i64} : (tensor<4x8xf32>) -> tensor<4x8xf32>
  return
}

// -----

// log_softmax C1
func.func @f(%x: tensor<4x8xf32>) {
  // expected-error @+1 {{expects 'dim' to be at least 0 and below the rank 2, got -1}}
  %0 = fusion.log_softmax %x {dim = -1 : i64} : (tensor<4x8xf32>) -> tensor<4x8xf32>
  return
}

// -----

// layer_norm C1
func.func @f(%x: tensor<4x8xf32>) {
  // expected-error @+1 {{expects 'axis' to be at least 0 and below the rank 2, got 2}}
  %0 = fusion.layer_norm %x {axis = 2 : i64, epsilon = 1.0e-5 : f64} : (tensor<4x8xf32>) -> tensor<4x8xf32>
  return
}

// -----

// layer_norm C2
func.func @f(%x: tensor<4x8xf32>, %w: tensor<4xf32>) {
  // expected-error @+1 {{expects 'weight' of shape [8] (the dimensions from 'axis' on), got [4]}}
  %0 = fusion.layer_norm %x, %w {axis = 1 : i64, epsilon = 1.0e-5 : f64} : (tensor<4x8xf32>, tensor<4xf32>) -> tensor<4x8xf32>
  return
}

// -----

// rms_norm C1
func.func @f(%x: tensor<4x8xf32>) {
  // expected-error @+1 {{expects 'axis' to be at least 0 and below the rank 2, got 3}}
  %0 = fusion.rms_norm %x {axis = 3 : i64, epsilon = 1.0e-5 : f64} : (tensor<4x8xf32>) -> tensor<4x8xf32>
  return
}

// -----

// rms_norm C2
func.func @f(%x: tensor<4x8xf32>, %w: tensor<8xf32>) {
  // expected-error @+1 {{expects 'weight' of shape [4, 8] (the dimensions from 'axis' on), got [8]}}
  %0 = fusion.rms_norm %x, %w {axis = 0 : i64, epsilon = 1.0e-5 : f64} : (tensor<4x8xf32>, tensor<8xf32>) -> tensor<4x8xf32>
  return
}

// -----

// group_norm C1, rank
func.func @f(%x: tensor<4xf32>) {
  // expected-error @+1 {{expects an operand of rank at least 2, [N, C, ...], got shape [4]}}
  %0 = fusion.group_norm %x {groups = 1 : i64, epsilon = 1.0e-5 : f64} : (tensor<4xf32>) -> tensor<4xf32>
  return
}

// -----

// group_norm C1, groups
func.func @f(%x: tensor<2x8x4xf32>) {
  // expected-error @+1 {{expects 'groups' to be at least 1 and to divide the channels of [2, 8, 4], got 3}}
  %0 = fusion.group_norm %x {groups = 3 : i64, epsilon = 1.0e-5 : f64} : (tensor<2x8x4xf32>) -> tensor<2x8x4xf32>
  return
}

// -----

// group_norm C2
func.func @f(%x: tensor<2x8x4xf32>, %w: tensor<4xf32>) {
  // expected-error @+1 {{expects 'weight' of shape [8] (one element a channel), got [4]}}
  %0 = fusion.group_norm %x, %w {groups = 2 : i64, epsilon = 1.0e-5 : f64} : (tensor<2x8x4xf32>, tensor<4xf32>) -> tensor<2x8x4xf32>
  return
}

// -----

// batch_norm C1
func.func @f(%x: tensor<4xf32>) {
  // expected-error @+1 {{expects an operand of rank at least 2, [N, C, ...], got shape [4]}}
  %0 = fusion.batch_norm %x, %x, %x {epsilon = 1.0e-5 : f64} : (tensor<4xf32>, tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  return
}

// -----

// batch_norm C2
func.func @f(%x: tensor<2x8xf32>, %m: tensor<8xf32>, %v: tensor<2xf32>) {
  // expected-error @+1 {{expects 'variance' of shape [8] (one element a channel), got [2]}}
  %0 = fusion.batch_norm %x, %m, %v {epsilon = 1.0e-5 : f64} : (tensor<2x8xf32>, tensor<8xf32>, tensor<2xf32>) -> tensor<2x8xf32>
  return
}

// -----

// group C1, results
func.func @f(%x: tensor<4xf32>) {
  // expected-error @+1 {{expects yielded value 0 to have the type of result 0, got 'tensor<4xf32>' and 'tensor<5xf32>'}}
  %0 = fusion.group "g" (%a = %x : tensor<4xf32>) -> tensor<5xf32> {
    fusion.yield %a : tensor<4xf32>
  }
  return
}

// -----

// group C1, arguments
func.func @f(%x: tensor<4xf32>) {
  // expected-error @+1 {{expects as many block arguments as operands, got 0 and 1}}
  "fusion.group"(%x) <{name = "g"}> ({
    fusion.yield
  }) : (tensor<4xf32>) -> ()
  return
}
