// RUN: fusion-run --reference %s | FileCheck %s
// Integer semantics where C's rules, or undefined behaviour, would differ.

func.func @main() -> (tensor<5xi32>, tensor<5xi32>, tensor<5xi32>, tensor<2xi64>,
                      tensor<3xi64>, tensor<3xi64>, tensor<1xi16>, tensor<2xi1>,
                      tensor<ui8>, tensor<4xi32>) {
  %a = fusion.constant dense<[-7, 7, -6, 5, -2147483648]> : tensor<5xi32>
  %b = fusion.constant dense<[2, -2, 2, 0, -1]> : tensor<5xi32>
  // CHECK: result 0: i32 [5] = -3, -3, -3, 0, -2147483648
  %div = fusion.div %a, %b : (tensor<5xi32>, tensor<5xi32>) -> tensor<5xi32>
  // CHECK: result 1: i32 [5] = -4, -4, -3, 0, -2147483648
  %floor = fusion.floor_div %a, %b : (tensor<5xi32>, tensor<5xi32>) -> tensor<5xi32>
  // CHECK: result 2: i32 [5] = 1, -1, 0, 0, 0
  %rem = fusion.remainder %a, %b : (tensor<5xi32>, tensor<5xi32>) -> tensor<5xi32>

  // Division by zero is 0 on every target, the most negative by -1 itself.
  // CHECK: result 3: i64 [2] = 0, -9223372036854775808
  %c = fusion.constant dense<[0, -9223372036854775808]> : tensor<2xi64>
  %d = fusion.constant dense<[0, -1]> : tensor<2xi64>
  %zero = fusion.floor_div %c, %d : (tensor<2xi64>, tensor<2xi64>) -> tensor<2xi64>

  // A shift by the width or more pushes everything out.
  // CHECK: result 4: i64 [3] = 0, 0, 8000
  %x = fusion.constant dense<1000> : tensor<3xi64>
  %n = fusion.constant dense<[64, -1, 3]> : tensor<3xi64>
  %left = fusion.shift_left %x, %n : (tensor<3xi64>, tensor<3xi64>) -> tensor<3xi64>
  // CHECK: result 5: i64 [3] = -1, -1, -125
  %m = fusion.constant dense<-1000> : tensor<3xi64>
  %right = fusion.shift_right %m, %n : (tensor<3xi64>, tensor<3xi64>) -> tensor<3xi64>

  // ui8 wraps before it is widened: 128 + 128 is 0, -6 is 250.
  // CHECK: result 6: i16 [1] = 0
  %u = fusion.constant dense<128> : tensor<1xui8>
  %sum = fusion.add %u, %u : (tensor<1xui8>, tensor<1xui8>) -> tensor<1xui8>
  %wide = fusion.convert %sum : (tensor<1xui8>) -> tensor<1xi16>
  // CHECK: result 7: i1 [2] = 0, 1
  %six = fusion.constant dense<[6, 255]> : tensor<2xui8>
  %four = fusion.constant dense<4> : tensor<2xui8>
  %minus = fusion.neg %six : (tensor<2xui8>) -> tensor<2xui8>
  %less = fusion.compare lt, %minus, %four : (tensor<2xui8>, tensor<2xui8>) -> tensor<2xi1>

  // The sum of four times -|200| in ui8: 4 * 56 = 224.
  // CHECK: result 8: ui8 [] = 224
  %y = fusion.constant dense<200> : tensor<2xui8>
  %abs = fusion.abs %y : (tensor<2xui8>) -> tensor<2xui8>
  %neg = fusion.neg %abs : (tensor<2xui8>) -> tensor<2xui8>
  %cat = fusion.concat %neg, %neg {dim = 0 : i64} : (tensor<2xui8>, tensor<2xui8>) -> tensor<4xui8>
  %total = fusion.reduce sum, %cat {dims = array<i64: 0>} : (tensor<4xui8>) -> tensor<ui8>

  // CHECK: result 9: i32 [4] = 81, 0, -1, -2147483648
  %base = fusion.constant dense<[3, 2, -1, 2]> : tensor<4xi32>
  %exponent = fusion.constant dense<[4, -1, -3, 31]> : tensor<4xi32>
  %pow = fusion.pow %base, %exponent : (tensor<4xi32>, tensor<4xi32>) -> tensor<4xi32>

  return %div, %floor, %rem, %zero, %left, %right, %wide, %less, %total, %pow
      : tensor<5xi32>, tensor<5xi32>, tensor<5xi32>, tensor<2xi64>, tensor<3xi64>,
        tensor<3xi64>, tensor<1xi16>, tensor<2xi1>, tensor<ui8>, tensor<4xi32>
}
