// RUN: remat-opt %s --policy=save-nothing 2>/dev/null | FileCheck %s

// Names that the input brought stay, clones' too; places in the input's own text aren't printed for an input without names.
// CHECK: %[[C:.*]] = math.sin %{{.*}} {remat.clone = "sin.1"} : tensor<4xf32> loc(#[[CLONE:.*]])
// CHECK: #[[NAME:.*]] = loc("jit(step)/jvp(f)/sin")
// CHECK: #[[CLONE]] = loc("remat.recompute:"(#[[NAME]]))
func.func @main(%x: tensor<4xf32>) -> (tensor<f32>, tensor<4xf32>) {
  %zero = arith.constant dense<0.0> : tensor<f32>
  %a = math.sin %x : tensor<4xf32> loc("jit(step)/jvp(f)/sin")
  %loss = linalg.reduce {arith.addf} ins(%a : tensor<4xf32>) outs(%zero : tensor<f32>) dimensions = [0] loc("jit(step)/jvp(f)/reduce_sum")
  %init = tensor.empty() : tensor<4xf32>
  %g = linalg.broadcast ins(%loss : tensor<f32>) outs(%init : tensor<4xf32>) dimensions = [0] loc("jit(step)/transpose(jvp(f))/broadcast")
  %d = arith.mulf %a, %g : tensor<4xf32> loc("jit(step)/transpose(jvp(f))/mul")
  return %loss, %d : tensor<f32>, tensor<4xf32>
}
