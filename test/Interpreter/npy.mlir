// RUN: rm -rf %t && split-file %s %t
// RUN: fusion-run --reference %t/write.mlir --output %t/0.npy,%t/1.npy,%t/2.npy,%t/3.npy,%t/4.npy,%t/5.npy,%t/6.npy,%t/7.npy,%t/8.npy,%t/9.npy
// RUN: fusion-run --reference %t/read.mlir %t/0.npy %t/1.npy %t/2.npy %t/3.npy %t/4.npy %t/5.npy %t/6.npy %t/7.npy %t/8.npy %t/9.npy | FileCheck %t/read.mlir
// RUN: not fusion-run --reference %t/read.mlir %t/1.npy 2>&1 | FileCheck %s --check-prefix=DTYPE
// RUN: not fusion-run --reference %t/read.mlir %t/0.npy %t/0.npy %t/0.npy %t/0.npy %t/0.npy %t/0.npy %t/0.npy %t/0.npy %t/0.npy %t/0.npy %t/0.npy 2>&1 | FileCheck %s --check-prefix=COUNT
// Results of every element type written to files, and read as arguments.
// DTYPE: error: argument: {{.*}}argument 0 of @main has element type f32, expected 'tensor<2xf64>'
// COUNT: error: argument: 11 files for the 10 arguments of @main

//--- write.mlir
func.func @main() -> (tensor<2xf64>, tensor<2xf32>, tensor<2xf16>, tensor<2xbf16>, tensor<2xi8>,
                      tensor<2xi16>, tensor<2xi32>, tensor<2xi64>, tensor<2xui8>, tensor<2xi1>) {
  %0 = fusion.constant dense<[0.1, 0x7FF0000000000000]> : tensor<2xf64>
  %1 = fusion.constant dense<[0.1, -0.0]> : tensor<2xf32>
  %2 = fusion.constant dense<[0.1, 65504.0]> : tensor<2xf16>
  %3 = fusion.constant dense<[0.1, -3.0e38]> : tensor<2xbf16>
  %4 = fusion.constant dense<[-128, 127]> : tensor<2xi8>
  %5 = fusion.constant dense<[-32768, 7]> : tensor<2xi16>
  %6 = fusion.constant dense<[-2147483648, 7]> : tensor<2xi32>
  %7 = fusion.constant dense<[-9223372036854775808, 7]> : tensor<2xi64>
  %8 = fusion.constant dense<[255, 7]> : tensor<2xui8>
  %9 = fusion.constant dense<[true, false]> : tensor<2xi1>
  return %0, %1, %2, %3, %4, %5, %6, %7, %8, %9
      : tensor<2xf64>, tensor<2xf32>, tensor<2xf16>, tensor<2xbf16>, tensor<2xi8>, tensor<2xi16>,
        tensor<2xi32>, tensor<2xi64>, tensor<2xui8>, tensor<2xi1>
}

//--- read.mlir
// CHECK: result 0: f64 [2] = 0.1, inf
// CHECK: result 1: f32 [2] = 0.1, -0
// CHECK: result 2: f16 [2] = 0.099975586, 65504
// CHECK: result 3: bf16 [2] = 0.100097656, -3.0040553e+38
// CHECK: result 4: i8 [2] = -128, 127
// CHECK: result 5: i16 [2] = -32768, 7
// CHECK: result 6: i32 [2] = -2147483648, 7
// CHECK: result 7: i64 [2] = -9223372036854775808, 7
// CHECK: result 8: ui8 [2] = 255, 7
// CHECK: result 9: i1 [2] = 1, 0
func.func @main(%0: tensor<2xf64>, %1: tensor<2xf32>, %2: tensor<2xf16>, %3: tensor<2xbf16>,
                %4: tensor<2xi8>, %5: tensor<2xi16>, %6: tensor<2xi32>, %7: tensor<2xi64>,
                %8: tensor<2xui8>, %9: tensor<2xi1>)
    -> (tensor<2xf64>, tensor<2xf32>, tensor<2xf16>, tensor<2xbf16>, tensor<2xi8>, tensor<2xi16>,
        tensor<2xi32>, tensor<2xi64>, tensor<2xui8>, tensor<2xi1>) {
  return %0, %1, %2, %3, %4, %5, %6, %7, %8, %9
      : tensor<2xf64>, tensor<2xf32>, tensor<2xf16>, tensor<2xbf16>, tensor<2xi8>, tensor<2xi16>,
        tensor<2xi32>, tensor<2xi64>, tensor<2xui8>, tensor<2xi1>
}
