// RUN: remat-opt %s --remat-import | FileCheck %s

// What costs and plans need to know of imported ops: a loop that counts says how often it runs, a kernel that draws random
// numbers that it does. One element of a constant everywhere is a constant.

// CHECK-LABEL: func.func @main(
// CHECK: arith.constant dense<2.000000e+00> : tensor<3x4xf32>
// CHECK-NOT: linalg.generic
// CHECK: scf.while
// CHECK: } attributes {trip_count = 5 : i64}
// CHECK: remat.kernel(%{{.*}}) {inplace = array<i64: 0, -1>, random}
func.func @main(%state: tensor<2xui64>) -> (tensor<3x4xf32>, tensor<i32>, tensor<2xui64>, tensor<8xui32>) {
  %two = "stablehlo.constant"() <{value = dense<2.0> : tensor<f32>}> : () -> tensor<f32>
  %twos = "stablehlo.broadcast_in_dim"(%two) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<3x4xf32>
  %zero = "stablehlo.constant"() <{value = dense<0> : tensor<i32>}> : () -> tensor<i32>
  %one = "stablehlo.constant"() <{value = dense<1> : tensor<i32>}> : () -> tensor<i32>
  %five = "stablehlo.constant"() <{value = dense<5> : tensor<i32>}> : () -> tensor<i32>
  %last = "stablehlo.while"(%zero) ({
  ^bb0(%i: tensor<i32>):
    %goesOn = "stablehlo.compare"(%i, %five) <{comparison_direction = #stablehlo<comparison_direction LT>}>
        : (tensor<i32>, tensor<i32>) -> tensor<i1>
    "stablehlo.return"(%goesOn) : (tensor<i1>) -> ()
  }, {
  ^bb0(%i: tensor<i32>):
    %next = "stablehlo.add"(%i, %one) : (tensor<i32>, tensor<i32>) -> tensor<i32>
    "stablehlo.return"(%next) : (tensor<i32>) -> ()
  }) : (tensor<i32>) -> tensor<i32>
  %after, %numbers = "stablehlo.rng_bit_generator"(%state) <{rng_algorithm = #stablehlo<rng_algorithm THREE_FRY>}>
      : (tensor<2xui64>) -> (tensor<2xui64>, tensor<8xui32>)
  return %twos, %last, %after, %numbers : tensor<3x4xf32>, tensor<i32>, tensor<2xui64>, tensor<8xui32>
}
