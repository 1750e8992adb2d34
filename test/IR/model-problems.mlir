// RUN: remat-opt %s --remat-print-op-model -o /dev/null | FileCheck %s

// What can't be read is opaque, and says why.
// CHECK-LABEL: @problems
func.func @problems(%a: tensor<4x8xf32>, %b: tensor<8x16xf32>, %dynamic: tensor<?xf32>, %x: tensor<1x4x4x3xf32>, %w: tensor<3x3x3x5xf32>) {
  // CHECK: stablehlo.dot_general opaque {{.*}} once unknown problem: malformed attribute 'dot<lhs_contracting_dimensions = [1, rhs = [0]>': expected an integer at column 38
  %0 = "stablehlo.dot_general"(%a, %b) <{dot_dimension_numbers = #stablehlo<"dot<lhs_contracting_dimensions = [1, rhs = [0]>">}> : (tensor<4x8xf32>, tensor<8x16xf32>) -> tensor<4x16xf32>
  // CHECK: stablehlo.dot_general opaque {{.*}} problem: contracting dimension 2 is out of range for an operand of rank 2
  %1 = "stablehlo.dot_general"(%a, %b) <{dot_dimension_numbers = #stablehlo.dot<lhs_contracting_dimensions = [2]>}> : (tensor<4x8xf32>, tensor<8x16xf32>) -> tensor<4x16xf32>
  // CHECK: stablehlo.dot_general opaque {{.*}} problem: expected an attribute 'dot<…>', but found 'scatter<index_vector_dim = 1>'
  %2 = "stablehlo.dot_general"(%a, %b) <{dot_dimension_numbers = #stablehlo.scatter<index_vector_dim = 1>}> : (tensor<4x8xf32>, tensor<8x16xf32>) -> tensor<4x16xf32>
  // CHECK: stablehlo.dot opaque {{.*}} problem: expected at least 2 operands, but found 1
  %3 = "stablehlo.dot"(%a) : (tensor<4x8xf32>) -> tensor<4x16xf32>
  // CHECK: stablehlo.convolution opaque {{.*}} problem: malformed attribute 'conv<[b, 0, 1, f]x[0, 0, i, o]->[b, 0, 1, f]>': dimension '0' stands twice
  %4 = "stablehlo.convolution"(%x, %w) <{dimension_numbers = #stablehlo.conv<[b, 0, 1, f]x[0, 0, i, o]->[b, 0, 1, f]>}> : (tensor<1x4x4x3xf32>, tensor<3x3x3x5xf32>) -> tensor<1x2x2x5xf32>
  // CHECK: stablehlo.convolution opaque {{.*}} problem: malformed attribute 'conv<[b, 0, f]x[0, 1, i, o]->[b, 0, 1, f]>': input, kernel and output have different numbers of dimensions
  %5 = "stablehlo.convolution"(%x, %w) <{dimension_numbers = #stablehlo.conv<[b, 0, f]x[0, 1, i, o]->[b, 0, 1, f]>}> : (tensor<1x4x4x3xf32>, tensor<3x3x3x5xf32>) -> tensor<1x2x2x5xf32>
  // CHECK: stablehlo.convolution opaque {{.*}} problem: window strides and dilations must be positive and below 2^31
  %6 = "stablehlo.convolution"(%x, %w) <{dimension_numbers = #stablehlo.conv<[b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f]>, window_strides = array<i64: 0, 1>}> : (tensor<1x4x4x3xf32>, tensor<3x3x3x5xf32>) -> tensor<1x2x2x5xf32>
  // CHECK: stablehlo.convolution opaque {{.*}} problem: missing attribute 'dimension_numbers'
  %7 = "stablehlo.convolution"(%x, %w) : (tensor<1x4x4x3xf32>, tensor<3x3x3x5xf32>) -> tensor<1x2x2x5xf32>
  // CHECK: stablehlo.add opaque {{.*}} problem: type without a static size: 'tensor<?xf32>'
  %8 = "stablehlo.add"(%dynamic, %dynamic) : (tensor<?xf32>, tensor<?xf32>) -> tensor<?xf32>
  // Sizes that no machine has don't wrap around.
  // CHECK: stablehlo.iota data-movement flops=0 bytes=9223372036854775807
  %9 = "stablehlo.iota"() <{iota_dimension = 0 : i64}> : () -> tensor<4611686018427387904x4xf32>
  return
}
