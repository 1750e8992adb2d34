// RUN: %S/Inputs/run.sh %s | FileCheck %s

// Element-wise ops on integers, signed and unsigned, and on booleans. What C leaves undefined is as XLA has it.

func.func private @printMemrefF32(tensor<*xf32>) attributes {llvm.emit_c_interface}
func.func private @printMemrefF64(tensor<*xf64>) attributes {llvm.emit_c_interface}
func.func private @printMemrefI32(tensor<*xi32>) attributes {llvm.emit_c_interface}
func.func private @printMemrefI64(tensor<*xi64>) attributes {llvm.emit_c_interface}

func.func @main() {
  %1 = "stablehlo.constant"() <{value = dense<[7, -7, 7, -7, 5, -2147483648, -2147483648]> : tensor<7xi32>}> : () -> tensor<7xi32>
  %2 = "stablehlo.constant"() <{value = dense<[2, 2, -2, -2, 0, -1, 0]> : tensor<7xi32>}> : () -> tensor<7xi32>

  // x / 0 is -1, the smallest / -1 is itself; x % 0 is x. The remainder has the sign of x.
  %3 = "stablehlo.divide"(%1, %2) : (tensor<7xi32>, tensor<7xi32>) -> tensor<7xi32>
  %4 = tensor.cast %3 : tensor<7xi32> to tensor<*xi32>
  call @printMemrefI32(%4) : (tensor<*xi32>) -> ()
  // CHECK: sizes = [7] {{.*}}data =
  // CHECK-NEXT: [3, -3, -3, 3, -1, -2147483648, -1]
  %5 = "stablehlo.remainder"(%1, %2) : (tensor<7xi32>, tensor<7xi32>) -> tensor<7xi32>
  %6 = tensor.cast %5 : tensor<7xi32> to tensor<*xi32>
  call @printMemrefI32(%6) : (tensor<*xi32>) -> ()
  // CHECK: sizes = [7] {{.*}}data =
  // CHECK-NEXT: [1, -1, 1, -1, 5, 0, -2147483648]

  // Unsigned: x / 0 is the largest number.
  %7 = "stablehlo.constant"() <{value = dense<[7, 4294967295, 5]> : tensor<3xui32>}> : () -> tensor<3xui32>
  %8 = "stablehlo.constant"() <{value = dense<[2, 2, 0]> : tensor<3xui32>}> : () -> tensor<3xui32>
  %9 = "stablehlo.divide"(%7, %8) : (tensor<3xui32>, tensor<3xui32>) -> tensor<3xui32>
  %10 = "stablehlo.convert"(%9) : (tensor<3xui32>) -> tensor<3xi64>
  %11 = tensor.cast %10 : tensor<3xi64> to tensor<*xi64>
  call @printMemrefI64(%11) : (tensor<*xi64>) -> ()
  // CHECK: sizes = [3] {{.*}}data =
  // CHECK-NEXT: [3, 2147483647, 4294967295]
  %12 = "stablehlo.remainder"(%7, %8) : (tensor<3xui32>, tensor<3xui32>) -> tensor<3xui32>
  %13 = "stablehlo.convert"(%12) : (tensor<3xui32>) -> tensor<3xi64>
  %14 = tensor.cast %13 : tensor<3xi64> to tensor<*xi64>
  call @printMemrefI64(%14) : (tensor<*xi64>) -> ()
  // CHECK: sizes = [3] {{.*}}data =
  // CHECK-NEXT: [1, 1, 5]
  %15 = "stablehlo.maximum"(%7, %8) : (tensor<3xui32>, tensor<3xui32>) -> tensor<3xui32>
  %16 = "stablehlo.convert"(%15) : (tensor<3xui32>) -> tensor<3xi64>
  %17 = tensor.cast %16 : tensor<3xi64> to tensor<*xi64>
  call @printMemrefI64(%17) : (tensor<*xi64>) -> ()
  // CHECK: sizes = [3] {{.*}}data =
  // CHECK-NEXT: [7, 4294967295, 5]
  %18 = "stablehlo.compare"(%7, %8) <{comparison_direction = #stablehlo<comparison_direction GT>}> : (tensor<3xui32>, tensor<3xui32>) -> tensor<3xi1>
  %19 = "stablehlo.convert"(%18) : (tensor<3xi1>) -> tensor<3xi32>
  %20 = tensor.cast %19 : tensor<3xi32> to tensor<*xi32>
  call @printMemrefI32(%20) : (tensor<*xi32>) -> ()
  // CHECK: sizes = [3] {{.*}}data =
  // CHECK-NEXT: [1, 1, 1]
  %21 = "stablehlo.sign"(%8) : (tensor<3xui32>) -> tensor<3xui32>
  %22 = "stablehlo.convert"(%21) : (tensor<3xui32>) -> tensor<3xi64>
  %23 = tensor.cast %22 : tensor<3xi64> to tensor<*xi64>
  call @printMemrefI64(%23) : (tensor<*xi64>) -> ()
  // CHECK: sizes = [3] {{.*}}data =
  // CHECK-NEXT: [1, 1, 0]

  // Signed order, and arithmetic that wraps around.
  %24 = "stablehlo.constant"() <{value = dense<[3, -4, 2147483647, -2147483648]> : tensor<4xi32>}> : () -> tensor<4xi32>
  %25 = "stablehlo.constant"() <{value = dense<[-5, 6, 1, 1]> : tensor<4xi32>}> : () -> tensor<4xi32>
  %26 = "stablehlo.add"(%24, %25) : (tensor<4xi32>, tensor<4xi32>) -> tensor<4xi32>
  %27 = tensor.cast %26 : tensor<4xi32> to tensor<*xi32>
  call @printMemrefI32(%27) : (tensor<*xi32>) -> ()
  // add
  // CHECK: sizes = [4] {{.*}}data =
  // CHECK-NEXT: [-2, 2, -2147483648, -2147483647]
  %28 = "stablehlo.subtract"(%24, %25) : (tensor<4xi32>, tensor<4xi32>) -> tensor<4xi32>
  %29 = tensor.cast %28 : tensor<4xi32> to tensor<*xi32>
  call @printMemrefI32(%29) : (tensor<*xi32>) -> ()
  // subtract
  // CHECK: sizes = [4] {{.*}}data =
  // CHECK-NEXT: [8, -10, 2147483646, 2147483647]
  %30 = "stablehlo.multiply"(%24, %25) : (tensor<4xi32>, tensor<4xi32>) -> tensor<4xi32>
  %31 = tensor.cast %30 : tensor<4xi32> to tensor<*xi32>
  call @printMemrefI32(%31) : (tensor<*xi32>) -> ()
  // multiply
  // CHECK: sizes = [4] {{.*}}data =
  // CHECK-NEXT: [-15, -24, 2147483647, -2147483648]
  %32 = "stablehlo.maximum"(%24, %25) : (tensor<4xi32>, tensor<4xi32>) -> tensor<4xi32>
  %33 = tensor.cast %32 : tensor<4xi32> to tensor<*xi32>
  call @printMemrefI32(%33) : (tensor<*xi32>) -> ()
  // maximum
  // CHECK: sizes = [4] {{.*}}data =
  // CHECK-NEXT: [3, 6, 2147483647, 1]
  %34 = "stablehlo.minimum"(%24, %25) : (tensor<4xi32>, tensor<4xi32>) -> tensor<4xi32>
  %35 = tensor.cast %34 : tensor<4xi32> to tensor<*xi32>
  call @printMemrefI32(%35) : (tensor<*xi32>) -> ()
  // minimum
  // CHECK: sizes = [4] {{.*}}data =
  // CHECK-NEXT: [-5, -4, 1, -2147483648]
  %36 = "stablehlo.and"(%24, %25) : (tensor<4xi32>, tensor<4xi32>) -> tensor<4xi32>
  %37 = tensor.cast %36 : tensor<4xi32> to tensor<*xi32>
  call @printMemrefI32(%37) : (tensor<*xi32>) -> ()
  // and
  // CHECK: sizes = [4] {{.*}}data =
  // CHECK-NEXT: [3, 4, 1, 0]
  %38 = "stablehlo.or"(%24, %25) : (tensor<4xi32>, tensor<4xi32>) -> tensor<4xi32>
  %39 = tensor.cast %38 : tensor<4xi32> to tensor<*xi32>
  call @printMemrefI32(%39) : (tensor<*xi32>) -> ()
  // or
  // CHECK: sizes = [4] {{.*}}data =
  // CHECK-NEXT: [-5, -2, 2147483647, -2147483647]
  %40 = "stablehlo.xor"(%24, %25) : (tensor<4xi32>, tensor<4xi32>) -> tensor<4xi32>
  %41 = tensor.cast %40 : tensor<4xi32> to tensor<*xi32>
  call @printMemrefI32(%41) : (tensor<*xi32>) -> ()
  // xor
  // CHECK: sizes = [4] {{.*}}data =
  // CHECK-NEXT: [-8, -6, 2147483646, -2147483647]
  %42 = "stablehlo.abs"(%24) : (tensor<4xi32>) -> tensor<4xi32>
  %43 = tensor.cast %42 : tensor<4xi32> to tensor<*xi32>
  call @printMemrefI32(%43) : (tensor<*xi32>) -> ()
  // abs
  // CHECK: sizes = [4] {{.*}}data =
  // CHECK-NEXT: [3, 4, 2147483647, -2147483648]
  %44 = "stablehlo.negate"(%24) : (tensor<4xi32>) -> tensor<4xi32>
  %45 = tensor.cast %44 : tensor<4xi32> to tensor<*xi32>
  call @printMemrefI32(%45) : (tensor<*xi32>) -> ()
  // negate
  // CHECK: sizes = [4] {{.*}}data =
  // CHECK-NEXT: [-3, 4, -2147483647, -2147483648]
  %46 = "stablehlo.sign"(%24) : (tensor<4xi32>) -> tensor<4xi32>
  %47 = tensor.cast %46 : tensor<4xi32> to tensor<*xi32>
  call @printMemrefI32(%47) : (tensor<*xi32>) -> ()
  // sign
  // CHECK: sizes = [4] {{.*}}data =
  // CHECK-NEXT: [1, -1, 1, -1]
  %48 = "stablehlo.not"(%24) : (tensor<4xi32>) -> tensor<4xi32>
  %49 = tensor.cast %48 : tensor<4xi32> to tensor<*xi32>
  call @printMemrefI32(%49) : (tensor<*xi32>) -> ()
  // not
  // CHECK: sizes = [4] {{.*}}data =
  // CHECK-NEXT: [-4, 3, -2147483648, 2147483647]
  %50 = "stablehlo.compare"(%24, %25) <{compare_type = #stablehlo<comparison_type SIGNED>, comparison_direction = #stablehlo<comparison_direction LT>}> : (tensor<4xi32>, tensor<4xi32>) -> tensor<4xi1>
  %51 = "stablehlo.convert"(%50) : (tensor<4xi1>) -> tensor<4xi32>
  %52 = tensor.cast %51 : tensor<4xi32> to tensor<*xi32>
  call @printMemrefI32(%52) : (tensor<*xi32>) -> ()
  // less
  // CHECK: sizes = [4] {{.*}}data =
  // CHECK-NEXT: [0, 1, 0, 1]

  // Powers: 2^10, (-3)^3, 5^0; to a negative power only 1 and -1 are more than 0.
  %53 = "stablehlo.constant"() <{value = dense<[2, -3, 5, 0, 1, -1, -1, 2, 0]> : tensor<9xi32>}> : () -> tensor<9xi32>
  %54 = "stablehlo.constant"() <{value = dense<[10, 3, 0, 0, -5, -3, -2, -1, -1]> : tensor<9xi32>}> : () -> tensor<9xi32>
  %55 = "stablehlo.power"(%53, %54) : (tensor<9xi32>, tensor<9xi32>) -> tensor<9xi32>
  %56 = tensor.cast %55 : tensor<9xi32> to tensor<*xi32>
  call @printMemrefI32(%56) : (tensor<*xi32>) -> ()
  // CHECK: sizes = [9] {{.*}}data =
  // CHECK-NEXT: [1024, -27, 1, 1, 1, -1, 1, 0, 0]

  // Exponents from 2^31 on: odd bases, then an even one. 3^(2^31 + 1) = 3 as 3^(2^30) = 1 modulo 2^32.
  %57 = "stablehlo.constant"() <{value = dense<[3, 2, 10]> : tensor<3xui32>}> : () -> tensor<3xui32>
  %58 = "stablehlo.constant"() <{value = dense<[2147483649, 2147483648, 3]> : tensor<3xui32>}> : () -> tensor<3xui32>
  %59 = "stablehlo.power"(%57, %58) : (tensor<3xui32>, tensor<3xui32>) -> tensor<3xui32>
  %60 = "stablehlo.convert"(%59) : (tensor<3xui32>) -> tensor<3xi64>
  %61 = tensor.cast %60 : tensor<3xi64> to tensor<*xi64>
  call @printMemrefI64(%61) : (tensor<*xi64>) -> ()
  // CHECK: sizes = [3] {{.*}}data =
  // CHECK-NEXT: [3, 0, 1000]

  // Shifts by the width or more, or by a negative number: 0, or the sign.
  %62 = "stablehlo.constant"() <{value = dense<[1, -8, -8, -8, 3]> : tensor<5xi32>}> : () -> tensor<5xi32>
  %63 = "stablehlo.constant"() <{value = dense<[4, 1, 32, -1, 31]> : tensor<5xi32>}> : () -> tensor<5xi32>
  %64 = "stablehlo.shift_left"(%62, %63) : (tensor<5xi32>, tensor<5xi32>) -> tensor<5xi32>
  %65 = tensor.cast %64 : tensor<5xi32> to tensor<*xi32>
  call @printMemrefI32(%65) : (tensor<*xi32>) -> ()
  // CHECK: sizes = [5] {{.*}}data =
  // CHECK-NEXT: [16, -16, 0, 0, -2147483648]
  %66 = "stablehlo.shift_right_arithmetic"(%62, %63) : (tensor<5xi32>, tensor<5xi32>) -> tensor<5xi32>
  %67 = tensor.cast %66 : tensor<5xi32> to tensor<*xi32>
  call @printMemrefI32(%67) : (tensor<*xi32>) -> ()
  // CHECK: sizes = [5] {{.*}}data =
  // CHECK-NEXT: [0, -4, -1, -1, 0]
  %68 = "stablehlo.shift_right_logical"(%62, %63) : (tensor<5xi32>, tensor<5xi32>) -> tensor<5xi32>
  %69 = tensor.cast %68 : tensor<5xi32> to tensor<*xi32>
  call @printMemrefI32(%69) : (tensor<*xi32>) -> ()
  // CHECK: sizes = [5] {{.*}}data =
  // CHECK-NEXT: [0, 2147483644, 0, 0, 0]

  // Bits of 0, 1, 255, -1 and -128 as i8.
  %70 = "stablehlo.constant"() <{value = dense<[0, 1, 127, -1, -128]> : tensor<5xi8>}> : () -> tensor<5xi8>
  %71 = "stablehlo.popcnt"(%70) : (tensor<5xi8>) -> tensor<5xi8>
  %72 = "stablehlo.convert"(%71) : (tensor<5xi8>) -> tensor<5xi32>
  %73 = tensor.cast %72 : tensor<5xi32> to tensor<*xi32>
  call @printMemrefI32(%73) : (tensor<*xi32>) -> ()
  // CHECK: sizes = [5] {{.*}}data =
  // CHECK-NEXT: [0, 1, 7, 8, 1]
  %74 = "stablehlo.count_leading_zeros"(%70) : (tensor<5xi8>) -> tensor<5xi8>
  %75 = "stablehlo.convert"(%74) : (tensor<5xi8>) -> tensor<5xi32>
  %76 = tensor.cast %75 : tensor<5xi32> to tensor<*xi32>
  call @printMemrefI32(%76) : (tensor<*xi32>) -> ()
  // CHECK: sizes = [5] {{.*}}data =
  // CHECK-NEXT: [8, 7, 1, 0, 0]

  // clamp in signed and in unsigned order.
  %77 = "stablehlo.constant"() <{value = dense<-2> : tensor<i8>}> : () -> tensor<i8>
  %78 = "stablehlo.constant"() <{value = dense<3> : tensor<i8>}> : () -> tensor<i8>
  %79 = "stablehlo.clamp"(%77, %70, %78) : (tensor<i8>, tensor<5xi8>, tensor<i8>) -> tensor<5xi8>
  %80 = "stablehlo.convert"(%79) : (tensor<5xi8>) -> tensor<5xi32>
  %81 = tensor.cast %80 : tensor<5xi32> to tensor<*xi32>
  call @printMemrefI32(%81) : (tensor<*xi32>) -> ()
  // CHECK: sizes = [5] {{.*}}data =
  // CHECK-NEXT: [0, 1, 3, -1, -2]
  %82 = "stablehlo.constant"() <{value = dense<2> : tensor<ui8>}> : () -> tensor<ui8>
  %83 = "stablehlo.constant"() <{value = dense<200> : tensor<ui8>}> : () -> tensor<ui8>
  %84 = "stablehlo.constant"() <{value = dense<[0, 100, 255]> : tensor<3xui8>}> : () -> tensor<3xui8>
  %85 = "stablehlo.clamp"(%82, %84, %83) : (tensor<ui8>, tensor<3xui8>, tensor<ui8>) -> tensor<3xui8>
  %86 = "stablehlo.convert"(%85) : (tensor<3xui8>) -> tensor<3xi32>
  %87 = tensor.cast %86 : tensor<3xi32> to tensor<*xi32>
  call @printMemrefI32(%87) : (tensor<*xi32>) -> ()
  // CHECK: sizes = [3] {{.*}}data =
  // CHECK-NEXT: [2, 100, 200]

  // Booleans: add is or, multiply is and; false < true.
  %88 = "stablehlo.constant"() <{value = dense<[true, true, false, false]> : tensor<4xi1>}> : () -> tensor<4xi1>
  %89 = "stablehlo.constant"() <{value = dense<[true, false, true, false]> : tensor<4xi1>}> : () -> tensor<4xi1>
  %90 = "stablehlo.add"(%88, %89) : (tensor<4xi1>, tensor<4xi1>) -> tensor<4xi1>
  %91 = "stablehlo.convert"(%90) : (tensor<4xi1>) -> tensor<4xi32>
  %92 = tensor.cast %91 : tensor<4xi32> to tensor<*xi32>
  call @printMemrefI32(%92) : (tensor<*xi32>) -> ()
  // add
  // CHECK: sizes = [4] {{.*}}data =
  // CHECK-NEXT: [1, 1, 1, 0]
  %93 = "stablehlo.multiply"(%88, %89) : (tensor<4xi1>, tensor<4xi1>) -> tensor<4xi1>
  %94 = "stablehlo.convert"(%93) : (tensor<4xi1>) -> tensor<4xi32>
  %95 = tensor.cast %94 : tensor<4xi32> to tensor<*xi32>
  call @printMemrefI32(%95) : (tensor<*xi32>) -> ()
  // multiply
  // CHECK: sizes = [4] {{.*}}data =
  // CHECK-NEXT: [1, 0, 0, 0]
  %96 = "stablehlo.maximum"(%88, %89) : (tensor<4xi1>, tensor<4xi1>) -> tensor<4xi1>
  %97 = "stablehlo.convert"(%96) : (tensor<4xi1>) -> tensor<4xi32>
  %98 = tensor.cast %97 : tensor<4xi32> to tensor<*xi32>
  call @printMemrefI32(%98) : (tensor<*xi32>) -> ()
  // maximum
  // CHECK: sizes = [4] {{.*}}data =
  // CHECK-NEXT: [1, 1, 1, 0]
  %99 = "stablehlo.minimum"(%88, %89) : (tensor<4xi1>, tensor<4xi1>) -> tensor<4xi1>
  %100 = "stablehlo.convert"(%99) : (tensor<4xi1>) -> tensor<4xi32>
  %101 = tensor.cast %100 : tensor<4xi32> to tensor<*xi32>
  call @printMemrefI32(%101) : (tensor<*xi32>) -> ()
  // minimum
  // CHECK: sizes = [4] {{.*}}data =
  // CHECK-NEXT: [1, 0, 0, 0]
  %102 = "stablehlo.and"(%88, %89) : (tensor<4xi1>, tensor<4xi1>) -> tensor<4xi1>
  %103 = "stablehlo.convert"(%102) : (tensor<4xi1>) -> tensor<4xi32>
  %104 = tensor.cast %103 : tensor<4xi32> to tensor<*xi32>
  call @printMemrefI32(%104) : (tensor<*xi32>) -> ()
  // and
  // CHECK: sizes = [4] {{.*}}data =
  // CHECK-NEXT: [1, 0, 0, 0]
  %105 = "stablehlo.or"(%88, %89) : (tensor<4xi1>, tensor<4xi1>) -> tensor<4xi1>
  %106 = "stablehlo.convert"(%105) : (tensor<4xi1>) -> tensor<4xi32>
  %107 = tensor.cast %106 : tensor<4xi32> to tensor<*xi32>
  call @printMemrefI32(%107) : (tensor<*xi32>) -> ()
  // or
  // CHECK: sizes = [4] {{.*}}data =
  // CHECK-NEXT: [1, 1, 1, 0]
  %108 = "stablehlo.xor"(%88, %89) : (tensor<4xi1>, tensor<4xi1>) -> tensor<4xi1>
  %109 = "stablehlo.convert"(%108) : (tensor<4xi1>) -> tensor<4xi32>
  %110 = tensor.cast %109 : tensor<4xi32> to tensor<*xi32>
  call @printMemrefI32(%110) : (tensor<*xi32>) -> ()
  // xor
  // CHECK: sizes = [4] {{.*}}data =
  // CHECK-NEXT: [0, 1, 1, 0]
  %111 = "stablehlo.not"(%88) : (tensor<4xi1>) -> tensor<4xi1>
  %112 = "stablehlo.convert"(%111) : (tensor<4xi1>) -> tensor<4xi32>
  %113 = tensor.cast %112 : tensor<4xi32> to tensor<*xi32>
  call @printMemrefI32(%113) : (tensor<*xi32>) -> ()
  // not
  // CHECK: sizes = [4] {{.*}}data =
  // CHECK-NEXT: [0, 0, 1, 1]
  %114 = "stablehlo.compare"(%88, %89) <{comparison_direction = #stablehlo<comparison_direction LT>}> : (tensor<4xi1>, tensor<4xi1>) -> tensor<4xi1>
  %115 = "stablehlo.convert"(%114) : (tensor<4xi1>) -> tensor<4xi32>
  %116 = tensor.cast %115 : tensor<4xi32> to tensor<*xi32>
  call @printMemrefI32(%116) : (tensor<*xi32>) -> ()
  // less
  // CHECK: sizes = [4] {{.*}}data =
  // CHECK-NEXT: [0, 0, 1, 0]

  // map runs its body on every element: (a - b) * 3.
  %117 = "stablehlo.constant"() <{value = dense<[5, 7]> : tensor<2xi32>}> : () -> tensor<2xi32>
  %118 = "stablehlo.constant"() <{value = dense<[1, 10]> : tensor<2xi32>}> : () -> tensor<2xi32>
  %119 = "stablehlo.map"(%117, %118) <{dimensions = array<i64: 0>}> ({
  ^bb0(%x: tensor<i32>, %y: tensor<i32>):
    %three = "stablehlo.constant"() <{value = dense<3> : tensor<i32>}> : () -> tensor<i32>
    %difference = "stablehlo.subtract"(%x, %y) : (tensor<i32>, tensor<i32>) -> tensor<i32>
    %product = "stablehlo.multiply"(%difference, %three) : (tensor<i32>, tensor<i32>) -> tensor<i32>
    "stablehlo.return"(%product) : (tensor<i32>) -> ()
  }) : (tensor<2xi32>, tensor<2xi32>) -> tensor<2xi32>
  %120 = tensor.cast %119 : tensor<2xi32> to tensor<*xi32>
  call @printMemrefI32(%120) : (tensor<*xi32>) -> ()
  // CHECK: sizes = [2] {{.*}}data =
  // CHECK-NEXT: [12, -9]
  return
}
