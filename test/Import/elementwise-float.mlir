// RUN: %S/Inputs/run.sh %s | FileCheck %s

// Element-wise ops on floats. The values are numpy's; NaN and infinities included.

func.func private @printMemrefF32(tensor<*xf32>) attributes {llvm.emit_c_interface}
func.func private @printMemrefF64(tensor<*xf64>) attributes {llvm.emit_c_interface}
func.func private @printMemrefI32(tensor<*xi32>) attributes {llvm.emit_c_interface}
func.func private @printMemrefI64(tensor<*xi64>) attributes {llvm.emit_c_interface}

func.func @main() {

  // One operand.
  %1 = "stablehlo.constant"() <{value = dense<[-2.5, -0.5, 0.0, 0.5, 1.5, 2.5, 0x7F800000, 0x7FC00000]> : tensor<8xf32>}> : () -> tensor<8xf32>
  %2 = "stablehlo.abs"(%1) : (tensor<8xf32>) -> tensor<8xf32>
  %3 = tensor.cast %2 : tensor<8xf32> to tensor<*xf32>
  call @printMemrefF32(%3) : (tensor<*xf32>) -> ()
  // CHECK: sizes = [8] {{.*}}data =
  // CHECK-NEXT: [2.5, 0.5, 0, 0.5, 1.5, 2.5, inf, {{-?}}nan]
  %4 = "stablehlo.constant"() <{value = dense<[-2.5, -0.5, 0.0, 0.5, 1.5, 2.5, 0x7F800000, 0x7FC00000]> : tensor<8xf32>}> : () -> tensor<8xf32>
  %5 = "stablehlo.negate"(%4) : (tensor<8xf32>) -> tensor<8xf32>
  %6 = tensor.cast %5 : tensor<8xf32> to tensor<*xf32>
  call @printMemrefF32(%6) : (tensor<*xf32>) -> ()
  // CHECK: sizes = [8] {{.*}}data =
  // CHECK-NEXT: [2.5, 0.5, -0, -0.5, -1.5, -2.5, -inf, {{-?}}nan]
  %7 = "stablehlo.constant"() <{value = dense<[-2.5, -0.5, 0.0, 0.5, 1.5, 2.5, 0x7F800000, 0x7FC00000]> : tensor<8xf32>}> : () -> tensor<8xf32>
  %8 = "stablehlo.ceil"(%7) : (tensor<8xf32>) -> tensor<8xf32>
  %9 = tensor.cast %8 : tensor<8xf32> to tensor<*xf32>
  call @printMemrefF32(%9) : (tensor<*xf32>) -> ()
  // CHECK: sizes = [8] {{.*}}data =
  // CHECK-NEXT: [-2, -0, 0, 1, 2, 3, inf, {{-?}}nan]
  %10 = "stablehlo.constant"() <{value = dense<[-2.5, -0.5, 0.0, 0.5, 1.5, 2.5, 0x7F800000, 0x7FC00000]> : tensor<8xf32>}> : () -> tensor<8xf32>
  %11 = "stablehlo.floor"(%10) : (tensor<8xf32>) -> tensor<8xf32>
  %12 = tensor.cast %11 : tensor<8xf32> to tensor<*xf32>
  call @printMemrefF32(%12) : (tensor<*xf32>) -> ()
  // CHECK: sizes = [8] {{.*}}data =
  // CHECK-NEXT: [-3, -1, 0, 0, 1, 2, inf, {{-?}}nan]

  // Halves away from zero, then to even.
  %13 = "stablehlo.constant"() <{value = dense<[-2.5, -0.5, 0.0, 0.5, 1.5, 2.5, 0x7F800000, 0x7FC00000]> : tensor<8xf32>}> : () -> tensor<8xf32>
  %14 = "stablehlo.round_nearest_afz"(%13) : (tensor<8xf32>) -> tensor<8xf32>
  %15 = tensor.cast %14 : tensor<8xf32> to tensor<*xf32>
  call @printMemrefF32(%15) : (tensor<*xf32>) -> ()
  // CHECK: sizes = [8] {{.*}}data =
  // CHECK-NEXT: [-3, -1, 0, 1, 2, 3, inf, {{-?}}nan]
  %16 = "stablehlo.constant"() <{value = dense<[-2.5, -0.5, 0.0, 0.5, 1.5, 2.5, 0x7F800000, 0x7FC00000]> : tensor<8xf32>}> : () -> tensor<8xf32>
  %17 = "stablehlo.round_nearest_even"(%16) : (tensor<8xf32>) -> tensor<8xf32>
  %18 = tensor.cast %17 : tensor<8xf32> to tensor<*xf32>
  call @printMemrefF32(%18) : (tensor<*xf32>) -> ()
  // CHECK: sizes = [8] {{.*}}data =
  // CHECK-NEXT: [-2, -0, 0, 0, 2, 2, inf, {{-?}}nan]

  // Zeros keep their sign, NaN stays NaN.
  %19 = "stablehlo.constant"() <{value = dense<[-2.0, -0.0, 0.0, 3.0, 0x7FC00000, 0xFF800000]> : tensor<6xf32>}> : () -> tensor<6xf32>
  %20 = "stablehlo.sign"(%19) : (tensor<6xf32>) -> tensor<6xf32>
  %21 = tensor.cast %20 : tensor<6xf32> to tensor<*xf32>
  call @printMemrefF32(%21) : (tensor<*xf32>) -> ()
  // CHECK: sizes = [6] {{.*}}data =
  // CHECK-NEXT: [-1, -0, 0, 1, {{-?}}nan, -1]
  %22 = "stablehlo.constant"() <{value = dense<[-2.5, -0.5, 0.0, 0.5, 1.5, 2.5, 0x7F800000, 0x7FC00000]> : tensor<8xf32>}> : () -> tensor<8xf32>
  %23 = "stablehlo.is_finite"(%22) : (tensor<8xf32>) -> tensor<8xi1>
  %24 = "stablehlo.convert"(%23) : (tensor<8xi1>) -> tensor<8xi32>
  %25 = tensor.cast %24 : tensor<8xi32> to tensor<*xi32>
  call @printMemrefI32(%25) : (tensor<*xi32>) -> ()
  // CHECK: sizes = [8] {{.*}}data =
  // CHECK-NEXT: [1, 1, 1, 1, 1, 1, 0, 0]

  // exp, exp - 1, 1 / (1 + exp(-x)), trigonometry.
  %26 = "stablehlo.constant"() <{value = dense<[-1.5, -0.30000001192092896, 0.0, 0.20000000298023224, 1.0, 3.0, 0x7FC00000]> : tensor<7xf32>}> : () -> tensor<7xf32>
  %27 = "stablehlo.exponential"(%26) : (tensor<7xf32>) -> tensor<7xf32>
  %28 = tensor.cast %27 : tensor<7xf32> to tensor<*xf32>
  call @printMemrefF32(%28) : (tensor<*xf32>) -> ()
  // CHECK: sizes = [7] {{.*}}data =
  // CHECK-NEXT: [0.22313, 0.740818, 1, 1.2214, 2.71828, 20.0855, {{-?}}nan]
  %29 = "stablehlo.constant"() <{value = dense<[-1.5, -0.30000001192092896, 0.0, 0.20000000298023224, 1.0, 3.0, 0x7FC00000]> : tensor<7xf32>}> : () -> tensor<7xf32>
  %30 = "stablehlo.exponential_minus_one"(%29) : (tensor<7xf32>) -> tensor<7xf32>
  %31 = tensor.cast %30 : tensor<7xf32> to tensor<*xf32>
  call @printMemrefF32(%31) : (tensor<*xf32>) -> ()
  // CHECK: sizes = [7] {{.*}}data =
  // CHECK-NEXT: [-0.77687, -0.259182, 0, 0.221403, 1.71828, 19.0855, {{-?}}nan]
  %32 = "stablehlo.constant"() <{value = dense<[-1.5, -0.30000001192092896, 0.0, 0.20000000298023224, 1.0, 3.0, 0x7FC00000]> : tensor<7xf32>}> : () -> tensor<7xf32>
  %33 = "stablehlo.logistic"(%32) : (tensor<7xf32>) -> tensor<7xf32>
  %34 = tensor.cast %33 : tensor<7xf32> to tensor<*xf32>
  call @printMemrefF32(%34) : (tensor<*xf32>) -> ()
  // CHECK: sizes = [7] {{.*}}data =
  // CHECK-NEXT: [0.182426, 0.425557, 0.5, 0.549834, 0.731059, 0.952574, {{-?}}nan]
  %35 = "stablehlo.constant"() <{value = dense<[-1.5, -0.30000001192092896, 0.0, 0.20000000298023224, 1.0, 3.0, 0x7FC00000]> : tensor<7xf32>}> : () -> tensor<7xf32>
  %36 = "stablehlo.sine"(%35) : (tensor<7xf32>) -> tensor<7xf32>
  %37 = tensor.cast %36 : tensor<7xf32> to tensor<*xf32>
  call @printMemrefF32(%37) : (tensor<*xf32>) -> ()
  // CHECK: sizes = [7] {{.*}}data =
  // CHECK-NEXT: [-0.997495, -0.29552, 0, 0.198669, 0.841471, 0.14112, {{-?}}nan]
  %38 = "stablehlo.constant"() <{value = dense<[-1.5, -0.30000001192092896, 0.0, 0.20000000298023224, 1.0, 3.0, 0x7FC00000]> : tensor<7xf32>}> : () -> tensor<7xf32>
  %39 = "stablehlo.cosine"(%38) : (tensor<7xf32>) -> tensor<7xf32>
  %40 = tensor.cast %39 : tensor<7xf32> to tensor<*xf32>
  call @printMemrefF32(%40) : (tensor<*xf32>) -> ()
  // CHECK: sizes = [7] {{.*}}data =
  // CHECK-NEXT: [0.0707372, 0.955337, 1, 0.980067, 0.540302, -0.989992, {{-?}}nan]
  %41 = "stablehlo.constant"() <{value = dense<[-1.5, -0.30000001192092896, 0.0, 0.20000000298023224, 1.0, 3.0, 0x7FC00000]> : tensor<7xf32>}> : () -> tensor<7xf32>
  %42 = "stablehlo.tan"(%41) : (tensor<7xf32>) -> tensor<7xf32>
  %43 = tensor.cast %42 : tensor<7xf32> to tensor<*xf32>
  call @printMemrefF32(%43) : (tensor<*xf32>) -> ()
  // CHECK: sizes = [7] {{.*}}data =
  // CHECK-NEXT: [-14.1014, -0.309336, 0, 0.20271, 1.55741, -0.142547, {{-?}}nan]
  %44 = "stablehlo.constant"() <{value = dense<[-1.5, -0.30000001192092896, 0.0, 0.20000000298023224, 1.0, 3.0, 0x7FC00000]> : tensor<7xf32>}> : () -> tensor<7xf32>
  %45 = "stablehlo.tanh"(%44) : (tensor<7xf32>) -> tensor<7xf32>
  %46 = tensor.cast %45 : tensor<7xf32> to tensor<*xf32>
  call @printMemrefF32(%46) : (tensor<*xf32>) -> ()
  // CHECK: sizes = [7] {{.*}}data =
  // CHECK-NEXT: [-0.905148, -0.291313, 0, 0.197375, 0.761594, 0.995055, {{-?}}nan]
  %47 = "stablehlo.constant"() <{value = dense<[-1.5, -0.30000001192092896, 0.0, 0.20000000298023224, 1.0, 3.0, 0x7FC00000]> : tensor<7xf32>}> : () -> tensor<7xf32>
  %48 = "stablehlo.cbrt"(%47) : (tensor<7xf32>) -> tensor<7xf32>
  %49 = tensor.cast %48 : tensor<7xf32> to tensor<*xf32>
  call @printMemrefF32(%49) : (tensor<*xf32>) -> ()
  // CHECK: sizes = [7] {{.*}}data =
  // CHECK-NEXT: [-1.14471, -0.669433, 0, 0.584804, 1, 1.44225, {{-?}}nan]
  %50 = "stablehlo.constant"() <{value = dense<[0.25, 0.5, 1.0, 2.0, 9.0, 0x7F800000, -1.0]> : tensor<7xf32>}> : () -> tensor<7xf32>
  %51 = "stablehlo.log"(%50) : (tensor<7xf32>) -> tensor<7xf32>
  %52 = tensor.cast %51 : tensor<7xf32> to tensor<*xf32>
  call @printMemrefF32(%52) : (tensor<*xf32>) -> ()
  // CHECK: sizes = [7] {{.*}}data =
  // CHECK-NEXT: [-1.38629, -0.693147, 0, 0.693147, 2.19722, inf, {{-?}}nan]
  %53 = "stablehlo.constant"() <{value = dense<[0.25, 0.5, 1.0, 2.0, 9.0, 0x7F800000]> : tensor<6xf32>}> : () -> tensor<6xf32>
  %54 = "stablehlo.log_plus_one"(%53) : (tensor<6xf32>) -> tensor<6xf32>
  %55 = tensor.cast %54 : tensor<6xf32> to tensor<*xf32>
  call @printMemrefF32(%55) : (tensor<*xf32>) -> ()
  // CHECK: sizes = [6] {{.*}}data =
  // CHECK-NEXT: [0.223144, 0.405465, 0.693147, 1.09861, 2.30259, inf]
  %56 = "stablehlo.constant"() <{value = dense<[0.25, 0.5, 1.0, 2.0, 9.0, 0x7F800000, -1.0]> : tensor<7xf32>}> : () -> tensor<7xf32>
  %57 = "stablehlo.sqrt"(%56) : (tensor<7xf32>) -> tensor<7xf32>
  %58 = tensor.cast %57 : tensor<7xf32> to tensor<*xf32>
  call @printMemrefF32(%58) : (tensor<*xf32>) -> ()
  // CHECK: sizes = [7] {{.*}}data =
  // CHECK-NEXT: [0.5, 0.707107, 1, 1.41421, 3, inf, {{-?}}nan]
  %59 = "stablehlo.constant"() <{value = dense<[0.25, 0.5, 1.0, 2.0, 9.0, 0x7F800000, -1.0]> : tensor<7xf32>}> : () -> tensor<7xf32>
  %60 = "stablehlo.rsqrt"(%59) : (tensor<7xf32>) -> tensor<7xf32>
  %61 = tensor.cast %60 : tensor<7xf32> to tensor<*xf32>
  call @printMemrefF32(%61) : (tensor<*xf32>) -> ()
  // CHECK: sizes = [7] {{.*}}data =
  // CHECK-NEXT: [2, 1.41421, 1, 0.707107, 0.333333, 0, {{-?}}nan]

  // chlo
  %62 = "stablehlo.constant"() <{value = dense<[-0.9990000128746033, -0.5, 0.0, 0.25, 0.9990000128746033, 1.0, -1.0]> : tensor<7xf32>}> : () -> tensor<7xf32>
  %63 = "chlo.erf_inv"(%62) : (tensor<7xf32>) -> tensor<7xf32>
  %64 = tensor.cast %63 : tensor<7xf32> to tensor<*xf32>
  call @printMemrefF32(%64) : (tensor<*xf32>) -> ()
  // CHECK: sizes = [7] {{.*}}data =
  // CHECK-NEXT: [-2.32676, -0.476936, 0, 0.225312, 2.32676, inf, -inf]
  %65 = "stablehlo.constant"() <{value = dense<[-0.9990000128746033, -0.5, 0.0, 0.25, 0.9990000128746033, 1.0, -1.0]> : tensor<7xf32>}> : () -> tensor<7xf32>
  %66 = "chlo.erf"(%65) : (tensor<7xf32>) -> tensor<7xf32>
  %67 = tensor.cast %66 : tensor<7xf32> to tensor<*xf32>
  call @printMemrefF32(%67) : (tensor<*xf32>) -> ()
  // CHECK: sizes = [7] {{.*}}data =
  // CHECK-NEXT: [-0.842285, -0.5205, 0, 0.276326, 0.842285, 0.842701, -0.842701]
  %68 = "stablehlo.constant"() <{value = dense<[-0.9990000128746033, -0.5, 0.0, 0.25, 0.9990000128746033, 1.0, -1.0]> : tensor<7xf32>}> : () -> tensor<7xf32>
  %69 = "chlo.square"(%68) : (tensor<7xf32>) -> tensor<7xf32>
  %70 = tensor.cast %69 : tensor<7xf32> to tensor<*xf32>
  call @printMemrefF32(%70) : (tensor<*xf32>) -> ()
  // CHECK: sizes = [7] {{.*}}data =
  // CHECK-NEXT: [0.998001, 0.25, 0, 0.0625, 0.998001, 1, 1]
  %71 = "stablehlo.constant"() <{value = dense<[-0.9990000128746033, -0.5, 0.0, 0.25, 0.9990000128746033, 1.0, -1.0]> : tensor<7xf32>}> : () -> tensor<7xf32>
  %72 = "chlo.erfc"(%71) : (tensor<7xf32>) -> tensor<7xf32>
  %73 = tensor.cast %72 : tensor<7xf32> to tensor<*xf32>
  call @printMemrefF32(%73) : (tensor<*xf32>) -> ()
  // CHECK: sizes = [7] {{.*}}data =
  // CHECK-NEXT: [1.84229, 1.5205, 1, 0.723674, 0.157715, 0.157299, 1.8427]

  // Two operands: maximum and minimum give NaN if there is one.
  %74 = "stablehlo.constant"() <{value = dense<[1.0, -2.0, 0x7FC00000, 4.0, 0.5, -7.5]> : tensor<6xf32>}> : () -> tensor<6xf32>
  %75 = "stablehlo.constant"() <{value = dense<[3.0, -5.0, 1.0, 0x7FC00000, 2.0, 2.0]> : tensor<6xf32>}> : () -> tensor<6xf32>
  %76 = "stablehlo.add"(%74, %75) : (tensor<6xf32>, tensor<6xf32>) -> tensor<6xf32>
  %77 = tensor.cast %76 : tensor<6xf32> to tensor<*xf32>
  call @printMemrefF32(%77) : (tensor<*xf32>) -> ()
  // add
  // CHECK: sizes = [6] {{.*}}data =
  // CHECK-NEXT: [4, -7, {{-?}}nan, {{-?}}nan, 2.5, -5.5]
  %78 = "stablehlo.subtract"(%74, %75) : (tensor<6xf32>, tensor<6xf32>) -> tensor<6xf32>
  %79 = tensor.cast %78 : tensor<6xf32> to tensor<*xf32>
  call @printMemrefF32(%79) : (tensor<*xf32>) -> ()
  // subtract
  // CHECK: sizes = [6] {{.*}}data =
  // CHECK-NEXT: [-2, 3, {{-?}}nan, {{-?}}nan, -1.5, -9.5]
  %80 = "stablehlo.multiply"(%74, %75) : (tensor<6xf32>, tensor<6xf32>) -> tensor<6xf32>
  %81 = tensor.cast %80 : tensor<6xf32> to tensor<*xf32>
  call @printMemrefF32(%81) : (tensor<*xf32>) -> ()
  // multiply
  // CHECK: sizes = [6] {{.*}}data =
  // CHECK-NEXT: [3, 10, {{-?}}nan, {{-?}}nan, 1, -15]
  %82 = "stablehlo.divide"(%74, %75) : (tensor<6xf32>, tensor<6xf32>) -> tensor<6xf32>
  %83 = tensor.cast %82 : tensor<6xf32> to tensor<*xf32>
  call @printMemrefF32(%83) : (tensor<*xf32>) -> ()
  // divide
  // CHECK: sizes = [6] {{.*}}data =
  // CHECK-NEXT: [0.333333, 0.4, {{-?}}nan, {{-?}}nan, 0.25, -3.75]
  %84 = "stablehlo.maximum"(%74, %75) : (tensor<6xf32>, tensor<6xf32>) -> tensor<6xf32>
  %85 = tensor.cast %84 : tensor<6xf32> to tensor<*xf32>
  call @printMemrefF32(%85) : (tensor<*xf32>) -> ()
  // maximum
  // CHECK: sizes = [6] {{.*}}data =
  // CHECK-NEXT: [3, -2, {{-?}}nan, {{-?}}nan, 2, 2]
  %86 = "stablehlo.minimum"(%74, %75) : (tensor<6xf32>, tensor<6xf32>) -> tensor<6xf32>
  %87 = tensor.cast %86 : tensor<6xf32> to tensor<*xf32>
  call @printMemrefF32(%87) : (tensor<*xf32>) -> ()
  // minimum
  // CHECK: sizes = [6] {{.*}}data =
  // CHECK-NEXT: [1, -5, {{-?}}nan, {{-?}}nan, 0.5, -7.5]
  %88 = "stablehlo.remainder"(%74, %75) : (tensor<6xf32>, tensor<6xf32>) -> tensor<6xf32>
  %89 = tensor.cast %88 : tensor<6xf32> to tensor<*xf32>
  call @printMemrefF32(%89) : (tensor<*xf32>) -> ()
  // remainder
  // CHECK: sizes = [6] {{.*}}data =
  // CHECK-NEXT: [1, -2, {{-?}}nan, {{-?}}nan, 0.5, -1.5]
  %90 = "stablehlo.power"(%74, %75) : (tensor<6xf32>, tensor<6xf32>) -> tensor<6xf32>
  %91 = tensor.cast %90 : tensor<6xf32> to tensor<*xf32>
  call @printMemrefF32(%91) : (tensor<*xf32>) -> ()
  // power
  // CHECK: sizes = [6] {{.*}}data =
  // CHECK-NEXT: [1, -0.03125, {{-?}}nan, {{-?}}nan, 0.25, 56.25]
  %92 = "stablehlo.atan2"(%74, %75) : (tensor<6xf32>, tensor<6xf32>) -> tensor<6xf32>
  %93 = tensor.cast %92 : tensor<6xf32> to tensor<*xf32>
  call @printMemrefF32(%93) : (tensor<*xf32>) -> ()
  // atan2
  // CHECK: sizes = [6] {{.*}}data =
  // CHECK-NEXT: [0.321751, -2.76109, {{-?}}nan, {{-?}}nan, 0.244979, -1.31019]

  // Every comparison with NaN is false but NE.
  %94 = "stablehlo.compare"(%74, %75) <{comparison_direction = #stablehlo<comparison_direction EQ>}> : (tensor<6xf32>, tensor<6xf32>) -> tensor<6xi1>
  %95 = "stablehlo.convert"(%94) : (tensor<6xi1>) -> tensor<6xi32>
  %96 = tensor.cast %95 : tensor<6xi32> to tensor<*xi32>
  call @printMemrefI32(%96) : (tensor<*xi32>) -> ()
  // EQ
  // CHECK: sizes = [6] {{.*}}data =
  // CHECK-NEXT: [0, 0, 0, 0, 0, 0]
  %97 = "stablehlo.compare"(%74, %75) <{comparison_direction = #stablehlo<comparison_direction NE>}> : (tensor<6xf32>, tensor<6xf32>) -> tensor<6xi1>
  %98 = "stablehlo.convert"(%97) : (tensor<6xi1>) -> tensor<6xi32>
  %99 = tensor.cast %98 : tensor<6xi32> to tensor<*xi32>
  call @printMemrefI32(%99) : (tensor<*xi32>) -> ()
  // NE
  // CHECK: sizes = [6] {{.*}}data =
  // CHECK-NEXT: [1, 1, 1, 1, 1, 1]
  %100 = "stablehlo.compare"(%74, %75) <{comparison_direction = #stablehlo<comparison_direction LT>}> : (tensor<6xf32>, tensor<6xf32>) -> tensor<6xi1>
  %101 = "stablehlo.convert"(%100) : (tensor<6xi1>) -> tensor<6xi32>
  %102 = tensor.cast %101 : tensor<6xi32> to tensor<*xi32>
  call @printMemrefI32(%102) : (tensor<*xi32>) -> ()
  // LT
  // CHECK: sizes = [6] {{.*}}data =
  // CHECK-NEXT: [1, 0, 0, 0, 1, 1]
  %103 = "stablehlo.compare"(%74, %75) <{comparison_direction = #stablehlo<comparison_direction LE>}> : (tensor<6xf32>, tensor<6xf32>) -> tensor<6xi1>
  %104 = "stablehlo.convert"(%103) : (tensor<6xi1>) -> tensor<6xi32>
  %105 = tensor.cast %104 : tensor<6xi32> to tensor<*xi32>
  call @printMemrefI32(%105) : (tensor<*xi32>) -> ()
  // LE
  // CHECK: sizes = [6] {{.*}}data =
  // CHECK-NEXT: [1, 0, 0, 0, 1, 1]
  %106 = "stablehlo.compare"(%74, %75) <{comparison_direction = #stablehlo<comparison_direction GT>}> : (tensor<6xf32>, tensor<6xf32>) -> tensor<6xi1>
  %107 = "stablehlo.convert"(%106) : (tensor<6xi1>) -> tensor<6xi32>
  %108 = tensor.cast %107 : tensor<6xi32> to tensor<*xi32>
  call @printMemrefI32(%108) : (tensor<*xi32>) -> ()
  // GT
  // CHECK: sizes = [6] {{.*}}data =
  // CHECK-NEXT: [0, 1, 0, 0, 0, 0]
  %109 = "stablehlo.compare"(%74, %75) <{comparison_direction = #stablehlo<comparison_direction GE>}> : (tensor<6xf32>, tensor<6xf32>) -> tensor<6xi1>
  %110 = "stablehlo.convert"(%109) : (tensor<6xi1>) -> tensor<6xi32>
  %111 = tensor.cast %110 : tensor<6xi32> to tensor<*xi32>
  call @printMemrefI32(%111) : (tensor<*xi32>) -> ()
  // GE
  // CHECK: sizes = [6] {{.*}}data =
  // CHECK-NEXT: [0, 1, 0, 0, 0, 0]

  // In the total order -0 < 0 and NaN is the largest.
  %112 = "stablehlo.constant"() <{value = dense<[-0.0, 0.0, 0x7FC00000, 1.0, -1.0, 0xFF800000]> : tensor<6xf32>}> : () -> tensor<6xf32>
  %113 = "stablehlo.constant"() <{value = dense<[0.0, -0.0, 0x7F800000, 0x7FC00000, -2.0, -1.0]> : tensor<6xf32>}> : () -> tensor<6xf32>
  %114 = "stablehlo.compare"(%112, %113) <{compare_type = #stablehlo<comparison_type TOTALORDER>, comparison_direction = #stablehlo<comparison_direction LT>}> : (tensor<6xf32>, tensor<6xf32>) -> tensor<6xi1>
  %115 = "stablehlo.convert"(%114) : (tensor<6xi1>) -> tensor<6xi32>
  %116 = tensor.cast %115 : tensor<6xi32> to tensor<*xi32>
  call @printMemrefI32(%116) : (tensor<*xi32>) -> ()
  // CHECK: sizes = [6] {{.*}}data =
  // CHECK-NEXT: [1, 0, 0, 1, 0, 1]

  // clamp(1, x, 2) with scalar bounds; NaN stays. Then bounds of the full shape.
  %117 = "stablehlo.constant"() <{value = dense<1.0> : tensor<f32>}> : () -> tensor<f32>
  %118 = "stablehlo.constant"() <{value = dense<2.0> : tensor<f32>}> : () -> tensor<f32>
  %119 = "stablehlo.constant"() <{value = dense<[0.0, 1.5, 7.0, 0x7FC00000]> : tensor<4xf32>}> : () -> tensor<4xf32>
  %120 = "stablehlo.clamp"(%117, %119, %118) : (tensor<f32>, tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
  %121 = tensor.cast %120 : tensor<4xf32> to tensor<*xf32>
  call @printMemrefF32(%121) : (tensor<*xf32>) -> ()
  // CHECK: sizes = [4] {{.*}}data =
  // CHECK-NEXT: [1, 1.5, 2, {{-?}}nan]
  %122 = "stablehlo.constant"() <{value = dense<[1.0, 1.0, 9.0, 0.0]> : tensor<4xf32>}> : () -> tensor<4xf32>
  %123 = "stablehlo.clamp"(%122, %119, %122) : (tensor<4xf32>, tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %124 = tensor.cast %123 : tensor<4xf32> to tensor<*xf32>
  call @printMemrefF32(%124) : (tensor<*xf32>) -> ()
  // CHECK: sizes = [4] {{.*}}data =
  // CHECK-NEXT: [1, 1, 9, {{-?}}nan]

  // select by element and by one predicate for all.
  %125 = "stablehlo.constant"() <{value = dense<[true, false, true, false]> : tensor<4xi1>}> : () -> tensor<4xi1>
  %126 = "stablehlo.constant"() <{value = dense<false> : tensor<i1>}> : () -> tensor<i1>
  %127 = "stablehlo.constant"() <{value = dense<[10.0, 11.0, 12.0, 13.0]> : tensor<4xf32>}> : () -> tensor<4xf32>
  %128 = "stablehlo.select"(%125, %119, %127) : (tensor<4xi1>, tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %129 = tensor.cast %128 : tensor<4xf32> to tensor<*xf32>
  call @printMemrefF32(%129) : (tensor<*xf32>) -> ()
  // CHECK: sizes = [4] {{.*}}data =
  // CHECK-NEXT: [0, 11, 7, 13]
  %130 = "stablehlo.select"(%126, %119, %127) : (tensor<i1>, tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %131 = tensor.cast %130 : tensor<4xf32> to tensor<*xf32>
  call @printMemrefF32(%131) : (tensor<*xf32>) -> ()
  // CHECK: sizes = [4] {{.*}}data =
  // CHECK-NEXT: [10, 11, 12, 13]

  // reduce_precision to bf16's 8 and 7 bits: ties to even; 3.4e38 overflows to infinity.
  // 1.00390625 = 1 + 2^-8 is a tie: to 1. 1.01171875 = 1 + 3 * 2^-8 is a tie: to 1.015625.
  %132 = "stablehlo.constant"() <{value = dense<[1.00390625, 1.01171875, 1.0049999952316284, 3.3999999521443642e+38, 0x7FC00000, -0.10000000149011612]> : tensor<6xf32>}> : () -> tensor<6xf32>
  %133 = "stablehlo.reduce_precision"(%132) <{exponent_bits = 8 : i32, mantissa_bits = 7 : i32}> : (tensor<6xf32>) -> tensor<6xf32>
  %134 = tensor.cast %133 : tensor<6xf32> to tensor<*xf32>
  call @printMemrefF32(%134) : (tensor<*xf32>) -> ()
  // CHECK: sizes = [6] {{.*}}data =
  // CHECK-NEXT: [1, 1.01562, 1.00781, inf, {{-?}}nan, -0.100098]

  // To f16's 5 and 10 bits: 70000 overflows, 1e-8 goes to zero, 1/3 = 0.33325195.
  %135 = "stablehlo.constant"() <{value = dense<[70000.0, -70000.0, 9.99999993922529e-09, 0.3333333432674408, 65504.0]> : tensor<5xf32>}> : () -> tensor<5xf32>
  %136 = "stablehlo.reduce_precision"(%135) <{exponent_bits = 5 : i32, mantissa_bits = 10 : i32}> : (tensor<5xf32>) -> tensor<5xf32>
  %137 = tensor.cast %136 : tensor<5xf32> to tensor<*xf32>
  call @printMemrefF32(%137) : (tensor<*xf32>) -> ()
  // CHECK: sizes = [5] {{.*}}data =
  // CHECK-NEXT: [inf, -inf, 0, 0.333252, 65504]

  // bf16: every result is rounded. 1 + 2^-8 ties to 1; 256 + 1 = 257 ties to 256.
  %138 = "stablehlo.constant"() <{value = dense<[1.0, 256.0, 3.0]> : tensor<3xbf16>}> : () -> tensor<3xbf16>
  %139 = "stablehlo.constant"() <{value = dense<[0.00390625, 1.0, 0.5]> : tensor<3xbf16>}> : () -> tensor<3xbf16>
  %140 = "stablehlo.add"(%138, %139) : (tensor<3xbf16>, tensor<3xbf16>) -> tensor<3xbf16>
  %141 = "stablehlo.convert"(%140) : (tensor<3xbf16>) -> tensor<3xf32>
  %142 = tensor.cast %141 : tensor<3xf32> to tensor<*xf32>
  call @printMemrefF32(%142) : (tensor<*xf32>) -> ()
  // CHECK: sizes = [3] {{.*}}data =
  // CHECK-NEXT: [1, 256, 3.5]
  %143 = "stablehlo.logistic"(%138) : (tensor<3xbf16>) -> tensor<3xbf16>
  %144 = "stablehlo.convert"(%143) : (tensor<3xbf16>) -> tensor<3xf32>
  %145 = tensor.cast %144 : tensor<3xf32> to tensor<*xf32>
  call @printMemrefF32(%145) : (tensor<*xf32>) -> ()
  // 1 / (1 + exp(-1)) = 0.7310586 is 0.73046875 in bf16
  // CHECK: sizes = [3] {{.*}}data =
  // CHECK-NEXT: [0.730469, 1, 0.953125]

  // f16 and f64.
  %146 = "stablehlo.constant"() <{value = dense<[1.0, 2048.0]> : tensor<2xf16>}> : () -> tensor<2xf16>
  %147 = "stablehlo.constant"() <{value = dense<[0.10000000149011612, 1.0]> : tensor<2xf16>}> : () -> tensor<2xf16>
  %148 = "stablehlo.add"(%146, %147) : (tensor<2xf16>, tensor<2xf16>) -> tensor<2xf16>
  %149 = "stablehlo.convert"(%148) : (tensor<2xf16>) -> tensor<2xf32>
  %150 = tensor.cast %149 : tensor<2xf32> to tensor<*xf32>
  call @printMemrefF32(%150) : (tensor<*xf32>) -> ()
  // CHECK: sizes = [2] {{.*}}data =
  // CHECK-NEXT: [1.09961, 2048]
  %151 = "stablehlo.constant"() <{value = dense<[0.1, 2.0]> : tensor<2xf64>}> : () -> tensor<2xf64>
  %152 = "stablehlo.exponential"(%151) : (tensor<2xf64>) -> tensor<2xf64>
  %153 = tensor.cast %152 : tensor<2xf64> to tensor<*xf64>
  call @printMemrefF64(%153) : (tensor<*xf64>) -> ()
  // CHECK: sizes = [2] {{.*}}data =
  // CHECK-NEXT: [1.10517, 7.38906]
  return
}
