// RUN: fusion-run --reference --size M=1,N=4 %s | FileCheck %s
// Sizes come from the data; a size that happens to be 1 is repeated.

!row = tensor<?x4xi32, #fusion.layout<symbols = ["M", ""]>>
!mat = tensor<?x4xi32, #fusion.layout<symbols = ["N", ""]>>

func.func @main(%x: !row, %y: !mat) -> (tensor<?x4xi1>, tensor<?xi32>, tensor<2x?xi32>) {
  // CHECK: result 0: i1 [4, 4] = 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1
  %b = fusion.broadcast %x, %y {dims = array<i64: 0, 1>} : (!row, !mat) -> !mat
  %s = fusion.sub %y, %b : (!mat, !mat) -> !mat
  %a = fusion.add %s, %b : (!mat, !mat) -> !mat
  %e = fusion.compare eq, %a, %y : (!mat, !mat) -> tensor<?x4xi1>
  // CHECK: result 1: i32 [4] = 0, 1, 2, 3
  %i = fusion.iota %y {dim = 0 : i64} : (!mat) -> !mat
  %c = fusion.slice %i {starts = array<i64: 0, 2>, steps = array<i64: 1, 3>} : (!mat) -> tensor<?x1xi32>
  %r = fusion.reshape %c : (tensor<?x1xi32>) -> tensor<?xi32>
  // CHECK: result 2: i32 [2, 8] = 0, 0, 0, 0, 1, 1, 1, 1, 2, 2, 2, 2, 3, 3, 3, 3
  %t = fusion.reshape %i : (!mat) -> tensor<2x?xi32>
  return %e, %r, %t : tensor<?x4xi1>, tensor<?xi32>, tensor<2x?xi32>
}
