// RUN: fusion-opt %s --verify-roundtrip | FileCheck %s

// Every op once, and every attribute that prints.

// CHECK-LABEL: func.func @unary
func.func @unary(%f: tensor<4x8xf32>, %i: tensor<4xi32>, %u: tensor<4xui8>,
                 %b: tensor<4xi1>) {
  // CHECK: fusion.abs %{{.*}} : (tensor<4x8xf32>) -> tensor<4x8xf32>
  %0 = fusion.abs %f : (tensor<4x8xf32>) -> tensor<4x8xf32>
  %1 = fusion.neg %u : (tensor<4xui8>) -> tensor<4xui8>
  %2 = fusion.sign %i : (tensor<4xi32>) -> tensor<4xi32>
  // CHECK: fusion.not %{{.*}} : (tensor<4xi1>) -> tensor<4xi1>
  %3 = fusion.not %b : (tensor<4xi1>) -> tensor<4xi1>
  %4 = fusion.exp %f : (tensor<4x8xf32>) -> tensor<4x8xf32>
  %5 = fusion.exp2 %f : (tensor<4x8xf32>) -> tensor<4x8xf32>
  %6 = fusion.expm1 %f : (tensor<4x8xf32>) -> tensor<4x8xf32>
  %7 = fusion.log %f : (tensor<4x8xf32>) -> tensor<4x8xf32>
  %8 = fusion.log2 %f : (tensor<4x8xf32>) -> tensor<4x8xf32>
  %9 = fusion.log10 %f : (tensor<4x8xf32>) -> tensor<4x8xf32>
  %10 = fusion.log1p %f : (tensor<4x8xf32>) -> tensor<4x8xf32>
  %11 = fusion.sqrt %f : (tensor<4x8xf32>) -> tensor<4x8xf32>
  %12 = fusion.rsqrt %f : (tensor<4x8xf32>) -> tensor<4x8xf32>
  %13 = fusion.cbrt %f : (tensor<4x8xf32>) -> tensor<4x8xf32>
  %14 = fusion.reciprocal %f : (tensor<4x8xf32>) -> tensor<4x8xf32>
  %15 = fusion.sin %f : (tensor<4x8xf32>) -> tensor<4x8xf32>
  %16 = fusion.cos %f : (tensor<4x8xf32>) -> tensor<4x8xf32>
  %17 = fusion.tan %f : (tensor<4x8xf32>) -> tensor<4x8xf32>
  %18 = fusion.asin %f : (tensor<4x8xf32>) -> tensor<4x8xf32>
  %19 = fusion.acos %f : (tensor<4x8xf32>) -> tensor<4x8xf32>
  %20 = fusion.atan %f : (tensor<4x8xf32>) -> tensor<4x8xf32>
  %21 = fusion.sinh %f : (tensor<4x8xf32>) -> tensor<4x8xf32>
  %22 = fusion.cosh %f : (tensor<4x8xf32>) -> tensor<4x8xf32>
  %23 = fusion.tanh %f : (tensor<4x8xf32>) -> tensor<4x8xf32>
  %24 = fusion.asinh %f : (tensor<4x8xf32>) -> tensor<4x8xf32>
  %25 = fusion.acosh %f : (tensor<4x8xf32>) -> tensor<4x8xf32>
  %26 = fusion.atanh %f : (tensor<4x8xf32>) -> tensor<4x8xf32>
  %27 = fusion.erf %f : (tensor<4x8xf32>) -> tensor<4x8xf32>
  %28 = fusion.erfc %f : (tensor<4x8xf32>) -> tensor<4x8xf32>
  %29 = fusion.floor %f : (tensor<4x8xf32>) -> tensor<4x8xf32>
  %30 = fusion.ceil %f : (tensor<4x8xf32>) -> tensor<4x8xf32>
  %31 = fusion.round %f : (tensor<4x8xf32>) -> tensor<4x8xf32>
  %32 = fusion.trunc %f : (tensor<4x8xf32>) -> tensor<4x8xf32>
  %33 = fusion.is_nan %f : (tensor<4x8xf32>) -> tensor<4x8xi1>
  %34 = fusion.is_inf %f : (tensor<4x8xf32>) -> tensor<4x8xi1>
  %35 = fusion.is_finite %f : (tensor<4x8xf32>) -> tensor<4x8xi1>
  // CHECK: fusion.convert %{{.*}} : (tensor<4xui8>) -> tensor<4xf16>
  %36 = fusion.convert %u : (tensor<4xui8>) -> tensor<4xf16>
  return
}

