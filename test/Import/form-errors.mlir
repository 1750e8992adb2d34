// RUN: not remat-opt %s --remat-import --split-input-file 2>&1 | FileCheck %s

// What isn't supported is named, with its place and the nearest form that is.

// CHECK: form-errors.mlir:[[#@LINE+3]]:8: error: stablehlo.add: type 'tensor<2xcomplex<f32>>' isn't supported
// CHECK: note: write complex numbers as two real tensors
func.func @main(%x: tensor<2xcomplex<f32>>) -> tensor<2xcomplex<f32>> {
  %0 = "stablehlo.add"(%x, %x) : (tensor<2xcomplex<f32>>, tensor<2xcomplex<f32>>) -> tensor<2xcomplex<f32>>
  return %0 : tensor<2xcomplex<f32>>
}

// -----

// CHECK: error: stablehlo.tanh: type 'tensor<?xf32>' isn't supported
// CHECK: note: export the step with static shapes, or one step for each shape
func.func @main(%x: tensor<?xf32>) -> tensor<?xf32> {
  %0 = "stablehlo.tanh"(%x) : (tensor<?xf32>) -> tensor<?xf32>
  return %0 : tensor<?xf32>
}

// -----

// CHECK: error: stablehlo.fft isn't supported
// CHECK: note: write it with the ops that are: element-wise ops, broadcast_in_dim
func.func @main(%x: tensor<2xf32>) -> tensor<2xf32> {
  %0 = "stablehlo.fft"(%x) : (tensor<2xf32>) -> tensor<2xf32>
  return %0 : tensor<2xf32>
}

// -----

// CHECK: error: stablehlo.all_reduce isn't supported
func.func @main(%x: tensor<2xf32>) -> tensor<2xf32> {
  %0 = "stablehlo.all_reduce"(%x) : (tensor<2xf32>) -> tensor<2xf32>
  return %0 : tensor<2xf32>
}

// -----

// CHECK: error: stablehlo.tanh: element type 'i32' isn't supported
// CHECK: note: convert the operands to a float type first
func.func @main(%x: tensor<2xi32>) -> tensor<2xi32> {
  %0 = "stablehlo.tanh"(%x) : (tensor<2xi32>) -> tensor<2xi32>
  return %0 : tensor<2xi32>
}

// -----

// CHECK: error: stablehlo.add: a value from outside in the body of 'stablehlo.reduce' isn't supported
// CHECK: note: make it an operand, or a constant in the body
func.func @main(%x: tensor<2xf32>, %s: tensor<f32>) -> tensor<f32> {
  %0 = "stablehlo.reduce"(%x, %s) <{dimensions = array<i64: 0>}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %r = "stablehlo.add"(%a, %s) : (tensor<f32>, tensor<f32>) -> tensor<f32>
    "stablehlo.return"(%r) : (tensor<f32>) -> ()
  }) : (tensor<2xf32>, tensor<f32>) -> tensor<f32>
  return %0 : tensor<f32>
}

// -----

// CHECK: error: stablehlo.reduce: its body doesn't end with 'stablehlo.return'
func.func @main(%x: tensor<2xf32>, %s: tensor<f32>) -> tensor<f32> {
  %0 = "stablehlo.reduce"(%x, %s) <{dimensions = array<i64: 0>}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %r = "stablehlo.add"(%a, %b) : (tensor<f32>, tensor<f32>) -> tensor<f32>
  }) : (tensor<2xf32>, tensor<f32>) -> tensor<f32>
  return %0 : tensor<f32>
}

// -----

// What breaks StableHLO's rules: nobody has checked an op of an unregistered dialect before.

// CHECK: error: stablehlo.add: expected 2 operands, found 1
func.func @main(%x: tensor<2xf32>) -> tensor<2xf32> {
  %0 = "stablehlo.add"(%x) : (tensor<2xf32>) -> tensor<2xf32>
  return %0 : tensor<2xf32>
}

// -----

// CHECK: error: stablehlo.add: operand 1 and the result have different shapes
func.func @main(%x: tensor<2xf32>, %y: tensor<3xf32>) -> tensor<2xf32> {
  %0 = "stablehlo.add"(%x, %y) : (tensor<2xf32>, tensor<3xf32>) -> tensor<2xf32>
  return %0 : tensor<2xf32>
}

// -----

// CHECK: error: stablehlo.add: expected elements of type 'f32', found 'f64'
func.func @main(%x: tensor<2xf32>, %y: tensor<2xf64>) -> tensor<2xf32> {
  %0 = "stablehlo.add"(%x, %y) : (tensor<2xf32>, tensor<2xf64>) -> tensor<2xf32>
  return %0 : tensor<2xf32>
}

// -----

// CHECK: error: stablehlo.compare: expected EQ, NE, LT, LE, GT or GE as 'comparison_direction'
func.func @main(%x: tensor<2xf32>) -> tensor<2xi1> {
  %0 = "stablehlo.compare"(%x, %x) : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xi1>
  return %0 : tensor<2xi1>
}

// -----

