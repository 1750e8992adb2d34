// RUN: mlir-opt --load-pass-plugin=$(dirname $(which remat-opt))/../lib/RematPlugin.so --pass-pipeline='builtin.module(remat{policy=save-nothing})' %s -o %t.mlir
// RUN: FileCheck %s < %t.mlir
// RUN: mlir-opt --load-dialect-plugin=$(dirname $(which remat-opt))/../lib/RematPlugin.so --load-pass-plugin=$(dirname $(which remat-opt))/../lib/RematPlugin.so --pass-pipeline='builtin.module(cse,canonicalize,loop-invariant-code-motion,remat-check{fail})' %t.mlir -o /dev/null 2>&1 | FileCheck %s --check-prefix=SURVIVE
// RUN: mlir-opt --load-pass-plugin=$(dirname $(which remat-opt))/../lib/RematPlugin.so --pass-pipeline='builtin.module(remat-flatten,remat-phases,remat-plan{policy=save-nothing},remat-apply,remat-strip)' %s | FileCheck %s --check-prefix=STEPS

// CHECK: remat.barrier
// CHECK: math.sin %{{.*}} {remat.clone = "sin.1"}
// SURVIVE: remat-check: 1 of 1 recomputations survived in @main
// STEPS: remat.barrier %arg0 after
// STEPS-NEXT: math.sin %{{[0-9]+}} : tensor<4xf32>
func.func @main(%x: tensor<4xf32>) -> (tensor<f32>, tensor<4xf32>) {
  %zero = arith.constant dense<0.0> : tensor<f32>
  %a = math.sin %x : tensor<4xf32>
  %loss = linalg.reduce {arith.addf} ins(%a : tensor<4xf32>) outs(%zero : tensor<f32>) dimensions = [0]
  %init = tensor.empty() : tensor<4xf32>
  %g = linalg.broadcast ins(%loss : tensor<f32>) outs(%init : tensor<4xf32>) dimensions = [0]
  %d = arith.mulf %a, %g : tensor<4xf32>
  return %loss, %d : tensor<f32>, tensor<4xf32>
}
