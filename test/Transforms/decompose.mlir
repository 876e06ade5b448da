// RUN: fusion-opt %s --fusion-decompose --split-input-file | FileCheck %s

// CHECK-LABEL: func.func @softmax
// CHECK-SAME: %[[X:.*]]: tensor<4x8xf32>
func.func @softmax(%x: tensor<4x8xf32>) -> tensor<4x8xf32> {
  // CHECK-NEXT: %[[MAX:.*]] = fusion.reduce max, %[[X]] {dims = array<i64: 1>}
  // CHECK-NEXT: %[[M:.*]] = fusion.broadcast %[[MAX]] {dims = array<i64: 0>}
  // CHECK-NEXT: %[[SHIFTED:.*]] = fusion.sub %[[X]], %[[M]]
  // CHECK-NEXT: %[[EXP:.*]] = fusion.exp %[[SHIFTED]]
  // CHECK-NEXT: %[[SUM:.*]] = fusion.reduce sum, %[[EXP]] {dims = array<i64: 1>}
  // CHECK-NEXT: %[[S:.*]] = fusion.broadcast %[[SUM]] {dims = array<i64: 0>}
  // CHECK-NEXT: %[[Y:.*]] = fusion.div %[[EXP]], %[[S]]
  // CHECK-NEXT: return %[[Y]]
  %y = fusion.softmax %x {dim = 1 : i64} : (tensor<4x8xf32>) -> tensor<4x8xf32>
  return %y : tensor<4x8xf32>
}

// -----

// A symbolic size is that of the operand.
// CHECK-LABEL: func.func @log_softmax
// CHECK-SAME: %[[X:.*]]: tensor<?x8xbf16>
func.func @log_softmax(%x: tensor<?x8xbf16>) -> tensor<?x8xbf16> {
  // CHECK-NEXT: %[[F:.*]] = fusion.convert %[[X]] : (tensor<?x8xbf16>) -> tensor<?x8xf32>
  // CHECK-NEXT: %[[MAX:.*]] = fusion.reduce max, %[[F]] {dims = array<i64: 1>} : (tensor<?x8xf32>) -> tensor<?xf32>
  // CHECK-NEXT: %[[M:.*]] = fusion.broadcast %[[MAX]], %[[F]] {dims = array<i64: 0>}
  // CHECK-NEXT: %[[SHIFTED:.*]] = fusion.sub %[[F]], %[[M]]
  // CHECK-NEXT: %[[EXP:.*]] = fusion.exp %[[SHIFTED]]
  // CHECK-NEXT: %[[SUM:.*]] = fusion.reduce sum, %[[EXP]]
  // CHECK-NEXT: %[[LOG:.*]] = fusion.log %[[SUM]]
  // CHECK-NEXT: %[[L:.*]] = fusion.broadcast %[[LOG]], %[[SHIFTED]]
  // CHECK-NEXT: %[[Y:.*]] = fusion.sub %[[SHIFTED]], %[[L]]
  // CHECK-NEXT: %[[H:.*]] = fusion.convert %[[Y]] : (tensor<?x8xf32>) -> tensor<?x8xbf16>
  // CHECK-NEXT: return %[[H]]
  %y = fusion.log_softmax %x {dim = 1 : i64} : (tensor<?x8xbf16>) -> tensor<?x8xbf16>
  return %y : tensor<?x8xbf16>
}

// -----

