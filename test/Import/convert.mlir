// RUN: %S/Inputs/run.sh %s | FileCheck %s

// From one type to another. Floats become integers as XLA has it: rounded to zero, NaN is 0, the rest is the nearest that fits.

func.func private @printMemrefF32(tensor<*xf32>) attributes {llvm.emit_c_interface}
func.func private @printMemrefF64(tensor<*xf64>) attributes {llvm.emit_c_interface}
func.func private @printMemrefI32(tensor<*xi32>) attributes {llvm.emit_c_interface}
func.func private @printMemrefI64(tensor<*xi64>) attributes {llvm.emit_c_interface}

func.func @main() {

  // Floats to integers.
  %1 = "stablehlo.constant"() <{value = dense<[1.899999976158142, -1.899999976158142, 3000000000.0, -3000000000.0, 0x7FC00000, 0x7F800000, 0xFF800000, 300.0, -200.0]> : tensor<9xf32>}> : () -> tensor<9xf32>
  %2 = "stablehlo.convert"(%1) : (tensor<9xf32>) -> tensor<9xi32>
  %3 = tensor.cast %2 : tensor<9xi32> to tensor<*xi32>
  call @printMemrefI32(%3) : (tensor<*xi32>) -> ()
  // CHECK: sizes = [9] {{.*}}data =
  // CHECK-NEXT: [1, -1, 2147483647, -2147483648, 0, 2147483647, -2147483648, 300, -200]
  %4 = "stablehlo.constant"() <{value = dense<[1.899999976158142, -1.899999976158142, 3000000000.0, -3000000000.0, 0x7FC00000, 0x7F800000, 0xFF800000, 300.0, -200.0]> : tensor<9xf32>}> : () -> tensor<9xf32>
  %5 = "stablehlo.convert"(%4) : (tensor<9xf32>) -> tensor<9xui32>
  %6 = "stablehlo.convert"(%5) : (tensor<9xui32>) -> tensor<9xi64>
  %7 = tensor.cast %6 : tensor<9xi64> to tensor<*xi64>
  call @printMemrefI64(%7) : (tensor<*xi64>) -> ()
  // CHECK: sizes = [9] {{.*}}data =
  // CHECK-NEXT: [1, 0, 3000000000, 0, 0, 4294967295, 0, 300, 0]
  %8 = "stablehlo.constant"() <{value = dense<[1.899999976158142, -1.899999976158142, 3000000000.0, -3000000000.0, 0x7FC00000, 0x7F800000, 0xFF800000, 300.0, -200.0]> : tensor<9xf32>}> : () -> tensor<9xf32>
  %9 = "stablehlo.convert"(%8) : (tensor<9xf32>) -> tensor<9xi8>
  %10 = "stablehlo.convert"(%9) : (tensor<9xi8>) -> tensor<9xi32>
  %11 = tensor.cast %10 : tensor<9xi32> to tensor<*xi32>
  call @printMemrefI32(%11) : (tensor<*xi32>) -> ()
  // CHECK: sizes = [9] {{.*}}data =
  // CHECK-NEXT: [1, -1, 127, -128, 0, 127, -128, 127, -128]
  %12 = "stablehlo.constant"() <{value = dense<[1.899999976158142, -1.899999976158142, 3000000000.0, -3000000000.0, 0x7FC00000, 0x7F800000, 0xFF800000, 300.0, -200.0]> : tensor<9xf32>}> : () -> tensor<9xf32>
  %13 = "stablehlo.convert"(%12) : (tensor<9xf32>) -> tensor<9xui8>
  %14 = "stablehlo.convert"(%13) : (tensor<9xui8>) -> tensor<9xi32>
  %15 = tensor.cast %14 : tensor<9xi32> to tensor<*xi32>
  call @printMemrefI32(%15) : (tensor<*xi32>) -> ()
  // CHECK: sizes = [9] {{.*}}data =
  // CHECK-NEXT: [1, 0, 255, 0, 0, 255, 0, 255, 0]
  %16 = "stablehlo.constant"() <{value = dense<[9.999999980506448e+18, -9.999999980506448e+18, 0x7FC00000, 5.5]> : tensor<4xf32>}> : () -> tensor<4xf32>
  %17 = "stablehlo.convert"(%16) : (tensor<4xf32>) -> tensor<4xi64>
  %18 = tensor.cast %17 : tensor<4xi64> to tensor<*xi64>
  call @printMemrefI64(%18) : (tensor<*xi64>) -> ()
  // CHECK: sizes = [4] {{.*}}data =
  // CHECK-NEXT: [9223372036854775807, -9223372036854775808, 0, 5]
  %19 = "stablehlo.constant"() <{value = dense<[100000.0, -7.5, 0x7E00]> : tensor<3xf16>}> : () -> tensor<3xf16>
  %20 = "stablehlo.convert"(%19) : (tensor<3xf16>) -> tensor<3xi32>
  %21 = tensor.cast %20 : tensor<3xi32> to tensor<*xi32>
  call @printMemrefI32(%21) : (tensor<*xi32>) -> ()
  // 1e5 is infinity in f16
  // CHECK: sizes = [3] {{.*}}data =
  // CHECK-NEXT: [2147483647, -7, 0]
  %22 = "stablehlo.constant"() <{value = dense<[2147483646.5, -2147483649.0]> : tensor<2xf64>}> : () -> tensor<2xf64>
  %23 = "stablehlo.convert"(%22) : (tensor<2xf64>) -> tensor<2xi32>
  %24 = tensor.cast %23 : tensor<2xi32> to tensor<*xi32>
  call @printMemrefI32(%24) : (tensor<*xi32>) -> ()
  // CHECK: sizes = [2] {{.*}}data =
  // CHECK-NEXT: [2147483646, -2147483648]

  // To booleans: not zero; NaN is true.
  %25 = "stablehlo.constant"() <{value = dense<[0.0, -0.0, 0.5, 0x7FC00000]> : tensor<4xf32>}> : () -> tensor<4xf32>
  %26 = "stablehlo.convert"(%25) : (tensor<4xf32>) -> tensor<4xi1>
  %27 = "stablehlo.convert"(%26) : (tensor<4xi1>) -> tensor<4xi32>
  %28 = tensor.cast %27 : tensor<4xi32> to tensor<*xi32>
  call @printMemrefI32(%28) : (tensor<*xi32>) -> ()
  // CHECK: sizes = [4] {{.*}}data =
  // CHECK-NEXT: [0, 0, 1, 1]
  %29 = "stablehlo.constant"() <{value = dense<[0, 2, -256]> : tensor<3xi32>}> : () -> tensor<3xi32>
  %30 = "stablehlo.convert"(%29) : (tensor<3xi32>) -> tensor<3xi1>
  %31 = "stablehlo.convert"(%30) : (tensor<3xi1>) -> tensor<3xi32>
  %32 = tensor.cast %31 : tensor<3xi32> to tensor<*xi32>
  call @printMemrefI32(%32) : (tensor<*xi32>) -> ()
  // CHECK: sizes = [3] {{.*}}data =
  // CHECK-NEXT: [0, 1, 1]

  // From booleans: 0 and 1.
  %33 = "stablehlo.constant"() <{value = dense<[false, true]> : tensor<2xi1>}> : () -> tensor<2xi1>
  %34 = "stablehlo.convert"(%33) : (tensor<2xi1>) -> tensor<2xf32>
  %35 = tensor.cast %34 : tensor<2xf32> to tensor<*xf32>
  call @printMemrefF32(%35) : (tensor<*xf32>) -> ()
  // CHECK: sizes = [2] {{.*}}data =
  // CHECK-NEXT: [0, 1]
  %36 = "stablehlo.constant"() <{value = dense<[false, true]> : tensor<2xi1>}> : () -> tensor<2xi1>
  %37 = "stablehlo.convert"(%36) : (tensor<2xi1>) -> tensor<2xi8>
  %38 = "stablehlo.convert"(%37) : (tensor<2xi8>) -> tensor<2xi32>
  %39 = tensor.cast %38 : tensor<2xi32> to tensor<*xi32>
  call @printMemrefI32(%39) : (tensor<*xi32>) -> ()
  // CHECK: sizes = [2] {{.*}}data =
  // CHECK-NEXT: [0, 1]
  %40 = "stablehlo.constant"() <{value = dense<[false, true]> : tensor<2xi1>}> : () -> tensor<2xi1>
  %41 = "stablehlo.convert"(%40) : (tensor<2xi1>) -> tensor<2xbf16>
  %42 = "stablehlo.convert"(%41) : (tensor<2xbf16>) -> tensor<2xf32>
  %43 = tensor.cast %42 : tensor<2xf32> to tensor<*xf32>
  call @printMemrefF32(%43) : (tensor<*xf32>) -> ()
  // CHECK: sizes = [2] {{.*}}data =
  // CHECK-NEXT: [0, 1]

  // Integers to floats by their signedness; narrow floats by way of f32.
  %44 = "stablehlo.constant"() <{value = dense<[-1, 16777217]> : tensor<2xi32>}> : () -> tensor<2xi32>
  %45 = "stablehlo.convert"(%44) : (tensor<2xi32>) -> tensor<2xf32>
  %46 = tensor.cast %45 : tensor<2xf32> to tensor<*xf32>
  call @printMemrefF32(%46) : (tensor<*xf32>) -> ()
  // CHECK: sizes = [2] {{.*}}data =
  // CHECK-NEXT: [-1, 1.67772e+07]
  %47 = "stablehlo.constant"() <{value = dense<[4294967295]> : tensor<1xui32>}> : () -> tensor<1xui32>
  %48 = "stablehlo.convert"(%47) : (tensor<1xui32>) -> tensor<1xf32>
  %49 = tensor.cast %48 : tensor<1xf32> to tensor<*xf32>
  call @printMemrefF32(%49) : (tensor<*xf32>) -> ()
  // CHECK: sizes = [1] {{.*}}data =
  // CHECK-NEXT: [4.29497e+09]
  %50 = "stablehlo.constant"() <{value = dense<[255]> : tensor<1xui8>}> : () -> tensor<1xui8>
  %51 = "stablehlo.convert"(%50) : (tensor<1xui8>) -> tensor<1xbf16>
  %52 = "stablehlo.convert"(%51) : (tensor<1xbf16>) -> tensor<1xf32>
  %53 = tensor.cast %52 : tensor<1xf32> to tensor<*xf32>
  call @printMemrefF32(%53) : (tensor<*xf32>) -> ()
  // CHECK: sizes = [1] {{.*}}data =
  // CHECK-NEXT: [255]
  %54 = "stablehlo.constant"() <{value = dense<[257, -3]> : tensor<2xi32>}> : () -> tensor<2xi32>
  %55 = "stablehlo.convert"(%54) : (tensor<2xi32>) -> tensor<2xbf16>
  %56 = "stablehlo.convert"(%55) : (tensor<2xbf16>) -> tensor<2xf32>
  %57 = tensor.cast %56 : tensor<2xf32> to tensor<*xf32>
  call @printMemrefF32(%57) : (tensor<*xf32>) -> ()
  // CHECK: sizes = [2] {{.*}}data =
  // CHECK-NEXT: [256, -3]

  // Integers to integers: extended by their signedness, or cut off.
  %58 = "stablehlo.constant"() <{value = dense<[-1, 100]> : tensor<2xi8>}> : () -> tensor<2xi8>
  %59 = "stablehlo.convert"(%58) : (tensor<2xi8>) -> tensor<2xi32>
  %60 = tensor.cast %59 : tensor<2xi32> to tensor<*xi32>
  call @printMemrefI32(%60) : (tensor<*xi32>) -> ()
  // CHECK: sizes = [2] {{.*}}data =
  // CHECK-NEXT: [-1, 100]
  %61 = "stablehlo.constant"() <{value = dense<[255, 100]> : tensor<2xui8>}> : () -> tensor<2xui8>
  %62 = "stablehlo.convert"(%61) : (tensor<2xui8>) -> tensor<2xi32>
  %63 = tensor.cast %62 : tensor<2xi32> to tensor<*xi32>
  call @printMemrefI32(%63) : (tensor<*xi32>) -> ()
  // CHECK: sizes = [2] {{.*}}data =
  // CHECK-NEXT: [255, 100]
  %64 = "stablehlo.constant"() <{value = dense<[300, -1]> : tensor<2xi32>}> : () -> tensor<2xi32>
  %65 = "stablehlo.convert"(%64) : (tensor<2xi32>) -> tensor<2xi8>
  %66 = "stablehlo.convert"(%65) : (tensor<2xi8>) -> tensor<2xi32>
  %67 = tensor.cast %66 : tensor<2xi32> to tensor<*xi32>
  call @printMemrefI32(%67) : (tensor<*xi32>) -> ()
  // CHECK: sizes = [2] {{.*}}data =
  // CHECK-NEXT: [44, -1]
  %68 = "stablehlo.constant"() <{value = dense<[-1]> : tensor<1xi32>}> : () -> tensor<1xi32>
  %69 = "stablehlo.convert"(%68) : (tensor<1xi32>) -> tensor<1xui32>
  %70 = "stablehlo.convert"(%69) : (tensor<1xui32>) -> tensor<1xi64>
  %71 = tensor.cast %70 : tensor<1xi64> to tensor<*xi64>
  call @printMemrefI64(%71) : (tensor<*xi64>) -> ()
  // CHECK: sizes = [1] {{.*}}data =
  // CHECK-NEXT: [4294967295]

  // Floats to floats: to nearest, ties to even. 1 + 3 * 2^-8 is a tie of bf16.
  %72 = "stablehlo.constant"() <{value = dense<[1.01171875, 0.0010000000474974513, 3.3999999521443642e+38]> : tensor<3xf32>}> : () -> tensor<3xf32>
  %73 = "stablehlo.convert"(%72) : (tensor<3xf32>) -> tensor<3xbf16>
  %74 = "stablehlo.convert"(%73) : (tensor<3xbf16>) -> tensor<3xf32>
  %75 = tensor.cast %74 : tensor<3xf32> to tensor<*xf32>
  call @printMemrefF32(%75) : (tensor<*xf32>) -> ()
  // CHECK: sizes = [3] {{.*}}data =
  // CHECK-NEXT: [1.01562, 0.000999451, inf]
  %76 = "stablehlo.constant"() <{value = dense<[100000.0, 0.10000000149011612]> : tensor<2xf32>}> : () -> tensor<2xf32>
  %77 = "stablehlo.convert"(%76) : (tensor<2xf32>) -> tensor<2xf16>
  %78 = "stablehlo.convert"(%77) : (tensor<2xf16>) -> tensor<2xf32>
  %79 = tensor.cast %78 : tensor<2xf32> to tensor<*xf32>
  call @printMemrefF32(%79) : (tensor<*xf32>) -> ()
  // CHECK: sizes = [2] {{.*}}data =
  // CHECK-NEXT: [inf, 0.0999756]
  %80 = "stablehlo.constant"() <{value = dense<[0.1]> : tensor<1xf64>}> : () -> tensor<1xf64>
  %81 = "stablehlo.convert"(%80) : (tensor<1xf64>) -> tensor<1xf32>
  %82 = tensor.cast %81 : tensor<1xf32> to tensor<*xf32>
  call @printMemrefF32(%82) : (tensor<*xf32>) -> ()
  // CHECK: sizes = [1] {{.*}}data =
  // CHECK-NEXT: [0.1]
  %83 = "stablehlo.constant"() <{value = dense<[0.5]> : tensor<1xf32>}> : () -> tensor<1xf32>
  %84 = "stablehlo.convert"(%83) : (tensor<1xf32>) -> tensor<1xf64>
  %85 = tensor.cast %84 : tensor<1xf64> to tensor<*xf64>
  call @printMemrefF64(%85) : (tensor<*xf64>) -> ()
  // CHECK: sizes = [1] {{.*}}data =
  // CHECK-NEXT: [0.5]
  %86 = "stablehlo.constant"() <{value = dense<[1.5, 70000.0]> : tensor<2xbf16>}> : () -> tensor<2xbf16>
  %87 = "stablehlo.convert"(%86) : (tensor<2xbf16>) -> tensor<2xf16>
  %88 = "stablehlo.convert"(%87) : (tensor<2xf16>) -> tensor<2xf32>
  %89 = tensor.cast %88 : tensor<2xf32> to tensor<*xf32>
  call @printMemrefF32(%89) : (tensor<*xf32>) -> ()
  // CHECK: sizes = [2] {{.*}}data =
  // CHECK-NEXT: [1.5, inf]
  %90 = "stablehlo.constant"() <{value = dense<[1.5, 3.0]> : tensor<2xf16>}> : () -> tensor<2xf16>
  %91 = "stablehlo.convert"(%90) : (tensor<2xf16>) -> tensor<2xbf16>
  %92 = "stablehlo.convert"(%91) : (tensor<2xbf16>) -> tensor<2xf32>
  %93 = tensor.cast %92 : tensor<2xf32> to tensor<*xf32>
  call @printMemrefF32(%93) : (tensor<*xf32>) -> ()
  // CHECK: sizes = [2] {{.*}}data =
  // CHECK-NEXT: [1.5, 3]

  // The same bits as another type: 1.0 is 0x3F800000 = 1065353216.
  %94 = "stablehlo.constant"() <{value = dense<[1.0, -0.0]> : tensor<2xf32>}> : () -> tensor<2xf32>
  %95 = "stablehlo.bitcast_convert"(%94) : (tensor<2xf32>) -> tensor<2xi32>
  %96 = tensor.cast %95 : tensor<2xi32> to tensor<*xi32>
  call @printMemrefI32(%96) : (tensor<*xi32>) -> ()
  // CHECK: sizes = [2] {{.*}}data =
  // CHECK-NEXT: [1065353216, -2147483648]
  %97 = "stablehlo.constant"() <{value = dense<[4294967295, 3]> : tensor<2xui32>}> : () -> tensor<2xui32>
  %98 = "stablehlo.bitcast_convert"(%97) : (tensor<2xui32>) -> tensor<2xi32>
  %99 = tensor.cast %98 : tensor<2xi32> to tensor<*xi32>
  call @printMemrefI32(%99) : (tensor<*xi32>) -> ()
  // CHECK: sizes = [2] {{.*}}data =
  // CHECK-NEXT: [-1, 3]

  // Split into bytes, lowest first: 1.0 and 0x04030201. And back.
  %100 = "stablehlo.constant"() <{value = dense<[1065353216, 67305985]> : tensor<2xi32>}> : () -> tensor<2xi32>
  %101 = "stablehlo.bitcast_convert"(%100) : (tensor<2xi32>) -> tensor<2x4xi8>
  %102 = "stablehlo.convert"(%101) : (tensor<2x4xi8>) -> tensor<2x4xi32>
  %103 = "stablehlo.reshape"(%102) : (tensor<2x4xi32>) -> tensor<8xi32>
  %104 = tensor.cast %103 : tensor<8xi32> to tensor<*xi32>
  call @printMemrefI32(%104) : (tensor<*xi32>) -> ()
  // CHECK: sizes = [8] {{.*}}data =
  // CHECK-NEXT: [0, 0, -128, 63, 1, 2, 3, 4]
  %105 = "stablehlo.bitcast_convert"(%101) : (tensor<2x4xi8>) -> tensor<2xf32>
  %106 = tensor.cast %105 : tensor<2xf32> to tensor<*xf32>
  call @printMemrefF32(%106) : (tensor<*xf32>) -> ()
  // CHECK: sizes = [2] {{.*}}data =
  // CHECK-NEXT: [1, 1.53999e-36]
  return
}
