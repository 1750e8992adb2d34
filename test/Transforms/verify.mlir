// RUN: remat-opt %s --remat-verify=peak-bytes=48
// RUN: not remat-opt %s --remat-verify=peak-bytes=32 2>&1 | FileCheck %s

// peak: a(16) + b(16) + c(16) = 48 while c is made
// CHECK: verify.mlir:[[#@LINE+3]]:1: error: the rewritten function needs 48 bytes at its peak, but 32 were planned
// CHECK: verify.mlir:[[#@LINE+5]]:8: note: the peak is here
// CHECK: note: this is a mistake of remat, please report it with the input
func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
  %a = math.sin %x {remat.phase = "forward"} : tensor<4xf32>
  %b = math.sin %a {remat.phase = "forward"} : tensor<4xf32>
  %c = arith.addf %a, %b {remat.phase = "forward"} : tensor<4xf32>
  return %c : tensor<4xf32>
}
