// RUN: %S/Inputs/run.sh %s | FileCheck %s

// reduce: any body, any dimensions, several results. x is 2x3: [[1, 2, 3], [4, 5, 6]].

func.func private @printMemrefF32(tensor<*xf32>) attributes {llvm.emit_c_interface}
func.func private @printMemrefF64(tensor<*xf64>) attributes {llvm.emit_c_interface}
func.func private @printMemrefI32(tensor<*xi32>) attributes {llvm.emit_c_interface}
func.func private @printMemrefI64(tensor<*xi64>) attributes {llvm.emit_c_interface}

func.func @main() {
  %1 = "stablehlo.constant"() <{value = dense<[[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]]> : tensor<2x3xf32>}> : () -> tensor<2x3xf32>
  %2 = "stablehlo.constant"() <{value = dense<0.0> : tensor<f32>}> : () -> tensor<f32>
  %3 = "stablehlo.constant"() <{value = dense<10.0> : tensor<f32>}> : () -> tensor<f32>
  %4 = "stablehlo.constant"() <{value = dense<0xFF800000> : tensor<f32>}> : () -> tensor<f32>
  // 1 + 2 + 3 = 6, 4 + 5 + 6 = 15
  %5 = "stablehlo.reduce"(%1, %2) <{dimensions = array<i64: 1>}> ({
  ^bb0(%a0: tensor<f32>, %b0: tensor<f32>):
    %r = "stablehlo.add"(%a0, %b0) : (tensor<f32>, tensor<f32>) -> tensor<f32>
    "stablehlo.return"(%r) : (tensor<f32>) -> ()
  }) : (tensor<2x3xf32>, tensor<f32>) -> tensor<2xf32>
  %6 = tensor.cast %5 : tensor<2xf32> to tensor<*xf32>
  call @printMemrefF32(%6) : (tensor<*xf32>) -> ()
  // CHECK: sizes = [2] {{.*}}data =
  // CHECK-NEXT: [6, 15]
  // The initial value counts: 10 + 1 + 4 = 15.
  %7 = "stablehlo.reduce"(%1, %3) <{dimensions = array<i64: 0>}> ({
  ^bb0(%a0: tensor<f32>, %b0: tensor<f32>):
    %r = "stablehlo.add"(%a0, %b0) : (tensor<f32>, tensor<f32>) -> tensor<f32>
    "stablehlo.return"(%r) : (tensor<f32>) -> ()
  }) : (tensor<2x3xf32>, tensor<f32>) -> tensor<3xf32>
  %8 = tensor.cast %7 : tensor<3xf32> to tensor<*xf32>
  call @printMemrefF32(%8) : (tensor<*xf32>) -> ()
  // CHECK: sizes = [3] {{.*}}data =
  // CHECK-NEXT: [15, 17, 19]
  // Everything: 21.
  %9 = "stablehlo.reduce"(%1, %2) <{dimensions = array<i64: 0, 1>}> ({
  ^bb0(%a0: tensor<f32>, %b0: tensor<f32>):
    %r = "stablehlo.add"(%a0, %b0) : (tensor<f32>, tensor<f32>) -> tensor<f32>
    "stablehlo.return"(%r) : (tensor<f32>) -> ()
  }) : (tensor<2x3xf32>, tensor<f32>) -> tensor<f32>
  %10 = "stablehlo.reshape"(%9) : (tensor<f32>) -> tensor<1xf32>
  %11 = tensor.cast %10 : tensor<1xf32> to tensor<*xf32>
  call @printMemrefF32(%11) : (tensor<*xf32>) -> ()
  // CHECK: sizes = [1] {{.*}}data =
  // CHECK-NEXT: [21]
  // Nothing is reduced: 10 * x.
  %12 = "stablehlo.reduce"(%1, %3) <{dimensions = array<i64>}> ({
  ^bb0(%a0: tensor<f32>, %b0: tensor<f32>):
    %r = "stablehlo.multiply"(%a0, %b0) : (tensor<f32>, tensor<f32>) -> tensor<f32>
    "stablehlo.return"(%r) : (tensor<f32>) -> ()
  }) : (tensor<2x3xf32>, tensor<f32>) -> tensor<2x3xf32>
  %13 = "stablehlo.reshape"(%12) : (tensor<2x3xf32>) -> tensor<6xf32>
  %14 = tensor.cast %13 : tensor<6xf32> to tensor<*xf32>
  call @printMemrefF32(%14) : (tensor<*xf32>) -> ()
  // CHECK: sizes = [6] {{.*}}data =
  // CHECK-NEXT: [10, 20, 30, 40, 50, 60]
  %15 = "stablehlo.reduce"(%1, %4) <{dimensions = array<i64: 1>}> ({
  ^bb0(%a0: tensor<f32>, %b0: tensor<f32>):
    %r = "stablehlo.maximum"(%a0, %b0) : (tensor<f32>, tensor<f32>) -> tensor<f32>
    "stablehlo.return"(%r) : (tensor<f32>) -> ()
  }) : (tensor<2x3xf32>, tensor<f32>) -> tensor<2xf32>
  %16 = tensor.cast %15 : tensor<2xf32> to tensor<*xf32>
  call @printMemrefF32(%16) : (tensor<*xf32>) -> ()
  // CHECK: sizes = [2] {{.*}}data =
  // CHECK-NEXT: [3, 6]
  %17 = "stablehlo.constant"() <{value = dense<[[1.0, 0x7FC00000, 3.0]]> : tensor<1x3xf32>}> : () -> tensor<1x3xf32>
  // NaN wins.
  %18 = "stablehlo.reduce"(%17, %4) <{dimensions = array<i64: 1>}> ({
  ^bb0(%a0: tensor<f32>, %b0: tensor<f32>):
    %r = "stablehlo.maximum"(%a0, %b0) : (tensor<f32>, tensor<f32>) -> tensor<f32>
    "stablehlo.return"(%r) : (tensor<f32>) -> ()
  }) : (tensor<1x3xf32>, tensor<f32>) -> tensor<1xf32>
  %19 = tensor.cast %18 : tensor<1xf32> to tensor<*xf32>
  call @printMemrefF32(%19) : (tensor<*xf32>) -> ()
  // CHECK: sizes = [1] {{.*}}data =
  // CHECK-NEXT: [{{-?}}nan]
  %20 = "stablehlo.constant"() <{value = dense<[[true, false], [false, false]]> : tensor<2x2xi1>}> : () -> tensor<2x2xi1>
  %21 = "stablehlo.constant"() <{value = dense<false> : tensor<i1>}> : () -> tensor<i1>
  %22 = "stablehlo.constant"() <{value = dense<true> : tensor<i1>}> : () -> tensor<i1>
  %23 = "stablehlo.reduce"(%20, %21) <{dimensions = array<i64: 1>}> ({
  ^bb0(%a0: tensor<i1>, %b0: tensor<i1>):
    %r = "stablehlo.or"(%a0, %b0) : (tensor<i1>, tensor<i1>) -> tensor<i1>
    "stablehlo.return"(%r) : (tensor<i1>) -> ()
  }) : (tensor<2x2xi1>, tensor<i1>) -> tensor<2xi1>
  %24 = "stablehlo.convert"(%23) : (tensor<2xi1>) -> tensor<2xi32>
  %25 = tensor.cast %24 : tensor<2xi32> to tensor<*xi32>
  call @printMemrefI32(%25) : (tensor<*xi32>) -> ()
  // CHECK: sizes = [2] {{.*}}data =
  // CHECK-NEXT: [1, 0]
  %26 = "stablehlo.reduce"(%20, %22) <{dimensions = array<i64: 0>}> ({
  ^bb0(%a0: tensor<i1>, %b0: tensor<i1>):
    %r = "stablehlo.and"(%a0, %b0) : (tensor<i1>, tensor<i1>) -> tensor<i1>
    "stablehlo.return"(%r) : (tensor<i1>) -> ()
  }) : (tensor<2x2xi1>, tensor<i1>) -> tensor<2xi1>
  %27 = "stablehlo.convert"(%26) : (tensor<2xi1>) -> tensor<2xi32>
  %28 = tensor.cast %27 : tensor<2xi32> to tensor<*xi32>
  call @printMemrefI32(%28) : (tensor<*xi32>) -> ()
  // CHECK: sizes = [2] {{.*}}data =
  // CHECK-NEXT: [0, 0]

  // A value with more steps: the accumulator comes first. ((0 - 1) * 2 - 2) * 2 - … = acc * 2 - b.
  // row 0: 0-1 = -1, -2-2 = -4, -8-3 = -11; row 1: -4, -13, -32
  %29 = "stablehlo.reduce"(%1, %2) <{dimensions = array<i64: 1>}> ({
  ^bb0(%a0: tensor<f32>, %b0: tensor<f32>):
    %two = "stablehlo.constant"() <{value = dense<2.0> : tensor<f32>}> : () -> tensor<f32>
    %m = "stablehlo.multiply"(%a0, %two) : (tensor<f32>, tensor<f32>) -> tensor<f32>
    %r = "stablehlo.subtract"(%m, %b0) : (tensor<f32>, tensor<f32>) -> tensor<f32>
    "stablehlo.return"(%r) : (tensor<f32>) -> ()
  }) : (tensor<2x3xf32>, tensor<f32>) -> tensor<2xf32>
  %30 = tensor.cast %29 : tensor<2xf32> to tensor<*xf32>
  call @printMemrefF32(%30) : (tensor<*xf32>) -> ()
  // CHECK: sizes = [2] {{.*}}data =
  // CHECK-NEXT: [-11, -32]

  // Largest value and where it stands; ties go to the lower index.
  %31 = "stablehlo.constant"() <{value = dense<[[3.0, 9.0, 9.0], [8.0, 1.0, 2.0]]> : tensor<2x3xf32>}> : () -> tensor<2x3xf32>
  %32 = "stablehlo.iota"() <{iota_dimension = 1 : i64}> : () -> tensor<2x3xi32>
  %33 = "stablehlo.constant"() <{value = dense<0> : tensor<i32>}> : () -> tensor<i32>
  %34:2 = "stablehlo.reduce"(%31, %32, %4, %33) <{dimensions = array<i64: 1>}> ({
  ^bb0(%a0: tensor<f32>, %a1: tensor<i32>, %b0: tensor<f32>, %b1: tensor<i32>):
    %gt = "stablehlo.compare"(%a0, %b0) <{comparison_direction = #stablehlo<comparison_direction GT>}> : (tensor<f32>, tensor<f32>) -> tensor<i1>
    %eq = "stablehlo.compare"(%a0, %b0) <{comparison_direction = #stablehlo<comparison_direction EQ>}> : (tensor<f32>, tensor<f32>) -> tensor<i1>
    %lt = "stablehlo.compare"(%a1, %b1) <{comparison_direction = #stablehlo<comparison_direction LT>}> : (tensor<i32>, tensor<i32>) -> tensor<i1>
    %tie = "stablehlo.and"(%eq, %lt) : (tensor<i1>, tensor<i1>) -> tensor<i1>
    %keep = "stablehlo.or"(%gt, %tie) : (tensor<i1>, tensor<i1>) -> tensor<i1>
    %v = "stablehlo.select"(%gt, %a0, %b0) : (tensor<i1>, tensor<f32>, tensor<f32>) -> tensor<f32>
    %i = "stablehlo.select"(%keep, %a1, %b1) : (tensor<i1>, tensor<i32>, tensor<i32>) -> tensor<i32>
    "stablehlo.return"(%v, %i) : (tensor<f32>, tensor<i32>) -> ()
  }) : (tensor<2x3xf32>, tensor<2x3xi32>, tensor<f32>, tensor<i32>) -> (tensor<2xf32>, tensor<2xi32>)
  %35 = tensor.cast %34#0 : tensor<2xf32> to tensor<*xf32>
  call @printMemrefF32(%35) : (tensor<*xf32>) -> ()
  // CHECK: sizes = [2] {{.*}}data =
  // CHECK-NEXT: [9, 8]
  %36 = tensor.cast %34#1 : tensor<2xi32> to tensor<*xi32>
  call @printMemrefI32(%36) : (tensor<*xi32>) -> ()
  // CHECK: sizes = [2] {{.*}}data =
  // CHECK-NEXT: [1, 0]

  // bf16 adds up in f32: 256 + 1 + 1 + 1 + 1 = 260, where bf16 alone would stay at 256.
  %37 = "stablehlo.constant"() <{value = dense<[256.0, 1.0, 1.0, 1.0, 1.0]> : tensor<5xbf16>}> : () -> tensor<5xbf16>
  %38 = "stablehlo.constant"() <{value = dense<0.0> : tensor<bf16>}> : () -> tensor<bf16>
  %39 = "stablehlo.reduce"(%37, %38) <{dimensions = array<i64: 0>}> ({
  ^bb0(%a0: tensor<bf16>, %b0: tensor<bf16>):
    %r = "stablehlo.add"(%a0, %b0) : (tensor<bf16>, tensor<bf16>) -> tensor<bf16>
    "stablehlo.return"(%r) : (tensor<bf16>) -> ()
  }) : (tensor<5xbf16>, tensor<bf16>) -> tensor<bf16>
  %40 = "stablehlo.convert"(%39) : (tensor<bf16>) -> tensor<f32>
  %41 = "stablehlo.reshape"(%40) : (tensor<f32>) -> tensor<1xf32>
  %42 = tensor.cast %41 : tensor<1xf32> to tensor<*xf32>
  call @printMemrefF32(%42) : (tensor<*xf32>) -> ()
  // CHECK: sizes = [1] {{.*}}data =
  // CHECK-NEXT: [260]

  // f16 multiplies in f32: 60000 * 2 * 0.25 = 30000 without overflow (29984 is near enough for f16).
  %43 = "stablehlo.constant"() <{value = dense<[60000.0, 2.0, 0.25]> : tensor<3xf16>}> : () -> tensor<3xf16>
  %44 = "stablehlo.constant"() <{value = dense<1.0> : tensor<f16>}> : () -> tensor<f16>
  %45 = "stablehlo.reduce"(%43, %44) <{dimensions = array<i64: 0>}> ({
  ^bb0(%a0: tensor<f16>, %b0: tensor<f16>):
    %r = "stablehlo.multiply"(%a0, %b0) : (tensor<f16>, tensor<f16>) -> tensor<f16>
    "stablehlo.return"(%r) : (tensor<f16>) -> ()
  }) : (tensor<3xf16>, tensor<f16>) -> tensor<f16>
  %46 = "stablehlo.convert"(%45) : (tensor<f16>) -> tensor<f32>
  %47 = "stablehlo.reshape"(%46) : (tensor<f32>) -> tensor<1xf32>
  %48 = tensor.cast %47 : tensor<1xf32> to tensor<*xf32>
  call @printMemrefF32(%48) : (tensor<*xf32>) -> ()
  // CHECK: sizes = [1] {{.*}}data =
  // CHECK-NEXT: [30000]

  // Unsigned order.
  %49 = "stablehlo.constant"() <{value = dense<[1, 255, 7]> : tensor<3xui8>}> : () -> tensor<3xui8>
  %50 = "stablehlo.constant"() <{value = dense<0> : tensor<ui8>}> : () -> tensor<ui8>
  %51 = "stablehlo.reduce"(%49, %50) <{dimensions = array<i64: 0>}> ({
  ^bb0(%a0: tensor<ui8>, %b0: tensor<ui8>):
    %r = "stablehlo.maximum"(%a0, %b0) : (tensor<ui8>, tensor<ui8>) -> tensor<ui8>
    "stablehlo.return"(%r) : (tensor<ui8>) -> ()
  }) : (tensor<3xui8>, tensor<ui8>) -> tensor<ui8>
  %52 = "stablehlo.convert"(%51) : (tensor<ui8>) -> tensor<i32>
  %53 = "stablehlo.reshape"(%52) : (tensor<i32>) -> tensor<1xi32>
  %54 = tensor.cast %53 : tensor<1xi32> to tensor<*xi32>
  call @printMemrefI32(%54) : (tensor<*xi32>) -> ()
  // CHECK: sizes = [1] {{.*}}data =
  // CHECK-NEXT: [255]

  // An initial value that is computed.
  %55 = "stablehlo.add"(%3, %3) : (tensor<f32>, tensor<f32>) -> tensor<f32>
  %56 = "stablehlo.reduce"(%1, %55) <{dimensions = array<i64: 1>}> ({
  ^bb0(%a0: tensor<f32>, %b0: tensor<f32>):
    %r = "stablehlo.add"(%a0, %b0) : (tensor<f32>, tensor<f32>) -> tensor<f32>
    "stablehlo.return"(%r) : (tensor<f32>) -> ()
  }) : (tensor<2x3xf32>, tensor<f32>) -> tensor<2xf32>
  %57 = tensor.cast %56 : tensor<2xf32> to tensor<*xf32>
  call @printMemrefF32(%57) : (tensor<*xf32>) -> ()
  // CHECK: sizes = [2] {{.*}}data =
  // CHECK-NEXT: [26, 35]
  return
}
