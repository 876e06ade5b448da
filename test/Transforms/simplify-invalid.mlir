// RUN: not fusion-opt %s --fusion-simplify=disable=fast-math 2>&1 | FileCheck %s

// CHECK: error: fusion-simplify has no rewrite 'fast-math'; it has these:
// CHECK: note: mul-by-one: x * 1 -> x
func.func private @f(tensor<4xf32>)
