// RUN: fusion-run %s --no-cache --check --target=cpu | FileCheck %s
// RUN: fusion-run %s --no-cache --check --target=%gpu | FileCheck %s

// CHECK: check 0: passed

// Dependent reductions in one kernel, rounded once.
func.func @main(%x: tensor<7x200xbf16>) -> tensor<7x200xbf16> {
  %0 = fusion.softmax %x {dim = 1 : i64} : (tensor<7x200xbf16>) -> tensor<7x200xbf16>
  return %0 : tensor<7x200xbf16>
}
