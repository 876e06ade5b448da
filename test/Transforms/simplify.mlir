// RUN: fusion-opt %s --fusion-simplify | FileCheck %s
// RUN: fusion-opt %s --fusion-simplify=disable=sink-reshape,add-zero | FileCheck %s --check-prefix=DISABLED

// The unit test SimplifyTest covers every rewrite by numbers; here are those
// whose limits matter, and how they work together.

// x + 0.0 turns -0.0 into 0.0.
// CHECK-LABEL: func.func @add_zero
// CHECK-SAME: %[[X:.*]]: tensor<4xf32>
// DISABLED-LABEL: func.func @add_zero
func.func @add_zero(%x: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) {
  // CHECK: %[[Z:.*]] = fusion.constant dense<0.000000e+00>
  // CHECK: %[[S:.*]] = fusion.add %[[X]], %[[Z]]
  // CHECK: return %[[S]], %[[X]]
  // DISABLED-COUNT-2: fusion.add
  %z = fusion.constant dense<0.0> : tensor<4xf32>
  %n = fusion.constant dense<-0.0> : tensor<4xf32>
  %0 = fusion.add %x, %z : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %1 = fusion.add %x, %n : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  return %0, %1 : tensor<4xf32>, tensor<4xf32>
}

// An infinity times 0.0 is NaN.
// CHECK-LABEL: func.func @mul_zero
func.func @mul_zero(%x: tensor<4xf32>) -> tensor<4xf32> {
  // CHECK: fusion.mul
  %z = fusion.constant dense<0.0> : tensor<4xf32>
  %0 = fusion.mul %x, %z : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}

// With NaN, not less is not greater or equal.
// CHECK-LABEL: func.func @not_less
func.func @not_less(%x: tensor<4xf32>, %y: tensor<4xf32>) -> tensor<4xi1> {
  // CHECK: fusion.compare lt
  // CHECK: fusion.not
  %0 = fusion.compare lt, %x, %y : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xi1>
  %1 = fusion.not %0 : (tensor<4xi1>) -> tensor<4xi1>
  return %1 : tensor<4xi1>
}

// Narrowing rounds; a float between integers saturates.
// CHECK-LABEL: func.func @inexact_conversions
func.func @inexact_conversions(%x: tensor<4xf32>, %i: tensor<4xi32>)
    -> (tensor<4xf32>, tensor<4xi8>) {
  // CHECK-COUNT-4: fusion.convert
  %0 = fusion.convert %x : (tensor<4xf32>) -> tensor<4xf16>
  %1 = fusion.convert %0 : (tensor<4xf16>) -> tensor<4xf32>
  %2 = fusion.convert %i : (tensor<4xi32>) -> tensor<4xf64>
  %3 = fusion.convert %2 : (tensor<4xf64>) -> tensor<4xi8>
  return %1, %3 : tensor<4xf32>, tensor<4xi8>
}

// A broadcast constant of symbolic sizes stays one.
// CHECK-LABEL: func.func @convert_constant
// CHECK-SAME: %[[LIKE:.*]]: tensor<?xf32>
func.func @convert_constant(%like: tensor<?xf32>) -> tensor<?xf16> {
  // CHECK-NEXT: %[[C:.*]] = fusion.constant dense<1.500000e+00> : tensor<f16>
  // CHECK-NEXT: %[[B:.*]] = fusion.broadcast %[[C]], %[[LIKE]] {dims = array<i64>}
  // CHECK-NEXT: return %[[B]]
  %c = fusion.constant dense<1.5> : tensor<f32>
  %0 = fusion.broadcast %c, %like {dims = array<i64>} : (tensor<f32>, tensor<?xf32>) -> tensor<?xf32>
  %1 = fusion.convert %0 : (tensor<?xf32>) -> tensor<?xf16>
  return %1 : tensor<?xf16>
}

// A linear layer over [batch, time]: both reshapes go.
// CHECK-LABEL: func.func @reshapes_cancel
// CHECK-SAME: %[[X:.*]]: tensor<?x8xf32>, %[[W:.*]]: tensor<8x16xf32>, %[[V:.*]]: tensor<16x8xf32>
// DISABLED-LABEL: func.func @reshapes_cancel
func.func @reshapes_cancel(%x: tensor<?x8xf32>, %w: tensor<8x16xf32>, %v: tensor<16x8xf32>)
    -> tensor<?x8xf32> {
  // CHECK-NEXT: %[[H:.*]] = fusion.matmul %[[X]], %[[W]]
  // CHECK-NEXT: %[[G:.*]] = fusion.gelu %[[H]]
  // CHECK-NEXT: %[[Y:.*]] = fusion.matmul %[[G]], %[[V]]
  // CHECK-NEXT: return %[[Y]]
  // DISABLED-COUNT-2: fusion.reshape
  %0 = fusion.matmul %x, %w : (tensor<?x8xf32>, tensor<8x16xf32>) -> tensor<?x16xf32>
  %1 = fusion.reshape %0 : (tensor<?x16xf32>) -> tensor<2x?x16xf32>
  %2 = fusion.gelu %1 : (tensor<2x?x16xf32>) -> tensor<2x?x16xf32>
  %3 = fusion.reshape %2 : (tensor<2x?x16xf32>) -> tensor<?x16xf32>
  %4 = fusion.matmul %3, %v : (tensor<?x16xf32>, tensor<16x8xf32>) -> tensor<?x8xf32>
  return %4 : tensor<?x8xf32>
}

