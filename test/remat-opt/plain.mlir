// RUN: remat-opt %s | FileCheck %s
// RUN: remat-opt %s --pass-pipeline='builtin.module(func.func(cse))' | FileCheck %s --check-prefix=CSE
// RUN: remat-opt %s --cse --mlir-timing -o /dev/null 2>&1 | FileCheck %s --check-prefix=TIMING

// Without planning flags the tool is a plain MLIR opt tool: it needs no main function.
// CHECK-LABEL: @step
// CHECK: math.sin
// CHECK: math.sin
// CSE: math.sin
// CSE-NOT: math.sin
// TIMING: CSE
func.func @step(%x: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) {
  %a = math.sin %x : tensor<4xf32>
  %b = math.sin %x : tensor<4xf32>
  return %a, %b : tensor<4xf32>, tensor<4xf32>
}
