// RUN: fusion-opt %s --tile-expand-math | FileCheck %s

// The whole of exp: bounds, reduction, polynomial, two powers of two.
// CHECK-LABEL: func.func @exp(
// CHECK-SAME: %[[X:.*]]: vector<16xf32>
func.func @exp(%x: vector<16xf32>) -> vector<16xf32> {
  // CHECK-DAG: %[[LOW:.*]] = arith.constant dense<-1.040000e+02>
  // CHECK: %[[BELOW:.*]] = arith.cmpf olt, %[[X]], %[[LOW]]
  // CHECK: %[[BOUNDED:.*]] = arith.select %[[BELOW]], %[[LOW]], %[[X]]
  // CHECK: %[[ABOVE:.*]] = arith.cmpf ogt, %[[BOUNDED]]
  // CHECK: %[[Y:.*]] = arith.select %[[ABOVE]], %{{.*}}, %[[BOUNDED]]
  // CHECK: %[[SUM:.*]] = math.fma %[[Y]], %{{.*}}, %{{.*}} : vector<16xf32>
  // CHECK-COUNT-8: math.fma
  // CHECK-NOT: math.fma
  // CHECK: %[[BITS:.*]] = arith.bitcast %[[SUM]] : vector<16xf32> to vector<16xi32>
  // CHECK: arith.shli %[[BITS]]
  // CHECK: arith.shrsi
  // CHECK-COUNT-2: arith.mulf
  // CHECK-NOT: math.exp
  // CHECK: return
  %y = math.exp %x : vector<16xf32>
  return %y : vector<16xf32>
}

// A scalar takes the same formula, so that a loop's tail equals its body.
// CHECK-LABEL: func.func @scalar(
func.func @scalar(%x: f32) -> f32 {
  // CHECK: arith.cmpf olt
  // CHECK-COUNT-9: math.fma {{.*}} : f32
  // CHECK-NOT: math.exp
  // CHECK: return
  %y = math.exp %x : f32
  return %y : f32
}

// pow has one rounding to f32, at its end.
// CHECK-LABEL: func.func @pow(
func.func @pow(%x: vector<8xf32>, %y: vector<8xf32>) -> vector<8xf32> {
  // CHECK: arith.extf {{.*}} : vector<8xf32> to vector<8xf64>
  // CHECK: math.fma {{.*}} : vector<8xf64>
  // CHECK-NOT: math.fma {{.*}} : vector<8xf32>
  // CHECK: arith.truncf {{.*}} : vector<8xf64> to vector<8xf32>
  // CHECK-NOT: math.powf
  // CHECK: return
  %z = math.powf %x, %y : vector<8xf32>
  return %z : vector<8xf32>
}

// One branch for the whole vector: libm where any lane is large.
// CHECK-LABEL: func.func @sin(
func.func @sin(%x: vector<2xf32>) -> vector<2xf32> {
  // CHECK: %[[LANES:.*]] = arith.cmpf ogt, {{.*}} : vector<2xf32>
  // CHECK: %[[ANY:.*]] = vector.reduction <or>, %[[LANES]] : vector<2xi1> into i1
  // CHECK: scf.if %[[ANY]] -> (vector<2xf32>) {
  // CHECK-COUNT-2: math.sin {{.*}} : f64
  // CHECK: vector.from_elements
  // CHECK: } else {
  // CHECK-NOT: math.sin
  // CHECK: }
  // CHECK: return
  %y = math.sin %x : vector<2xf32>
  return %y : vector<2xf32>
}

// CHECK-LABEL: func.func @all(
// CHECK-NOT: math.{{exp2|expm1|tanh|erf|log|log1p|log2|log10|cos}} {{.*}}vector
func.func @all(%x: vector<4xf32>) -> vector<4xf32> {
  %0 = math.exp2 %x : vector<4xf32>
  %1 = math.expm1 %0 : vector<4xf32>
  %2 = math.tanh %1 : vector<4xf32>
  %3 = math.erf %2 : vector<4xf32>
  %4 = math.log %3 : vector<4xf32>
  %5 = math.log1p %4 : vector<4xf32>
  %6 = math.log2 %5 : vector<4xf32>
  %7 = math.log10 %6 : vector<4xf32>
  %8 = math.cos %7 : vector<4xf32>
  return %8 : vector<4xf32>
}

// Without a formula, a scalar a lane.
// CHECK-LABEL: func.func @unroll(
// CHECK-SAME: %[[X:.*]]: vector<2xf32>, %[[Y:.*]]: vector<2xf32>
func.func @unroll(%x: vector<2xf32>, %y: vector<2xf32>) -> vector<2xf32> {
  // CHECK: %[[X0:.*]] = vector.extract %[[X]][0]
  // CHECK: %[[Y0:.*]] = vector.extract %[[Y]][0]
  // CHECK: %[[Z0:.*]] = math.atan2 %[[X0]], %[[Y0]] : f32
  // CHECK: %[[Z1:.*]] = math.atan2
  // CHECK: vector.from_elements %[[Z0]], %[[Z1]]
  %z = math.atan2 %x, %y : vector<2xf32>
  return %z : vector<2xf32>
}

// CHECK-LABEL: func.func @double(
func.func @double(%x: vector<2xf64>, %s: f64) -> (vector<2xf64>, f64) {
  // CHECK-COUNT-2: math.exp {{.*}} : f64
  // CHECK: vector.from_elements
  // CHECK: math.exp %{{.*}} : f64
  %y = math.exp %x : vector<2xf64>
  %t = math.exp %s : f64
  return %y, %t : vector<2xf64>, f64
}

// What is an instruction stays.
// CHECK-LABEL: func.func @instructions(
func.func @instructions(%x: vector<8xf32>) -> vector<8xf32> {
  // CHECK: math.sqrt {{.*}} : vector<8xf32>
  // CHECK-NEXT: math.floor {{.*}} : vector<8xf32>
  %0 = math.sqrt %x : vector<8xf32>
  %1 = math.floor %0 : vector<8xf32>
  return %1 : vector<8xf32>
}
