// RUN: remat-opt %s --split-input-file --pass-pipeline='builtin.module(remat-flatten,remat-phases)' | FileCheck %s

// The name stack says `transpose(`; what depends on a backward op is backward; and so is what backward ops alone read and stands
// behind the first one. The op in front of it, which backward ops alone read too, is forward: it may be kept.

// CHECK-LABEL: func.func @main
// CHECK: "stablehlo.tanh"{{.*}}"forward"
// CHECK: "stablehlo.negate"{{.*}}"forward"
// CHECK: "stablehlo.reduce"
// CHECK: remat.phase = "forward"
// CHECK: "stablehlo.multiply"{{.*}}"backward"
// CHECK: "stablehlo.sine"{{.*}}"backward"
// CHECK: "stablehlo.multiply"{{.*}}"backward"
// CHECK: "stablehlo.cosine"{{.*}}"forward"
func.func @main(%x: tensor<4xf32>, %z: tensor<f32>) -> (tensor<f32>, tensor<4xf32>, tensor<4xf32>) {
  %0 = "stablehlo.tanh"(%x) : (tensor<4xf32>) -> tensor<4xf32> loc("jit(f)/jvp()/tanh")
  %1 = "stablehlo.negate"(%0) : (tensor<4xf32>) -> tensor<4xf32> loc("jit(f)/jvp()/neg")
  %loss = "stablehlo.reduce"(%0, %z) ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %s = "stablehlo.add"(%a, %b) : (tensor<f32>, tensor<f32>) -> tensor<f32>
    "stablehlo.return"(%s) : (tensor<f32>) -> ()
  }) : (tensor<4xf32>, tensor<f32>) -> tensor<f32> loc("jit(f)/jvp()/reduce_sum")
  %2 = "stablehlo.multiply"(%1, %x) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32> loc("jit(f)/transpose(jvp())/mul")
  %3 = "stablehlo.sine"(%0) : (tensor<4xf32>) -> tensor<4xf32> loc("jit(f)/jvp()/sin")
  %4 = "stablehlo.multiply"(%2, %3) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32> loc("jit(f)/mul")
  %metric = "stablehlo.cosine"(%0) : (tensor<4xf32>) -> tensor<4xf32> loc("jit(f)/cos")
  return %loss, %4, %metric : tensor<f32>, tensor<4xf32>, tensor<4xf32>
}

// -----

// `transpose(` in a call's name counts for the ops that are inlined; in a `jvp(` it is a gradient that the loss needs (a gradient
// penalty), and forward; `conv_transpose(` is a user's function.

// CHECK-LABEL: func.func @main
// CHECK: "stablehlo.tanh"{{.*}}"forward"
// CHECK: "stablehlo.exponential"{{.*}}"forward"
// CHECK: "stablehlo.log"{{.*}}"forward"
// CHECK: "stablehlo.negate"{{.*}}"backward"
func.func private @inner(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = "stablehlo.negate"(%x) : (tensor<4xf32>) -> tensor<4xf32> loc("neg")
  return %0 : tensor<4xf32>
}
func.func @main(%x: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) {
  %0 = "stablehlo.tanh"(%x) : (tensor<4xf32>) -> tensor<4xf32> loc("jit(f)/jvp(transpose(jvp()))/tanh")
  %1 = "stablehlo.exponential"(%0) : (tensor<4xf32>) -> tensor<4xf32> loc("jit(f)/jvp()/conv_transpose(x)/exp")
  %2 = "stablehlo.log"(%1) : (tensor<4xf32>) -> tensor<4xf32> loc("jit(f)/jvp()/log")
  %3 = func.call @inner(%2) : (tensor<4xf32>) -> tensor<4xf32> loc("jit(f)/transpose(jvp())/jit")
  return %2, %3 : tensor<4xf32>, tensor<4xf32>
}