// A reshape that another op reads stays where it is, and so does one beside an
// operand of its own.
// CHECK-LABEL: func.func @reshape_stays
func.func @reshape_stays(%x: tensor<4x8xf32>, %y: tensor<32xf32>) -> (tensor<32xf32>, tensor<32xf32>) {
  // CHECK-NEXT: fusion.reshape
  // CHECK-NEXT: fusion.exp
  // CHECK-NEXT: fusion.add
  %0 = fusion.reshape %x : (tensor<4x8xf32>) -> tensor<32xf32>
  %1 = fusion.exp %0 : (tensor<32xf32>) -> tensor<32xf32>
  %2 = fusion.add %0, %y : (tensor<32xf32>, tensor<32xf32>) -> tensor<32xf32>
  return %1, %2 : tensor<32xf32>, tensor<32xf32>
}

// What a reduction that keeps its dimensions comes as.
// CHECK-LABEL: func.func @keep_dims
// CHECK-SAME: %[[X:.*]]: tensor<?x8xf32>
func.func @keep_dims(%x: tensor<?x8xf32>) -> tensor<?x8xf32> {
  // CHECK-NEXT: %[[M:.*]] = fusion.reduce max, %[[X]]
  // CHECK-NEXT: %[[B:.*]] = fusion.broadcast %[[M]], %[[X]] {dims = array<i64: 0>}
  // CHECK-NEXT: fusion.sub %[[X]], %[[B]]
  %0 = fusion.reduce max, %x {dims = array<i64: 1>} : (tensor<?x8xf32>) -> tensor<?xf32>
  %1 = fusion.reshape %0 : (tensor<?xf32>) -> tensor<?x1xf32>
  %2 = fusion.broadcast %1, %x {dims = array<i64: 0, 1>} : (tensor<?x1xf32>, tensor<?x8xf32>) -> tensor<?x8xf32>
  %3 = fusion.sub %x, %2 : (tensor<?x8xf32>, tensor<?x8xf32>) -> tensor<?x8xf32>
  return %3 : tensor<?x8xf32>
}

// Weights may be infinite, and an infinity times a zero of the pad is NaN.
// CHECK-LABEL: func.func @pad_of_conv
func.func @pad_of_conv(%x: tensor<1x1x4xf32>, %w: tensor<1x1x3xf32>) -> tensor<1x1x4xf32> {
  // CHECK: fusion.pad
  %z = fusion.constant dense<0.0> : tensor<f32>
  %0 = fusion.pad %x, %z {low = array<i64: 0, 0, 1>, high = array<i64: 0, 0, 1>}
      : (tensor<1x1x4xf32>, tensor<f32>) -> tensor<1x1x6xf32>
  %1 = fusion.conv %0, %w {strides = array<i64: 1>, pad_low = array<i64: 0>,
      pad_high = array<i64: 0>, dilations = array<i64: 1>}
      : (tensor<1x1x6xf32>, tensor<1x1x3xf32>) -> tensor<1x1x4xf32>
  return %1 : tensor<1x1x4xf32>
}

// A sum of sums rounds in another order; a maximum does not.
// CHECK-LABEL: func.func @reductions
func.func @reductions(%x: tensor<2x4x8xf32>) -> (tensor<4xf32>, tensor<4xf32>) {
  // CHECK-COUNT-3: fusion.reduce
  // CHECK-NOT: fusion.reduce
  %0 = fusion.reduce sum, %x {dims = array<i64: 2>} : (tensor<2x4x8xf32>) -> tensor<2x4xf32>
  %1 = fusion.reduce sum, %0 {dims = array<i64: 0>} : (tensor<2x4xf32>) -> tensor<4xf32>
  %2 = fusion.reduce max, %x {dims = array<i64: 2>} : (tensor<2x4x8xf32>) -> tensor<2x4xf32>
  %3 = fusion.reduce max, %2 {dims = array<i64: 0>} : (tensor<2x4xf32>) -> tensor<4xf32>
  return %1, %3 : tensor<4xf32>, tensor<4xf32>
}

// Repeated work is done once.
// CHECK-LABEL: func.func @common
// CHECK-SAME: %[[X:.*]]: tensor<4xi32>
func.func @common(%x: tensor<4xi32>) -> tensor<4xi32> {
  // CHECK-NEXT: %[[Z:.*]] = fusion.constant dense<0>
  // CHECK-NEXT: return %[[Z]]
  %0 = fusion.abs %x : (tensor<4xi32>) -> tensor<4xi32>
  %1 = fusion.abs %x : (tensor<4xi32>) -> tensor<4xi32>
  %2 = fusion.sub %0, %1 : (tensor<4xi32>, tensor<4xi32>) -> tensor<4xi32>
  return %2 : tensor<4xi32>
}
