// Products that cuBLASLt doesn't have: a batch dimension innermost, integers, f8, mixed types. They are kernels.
"builtin.module"() <{sym_name = "products"}> ({
  "func.func"() <{function_type = (tensor<4x3x5xf32>, tensor<7x4x3xf32>, tensor<6x9xi32>, tensor<9x4xi32>, tensor<6x9xf8E5M2>, tensor<9x4xf8E5M2>, tensor<6x9xbf16>, tensor<9x4xf32>) -> (tensor<3x5x7xf32>, tensor<6x4xi32>, tensor<6x4xf32>, tensor<6x4xf32>), sym_name = "main", sym_visibility = "public"}> ({
  ^bb0(%a: tensor<4x3x5xf32>, %b: tensor<7x4x3xf32>, %c: tensor<6x9xi32>, %d: tensor<9x4xi32>, %e: tensor<6x9xf8E5M2>, %f: tensor<9x4xf8E5M2>, %g: tensor<6x9xbf16>, %h: tensor<9x4xf32>):
    %0 = "stablehlo.dot_general"(%a, %b) <{dot_dimension_numbers = #stablehlo.dot<lhs_batching_dimensions = [1], rhs_batching_dimensions = [2], lhs_contracting_dimensions = [0], rhs_contracting_dimensions = [1]>}> : (tensor<4x3x5xf32>, tensor<7x4x3xf32>) -> tensor<3x5x7xf32>
    %1 = "stablehlo.dot_general"(%c, %d) <{dot_dimension_numbers = #stablehlo.dot<lhs_contracting_dimensions = [1], rhs_contracting_dimensions = [0]>}> : (tensor<6x9xi32>, tensor<9x4xi32>) -> tensor<6x4xi32>
    %2 = "stablehlo.dot_general"(%e, %f) <{dot_dimension_numbers = #stablehlo.dot<lhs_contracting_dimensions = [1], rhs_contracting_dimensions = [0]>}> : (tensor<6x9xf8E5M2>, tensor<9x4xf8E5M2>) -> tensor<6x4xf32>
    %3 = "stablehlo.dot_general"(%g, %h) <{dot_dimension_numbers = #stablehlo.dot<lhs_contracting_dimensions = [1], rhs_contracting_dimensions = [0]>}> : (tensor<6x9xbf16>, tensor<9x4xf32>) -> tensor<6x4xf32>
    "func.return"(%0, %1, %2, %3) : (tensor<3x5x7xf32>, tensor<6x4xi32>, tensor<6x4xf32>, tensor<6x4xf32>) -> ()
  }) : () -> ()
}) : () -> ()
