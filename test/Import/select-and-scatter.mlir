// RUN: %S/Inputs/run.sh %s | FileCheck %s

// The gradients of poolings. Expected values are XLA's.

func.func private @printMemrefF32(tensor<*xf32>) attributes {llvm.emit_c_interface}

func.func @main() {

  // Windows of 2x2 side by side. The largest are 6 and 8, which get 10 and 20.
  %x0 = "stablehlo.constant"() <{value = dense<[[1.0, 2.0, 3.0, 4.0], [5.0, 6.0, 7.0, 8.0]]> : tensor<2x4xf32>}> : () -> tensor<2x4xf32>
  %s0 = "stablehlo.constant"() <{value = dense<[[10.0, 20.0]]> : tensor<1x2xf32>}> : () -> tensor<1x2xf32>
  %z0 = "stablehlo.constant"() <{value = dense<0.0> : tensor<f32>}> : () -> tensor<f32>
  %r0 = "stablehlo.select_and_scatter"(%x0, %s0, %z0) <{padding = dense<0> : tensor<2x2xi64>, window_dimensions = array<i64: 2, 2>, window_strides = array<i64: 2, 2>}> ({
    ^bb0(%a0: tensor<f32>, %b0: tensor<f32>):
      %c0 = "stablehlo.compare"(%a0, %b0) <{compare_type = #stablehlo<comparison_type FLOAT>, comparison_direction = #stablehlo<comparison_direction GE>}> : (tensor<f32>, tensor<f32>) -> tensor<i1>
      "stablehlo.return"(%c0) : (tensor<i1>) -> ()
  }, {
    ^bb0(%a0: tensor<f32>, %b0: tensor<f32>):
      %c0 = "stablehlo.add"(%a0, %b0) : (tensor<f32>, tensor<f32>) -> tensor<f32>
      "stablehlo.return"(%c0) : (tensor<f32>) -> ()
  }) : (tensor<2x4xf32>, tensor<1x2xf32>, tensor<f32>) -> tensor<2x4xf32>
  %printed0 = tensor.cast %r0 : tensor<2x4xf32> to tensor<*xf32>
  call @printMemrefF32(%printed0) : (tensor<*xf32>) -> ()
  // CHECK: data =
  // CHECK-NEXT: {{\[\[}}0, 0, 0, 0],
  // CHECK-NEXT: [0, 10, 0, 20]]

  // Windows of 3 that overlap, one step apart, padded: 7 is selected in three of them and gets 10 + 20 + 30. All elements are negative, so
  // padding would win if it took part. With GE the first of equal elements is selected, with GT the last.
  %x1 = "stablehlo.constant"() <{value = dense<[-8.0, -7.0, -9.0, -9.0, -9.0]> : tensor<5xf32>}> : () -> tensor<5xf32>
  %s1 = "stablehlo.constant"() <{value = dense<[10.0, 20.0, 30.0, 40.0, 50.0]> : tensor<5xf32>}> : () -> tensor<5xf32>
  %z1 = "stablehlo.constant"() <{value = dense<0.0> : tensor<f32>}> : () -> tensor<f32>
  %r1 = "stablehlo.select_and_scatter"(%x1, %s1, %z1) <{padding = dense<1> : tensor<1x2xi64>, window_dimensions = array<i64: 3>, window_strides = array<i64: 1>}> ({
    ^bb0(%a1: tensor<f32>, %b1: tensor<f32>):
      %c1 = "stablehlo.compare"(%a1, %b1) <{compare_type = #stablehlo<comparison_type FLOAT>, comparison_direction = #stablehlo<comparison_direction GE>}> : (tensor<f32>, tensor<f32>) -> tensor<i1>
      "stablehlo.return"(%c1) : (tensor<i1>) -> ()
  }, {
    ^bb0(%a1: tensor<f32>, %b1: tensor<f32>):
      %c1 = "stablehlo.add"(%a1, %b1) : (tensor<f32>, tensor<f32>) -> tensor<f32>
      "stablehlo.return"(%c1) : (tensor<f32>) -> ()
  }) : (tensor<5xf32>, tensor<5xf32>, tensor<f32>) -> tensor<5xf32>
  %q1 = "stablehlo.select_and_scatter"(%x1, %s1, %z1) <{padding = dense<1> : tensor<1x2xi64>, window_dimensions = array<i64: 3>, window_strides = array<i64: 1>}> ({
    ^bb0(%a1: tensor<f32>, %b1: tensor<f32>):
      %c1 = "stablehlo.compare"(%a1, %b1) <{compare_type = #stablehlo<comparison_type FLOAT>, comparison_direction = #stablehlo<comparison_direction GT>}> : (tensor<f32>, tensor<f32>) -> tensor<i1>
      "stablehlo.return"(%c1) : (tensor<i1>) -> ()
  }, {
    ^bb0(%a1: tensor<f32>, %b1: tensor<f32>):
      %c1 = "stablehlo.add"(%a1, %b1) : (tensor<f32>, tensor<f32>) -> tensor<f32>
      "stablehlo.return"(%c1) : (tensor<f32>) -> ()
  }) : (tensor<5xf32>, tensor<5xf32>, tensor<f32>) -> tensor<5xf32>
  %printed1 = tensor.cast %r1 : tensor<5xf32> to tensor<*xf32>
  call @printMemrefF32(%printed1) : (tensor<*xf32>) -> ()
  // CHECK: data =
  // CHECK-NEXT: [0, 60, 40, 50, 0]
  %printed2 = tensor.cast %q1 : tensor<5xf32> to tensor<*xf32>
  call @printMemrefF32(%printed2) : (tensor<*xf32>) -> ()
  // CHECK: data =
  // CHECK-NEXT: [0, 60, 0, 0, 90]

  // More padding than window, which covers the elements -3 and -2, -1 and 0, 1 and 2, 3 and 4: the first and the last window hold no element, and their values go nowhere.
  %x2 = "stablehlo.constant"() <{value = dense<[1.0, 2.0]> : tensor<2xf32>}> : () -> tensor<2xf32>
  %s2 = "stablehlo.constant"() <{value = dense<[10.0, 20.0, 30.0, 40.0]> : tensor<4xf32>}> : () -> tensor<4xf32>
  %z2 = "stablehlo.constant"() <{value = dense<0.0> : tensor<f32>}> : () -> tensor<f32>
  %r2 = "stablehlo.select_and_scatter"(%x2, %s2, %z2) <{padding = dense<3> : tensor<1x2xi64>, window_dimensions = array<i64: 2>, window_strides = array<i64: 2>}> ({
    ^bb0(%a2: tensor<f32>, %b2: tensor<f32>):
      %c2 = "stablehlo.compare"(%a2, %b2) <{compare_type = #stablehlo<comparison_type FLOAT>, comparison_direction = #stablehlo<comparison_direction GE>}> : (tensor<f32>, tensor<f32>) -> tensor<i1>
      "stablehlo.return"(%c2) : (tensor<i1>) -> ()
  }, {
    ^bb0(%a2: tensor<f32>, %b2: tensor<f32>):
      %c2 = "stablehlo.add"(%a2, %b2) : (tensor<f32>, tensor<f32>) -> tensor<f32>
      "stablehlo.return"(%c2) : (tensor<f32>) -> ()
  }) : (tensor<2xf32>, tensor<4xf32>, tensor<f32>) -> tensor<2xf32>
  %printed3 = tensor.cast %r2 : tensor<2xf32> to tensor<*xf32>
  call @printMemrefF32(%printed3) : (tensor<*xf32>) -> ()
  // CHECK: data =
  // CHECK-NEXT: [20, 30]

  // The smallest, whose values are multiplied; elements that aren't selected keep the initial value.
  %x3 = "stablehlo.constant"() <{value = dense<[3.0, 1.0, 2.0, 5.0]> : tensor<4xf32>}> : () -> tensor<4xf32>
  %s3 = "stablehlo.constant"() <{value = dense<[10.0, 20.0, 30.0]> : tensor<3xf32>}> : () -> tensor<3xf32>
  %z3 = "stablehlo.constant"() <{value = dense<2.0> : tensor<f32>}> : () -> tensor<f32>
  %r3 = "stablehlo.select_and_scatter"(%x3, %s3, %z3) <{padding = dense<0> : tensor<1x2xi64>, window_dimensions = array<i64: 2>, window_strides = array<i64: 1>}> ({
    ^bb0(%a3: tensor<f32>, %b3: tensor<f32>):
      %c3 = "stablehlo.compare"(%a3, %b3) <{compare_type = #stablehlo<comparison_type FLOAT>, comparison_direction = #stablehlo<comparison_direction LE>}> : (tensor<f32>, tensor<f32>) -> tensor<i1>
      "stablehlo.return"(%c3) : (tensor<i1>) -> ()
  }, {
    ^bb0(%a3: tensor<f32>, %b3: tensor<f32>):
      %c3 = "stablehlo.multiply"(%a3, %b3) : (tensor<f32>, tensor<f32>) -> tensor<f32>
      "stablehlo.return"(%c3) : (tensor<f32>) -> ()
  }) : (tensor<4xf32>, tensor<3xf32>, tensor<f32>) -> tensor<4xf32>
  %printed4 = tensor.cast %r3 : tensor<4xf32> to tensor<*xf32>
  call @printMemrefF32(%printed4) : (tensor<*xf32>) -> ()
  // CHECK: data =
  // CHECK-NEXT: [2, 400, 60, 2]
  return
}