// CHECK-LABEL: func.func @activations
func.func @activations(%x: tensor<?x8xbf16>) {
  %0 = fusion.sigmoid %x : (tensor<?x8xbf16>) -> tensor<?x8xbf16>
  %1 = fusion.relu %x : (tensor<?x8xbf16>) -> tensor<?x8xbf16>
  %2 = fusion.silu %x : (tensor<?x8xbf16>) -> tensor<?x8xbf16>
  %3 = fusion.mish %x : (tensor<?x8xbf16>) -> tensor<?x8xbf16>
  %4 = fusion.softplus %x : (tensor<?x8xbf16>) -> tensor<?x8xbf16>
  %5 = fusion.hard_sigmoid %x : (tensor<?x8xbf16>) -> tensor<?x8xbf16>
  %6 = fusion.hard_swish %x : (tensor<?x8xbf16>) -> tensor<?x8xbf16>
  // CHECK: fusion.gelu %{{.*}} : (
  %7 = fusion.gelu %x : (tensor<?x8xbf16>) -> tensor<?x8xbf16>
  // CHECK: fusion.gelu %{{.*}} {approximate = #fusion<approximation tanh>} : (
  %8 = fusion.gelu %x {approximate = #fusion<approximation tanh>} : (tensor<?x8xbf16>) -> tensor<?x8xbf16>
  // CHECK: fusion.elu %{{.*}} {alpha = 5.000000e-01 : f64} : (
  %9 = fusion.elu %x {alpha = 0.5 : f64} : (tensor<?x8xbf16>) -> tensor<?x8xbf16>
  // CHECK: fusion.leaky_relu %{{.*}} {slope = 1.000000e-01 : f64} : (
  %10 = fusion.leaky_relu %x {slope = 0.1 : f64} : (tensor<?x8xbf16>) -> tensor<?x8xbf16>
  return
}

// CHECK-LABEL: func.func @binary
func.func @binary(%x: tensor<4xf64>, %i: tensor<4xi8>, %c: tensor<4xi1>) {
  %0 = fusion.add %x, %x : (tensor<4xf64>, tensor<4xf64>) -> tensor<4xf64>
  %1 = fusion.sub %x, %x : (tensor<4xf64>, tensor<4xf64>) -> tensor<4xf64>
  %2 = fusion.mul %x, %x : (tensor<4xf64>, tensor<4xf64>) -> tensor<4xf64>
  %3 = fusion.div %x, %x : (tensor<4xf64>, tensor<4xf64>) -> tensor<4xf64>
  %4 = fusion.floor_div %x, %x : (tensor<4xf64>, tensor<4xf64>) -> tensor<4xf64>
  %5 = fusion.remainder %x, %x : (tensor<4xf64>, tensor<4xf64>) -> tensor<4xf64>
  %6 = fusion.fmod %x, %x : (tensor<4xf64>, tensor<4xf64>) -> tensor<4xf64>
  %7 = fusion.pow %x, %x : (tensor<4xf64>, tensor<4xf64>) -> tensor<4xf64>
  %8 = fusion.min %x, %x : (tensor<4xf64>, tensor<4xf64>) -> tensor<4xf64>
  %9 = fusion.max %x, %x : (tensor<4xf64>, tensor<4xf64>) -> tensor<4xf64>
  %10 = fusion.atan2 %x, %x : (tensor<4xf64>, tensor<4xf64>) -> tensor<4xf64>
  %11 = fusion.copysign %x, %x : (tensor<4xf64>, tensor<4xf64>) -> tensor<4xf64>
  %12 = fusion.hypot %x, %x : (tensor<4xf64>, tensor<4xf64>) -> tensor<4xf64>
  %13 = fusion.and %i, %i : (tensor<4xi8>, tensor<4xi8>) -> tensor<4xi8>
  %14 = fusion.or %i, %i : (tensor<4xi8>, tensor<4xi8>) -> tensor<4xi8>
  %15 = fusion.xor %i, %i : (tensor<4xi8>, tensor<4xi8>) -> tensor<4xi8>
  %16 = fusion.shift_left %i, %i : (tensor<4xi8>, tensor<4xi8>) -> tensor<4xi8>
  %17 = fusion.shift_right %i, %i : (tensor<4xi8>, tensor<4xi8>) -> tensor<4xi8>
  // CHECK: fusion.compare lt, %{{.*}}, %{{.*}} : (tensor<4xf64>, tensor<4xf64>) -> tensor<4xi1>
  %18 = fusion.compare lt, %x, %x : (tensor<4xf64>, tensor<4xf64>) -> tensor<4xi1>
  // CHECK: fusion.select
  %19 = fusion.select %c, %x, %x : (tensor<4xi1>, tensor<4xf64>, tensor<4xf64>) -> tensor<4xf64>
  %20 = fusion.clamp %x, %x, %x : (tensor<4xf64>, tensor<4xf64>, tensor<4xf64>) -> tensor<4xf64>
  return
}

// CHECK-LABEL: func.func @views
func.func @views(%x: tensor<4x6xf32>, %n: tensor<?x6xf32>, %v: tensor<f32>) {
  // CHECK: fusion.constant dense<1.000000e+00> : tensor<f32>
  %0 = fusion.constant dense<1.0> : tensor<f32>
  // CHECK: fusion.iota {dim = 1 : i64} : () -> tensor<4x8xi32>
  %1 = fusion.iota {dim = 1 : i64} : () -> tensor<4x8xi32>
  // CHECK: fusion.iota %{{.*}} {dim = 0 : i64} : (tensor<?x6xf32>) -> tensor<?x6xi64>
  %2 = fusion.iota %n {dim = 0 : i64} : (tensor<?x6xf32>) -> tensor<?x6xi64>
  // CHECK: fusion.broadcast %{{.*}} {dims = array<i64>} : (tensor<f32>) -> tensor<4x8xf32>
  %3 = fusion.broadcast %v {dims = array<i64>} : (tensor<f32>) -> tensor<4x8xf32>
  // CHECK: fusion.broadcast %{{.*}}, %{{.*}} {dims = array<i64>} : (tensor<f32>, tensor<?x6xf32>) -> tensor<?x6xf32>
  %4 = fusion.broadcast %v, %n {dims = array<i64>} : (tensor<f32>, tensor<?x6xf32>) -> tensor<?x6xf32>
  // CHECK: fusion.reshape
  %5 = fusion.reshape %x : (tensor<4x6xf32>) -> tensor<2x12xf32>
  // CHECK: fusion.transpose %{{.*}} {permutation = array<i64: 1, 0>}
  %6 = fusion.transpose %x {permutation = array<i64: 1, 0>} : (tensor<4x6xf32>) -> tensor<6x4xf32>
  // CHECK: fusion.slice
  %7 = fusion.slice %x {starts = array<i64: 0, 2>, steps = array<i64: 1, 2>} : (tensor<4x6xf32>) -> tensor<4x2xf32>
  // CHECK: fusion.reverse
  %8 = fusion.reverse %x {dims = array<i64: 0>} : (tensor<4x6xf32>) -> tensor<4x6xf32>
  // CHECK: fusion.pad
  %9 = fusion.pad %x, %v {low = array<i64: 1, -1>, high = array<i64: 2, 0>} : (tensor<4x6xf32>, tensor<f32>) -> tensor<7x5xf32>
  // CHECK: fusion.concat
  %10 = fusion.concat %x, %n {dim = 0 : i64} : (tensor<4x6xf32>, tensor<?x6xf32>) -> tensor<?x6xf32>
  // CHECK: fusion.gather %{{.*}}, %{{.*}} {dim = 0 : i64} : (tensor<4x6xf32>, tensor<?x6xi64>) -> tensor<?x6xf32>
  %11 = fusion.gather %x, %2 {dim = 0 : i64} : (tensor<4x6xf32>, tensor<?x6xi64>) -> tensor<?x6xf32>
  return
}

// CHECK-LABEL: func.func @heroes
func.func @heroes(%x: tensor<4x8xf32>, %b: tensor<4x8xi1>, %h: tensor<2x3x8x8xf16>,
                  %k: tensor<4x3x3x3xf16>, %bias: tensor<4xf16>,
                  %p: tensor<2x4x8x8xf32>, %i: tensor<4x8xi8>) {
  // CHECK: fusion.reduce sum, %{{.*}} {dims = array<i64: 1>} : (tensor<4x8xf32>) -> tensor<4xf32>
  %0 = fusion.reduce sum, %x {dims = array<i64: 1>} : (tensor<4x8xf32>) -> tensor<4xf32>
  // CHECK: fusion.reduce any
  %1 = fusion.reduce any, %b {dims = array<i64: 0, 1>} : (tensor<4x8xi1>) -> tensor<i1>
  // CHECK: fusion.arg_reduce max, %{{.*}} {dim = 1 : i64}
  %2 = fusion.arg_reduce max, %x {dim = 1 : i64} : (tensor<4x8xf32>) -> tensor<4xi64>
  // CHECK: fusion.matmul %{{.*}}, %{{.*}} {transpose_rhs}
  %3 = fusion.matmul %x, %x {transpose_rhs} : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x4xf32>
  // CHECK: fusion.matmul %{{.*}}, %{{.*}} {transpose_lhs}
  %4 = fusion.matmul %i, %i {transpose_lhs} : (tensor<4x8xi8>, tensor<4x8xi8>) -> tensor<8x8xi32>
  // CHECK: fusion.conv %{{.*}}, %{{.*}}, %{{.*}} {
  %5 = fusion.conv %h, %k, %bias {strides = array<i64: 1, 1>, pad_low = array<i64: 1, 1>,
      pad_high = array<i64: 1, 1>, dilations = array<i64: 1, 1>}
      : (tensor<2x3x8x8xf16>, tensor<4x3x3x3xf16>, tensor<4xf16>) -> tensor<2x4x8x8xf16>
  // CHECK: fusion.conv %{{.*}}, %{{.*}} {
  %6 = fusion.conv %h, %k {strides = array<i64: 2, 2>, pad_low = array<i64: 0, 1>,
      pad_high = array<i64: 1, 1>, dilations = array<i64: 1, 2>, groups = 1 : i64}
      : (tensor<2x3x8x8xf16>, tensor<4x3x3x3xf16>) -> tensor<2x4x4x3xf16>
  // CHECK: fusion.pool max
  %7 = fusion.pool max, %p {window = array<i64: 2, 2>, strides = array<i64: 2, 2>,
      pad_low = array<i64: 0, 0>, pad_high = array<i64: 0, 0>, dilations = array<i64: 1, 1>}
      : (tensor<2x4x8x8xf32>) -> tensor<2x4x4x4xf32>
  // CHECK: fusion.pool avg, %{{.*}} {ceil_mode, count_include_pad,
  %8 = fusion.pool avg, %p {ceil_mode, count_include_pad, window = array<i64: 3>,
      strides = array<i64: 2>, pad_low = array<i64: 0>, pad_high = array<i64: 0>,
      dilations = array<i64: 1>}
      : (tensor<2x4x8x8xf32>) -> tensor<2x4x8x4xf32>
  return
}

// CHECK-LABEL: func.func @composites
func.func @composites(%x: tensor<4x8xf32>, %w: tensor<8xf32>, %p: tensor<2x8x4x4xf32>) {
  // CHECK: fusion.softmax
  %0 = fusion.softmax %x {dim = 1 : i64} : (tensor<4x8xf32>) -> tensor<4x8xf32>
  // CHECK: fusion.log_softmax
  %1 = fusion.log_softmax %x {dim = 0 : i64} : (tensor<4x8xf32>) -> tensor<4x8xf32>
  // CHECK: fusion.layer_norm %{{.*}}, %{{.*}}, %{{.*}} {
  %2 = fusion.layer_norm %x, %w, %w {axis = 1 : i64, epsilon = 1.0e-5 : f64}
      : (tensor<4x8xf32>, tensor<8xf32>, tensor<8xf32>) -> tensor<4x8xf32>
  // CHECK: fusion.layer_norm %{{[^,]*}} {
  %3 = fusion.layer_norm %x {axis = 1 : i64, epsilon = 1.0e-5 : f64}
      : (tensor<4x8xf32>) -> tensor<4x8xf32>
  // CHECK: fusion.rms_norm
  %4 = fusion.rms_norm %x, %w {axis = 1 : i64, epsilon = 1.0e-6 : f64}
      : (tensor<4x8xf32>, tensor<8xf32>) -> tensor<4x8xf32>
  // CHECK: fusion.group_norm
  %5 = fusion.group_norm %p, %w {groups = 2 : i64, epsilon = 1.0e-5 : f64}
      : (tensor<2x8x4x4xf32>, tensor<8xf32>) -> tensor<2x8x4x4xf32>
  // CHECK: fusion.batch_norm
  %6 = fusion.batch_norm %p, %w, %w, %w, %w {epsilon = 1.0e-5 : f64}
      : (tensor<2x8x4x4xf32>, tensor<8xf32>, tensor<8xf32>, tensor<8xf32>, tensor<8xf32>)
      -> tensor<2x8x4x4xf32>
  return
}

// CHECK-LABEL: func.func @group
func.func @group(%x: tensor<4xf32>, %y: tensor<4xf32>) -> tensor<4xf32> {
  // CHECK: %[[G:.*]] = fusion.group "add_exp" (%[[A:.*]] = %{{.*}} : tensor<4xf32>, %[[B:.*]] = %{{.*}} : tensor<4xf32>) -> tensor<4xf32> {
  // CHECK-NEXT: %[[S:.*]] = fusion.add %[[A]], %[[B]]
  // CHECK: fusion.yield %{{.*}} : tensor<4xf32>
  %0 = fusion.group "add_exp" (%a = %x : tensor<4xf32>, %b = %y : tensor<4xf32>) -> tensor<4xf32> {
    %s = fusion.add %a, %b : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
    %e = fusion.exp %s : (tensor<4xf32>) -> tensor<4xf32>
    fusion.yield %e : tensor<4xf32>
  }
  // CHECK: fusion.group "two" (%{{.*}} = %[[G]] : tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) attributes {kind = "pair"} {
  %1:2 = fusion.group "two" (%a = %0 : tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) attributes {kind = "pair"} {
    fusion.yield %a, %a : tensor<4xf32>, tensor<4xf32>
  }
  // A group without results needs no terminator.
  // CHECK: fusion.group "none" () {
  // CHECK-NEXT: fusion.yield
  fusion.group "none" () {
  }
  return %1#0 : tensor<4xf32>
}
