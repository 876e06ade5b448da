// RUN: fusion-opt %s --canonicalize | FileCheck %s

// CHECK-LABEL: func.func @identities
// CHECK-SAME: %[[X:.*]]: tensor<4x6xf32>, %[[V:.*]]: tensor<f32>
func.func @identities(%x: tensor<4x6xf32>, %v: tensor<f32>) -> (tensor<4x6xf32>,
    tensor<4x6xf32>, tensor<4x6xf32>, tensor<4x6xf32>, tensor<4x6xf32>,
    tensor<4x6xf32>, tensor<4x6xf32>, tensor<4x6xf32>) {
  %0 = fusion.transpose %x {permutation = array<i64: 0, 1>} : (tensor<4x6xf32>) -> tensor<4x6xf32>
  %1 = fusion.reshape %x : (tensor<4x6xf32>) -> tensor<4x6xf32>
  %2 = fusion.slice %x {starts = array<i64: 0, 0>, steps = array<i64: 1, 1>} : (tensor<4x6xf32>) -> tensor<4x6xf32>
  %3 = fusion.pad %x, %v {low = array<i64: 0, 0>, high = array<i64: 0, 0>} : (tensor<4x6xf32>, tensor<f32>) -> tensor<4x6xf32>
  %4 = fusion.broadcast %x {dims = array<i64: 0, 1>} : (tensor<4x6xf32>) -> tensor<4x6xf32>
  %5 = fusion.convert %x : (tensor<4x6xf32>) -> tensor<4x6xf32>
  %6 = fusion.concat %x {dim = 0 : i64} : (tensor<4x6xf32>) -> tensor<4x6xf32>
  %7 = fusion.reduce sum, %x {dims = array<i64>} : (tensor<4x6xf32>) -> tensor<4x6xf32>
  // CHECK-NEXT: return %[[X]], %[[X]], %[[X]], %[[X]], %[[X]], %[[X]], %[[X]], %[[X]]
  return %0, %1, %2, %3, %4, %5, %6, %7 : tensor<4x6xf32>, tensor<4x6xf32>,
      tensor<4x6xf32>, tensor<4x6xf32>, tensor<4x6xf32>, tensor<4x6xf32>,
      tensor<4x6xf32>, tensor<4x6xf32>
}

// A type with another layout is not an identity.
// CHECK-LABEL: func.func @layout
func.func @layout(%x: tensor<4x6xf32>) -> tensor<4x6xf32, #fusion.layout<order = [1, 0]>> {
  // CHECK: fusion.convert
  %0 = fusion.convert %x : (tensor<4x6xf32>) -> tensor<4x6xf32, #fusion.layout<order = [1, 0]>>
  return %0 : tensor<4x6xf32, #fusion.layout<order = [1, 0]>>
}

// The operand of the first may be of size 1; the second has one symbolic size,
// which the number of elements determines.
// CHECK-LABEL: func.func @symbolic
// CHECK-SAME: %[[X:.*]]: tensor<?x6xf32>, %[[LIKE:.*]]: tensor<?x6xf32>
func.func @symbolic(%x: tensor<?x6xf32>, %like: tensor<?x6xf32>) -> (tensor<?x6xf32>, tensor<?x6xf32>) {
  // CHECK: %[[B:.*]] = fusion.broadcast
  %0 = fusion.broadcast %x, %like {dims = array<i64: 0, 1>} : (tensor<?x6xf32>, tensor<?x6xf32>) -> tensor<?x6xf32>
  %1 = fusion.reshape %x : (tensor<?x6xf32>) -> tensor<?x6xf32>
  // CHECK: return %[[B]], %[[X]]
  return %0, %1 : tensor<?x6xf32>, tensor<?x6xf32>
}

// CHECK-LABEL: func.func @select
// CHECK-SAME: %[[C:.*]]: tensor<4xi1>, %[[X:.*]]: tensor<4xf32>, %[[Y:.*]]: tensor<4xf32>
func.func @select(%c: tensor<4xi1>, %x: tensor<4xf32>, %y: tensor<4xf32>)
    -> (tensor<4xf32>, tensor<4xf32>, tensor<4xf32>) {
  %t = fusion.constant dense<true> : tensor<4xi1>
  %f = fusion.constant dense<false> : tensor<4xi1>
  %0 = fusion.select %t, %x, %y : (tensor<4xi1>, tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %1 = fusion.select %f, %x, %y : (tensor<4xi1>, tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %2 = fusion.select %c, %y, %y : (tensor<4xi1>, tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  // CHECK: return %[[X]], %[[Y]], %[[Y]]
  return %0, %1, %2 : tensor<4xf32>, tensor<4xf32>, tensor<4xf32>
}

// CHECK-LABEL: func.func @abs
func.func @abs(%x: tensor<4xf32>) -> tensor<4xf32> {
  // CHECK-NEXT: %[[A:.*]] = fusion.abs
  // CHECK-NEXT: return %[[A]]
  %0 = fusion.abs %x : (tensor<4xf32>) -> tensor<4xf32>
  %1 = fusion.abs %0 : (tensor<4xf32>) -> tensor<4xf32>
  return %1 : tensor<4xf32>
}

// CHECK-LABEL: func.func @transposes
// CHECK-SAME: %[[X:.*]]: tensor<2x3x4xf32>
func.func @transposes(%x: tensor<2x3x4xf32>) -> (tensor<4x2x3xf32>, tensor<2x3x4xf32>) {
  // CHECK-NEXT: %[[T:.*]] = fusion.transpose %[[X]] {permutation = array<i64: 2, 0, 1>}
  // CHECK-NEXT: return %[[T]], %[[X]]
  %0 = fusion.transpose %x {permutation = array<i64: 1, 0, 2>} : (tensor<2x3x4xf32>) -> tensor<3x2x4xf32>
  %1 = fusion.transpose %0 {permutation = array<i64: 2, 1, 0>} : (tensor<3x2x4xf32>) -> tensor<4x2x3xf32>
  %2 = fusion.transpose %0 {permutation = array<i64: 1, 0, 2>} : (tensor<3x2x4xf32>) -> tensor<2x3x4xf32>
  return %1, %2 : tensor<4x2x3xf32>, tensor<2x3x4xf32>
}

// CHECK-LABEL: func.func @reshapes
// CHECK-SAME: %[[X:.*]]: tensor<?x6xf32>
func.func @reshapes(%x: tensor<?x6xf32>) -> tensor<?x3xf32> {
  // CHECK-NEXT: %[[R:.*]] = fusion.reshape %[[X]] : (tensor<?x6xf32>) -> tensor<?x3xf32>
  // CHECK-NEXT: return %[[R]]
  %0 = fusion.reshape %x : (tensor<?x6xf32>) -> tensor<?xf32>
  %1 = fusion.reshape %0 : (tensor<?xf32>) -> tensor<?x3xf32>
  return %1 : tensor<?x3xf32>
}

// With two open sizes the result depends on the shape between.
// CHECK-LABEL: func.func @reshapes_open
func.func @reshapes_open(%x: tensor<?x?x4xf32>) -> tensor<?x?xf32> {
  // CHECK-COUNT-2: fusion.reshape
  %0 = fusion.reshape %x : (tensor<?x?x4xf32>) -> tensor<?x2x?xf32>
  %1 = fusion.reshape %0 : (tensor<?x2x?xf32>) -> tensor<?x?xf32>
  return %1 : tensor<?x?xf32>
}
