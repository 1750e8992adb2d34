// RUN: remat-opt %s --pass-pipeline='builtin.module(remat-phases)' | FileCheck %s

// What jax.checkpoint computes again behind its barrier marks the forward ops that it repeats, bodies of reductions included.

// CHECK: %[[A:.*]] = "stablehlo.sine"(%arg0) {remat.phase = "forward"}
// CHECK: "stablehlo.tanh"(%[[A]]) {remat.phase = "forward", remat.region = "checkpoint0"}
// CHECK: "stablehlo.reduce"
// CHECK: }) {remat.phase = "forward", remat.region = "checkpoint0"}
// CHECK: "stablehlo.exponential"{{.*}} {remat.phase = "forward"}
// CHECK-NOT: remat.region
func.func @main(%x: tensor<4xf32>, %z: tensor<f32>) -> (tensor<f32>, tensor<4xf32>) {
  %0 = "stablehlo.sine"(%x) : (tensor<4xf32>) -> tensor<4xf32> loc("jit(f)/jvp()/sin")
  %1 = "stablehlo.tanh"(%0) : (tensor<4xf32>) -> tensor<4xf32> loc("jit(f)/jvp()/tanh")
  %2 = "stablehlo.reduce"(%1, %z) <{dimensions = array<i64: 0>}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %s = "stablehlo.add"(%a, %b) : (tensor<f32>, tensor<f32>) -> tensor<f32>
    "stablehlo.return"(%s) : (tensor<f32>) -> ()
  }) : (tensor<4xf32>, tensor<f32>) -> tensor<f32> loc("jit(f)/jvp()/reduce_sum")
  %3 = "stablehlo.exponential"(%2) : (tensor<f32>) -> tensor<f32> loc("jit(f)/jvp()/exp")
  %4:2 = "stablehlo.optimization_barrier"(%0, %3) : (tensor<4xf32>, tensor<f32>) -> (tensor<4xf32>, tensor<f32>) loc("jit(f)/transpose(jvp())/remat2")
  %5 = "stablehlo.tanh"(%4#0) : (tensor<4xf32>) -> tensor<4xf32> loc("jit(f)/transpose(jvp())/checkpoint/rematted_computation/tanh")
  %6 = "stablehlo.reduce"(%5, %z) <{dimensions = array<i64: 0>}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %s = "stablehlo.add"(%a, %b) : (tensor<f32>, tensor<f32>) -> tensor<f32>
    "stablehlo.return"(%s) : (tensor<f32>) -> ()
  }) : (tensor<4xf32>, tensor<f32>) -> tensor<f32> loc("jit(f)/transpose(jvp())/checkpoint/rematted_computation/reduce_sum")
  %7 = "stablehlo.multiply"(%6, %5) : (tensor<f32>, tensor<4xf32>) -> tensor<4xf32> loc("jit(f)/transpose(jvp())/mul")
  return %3, %7 : tensor<f32>, tensor<4xf32>
}
