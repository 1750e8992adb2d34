// RUN: remat-opt %s --pass-pipeline='builtin.module(remat-phases)' | FileCheck %s

// RUN: remat-opt %s --pass-pipeline='builtin.module(remat-phases{loss-result=0})' 2>&1 | FileCheck %s --check-prefix=LOSS

// Given phases hold against names and order. An op without operands may go without: it belongs to those that read it.

// LOSS: remark: remat.phase says what is backward; --loss-result=0 changes nothing
// CHECK: "stablehlo.constant"{{.*}}"backward"
// CHECK: "stablehlo.tanh"{{.*}}"forward"
// CHECK: "stablehlo.multiply"{{.*}}"backward"
func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
  %c = "stablehlo.constant"() <{value = dense<1.0> : tensor<4xf32>}> : () -> tensor<4xf32>
  %0 = "stablehlo.tanh"(%x) {remat.phase = "forward"} : (tensor<4xf32>) -> tensor<4xf32> loc("jit(f)/transpose(jvp())/tanh")
  %1 = "stablehlo.multiply"(%0, %c) {remat.phase = "backward"} : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  return %1 : tensor<4xf32>
}
