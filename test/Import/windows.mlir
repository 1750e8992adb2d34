// RUN: %S/Inputs/run.sh %s | FileCheck %s

// Windows that are reduced. Expected values are XLA's.

func.func private @printMemrefF32(tensor<*xf32>) attributes {llvm.emit_c_interface}
func.func private @printMemrefI32(tensor<*xi32>) attributes {llvm.emit_c_interface}

func.func @main() {

  // The largest in windows of 2x2, two columns apart: of 1 2 5 6, of 3 4 7 8; of 5 6 9 1, of 7 8 2 3.
  %x0 = "stablehlo.constant"() <{value = dense<[[1.0, 2.0, 3.0, 4.0], [5.0, 6.0, 7.0, 8.0], [9.0, 1.0, 2.0, 3.0]]> : tensor<3x4xf32>}> : () -> tensor<3x4xf32>
  %z0 = "stablehlo.constant"() <{value = dense<0xFF800000> : tensor<f32>}> : () -> tensor<f32>
  %r0 = "stablehlo.reduce_window"(%x0, %z0) <{window_dimensions = array<i64: 2, 2>, window_strides = array<i64: 1, 2>}> ({
    ^bb0(%a0: tensor<f32>, %b0: tensor<f32>):
      %c0 = "stablehlo.maximum"(%a0, %b0) : (tensor<f32>, tensor<f32>) -> tensor<f32>
      "stablehlo.return"(%c0) : (tensor<f32>) -> ()
  }) : (tensor<3x4xf32>, tensor<f32>) -> tensor<2x2xf32>
  %printed0 = tensor.cast %r0 : tensor<2x2xf32> to tensor<*xf32>
  call @printMemrefF32(%printed0) : (tensor<*xf32>) -> ()
  // CHECK: data =
  // CHECK-NEXT: {{\[\[}}6, 8],
  // CHECK-NEXT: [9, 8]]

  // Sums over rows of 3 with padding in front and behind, which is 0: 1 + 2, 1 + 2 + 3, 2 + 3 + 4, 3 + 4, ...
  %x1 = "stablehlo.constant"() <{value = dense<[[1.0, 2.0, 3.0, 4.0], [5.0, 6.0, 7.0, 8.0], [9.0, 1.0, 2.0, 3.0]]> : tensor<3x4xf32>}> : () -> tensor<3x4xf32>
  %z1 = "stablehlo.constant"() <{value = dense<0.0> : tensor<f32>}> : () -> tensor<f32>
  %r1 = "stablehlo.reduce_window"(%x1, %z1) <{padding = dense<[[0, 0], [1, 1]]> : tensor<2x2xi64>, window_dimensions = array<i64: 1, 3>}> ({
    ^bb0(%a1: tensor<f32>, %b1: tensor<f32>):
      %c1 = "stablehlo.add"(%a1, %b1) : (tensor<f32>, tensor<f32>) -> tensor<f32>
      "stablehlo.return"(%c1) : (tensor<f32>) -> ()
  }) : (tensor<3x4xf32>, tensor<f32>) -> tensor<3x4xf32>
  %printed1 = tensor.cast %r1 : tensor<3x4xf32> to tensor<*xf32>
  call @printMemrefF32(%printed1) : (tensor<*xf32>) -> ()
  // CHECK: data =
  // CHECK-NEXT: {{\[\[}}3, 6, 9, 7],
  // CHECK-NEXT: [11, 18, 21, 15],
  // CHECK-NEXT: [10, 12, 6, 5]]

  // Both dilations. 1 2 3 is spread to 1 0 2 0 3; the window has two elements that are 2 apart and steps by 2.
  // Padded to 0 1 0 2 0 3 0 0 it only meets zeros; padded to 1 0 2 0 3 0 0 it gives 1 + 2, 2 + 3, 3 + 0.
  %x2 = "stablehlo.constant"() <{value = dense<[1.0, 2.0, 3.0]> : tensor<3xf32>}> : () -> tensor<3xf32>
  %z2 = "stablehlo.constant"() <{value = dense<0.0> : tensor<f32>}> : () -> tensor<f32>
  %r2 = "stablehlo.reduce_window"(%x2, %z2) <{base_dilations = array<i64: 2>, padding = dense<[[1, 2]]> : tensor<1x2xi64>, window_dilations = array<i64: 2>, window_dimensions = array<i64: 2>, window_strides = array<i64: 2>}> ({
    ^bb0(%a2: tensor<f32>, %b2: tensor<f32>):
      %c2 = "stablehlo.add"(%a2, %b2) : (tensor<f32>, tensor<f32>) -> tensor<f32>
      "stablehlo.return"(%c2) : (tensor<f32>) -> ()
  }) : (tensor<3xf32>, tensor<f32>) -> tensor<3xf32>
  %s2 = "stablehlo.reduce_window"(%x2, %z2) <{base_dilations = array<i64: 2>, padding = dense<[[0, 2]]> : tensor<1x2xi64>, window_dilations = array<i64: 2>, window_dimensions = array<i64: 2>, window_strides = array<i64: 2>}> ({
    ^bb0(%a2: tensor<f32>, %b2: tensor<f32>):
      %c2 = "stablehlo.add"(%a2, %b2) : (tensor<f32>, tensor<f32>) -> tensor<f32>
      "stablehlo.return"(%c2) : (tensor<f32>) -> ()
  }) : (tensor<3xf32>, tensor<f32>) -> tensor<3xf32>
  %printed2 = tensor.cast %r2 : tensor<3xf32> to tensor<*xf32>
  call @printMemrefF32(%printed2) : (tensor<*xf32>) -> ()
  // CHECK: data =
  // CHECK-NEXT: [0, 0, 0]
  %printed3 = tensor.cast %s2 : tensor<3xf32> to tensor<*xf32>
  call @printMemrefF32(%printed3) : (tensor<*xf32>) -> ()
  // CHECK: data =
  // CHECK-NEXT: [3, 5, 3]

  // Negative padding cuts: of 1 2 3 4 5 remain 2 3 4; products of two: 6, 12.
  %x3 = "stablehlo.constant"() <{value = dense<[1, 2, 3, 4, 5]> : tensor<5xi32>}> : () -> tensor<5xi32>
  %z3 = "stablehlo.constant"() <{value = dense<1> : tensor<i32>}> : () -> tensor<i32>
  %r3 = "stablehlo.reduce_window"(%x3, %z3) <{padding = dense<[[-1, -1]]> : tensor<1x2xi64>, window_dimensions = array<i64: 2>}> ({
    ^bb0(%a3: tensor<i32>, %b3: tensor<i32>):
      %c3 = "stablehlo.multiply"(%a3, %b3) : (tensor<i32>, tensor<i32>) -> tensor<i32>
      "stablehlo.return"(%c3) : (tensor<i32>) -> ()
  }) : (tensor<5xi32>, tensor<i32>) -> tensor<2xi32>
  %printed4 = tensor.cast %r3 : tensor<2xi32> to tensor<*xi32>
  call @printMemrefI32(%printed4) : (tensor<*xi32>) -> ()
  // CHECK: data =
  // CHECK-NEXT: [6, 12]

  // Two operands: the largest of three and its label; at the ends the window is cut.
  %x4 = "stablehlo.constant"() <{value = dense<[3.0, 1.0, 4.0, 1.0, 5.0]> : tensor<5xf32>}> : () -> tensor<5xf32>
  %l4 = "stablehlo.constant"() <{value = dense<[10, 11, 12, 13, 14]> : tensor<5xi32>}> : () -> tensor<5xi32>
  %z4 = "stablehlo.constant"() <{value = dense<0xFF800000> : tensor<f32>}> : () -> tensor<f32>
  %m4 = "stablehlo.constant"() <{value = dense<-1> : tensor<i32>}> : () -> tensor<i32>
  %r4:2 = "stablehlo.reduce_window"(%x4, %l4, %z4, %m4) <{padding = dense<1> : tensor<1x2xi64>, window_dimensions = array<i64: 3>, window_strides = array<i64: 2>}> ({
    ^bb0(%a4: tensor<f32>, %b4: tensor<i32>, %c4: tensor<f32>, %d4: tensor<i32>):
      %g4 = "stablehlo.compare"(%a4, %c4) <{compare_type = #stablehlo<comparison_type FLOAT>, comparison_direction = #stablehlo<comparison_direction GE>}> : (tensor<f32>, tensor<f32>) -> tensor<i1>
      %e4 = "stablehlo.select"(%g4, %a4, %c4) : (tensor<i1>, tensor<f32>, tensor<f32>) -> tensor<f32>
      %f4 = "stablehlo.select"(%g4, %b4, %d4) : (tensor<i1>, tensor<i32>, tensor<i32>) -> tensor<i32>
      "stablehlo.return"(%e4, %f4) : (tensor<f32>, tensor<i32>) -> ()
  }) : (tensor<5xf32>, tensor<5xi32>, tensor<f32>, tensor<i32>) -> (tensor<3xf32>, tensor<3xi32>)
  %printed5 = tensor.cast %r4#0 : tensor<3xf32> to tensor<*xf32>
  call @printMemrefF32(%printed5) : (tensor<*xf32>) -> ()
  // CHECK: data =
  // CHECK-NEXT: [3, 4, 5]
  %printed6 = tensor.cast %r4#1 : tensor<3xi32> to tensor<*xi32>
  call @printMemrefI32(%printed6) : (tensor<*xi32>) -> ()
  // CHECK: data =
  // CHECK-NEXT: [10, 12, 14]

  // Running sums down the columns, and running maxima of each row from its end.
  %x5 = "stablehlo.constant"() <{value = dense<[[1.0, 2.0, 3.0, 4.0], [5.0, 6.0, 7.0, 8.0], [9.0, 1.0, 2.0, 3.0]]> : tensor<3x4xf32>}> : () -> tensor<3x4xf32>
  %z5 = "stablehlo.constant"() <{value = dense<0.0> : tensor<f32>}> : () -> tensor<f32>
  %y5 = "stablehlo.constant"() <{value = dense<0xFF800000> : tensor<f32>}> : () -> tensor<f32>
  %r5 = "stablehlo.reduce_window"(%x5, %z5) <{padding = dense<[[2, 0], [0, 0]]> : tensor<2x2xi64>, window_dimensions = array<i64: 3, 1>}> ({
    ^bb0(%a5: tensor<f32>, %b5: tensor<f32>):
      %c5 = "stablehlo.add"(%a5, %b5) : (tensor<f32>, tensor<f32>) -> tensor<f32>
      "stablehlo.return"(%c5) : (tensor<f32>) -> ()
  }) : (tensor<3x4xf32>, tensor<f32>) -> tensor<3x4xf32>
  %s5 = "stablehlo.reduce_window"(%x5, %y5) <{padding = dense<[[0, 0], [0, 3]]> : tensor<2x2xi64>, window_dimensions = array<i64: 1, 4>}> ({
    ^bb0(%a5: tensor<f32>, %b5: tensor<f32>):
      %c5 = "stablehlo.maximum"(%a5, %b5) : (tensor<f32>, tensor<f32>) -> tensor<f32>
      "stablehlo.return"(%c5) : (tensor<f32>) -> ()
  }) : (tensor<3x4xf32>, tensor<f32>) -> tensor<3x4xf32>
  %printed7 = tensor.cast %r5 : tensor<3x4xf32> to tensor<*xf32>
  call @printMemrefF32(%printed7) : (tensor<*xf32>) -> ()
  // CHECK: data =
  // CHECK-NEXT: {{\[\[}}1, 2, 3, 4],
  // CHECK-NEXT: [6, 8, 10, 12],
  // CHECK-NEXT: [15, 9, 12, 15]]
  %printed8 = tensor.cast %s5 : tensor<3x4xf32> to tensor<*xf32>
  call @printMemrefF32(%printed8) : (tensor<*xf32>) -> ()
  // CHECK: data =
  // CHECK-NEXT: {{\[\[}}4, 4, 4, 4],
  // CHECK-NEXT: [8, 8, 8, 8],
  // CHECK-NEXT: [9, 3, 3, 3]]

  // Sums of bf16 are made in f32 and rounded once: 256 + 1 + 1 is 258, where rounding after every addition gives 256.
  %xb = "stablehlo.constant"() <{value = dense<[256.0, 1.0, 1.0]> : tensor<3xbf16>}> : () -> tensor<3xbf16>
  %zb = "stablehlo.constant"() <{value = dense<0.0> : tensor<bf16>}> : () -> tensor<bf16>
  %rb = "stablehlo.reduce_window"(%xb, %zb) <{window_dimensions = array<i64: 3>}> ({
    ^bb0(%ab: tensor<bf16>, %bb: tensor<bf16>):
      %cb = "stablehlo.add"(%ab, %bb) : (tensor<bf16>, tensor<bf16>) -> tensor<bf16>
      "stablehlo.return"(%cb) : (tensor<bf16>) -> ()
  }) : (tensor<3xbf16>, tensor<bf16>) -> tensor<1xbf16>
  // The same as a running sum: 256, 257 (a tie, rounded to 256), 258.
  %sb = "stablehlo.reduce_window"(%xb, %zb) <{padding = dense<[[2, 0]]> : tensor<1x2xi64>, window_dimensions = array<i64: 3>}> ({
    ^bb0(%ab: tensor<bf16>, %bb: tensor<bf16>):
      %cb = "stablehlo.add"(%ab, %bb) : (tensor<bf16>, tensor<bf16>) -> tensor<bf16>
      "stablehlo.return"(%cb) : (tensor<bf16>) -> ()
  }) : (tensor<3xbf16>, tensor<bf16>) -> tensor<3xbf16>
  %rf = "stablehlo.convert"(%rb) : (tensor<1xbf16>) -> tensor<1xf32>
  %sf = "stablehlo.convert"(%sb) : (tensor<3xbf16>) -> tensor<3xf32>
  %printedr = tensor.cast %rf : tensor<1xf32> to tensor<*xf32>
  call @printMemrefF32(%printedr) : (tensor<*xf32>) -> ()
  // CHECK: data =
  // CHECK-NEXT: [258]
  %printeds = tensor.cast %sf : tensor<3xf32> to tensor<*xf32>
  call @printMemrefF32(%printeds) : (tensor<*xf32>) -> ()
  // CHECK: data =
  // CHECK-NEXT: [256, 256, 258]
  return
}
