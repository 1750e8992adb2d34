// RUN: remat-opt %s --remat-import --split-input-file --verify-diagnostics

// What gather and slices at indices that are data refuse.

func.func @main(%t: tensor<4x5xf32>, %i: tensor<3x1xi32>) -> tensor<3x5xf32> {
  // expected-error @+1 {{stablehlo.gather: expected dimensions of a tensor of rank 2 in 'offset_dims', found 2}}
  %0 = "stablehlo.gather"(%t, %i) <{dimension_numbers = #stablehlo.gather<offset_dims = [2], collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 1>, indices_are_sorted = false, slice_sizes = array<i64: 1, 5>}> : (tensor<4x5xf32>, tensor<3x1xi32>) -> tensor<3x5xf32>
  return %0 : tensor<3x5xf32>
}

// -----

func.func @main(%t: tensor<4x5xf32>, %i: tensor<3x1xi32>) -> tensor<3x6xf32> {
  // expected-error @+1 {{stablehlo.gather: slices of 6 don't fit dimension 1 of the operand, which is 5}}
  %0 = "stablehlo.gather"(%t, %i) <{dimension_numbers = #stablehlo.gather<offset_dims = [1], collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 1>, indices_are_sorted = false, slice_sizes = array<i64: 1, 6>}> : (tensor<4x5xf32>, tensor<3x1xi32>) -> tensor<3x6xf32>
  return %0 : tensor<3x6xf32>
}

// -----

func.func @main(%t: tensor<4x5xf32>, %i: tensor<3x1xi32>) -> tensor<3x4xf32> {
  // expected-error @+1 {{stablehlo.gather: expected size 5 of the result's dimension 1, found 4}}
  %0 = "stablehlo.gather"(%t, %i) <{dimension_numbers = #stablehlo.gather<offset_dims = [1], collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 1>, indices_are_sorted = false, slice_sizes = array<i64: 1, 5>}> : (tensor<4x5xf32>, tensor<3x1xi32>) -> tensor<3x4xf32>
  return %0 : tensor<3x4xf32>
}

// -----

func.func @main(%t: tensor<4x5xf32>, %i: tensor<3x1xi32>) -> tensor<3x5xf32> {
  // expected-error @+1 {{stablehlo.gather: expected 2 integers in 'slice_sizes', found 1}}
  %0 = "stablehlo.gather"(%t, %i) <{dimension_numbers = #stablehlo.gather<offset_dims = [1], collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 1>, indices_are_sorted = false, slice_sizes = array<i64: 1>}> : (tensor<4x5xf32>, tensor<3x1xi32>) -> tensor<3x5xf32>
  return %0 : tensor<3x5xf32>
}

// -----

func.func @main(%t: tensor<4x5xf32>, %i: tensor<3x1xi32>) -> tensor<3x5xf32> {
  // expected-error @+1 {{stablehlo.gather: expected index vectors of 2 components, found 1}}
  %0 = "stablehlo.gather"(%t, %i) <{dimension_numbers = #stablehlo.gather<offset_dims = [1], collapsed_slice_dims = [0], start_index_map = [0, 1], index_vector_dim = 1>, indices_are_sorted = false, slice_sizes = array<i64: 1, 5>}> : (tensor<4x5xf32>, tensor<3x1xi32>) -> tensor<3x5xf32>
  return %0 : tensor<3x5xf32>
}

// -----

func.func @main(%t: tensor<4x5xf32>, %i: tensor<3x1xi32>) -> tensor<3x5xf32> {
  // expected-error @+1 {{stablehlo.gather: dimension 0 stands twice in 'start_index_map and operand_batching_dims'}}
  %0 = "stablehlo.gather"(%t, %i) <{dimension_numbers = #stablehlo.gather<offset_dims = [1], collapsed_slice_dims = [0], start_index_map = [0, 0], index_vector_dim = 1>, indices_are_sorted = false, slice_sizes = array<i64: 1, 5>}> : (tensor<4x5xf32>, tensor<3x1xi32>) -> tensor<3x5xf32>
  return %0 : tensor<3x5xf32>
}

// -----

func.func @main(%t: tensor<4x5xf32>, %i: tensor<3x1xi32>) -> tensor<3x5xf32> {
  // expected-error @+1 {{stablehlo.gather: expected an index_vector_dim in [0, 2], found 3}}
  %0 = "stablehlo.gather"(%t, %i) <{dimension_numbers = #stablehlo.gather<offset_dims = [1], collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 3>, indices_are_sorted = false, slice_sizes = array<i64: 1, 5>}> : (tensor<4x5xf32>, tensor<3x1xi32>) -> tensor<3x5xf32>
  return %0 : tensor<3x5xf32>
}

// -----

func.func @main(%t: tensor<4x5xf32>, %i: tensor<3x1xf32>) -> tensor<3x5xf32> {
  // expected-error @+1 {{stablehlo.gather: expected indices that are integers}}
  %0 = "stablehlo.gather"(%t, %i) <{dimension_numbers = #stablehlo.gather<offset_dims = [1], collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 1>, indices_are_sorted = false, slice_sizes = array<i64: 1, 5>}> : (tensor<4x5xf32>, tensor<3x1xf32>) -> tensor<3x5xf32>
  return %0 : tensor<3x5xf32>
}

// -----

func.func @main(%t: tensor<4x5xf32>, %i: tensor<3x1xi32>) -> tensor<3x5xf32> {
  // expected-error @+1 {{stablehlo.gather: missing attribute 'gather<…>'}}
  %0 = "stablehlo.gather"(%t, %i) <{slice_sizes = array<i64: 1, 5>}> : (tensor<4x5xf32>, tensor<3x1xi32>) -> tensor<3x5xf32>
  return %0 : tensor<3x5xf32>
}

// -----

func.func @main(%t: tensor<4x5xf32>, %i: tensor<i32>) -> tensor<2x6xf32> {
  // expected-error @+1 {{stablehlo.dynamic_slice: a slice of 6 doesn't fit dimension 1 of the operand, which is 5}}
  %0 = "stablehlo.dynamic_slice"(%t, %i, %i) <{slice_sizes = array<i64: 2, 6>}> : (tensor<4x5xf32>, tensor<i32>, tensor<i32>) -> tensor<2x6xf32>
  return %0 : tensor<2x6xf32>
}

// -----

func.func @main(%t: tensor<4x5xf32>, %i: tensor<i32>) -> tensor<2x2xf32> {
  // expected-error @+1 {{stablehlo.dynamic_slice: expected 3 operands, found 2}}
  %0 = "stablehlo.dynamic_slice"(%t, %i) <{slice_sizes = array<i64: 2, 2>}> : (tensor<4x5xf32>, tensor<i32>) -> tensor<2x2xf32>
  return %0 : tensor<2x2xf32>
}

// -----

func.func @main(%t: tensor<4x5xf32>, %u: tensor<2xf32>, %i: tensor<i32>) -> tensor<4x5xf32> {
  // expected-error @+1 {{stablehlo.dynamic_update_slice: expected an operand of the result's type and an update of its rank and elements}}
  %0 = "stablehlo.dynamic_update_slice"(%t, %u, %i, %i) : (tensor<4x5xf32>, tensor<2xf32>, tensor<i32>, tensor<i32>) -> tensor<4x5xf32>
  return %0 : tensor<4x5xf32>
}
