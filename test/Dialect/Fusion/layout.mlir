// RUN: fusion-opt %s --verify-roundtrip | FileCheck %s

// CHECK: func.func {{.*}}@order(tensor<2x3x4x4xf16, #fusion.layout<order = [0, 2, 3, 1]>>)
func.func private @order(tensor<2x3x4x4xf16, #fusion.layout<order = [0, 2, 3, 1]>>)

// CHECK: func.func {{.*}}@strides(tensor<4x8xf32, #fusion.layout<strides = [-1, 1]>>)
func.func private @strides(tensor<4x8xf32, #fusion.layout<strides = [-1, 1]>>)

// CHECK: func.func {{.*}}@symbols(tensor<?x8xf32, #fusion.layout<symbols = ["N", ""]>>)
func.func private @symbols(tensor<?x8xf32, #fusion.layout<symbols = ["N", ""]>>)

// Parts print in one order, whichever they are written in.
// CHECK: func.func {{.*}}@both(tensor<?x8xf32, #fusion.layout<order = [1, 0], symbols = ["N", ""]>>)
func.func private @both(tensor<?x8xf32, #fusion.layout<symbols = ["N", ""], order = [1, 0]>>)

// An elementwise op keeps the layout where it is written on both sides.
// CHECK-LABEL: func.func @keep
func.func @keep(%x: tensor<?x8xf32, #fusion.layout<symbols = ["N", ""]>>)
    -> tensor<?x8xf32, #fusion.layout<symbols = ["N", ""]>> {
  %0 = fusion.exp %x : (tensor<?x8xf32, #fusion.layout<symbols = ["N", ""]>>)
      -> tensor<?x8xf32, #fusion.layout<symbols = ["N", ""]>>
  return %0 : tensor<?x8xf32, #fusion.layout<symbols = ["N", ""]>>
}
