// RUN: remat-opt %s --split-input-file --verify-diagnostics --pass-pipeline='builtin.module(remat-phases)'

func.func @some(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = math.tanh %x {remat.phase = "forward"} : tensor<4xf32>
  // expected-error @+2 {{op has no 'remat.phase', but other ops of the function have one}}
  // expected-note @+1 {{give every op remat.phase = "forward" or "backward", or none of them}}
  %1 = math.exp %0 : tensor<4xf32>
  return %1 : tensor<4xf32>
}

// -----

func.func @contradiction(%x: tensor<4xf32>) -> tensor<4xf32> {
  // expected-note @+1 {{the value is made here}}
  %0 = math.tanh %x {remat.phase = "backward"} : tensor<4xf32>
  // expected-error @+1 {{op has remat.phase = "forward", but reads a value of the backward part}}
  %1 = math.exp %0 {remat.phase = "forward"} : tensor<4xf32>
  return %1 : tensor<4xf32>
}

// -----

// expected-error @+2 {{can't tell the forward part from the backward part of 'gradients': result 0, of type 'tensor<4xf32>', is no loss (a scalar float)}}
// expected-note @+1 {{say which result is the loss with --loss-result=N; or give every op remat.phase}}
func.func @gradients(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = math.tanh %x : tensor<4xf32>
  %1 = math.exp %0 : tensor<4xf32>
  return %1 : tensor<4xf32>
}

// -----

// expected-error @+1 {{the loss is made inside a loop, so program order doesn't tell the phases}}
func.func @loop(%x: tensor<4xf32>, %zero: tensor<f32>, %n: index) -> (tensor<f32>, tensor<4xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  // expected-note @+1 {{this loop makes it}}
  %0:2 = scf.for %i = %c0 to %n step %c1 iter_args(%l = %zero, %g = %x) -> (tensor<f32>, tensor<4xf32>) {
    %1 = math.tanh %g : tensor<4xf32>
    %2 = math.exp %l : tensor<f32>
    scf.yield %2, %1 : tensor<f32>, tensor<4xf32>
  }
  %3 = math.sqrt %0#0 : tensor<f32>
  return %3, %0#1 : tensor<f32>, tensor<4xf32>
}

// -----

func.func @named_loop(%x: tensor<4xf32>, %more: tensor<i1>) -> tensor<4xf32> {
  // expected-error @+2 {{the loss is made inside a loop: the op's body holds forward and backward ops}}
  // expected-note @+1 {{'stablehlo.negate' inside is a backward op (jit(f)/transpose(jvp())/neg); plan the body as a function of its own}}
  %0 = "stablehlo.while"(%x) ({
  ^bb0(%a: tensor<4xf32>):
    "stablehlo.return"(%more) : (tensor<i1>) -> ()
  }, {
  ^bb0(%a: tensor<4xf32>):
    %1 = "stablehlo.negate"(%a) : (tensor<4xf32>) -> tensor<4xf32> loc("jit(f)/transpose(jvp())/neg")
    "stablehlo.return"(%1) : (tensor<4xf32>) -> ()
  }) : (tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}

// -----

// A gradient that needs arguments alone.
// expected-error @+2 {{no op of the backward part reads a value of the forward part: there is nothing to save}}
// expected-note @+1 {{if another result is the loss, say --loss-result=N}}
func.func @unread(%w: tensor<4xf32>, %x: tensor<4xf32>) -> (tensor<f32>, tensor<4xf32>) {
  %l = "stablehlo.dot"(%w, %x) : (tensor<4xf32>, tensor<4xf32>) -> tensor<f32>
  %g = "stablehlo.negate"(%x) : (tensor<4xf32>) -> tensor<4xf32>
  return %l, %g : tensor<f32>, tensor<4xf32>
}

// -----

// No error: nothing stands behind the loss.
// expected-remark @+1 {{function 'forward_only' has no backward part: there is nothing to plan}}
func.func @forward_only(%w: tensor<4xf32>, %x: tensor<4xf32>) -> tensor<f32> {
  %l = "stablehlo.dot"(%w, %x) : (tensor<4xf32>, tensor<4xf32>) -> tensor<f32>
  return %l : tensor<f32>
}
