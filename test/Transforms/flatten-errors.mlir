// RUN: remat-opt %s --split-input-file --verify-diagnostics --pass-pipeline='builtin.module(remat-flatten)'

// expected-note @+1 {{a training graph must not depend on its data; unroll the recursion or make it a loop}}
func.func private @again(%x: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error @+1 {{recursive call of 'again'}}
  %0 = func.call @again(%x) : (tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}
func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = func.call @again(%x) : (tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}

// -----

// expected-note @+1 {{write its control flow with scf or stablehlo ops}}
func.func private @branches(%x: tensor<4xf32>) -> tensor<4xf32> {
  cf.br ^next
^next:
  return %x : tensor<4xf32>
}
func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error @+1 {{call of 'branches', which has several blocks}}
  %0 = func.call @branches(%x) : (tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}

// -----

// A function without a body is an op that nobody knows.
func.func private @library(tensor<4xf32>) -> tensor<4xf32>
func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = func.call @library(%x) : (tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}

// -----

func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
  // expected-warning @+1 {{checkpoint name 'x' has no effect: it names an argument, which is kept anyway}}
  %0 = remat.name %x "x" : tensor<4xf32>
  %1 = math.tanh %0 : tensor<4xf32>
  %2 = remat.name %1 "a" : tensor<4xf32>
  // expected-warning @+1 {{checkpoint name 'b' has no effect: the value already has the name 'a'}}
  %3 = remat.name %2 "b" : tensor<4xf32>
  return %3 : tensor<4xf32>
}
