// RUN: remat-opt %s --split-input-file --verify-diagnostics

func.func @unknown(%x: tensor<f32>) {
  // expected-error @+1 {{unknown attribute 'remat.phse', did you mean 'remat.phase'?}}
  %0 = math.tanh %x {remat.phse = "forward"} : tensor<f32>
  return
}

// -----

func.func @far_from_all(%x: tensor<f32>) {
  // expected-error @+1 {{unknown attribute 'remat.xyzzyxyzzyxyzzy'}}
  %0 = math.tanh %x {remat.xyzzyxyzzyxyzzy} : tensor<f32>
  return
}

// -----

func.func @phase(%x: tensor<f32>) {
  // expected-error @+1 {{'remat.phase' must be "forward" or "backward", but is "foward"}}
  %0 = math.tanh %x {remat.phase = "foward"} : tensor<f32>
  return
}

// -----

func.func @phase_type(%x: tensor<f32>) {
  // expected-error @+1 {{'remat.phase' must be "forward" or "backward", but is 1 : i64}}
  %0 = math.tanh %x {remat.phase = 1} : tensor<f32>
  return
}

// -----

func.func @region(%x: tensor<f32>) {
  // expected-error @+1 {{'remat.region' must be a path of region names such as "outer/inner", but is "outer//inner"}}
  %0 = math.tanh %x {remat.region = "outer//inner"} : tensor<f32>
  return
}

// -----

func.func @checkpoint_name(%x: tensor<f32>) {
  // expected-error @+1 {{'remat.checkpoint_name' must be a string that is not empty, but is ""}}
  %0 = math.tanh %x {remat.checkpoint_name = ""} : tensor<f32>
  return
}

// -----

func.func @clone(%x: tensor<f32>) {
  // expected-error @+1 {{'remat.clone' must be a string that is not empty, but is unit}}
  %0 = math.tanh %x {remat.clone} : tensor<f32>
  return
}

// -----

func.func @loss_of_op(%x: tensor<f32>) {
  // expected-error @+1 {{'remat.loss' must be a unit attribute, but is true}}
  %0 = math.tanh %x {remat.loss = true} : tensor<f32>
  return
}

// -----

// expected-error @+1 {{'remat.loss' must be the i64 number of a result of the function, but is 1 : i64}}
func.func @loss_of_function(%x: tensor<f32>) -> tensor<f32> attributes {remat.loss = 1 : i64} {
  return %x : tensor<f32>
}

// -----

// expected-error @+1 {{'remat.plan' must be an array<i64>, but is [0, 1]}}
func.func @plan(%x: tensor<f32>) attributes {remat.plan = [0, 1]} {
  return
}

// -----

func.func @plan_on_op(%x: tensor<f32>) {
  // expected-error @+1 {{'remat.plan' belongs on a function}}
  %0 = math.tanh %x {remat.plan = array<i64: 0>} : tensor<f32>
  return
}

// -----

// expected-error @+1 {{'remat.phase' does not belong on an argument}}
func.func @argument(%x: tensor<f32> {remat.phase = "forward"}) {
  return
}

// -----

// expected-error @+1 {{unknown attribute 'remat.lss', did you mean 'remat.loss'?}}
func.func @result(%x: tensor<f32>) -> (tensor<f32> {remat.lss}) {
  return %x : tensor<f32>
}