// CHECK-LABEL: func.func @layer_norm
// CHECK-SAME: %[[X:.*]]: tensor<4x8xf32>, %[[W:.*]]: tensor<8xf32>, %[[B:.*]]: tensor<8xf32>
func.func @layer_norm(%x: tensor<4x8xf32>, %w: tensor<8xf32>, %b: tensor<8xf32>)
    -> tensor<4x8xf32> {
  // CHECK-NEXT: %[[INVERSE:.*]] = fusion.constant dense<1.250000e-01> : tensor<4x8xf32>
  // CHECK-NEXT: %[[SCALED:.*]] = fusion.mul %[[X]], %[[INVERSE]]
  // CHECK-NEXT: %[[MEAN:.*]] = fusion.reduce sum, %[[SCALED]] {dims = array<i64: 1>}
  // CHECK-NEXT: %[[M:.*]] = fusion.broadcast %[[MEAN]]
  // CHECK-NEXT: %[[CENTRED:.*]] = fusion.sub %[[X]], %[[M]]
  // CHECK-NEXT: %[[PART:.*]] = fusion.mul %[[CENTRED]], %[[INVERSE]]
  // CHECK-NEXT: %[[SQUARE:.*]] = fusion.mul %[[CENTRED]], %[[PART]]
  // CHECK-NEXT: %[[VAR:.*]] = fusion.reduce sum, %[[SQUARE]] {dims = array<i64: 1>}
  // CHECK-NEXT: %[[EPS:.*]] = fusion.constant dense<9.99999974E-6> : tensor<4xf32>
  // CHECK-NEXT: %[[SHIFTED:.*]] = fusion.add %[[VAR]], %[[EPS]]
  // CHECK-NEXT: %[[ROOT:.*]] = fusion.rsqrt %[[SHIFTED]]
  // CHECK-NEXT: %[[R:.*]] = fusion.broadcast %[[ROOT]]
  // CHECK-NEXT: %[[N:.*]] = fusion.mul %[[CENTRED]], %[[R]]
  // CHECK-NEXT: %[[WB:.*]] = fusion.broadcast %[[W]] {dims = array<i64: 1>}
  // CHECK-NEXT: %[[NW:.*]] = fusion.mul %[[N]], %[[WB]]
  // CHECK-NEXT: %[[BB:.*]] = fusion.broadcast %[[B]] {dims = array<i64: 1>}
  // CHECK-NEXT: %[[Y:.*]] = fusion.add %[[NW]], %[[BB]]
  // CHECK-NEXT: return %[[Y]]
  %y = fusion.layer_norm %x, %w, %b {axis = 1 : i64, epsilon = 1.0e-5 : f64}
      : (tensor<4x8xf32>, tensor<8xf32>, tensor<8xf32>) -> tensor<4x8xf32>
  return %y : tensor<4x8xf32>
}

// -----

// A symbolic row is counted in integers.
// CHECK-LABEL: func.func @rms_norm
// CHECK-SAME: %[[X:.*]]: tensor<4x?xf64>
func.func @rms_norm(%x: tensor<4x?xf64>) -> tensor<4x?xf64> {
  // CHECK-NEXT: %[[ONE:.*]] = fusion.constant dense<1> : tensor<i64>
  // CHECK-NEXT: %[[ONES:.*]] = fusion.broadcast %[[ONE]], %[[X]] {dims = array<i64>}
  // CHECK-NEXT: %[[COUNT:.*]] = fusion.reduce sum, %[[ONES]] {dims = array<i64: 1>}
  // CHECK-NEXT: %[[F:.*]] = fusion.convert %[[COUNT]] : (tensor<4xi64>) -> tensor<4xf64>
  // CHECK-NEXT: %[[INVERSE:.*]] = fusion.reciprocal %[[F]]
  // CHECK-NEXT: %[[I:.*]] = fusion.broadcast %[[INVERSE]], %[[X]] {dims = array<i64: 0>}
  // CHECK-NEXT: %[[PART:.*]] = fusion.mul %[[X]], %[[I]]
  // CHECK-NEXT: fusion.mul %[[X]], %[[PART]]
  %y = fusion.rms_norm %x {axis = 1 : i64, epsilon = 1.0e-6 : f64}
      : (tensor<4x?xf64>) -> tensor<4x?xf64>
  return %y : tensor<4x?xf64>
}

// -----

// The groups are one domain from the first reshape to the last.
// CHECK-LABEL: func.func @group_norm
// CHECK-SAME: %[[X:.*]]: tensor<?x8x4x4xf16>, %[[W:.*]]: tensor<8xf16>
func.func @group_norm(%x: tensor<?x8x4x4xf16>, %w: tensor<8xf16>) -> tensor<?x8x4x4xf16> {
  // CHECK-NEXT: %[[G:.*]] = fusion.reshape %[[X]] : (tensor<?x8x4x4xf16>) -> tensor<?x2x4x16xf16>
  // CHECK-NEXT: %[[F:.*]] = fusion.convert %[[G]]
  // CHECK: fusion.reduce sum, %{{.*}} {dims = array<i64: 2, 3>} : (tensor<?x2x4x16xf32>) -> tensor<?x2xf32>
  // CHECK: fusion.reduce sum, %{{.*}} {dims = array<i64: 2, 3>}
  // CHECK: %[[WG:.*]] = fusion.reshape %[[W]] : (tensor<8xf16>) -> tensor<2x4xf16>
  // CHECK: %[[WF:.*]] = fusion.convert %[[WG]]
  // CHECK: fusion.broadcast %[[WF]], %{{.*}} {dims = array<i64: 1, 2>}
  // CHECK: %[[Y:.*]] = fusion.mul
  // CHECK-NEXT: %[[H:.*]] = fusion.convert %[[Y]] : (tensor<?x2x4x16xf32>) -> tensor<?x2x4x16xf16>
  // CHECK-NEXT: %[[R:.*]] = fusion.reshape %[[H]] : (tensor<?x2x4x16xf16>) -> tensor<?x8x4x4xf16>
  // CHECK-NEXT: return %[[R]]
  %y = fusion.group_norm %x, %w {groups = 2 : i64, epsilon = 1.0e-5 : f64}
      : (tensor<?x8x4x4xf16>, tensor<8xf16>) -> tensor<?x8x4x4xf16>
  return %y : tensor<?x8x4x4xf16>
}

