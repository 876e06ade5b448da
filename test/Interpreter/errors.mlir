// RUN: split-file %s %t
// RUN: not fusion-run --reference %t/parse.mlir 2>&1 | FileCheck %t/parse.mlir
// RUN: not fusion-run --reference %t/empty.mlir --size 0 2>&1 | FileCheck %t/empty.mlir
// RUN: not fusion-run --reference %t/shapes.mlir --size A=2,B=3 2>&1 | FileCheck %t/shapes.mlir
// RUN: not fusion-run --reference %t/no-main.mlir 2>&1 | FileCheck %t/no-main.mlir
// RUN: not fusion-run --reference %t/no-such-file.mlir 2>&1 | FileCheck %s --check-prefix=FILE
// RUN: not fusion-run --reference %t/empty.mlir %t/parse.mlir 2>&1 | FileCheck %s --check-prefix=NPY
// RUN: not fusion-run --reference %t/empty.mlir --size N=many 2>&1 | FileCheck %s --check-prefix=SIZE
// FILE: error: {{.*}}no-such-file.mlir: {{[Nn]}}o such file
// NPY: error: {{.*}}parse.mlir: is not a .npy file
// SIZE: error: argument: --size takes NAME=NUMBER or NUMBER, got 'N=many'

//--- parse.mlir
func.func @main() -> tensor<2xf32> {
  // CHECK: error: parse: graph:[[@LINE+1]]:{{[0-9]+}}: {{.*}}fusion.nothing
  %0 = fusion.nothing : () -> tensor<2xf32>
  return %0 : tensor<2xf32>
}

//--- empty.mlir
func.func @main(%x: tensor<?xf32>) -> tensor<f32> {
  // CHECK: error: argument: graph:[[@LINE+1]]:{{[0-9]+}}: {{.*}}'fusion.reduce' op has no value: dimension 0 of shape [0] is empty
  %0 = fusion.reduce max, %x {dims = array<i64: 0>} : (tensor<?xf32>) -> tensor<f32>
  return %0 : tensor<f32>
}

//--- shapes.mlir
!a = tensor<?xf32, #fusion.layout<symbols = ["A"]>>
!b = tensor<?xf32, #fusion.layout<symbols = ["B"]>>
func.func @main(%x: !a, %y: !b) -> tensor<?xf32> {
  // CHECK: error: argument: {{.*}}has operands of shapes [2] and [3]; elementwise ops need equal shapes
  %0 = fusion.add %x, %y : (!a, !b) -> tensor<?xf32>
  return %0 : tensor<?xf32>
}

//--- no-main.mlir
// CHECK: error: verify: the module defines no func.func @main; name the function to run @main
func.func @other() { return }
