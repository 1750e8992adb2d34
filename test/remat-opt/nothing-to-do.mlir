// RUN: remat-opt %s --policy=save-nothing -o %t.mlir 2>/dev/null && cmp %s %t.mlir
// RUN: remat-opt %s --remat="policy=save-nothing" | FileCheck %s

// A forward function without a backward one comes out as it went in, comments and all (jax-ml/jax#6098).
// CHECK-NOT: {{remat[.]barrier}}
// CHECK: call @f
func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
  %a = func.call @f(%x) {remat.phase = "forward"} : (tensor<4xf32>) -> tensor<4xf32>
  %b = math.exp %a {remat.phase = "forward"} : tensor<4xf32>
  return %b : tensor<4xf32>
}
func.func private @f(%x: tensor<4xf32>) -> tensor<4xf32> {
  %a = math.sin %x {remat.phase = "forward"} : tensor<4xf32>
  return %a : tensor<4xf32>
}