// -----

// Two symbolic positions cannot be told apart once merged: the statistics are
// applied under the operand's shape.
// CHECK-LABEL: func.func @group_norm_symbolic
// CHECK-SAME: %[[X:.*]]: tensor<?x8x?x?xf32>
func.func @group_norm_symbolic(%x: tensor<?x8x?x?xf32>) -> tensor<?x8x?x?xf32> {
  // CHECK: fusion.reshape %[[X]] : (tensor<?x8x?x?xf32>) -> tensor<?x2x4x?xf32>
  // CHECK: %[[C:.*]] = fusion.reshape %{{.*}} : (tensor<?x2x4xf32>) -> tensor<?x8xf32>
  // CHECK: fusion.broadcast %[[C]], %[[X]] {dims = array<i64: 0, 1>}
  // CHECK: fusion.sub %[[X]]
  // CHECK: fusion.mul {{.*}} -> tensor<?x8x?x?xf32>
  // CHECK-NEXT: return
  %y = fusion.group_norm %x {groups = 2 : i64, epsilon = 1.0e-5 : f64}
      : (tensor<?x8x?x?xf32>) -> tensor<?x8x?x?xf32>
  return %y : tensor<?x8x?x?xf32>
}

// -----

// Scale and shift are computed on [C].
// CHECK-LABEL: func.func @batch_norm
// CHECK-SAME: %[[X:.*]]: tensor<2x8x4x4xf16>, %[[M:.*]]: tensor<8xf16>, %[[V:.*]]: tensor<8xf16>
func.func @batch_norm(%x: tensor<2x8x4x4xf16>, %m: tensor<8xf16>, %v: tensor<8xf16>)
    -> tensor<2x8x4x4xf16> {
  // CHECK: %[[SCALE:.*]] = fusion.rsqrt %{{.*}} : (tensor<8xf32>) -> tensor<8xf32>
  // CHECK: %[[MF:.*]] = fusion.convert %[[M]]
  // CHECK: %[[MS:.*]] = fusion.mul %[[MF]], %[[SCALE]]
  // CHECK: %[[SHIFT:.*]] = fusion.neg %[[MS]]
  // CHECK: %[[F:.*]] = fusion.convert %[[X]]
  // CHECK: %[[S:.*]] = fusion.broadcast %[[SCALE]] {dims = array<i64: 1>}
  // CHECK: %[[P:.*]] = fusion.mul %[[F]], %[[S]]
  // CHECK: %[[B:.*]] = fusion.broadcast %[[SHIFT]] {dims = array<i64: 1>}
  // CHECK: %[[Y:.*]] = fusion.add %[[P]], %[[B]]
  // CHECK: fusion.convert %[[Y]] : (tensor<2x8x4x4xf32>) -> tensor<2x8x4x4xf16>
  %y = fusion.batch_norm %x, %m, %v {epsilon = 1.0e-5 : f64}
      : (tensor<2x8x4x4xf16>, tensor<8xf16>, tensor<8xf16>) -> tensor<2x8x4x4xf16>
  return %y : tensor<2x8x4x4xf16>
}

// -----

// Nothing to compute.
// CHECK-LABEL: func.func @empty
// CHECK-SAME: %[[X:.*]]: tensor<4x0xf32>
func.func @empty(%x: tensor<4x0xf32>) -> tensor<4x0xf32> {
  // CHECK-NEXT: return %[[X]]
  %y = fusion.softmax %x {dim = 1 : i64} : (tensor<4x0xf32>) -> tensor<4x0xf32>
  return %y : tensor<4x0xf32>
}

// -----

// A computed tensor keeps the order and the names of an argument, but not its
// strides, which only arguments have.
// CHECK-LABEL: func.func @layout
func.func @layout(%x: tensor<4x8xf32, #fusion.layout<strides = [16, 1]>>)
    -> tensor<4x8xf32, #fusion.layout<strides = [16, 1]>> {
  // CHECK: fusion.sub {{.*}} -> tensor<4x8xf32>
  // CHECK: fusion.exp %{{.*}} : (tensor<4x8xf32>) -> tensor<4x8xf32>
  %y = fusion.softmax %x {dim = 1 : i64} : (tensor<4x8xf32, #fusion.layout<strides = [16, 1]>>)
      -> tensor<4x8xf32, #fusion.layout<strides = [16, 1]>>
  return %y : tensor<4x8xf32, #fusion.layout<strides = [16, 1]>>
}