// CHECK: error: stablehlo.slice: the slice of dimension 0 lies outside the operand
func.func @main(%x: tensor<2xf32>) -> tensor<2xf32> {
  %0 = "stablehlo.slice"(%x) <{start_indices = array<i64: 1>, limit_indices = array<i64: 3>, strides = array<i64: 1>}> : (tensor<2xf32>) -> tensor<2xf32>
  return %0 : tensor<2xf32>
}

// -----

// CHECK: error: stablehlo.slice: missing attribute 'limit_indices'
func.func @main(%x: tensor<2xf32>) -> tensor<2xf32> {
  %0 = "stablehlo.slice"(%x) <{start_indices = array<i64: 1>}> : (tensor<2xf32>) -> tensor<2xf32>
  return %0 : tensor<2xf32>
}

// -----

// CHECK: error: stablehlo.transpose: 'permutation' isn't one
func.func @main(%x: tensor<2x2xf32>) -> tensor<2x2xf32> {
  %0 = "stablehlo.transpose"(%x) <{permutation = array<i64: 0, 0>}> : (tensor<2x2xf32>) -> tensor<2x2xf32>
  return %0 : tensor<2x2xf32>
}

// -----

// CHECK: error: stablehlo.reshape: the operand and the result have different numbers or types of elements
func.func @main(%x: tensor<2x2xf32>) -> tensor<5xf32> {
  %0 = "stablehlo.reshape"(%x) : (tensor<2x2xf32>) -> tensor<5xf32>
  return %0 : tensor<5xf32>
}

// -----

// CHECK: error: stablehlo.concatenate: the operands' sizes add up to 4, the result's is 5
func.func @main(%x: tensor<2xf32>) -> tensor<5xf32> {
  %0 = "stablehlo.concatenate"(%x, %x) <{dimension = 0 : i64}> : (tensor<2xf32>, tensor<2xf32>) -> tensor<5xf32>
  return %0 : tensor<5xf32>
}

// -----

// CHECK: error: stablehlo.dot_general: a contracting dimension has size 2 on the left, 3 on the right
func.func @main(%x: tensor<2x2xf32>, %y: tensor<3x2xf32>) -> tensor<2x2xf32> {
  %0 = "stablehlo.dot_general"(%x, %y) <{dot_dimension_numbers = #stablehlo.dot<lhs_contracting_dimensions = [1], rhs_contracting_dimensions = [0]>}> : (tensor<2x2xf32>, tensor<3x2xf32>) -> tensor<2x2xf32>
  return %0 : tensor<2x2xf32>
}

// -----

// CHECK: error: stablehlo.dot_general: this mix of types isn't supported
// CHECK: note: convert the operands to the result's type first
func.func @main(%x: tensor<2xf32>) -> tensor<i32> {
  %0 = "stablehlo.dot_general"(%x, %x) <{dot_dimension_numbers = #stablehlo.dot<lhs_contracting_dimensions = [0], rhs_contracting_dimensions = [0]>}> : (tensor<2xf32>, tensor<2xf32>) -> tensor<i32>
  return %0 : tensor<i32>
}

// -----

// CHECK: error: stablehlo.convolution: expected 3 elements in spatial dimension 0 of the result, found 4
func.func @main(%x: tensor<1x4x1xf32>, %k: tensor<2x1x1xf32>) -> tensor<1x4x1xf32> {
  %0 = "stablehlo.convolution"(%x, %k) <{dimension_numbers = #stablehlo.conv<[b, 0, f]x[0, i, o]->[b, 0, f]>, batch_group_count = 1 : i64, feature_group_count = 1 : i64}> : (tensor<1x4x1xf32>, tensor<2x1x1xf32>) -> tensor<1x4x1xf32>
  return %0 : tensor<1x4x1xf32>
}

// -----

// CHECK: error: stablehlo.convolution: the number of groups doesn't divide what it groups
func.func @main(%x: tensor<1x4x1xf32>, %k: tensor<2x1x1xf32>) -> tensor<1x3x1xf32> {
  %0 = "stablehlo.convolution"(%x, %k) <{dimension_numbers = #stablehlo.conv<[b, 0, f]x[0, i, o]->[b, 0, f]>, batch_group_count = 1 : i64, feature_group_count = 2 : i64}> : (tensor<1x4x1xf32>, tensor<2x1x1xf32>) -> tensor<1x3x1xf32>
  return %0 : tensor<1x3x1xf32>
}

// -----

// CHECK: error: stablehlo.while: a region returns other types than expected
func.func @main(%x: tensor<f32>) -> tensor<f32> {
  %0 = "stablehlo.while"(%x) ({
  ^bb0(%v: tensor<f32>):
    "stablehlo.return"(%v) : (tensor<f32>) -> ()
  }, {
  ^bb0(%v: tensor<f32>):
    "stablehlo.return"(%v) : (tensor<f32>) -> ()
  }) : (tensor<f32>) -> tensor<f32>
  return %0 : tensor<f32>
}

// -----

// CHECK: error: stablehlo.constant: expected elements of the result's type as 'value'
func.func @main() -> tensor<2xf32> {
  %0 = "stablehlo.constant"() <{value = dense<1.0> : tensor<3xf32>}> : () -> tensor<2xf32>
  return %0 : tensor<2xf32>
}
