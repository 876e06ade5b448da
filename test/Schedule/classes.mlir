// RUN: fusion-opt %s --fusion-kernel-pipeline=target=sm_90a | FileCheck %s

// Two sizes of one class share a kernel; sizes are its parameters.
// CHECK-COUNT-1: tile.kernel @exp_neg
// CHECK-NOT: tile.kernel
// CHECK-LABEL: func.func @main
// CHECK: tile.launch @exp_neg({{.*}}sizes = [[A:#map[0-9]*]]
// CHECK: tile.launch @exp_neg({{.*}}sizes = [[B:#map[0-9]*]]
func.func @main(%x: tensor<128x64xf32>, %y: tensor<4096x64xf32>) -> (tensor<128x64xf32>, tensor<4096x64xf32>) {
  %0 = fusion.exp %x : (tensor<128x64xf32>) -> tensor<128x64xf32>
  %1 = fusion.neg %0 : (tensor<128x64xf32>) -> tensor<128x64xf32>
  %2 = fusion.exp %y : (tensor<4096x64xf32>) -> tensor<4096x64xf32>
  %3 = fusion.neg %2 : (tensor<4096x64xf32>) -> tensor<4096x64xf32>
  return %1, %3 : tensor<128x64xf32>, tensor<4096x64xf32>
}
