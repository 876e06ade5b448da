// RUN: fusion-opt %s --fusion-decompose --verify-diagnostics

func.func @channels(%x: tensor<?x?x4xf32>) -> tensor<?x?x4xf32> {
  // expected-error @+1 {{expects static channels where other sizes are symbolic, got 'tensor<?x?x4xf32>'; give the number of channels in the type}}
  %y = fusion.group_norm %x {groups = 2 : i64, epsilon = 1.0e-5 : f64}
      : (tensor<?x?x4xf32>) -> tensor<?x?x4xf32>
  return %y : tensor<?x?x4xf32>
}
