// RUN: remat-opt %s --remat-import --split-input-file --verify-diagnostics

// What random numbers refuse.

func.func @main(%a: tensor<f32>, %b: tensor<f32>, %s: tensor<1xi64>) -> tensor<4xf32> {
  // expected-error @+2 {{stablehlo.rng: a generator without a state isn't supported}}
  // expected-note @+1 {{use 'stablehlo.rng_bit_generator', which takes its state as an operand (in JAX, 'jax.random' with any key)}}
  %0 = "stablehlo.rng"(%a, %b, %s) <{rng_distribution = #stablehlo<rng_distribution UNIFORM>}> : (tensor<f32>, tensor<f32>, tensor<1xi64>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}

// -----

func.func @main(%k: tensor<3xui64>) -> tensor<4xui32> {
  // expected-error @+1 {{stablehlo.rng_bit_generator: expected a state of tensor<2xui64>}}
  %0:2 = "stablehlo.rng_bit_generator"(%k) <{rng_algorithm = #stablehlo<rng_algorithm THREE_FRY>}> : (tensor<3xui64>) -> (tensor<3xui64>, tensor<4xui32>)
  return %0#1 : tensor<4xui32>
}

// -----

func.func @main(%k: tensor<2xui64>) -> tensor<4xf32> {
  // expected-error @+2 {{stablehlo.rng_bit_generator: an element that isn't an integer of 8, 16, 32 or 64 bits isn't supported}}
  // expected-note @+1 {{draw integers and convert them with bitcast_convert}}
  %0:2 = "stablehlo.rng_bit_generator"(%k) <{rng_algorithm = #stablehlo<rng_algorithm PHILOX>}> : (tensor<2xui64>) -> (tensor<2xui64>, tensor<4xf32>)
  return %0#1 : tensor<4xf32>
}
