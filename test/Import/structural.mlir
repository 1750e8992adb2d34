// RUN: %S/Inputs/run.sh %s | FileCheck %s

// Ops that move elements. x is 2x3: [[1, 2, 3], [4, 5, 6]].

func.func private @printMemrefF32(tensor<*xf32>) attributes {llvm.emit_c_interface}
func.func private @printMemrefF64(tensor<*xf64>) attributes {llvm.emit_c_interface}
func.func private @printMemrefI32(tensor<*xi32>) attributes {llvm.emit_c_interface}
func.func private @printMemrefI64(tensor<*xi64>) attributes {llvm.emit_c_interface}

func.func @main() {
  %1 = "stablehlo.constant"() <{value = dense<[[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]]> : tensor<2x3xf32>}> : () -> tensor<2x3xf32>

  // transpose: [[1, 4], [2, 5], [3, 6]].
  %2 = "stablehlo.transpose"(%1) <{permutation = array<i64: 1, 0>}> : (tensor<2x3xf32>) -> tensor<3x2xf32>
  %3 = "stablehlo.reshape"(%2) : (tensor<3x2xf32>) -> tensor<6xf32>
  %4 = tensor.cast %3 : tensor<6xf32> to tensor<*xf32>
  call @printMemrefF32(%4) : (tensor<*xf32>) -> ()
  // CHECK: sizes = [6] {{.*}}data =
  // CHECK-NEXT: [1, 4, 2, 5, 3, 6]
  %5 = "stablehlo.constant"() <{value = dense<[[[0, 1, 2, 3], [4, 5, 6, 7], [8, 9, 10, 11]], [[12, 13, 14, 15], [16, 17, 18, 19], [20, 21, 22, 23]]]> : tensor<2x3x4xi32>}> : () -> tensor<2x3x4xi32>
  %6 = "stablehlo.transpose"(%5) <{permutation = array<i64: 2, 0, 1>}> : (tensor<2x3x4xi32>) -> tensor<4x2x3xi32>
  %7 = "stablehlo.reshape"(%6) : (tensor<4x2x3xi32>) -> tensor<24xi32>
  %8 = tensor.cast %7 : tensor<24xi32> to tensor<*xi32>
  call @printMemrefI32(%8) : (tensor<*xi32>) -> ()
  // CHECK: sizes = [24] {{.*}}data =
  // CHECK-NEXT: [0, 4, 8, 12, 16, 20, 1, 5, 9, 13, 17, 21, 2, 6, 10, 14, 18, 22, 3, 7, 11, 15, 19, 23]

  // reverse of dimension 1, then of both.
  %9 = "stablehlo.reverse"(%1) <{dimensions = array<i64: 1>}> : (tensor<2x3xf32>) -> tensor<2x3xf32>
  %10 = "stablehlo.reshape"(%9) : (tensor<2x3xf32>) -> tensor<6xf32>
  %11 = tensor.cast %10 : tensor<6xf32> to tensor<*xf32>
  call @printMemrefF32(%11) : (tensor<*xf32>) -> ()
  // CHECK: sizes = [6] {{.*}}data =
  // CHECK-NEXT: [3, 2, 1, 6, 5, 4]
  %12 = "stablehlo.reverse"(%1) <{dimensions = array<i64: 0, 1>}> : (tensor<2x3xf32>) -> tensor<2x3xf32>
  %13 = "stablehlo.reshape"(%12) : (tensor<2x3xf32>) -> tensor<6xf32>
  %14 = tensor.cast %13 : tensor<6xf32> to tensor<*xf32>
  call @printMemrefF32(%14) : (tensor<*xf32>) -> ()
  // CHECK: sizes = [6] {{.*}}data =
  // CHECK-NEXT: [6, 5, 4, 3, 2, 1]

  // slice: rows [1, 2), columns 0 and 2; the first columns; nothing.
  %15 = "stablehlo.slice"(%1) <{start_indices = array<i64: 1, 0>, limit_indices = array<i64: 2, 3>, strides = array<i64: 1, 2>}> : (tensor<2x3xf32>) -> tensor<1x2xf32>
  %16 = "stablehlo.reshape"(%15) : (tensor<1x2xf32>) -> tensor<2xf32>
  %17 = tensor.cast %16 : tensor<2xf32> to tensor<*xf32>
  call @printMemrefF32(%17) : (tensor<*xf32>) -> ()
  // CHECK: sizes = [2] {{.*}}data =
  // CHECK-NEXT: [4, 6]
  %18 = "stablehlo.slice"(%1) <{start_indices = array<i64: 0, 0>, limit_indices = array<i64: 2, 2>, strides = array<i64: 1, 1>}> : (tensor<2x3xf32>) -> tensor<2x2xf32>
  %19 = "stablehlo.reshape"(%18) : (tensor<2x2xf32>) -> tensor<4xf32>
  %20 = tensor.cast %19 : tensor<4xf32> to tensor<*xf32>
  call @printMemrefF32(%20) : (tensor<*xf32>) -> ()
  // CHECK: sizes = [4] {{.*}}data =
  // CHECK-NEXT: [1, 2, 4, 5]
  %21 = "stablehlo.slice"(%1) <{start_indices = array<i64: 0, 1>, limit_indices = array<i64: 1, 3>, strides = array<i64: 1, 1>}> : (tensor<2x3xf32>) -> tensor<1x2xf32>
  %22 = "stablehlo.reshape"(%21) : (tensor<1x2xf32>) -> tensor<2xf32>
  %23 = tensor.cast %22 : tensor<2xf32> to tensor<*xf32>
  call @printMemrefF32(%23) : (tensor<*xf32>) -> ()
  // CHECK: sizes = [2] {{.*}}data =
  // CHECK-NEXT: [2, 3]
  %24 = "stablehlo.slice"(%1) <{start_indices = array<i64: 2, 0>, limit_indices = array<i64: 2, 3>, strides = array<i64: 1, 1>}> : (tensor<2x3xf32>) -> tensor<0x3xf32>

  // broadcast_in_dim: a vector as rows, as columns; a dimension of size 1 repeated; a scalar.
  %25 = "stablehlo.constant"() <{value = dense<[7.0, 8.0]> : tensor<2xf32>}> : () -> tensor<2xf32>
  %26 = "stablehlo.broadcast_in_dim"(%25) <{broadcast_dimensions = array<i64: 1>}> : (tensor<2xf32>) -> tensor<3x2xf32>
  %27 = "stablehlo.reshape"(%26) : (tensor<3x2xf32>) -> tensor<6xf32>
  %28 = tensor.cast %27 : tensor<6xf32> to tensor<*xf32>
  call @printMemrefF32(%28) : (tensor<*xf32>) -> ()
  // CHECK: sizes = [6] {{.*}}data =
  // CHECK-NEXT: [7, 8, 7, 8, 7, 8]
  %29 = "stablehlo.broadcast_in_dim"(%25) <{broadcast_dimensions = array<i64: 0>}> : (tensor<2xf32>) -> tensor<2x3xf32>
  %30 = "stablehlo.reshape"(%29) : (tensor<2x3xf32>) -> tensor<6xf32>
  %31 = tensor.cast %30 : tensor<6xf32> to tensor<*xf32>
  call @printMemrefF32(%31) : (tensor<*xf32>) -> ()
  // CHECK: sizes = [6] {{.*}}data =
  // CHECK-NEXT: [7, 7, 7, 8, 8, 8]
  %32 = "stablehlo.constant"() <{value = dense<[[7.0], [8.0]]> : tensor<2x1xf32>}> : () -> tensor<2x1xf32>
  %33 = "stablehlo.broadcast_in_dim"(%32) <{broadcast_dimensions = array<i64: 0, 1>}> : (tensor<2x1xf32>) -> tensor<2x3xf32>
  %34 = "stablehlo.reshape"(%33) : (tensor<2x3xf32>) -> tensor<6xf32>
  %35 = tensor.cast %34 : tensor<6xf32> to tensor<*xf32>
  call @printMemrefF32(%35) : (tensor<*xf32>) -> ()
  // CHECK: sizes = [6] {{.*}}data =
  // CHECK-NEXT: [7, 7, 7, 8, 8, 8]
  %36 = "stablehlo.broadcast_in_dim"(%32) <{broadcast_dimensions = array<i64: 2, 0>}> : (tensor<2x1xf32>) -> tensor<2x1x2xf32>
  %37 = "stablehlo.reshape"(%36) : (tensor<2x1x2xf32>) -> tensor<4xf32>
  %38 = tensor.cast %37 : tensor<4xf32> to tensor<*xf32>
  call @printMemrefF32(%38) : (tensor<*xf32>) -> ()
  // CHECK: sizes = [4] {{.*}}data =
  // CHECK-NEXT: [7, 8, 7, 8]
  %39 = "stablehlo.constant"() <{value = dense<9.0> : tensor<f32>}> : () -> tensor<f32>
  %40 = "stablehlo.broadcast_in_dim"(%39) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<2x2xf32>
  %41 = "stablehlo.reshape"(%40) : (tensor<2x2xf32>) -> tensor<4xf32>
  %42 = tensor.cast %41 : tensor<4xf32> to tensor<*xf32>
  call @printMemrefF32(%42) : (tensor<*xf32>) -> ()
  // CHECK: sizes = [4] {{.*}}data =
  // CHECK-NEXT: [9, 9, 9, 9]
  %43 = "stablehlo.broadcast"(%25) <{broadcast_sizes = array<i64: 2>}> : (tensor<2xf32>) -> tensor<2x2xf32>
  %44 = "stablehlo.reshape"(%43) : (tensor<2x2xf32>) -> tensor<4xf32>
  %45 = tensor.cast %44 : tensor<4xf32> to tensor<*xf32>
  call @printMemrefF32(%45) : (tensor<*xf32>) -> ()
  // CHECK: sizes = [4] {{.*}}data =
  // CHECK-NEXT: [7, 8, 7, 8]

  // iota
  %46 = "stablehlo.iota"() <{iota_dimension = 1 : i64}> : () -> tensor<2x3xi32>
  %47 = "stablehlo.reshape"(%46) : (tensor<2x3xi32>) -> tensor<6xi32>
  %48 = tensor.cast %47 : tensor<6xi32> to tensor<*xi32>
  call @printMemrefI32(%48) : (tensor<*xi32>) -> ()
  // CHECK: sizes = [6] {{.*}}data =
  // CHECK-NEXT: [0, 1, 2, 0, 1, 2]
  %49 = "stablehlo.iota"() <{iota_dimension = 0 : i64}> : () -> tensor<2x3xf32>
  %50 = "stablehlo.reshape"(%49) : (tensor<2x3xf32>) -> tensor<6xf32>
  %51 = tensor.cast %50 : tensor<6xf32> to tensor<*xf32>
  call @printMemrefF32(%51) : (tensor<*xf32>) -> ()
  // CHECK: sizes = [6] {{.*}}data =
  // CHECK-NEXT: [0, 0, 0, 1, 1, 1]
  %52 = "stablehlo.iota"() <{iota_dimension = 0 : i64}> : () -> tensor<3xbf16>
  %53 = "stablehlo.convert"(%52) : (tensor<3xbf16>) -> tensor<3xf32>
  %54 = tensor.cast %53 : tensor<3xf32> to tensor<*xf32>
  call @printMemrefF32(%54) : (tensor<*xf32>) -> ()
  // CHECK: sizes = [3] {{.*}}data =
  // CHECK-NEXT: [0, 1, 2]
  %55 = "stablehlo.iota"() <{iota_dimension = 0 : i64}> : () -> tensor<3xui8>
  %56 = "stablehlo.convert"(%55) : (tensor<3xui8>) -> tensor<3xi32>
  %57 = tensor.cast %56 : tensor<3xi32> to tensor<*xi32>
  call @printMemrefI32(%57) : (tensor<*xi32>) -> ()
  // CHECK: sizes = [3] {{.*}}data =
  // CHECK-NEXT: [0, 1, 2]

  // reshape: in groups, across groups, from and to a scalar.
  %58 = "stablehlo.reshape"(%1) : (tensor<2x3xf32>) -> tensor<3x2xf32>
  %59 = "stablehlo.transpose"(%58) <{permutation = array<i64: 1, 0>}> : (tensor<3x2xf32>) -> tensor<2x3xf32>
  %60 = "stablehlo.reshape"(%59) : (tensor<2x3xf32>) -> tensor<6xf32>
  %61 = tensor.cast %60 : tensor<6xf32> to tensor<*xf32>
  call @printMemrefF32(%61) : (tensor<*xf32>) -> ()
  // CHECK: sizes = [6] {{.*}}data =
  // CHECK-NEXT: [1, 3, 5, 2, 4, 6]
  %62 = "stablehlo.reshape"(%1) : (tensor<2x3xf32>) -> tensor<1x2x1x3xf32>
  %63 = "stablehlo.transpose"(%62) <{permutation = array<i64: 3, 0, 1, 2>}> : (tensor<1x2x1x3xf32>) -> tensor<3x1x2x1xf32>
  %64 = "stablehlo.reshape"(%63) : (tensor<3x1x2x1xf32>) -> tensor<6xf32>
  %65 = tensor.cast %64 : tensor<6xf32> to tensor<*xf32>
  call @printMemrefF32(%65) : (tensor<*xf32>) -> ()
  // CHECK: sizes = [6] {{.*}}data =
  // CHECK-NEXT: [1, 4, 2, 5, 3, 6]
  %66 = "stablehlo.reshape"(%39) : (tensor<f32>) -> tensor<1x1xf32>
  %67 = "stablehlo.reshape"(%66) : (tensor<1x1xf32>) -> tensor<f32>
  %68 = "stablehlo.negate"(%67) : (tensor<f32>) -> tensor<f32>
  %69 = "stablehlo.reshape"(%68) : (tensor<f32>) -> tensor<1xf32>
  %70 = tensor.cast %69 : tensor<1xf32> to tensor<*xf32>
  call @printMemrefF32(%70) : (tensor<*xf32>) -> ()
  // CHECK: sizes = [1] {{.*}}data =
  // CHECK-NEXT: [-9]

  // concatenate along dimension 1: [[1, 2, 3, 7], [4, 5, 6, 8]]; three times along dimension 0.
  %71 = "stablehlo.concatenate"(%1, %32) <{dimension = 1 : i64}> : (tensor<2x3xf32>, tensor<2x1xf32>) -> tensor<2x4xf32>
  %72 = "stablehlo.reshape"(%71) : (tensor<2x4xf32>) -> tensor<8xf32>
  %73 = tensor.cast %72 : tensor<8xf32> to tensor<*xf32>
  call @printMemrefF32(%73) : (tensor<*xf32>) -> ()
  // CHECK: sizes = [8] {{.*}}data =
  // CHECK-NEXT: [1, 2, 3, 7, 4, 5, 6, 8]
  %74 = "stablehlo.concatenate"(%25, %25, %25) <{dimension = 0 : i64}> : (tensor<2xf32>, tensor<2xf32>, tensor<2xf32>) -> tensor<6xf32>
  %75 = tensor.cast %74 : tensor<6xf32> to tensor<*xf32>
  call @printMemrefF32(%75) : (tensor<*xf32>) -> ()
  // CHECK: sizes = [6] {{.*}}data =
  // CHECK-NEXT: [7, 8, 7, 8, 7, 8]

  // pad with 9.
  // Low, high and both: [[9, 1, 2, 3, 9, 9], [9, 4, 5, 6, 9, 9], [9, …]].
  %76 = "stablehlo.pad"(%1, %39) <{edge_padding_low = array<i64: 0, 1>, edge_padding_high = array<i64: 1, 2>, interior_padding = array<i64: 0, 0>}> : (tensor<2x3xf32>, tensor<f32>) -> tensor<3x6xf32>
  %77 = "stablehlo.reshape"(%76) : (tensor<3x6xf32>) -> tensor<18xf32>
  %78 = tensor.cast %77 : tensor<18xf32> to tensor<*xf32>
  call @printMemrefF32(%78) : (tensor<*xf32>) -> ()
  // CHECK: sizes = [18] {{.*}}data =
  // CHECK-NEXT: [9, 1, 2, 3, 9, 9, 9, 4, 5, 6, 9, 9, 9, 9, 9, 9, 9, 9]
  // Between: [[1, 9, 9, 2, 9, 9, 3], [9, …], [4, …]].
  %79 = "stablehlo.pad"(%1, %39) <{edge_padding_low = array<i64: 0, 0>, edge_padding_high = array<i64: 0, 0>, interior_padding = array<i64: 1, 2>}> : (tensor<2x3xf32>, tensor<f32>) -> tensor<3x7xf32>
  %80 = "stablehlo.reshape"(%79) : (tensor<3x7xf32>) -> tensor<21xf32>
  %81 = tensor.cast %80 : tensor<21xf32> to tensor<*xf32>
  call @printMemrefF32(%81) : (tensor<*xf32>) -> ()
  // CHECK: sizes = [21] {{.*}}data =
  // CHECK-NEXT: [1, 9, 9, 2, 9, 9, 3, 9, 9, 9, 9, 9, 9, 9, 4, 9, 9, 5, 9, 9, 6]
  // Negative: the last row without its last element.
  %82 = "stablehlo.pad"(%1, %39) <{edge_padding_low = array<i64: -1, 0>, edge_padding_high = array<i64: 0, -1>, interior_padding = array<i64: 0, 0>}> : (tensor<2x3xf32>, tensor<f32>) -> tensor<1x2xf32>
  %83 = "stablehlo.reshape"(%82) : (tensor<1x2xf32>) -> tensor<2xf32>
  %84 = tensor.cast %83 : tensor<2xf32> to tensor<*xf32>
  call @printMemrefF32(%84) : (tensor<*xf32>) -> ()
  // CHECK: sizes = [2] {{.*}}data =
  // CHECK-NEXT: [4, 5]
  // 1 9 2 9 3 without its first element, two behind.
  %85 = "stablehlo.pad"(%1, %39) <{edge_padding_low = array<i64: 0, -1>, edge_padding_high = array<i64: 0, 2>, interior_padding = array<i64: 0, 1>}> : (tensor<2x3xf32>, tensor<f32>) -> tensor<2x6xf32>
  %86 = "stablehlo.reshape"(%85) : (tensor<2x6xf32>) -> tensor<12xf32>
  %87 = tensor.cast %86 : tensor<12xf32> to tensor<*xf32>
  call @printMemrefF32(%87) : (tensor<*xf32>) -> ()
  // CHECK: sizes = [12] {{.*}}data =
  // CHECK-NEXT: [9, 2, 9, 3, 9, 9, 9, 5, 9, 6, 9, 9]
  // 1 9 2 9 3 without two on both sides: only 2.
  %88 = "stablehlo.pad"(%1, %39) <{edge_padding_low = array<i64: 0, -2>, edge_padding_high = array<i64: 0, -2>, interior_padding = array<i64: 0, 1>}> : (tensor<2x3xf32>, tensor<f32>) -> tensor<2x1xf32>
  %89 = "stablehlo.reshape"(%88) : (tensor<2x1xf32>) -> tensor<2xf32>
  %90 = tensor.cast %89 : tensor<2xf32> to tensor<*xf32>
  call @printMemrefF32(%90) : (tensor<*xf32>) -> ()
  // CHECK: sizes = [2] {{.*}}data =
  // CHECK-NEXT: [2, 5]
  // 1 9 2 9 3 without the first three: 9 3.
  %91 = "stablehlo.pad"(%1, %39) <{edge_padding_low = array<i64: 0, -3>, edge_padding_high = array<i64: 0, 0>, interior_padding = array<i64: 0, 1>}> : (tensor<2x3xf32>, tensor<f32>) -> tensor<2x2xf32>
  %92 = "stablehlo.reshape"(%91) : (tensor<2x2xf32>) -> tensor<4xf32>
  %93 = tensor.cast %92 : tensor<4xf32> to tensor<*xf32>
  call @printMemrefF32(%93) : (tensor<*xf32>) -> ()
  // CHECK: sizes = [4] {{.*}}data =
  // CHECK-NEXT: [9, 3, 9, 6]
  // All of x is cut away.
  %94 = "stablehlo.pad"(%1, %39) <{edge_padding_low = array<i64: 0, -3>, edge_padding_high = array<i64: 0, 3>, interior_padding = array<i64: 0, 0>}> : (tensor<2x3xf32>, tensor<f32>) -> tensor<2x3xf32>
  %95 = "stablehlo.reshape"(%94) : (tensor<2x3xf32>) -> tensor<6xf32>
  %96 = tensor.cast %95 : tensor<6xf32> to tensor<*xf32>
  call @printMemrefF32(%96) : (tensor<*xf32>) -> ()
  // CHECK: sizes = [6] {{.*}}data =
  // CHECK-NEXT: [9, 9, 9, 9, 9, 9]

  // Constants: a splat, a list, a boolean list, data from a resource.
  %97 = "stablehlo.constant"() <{value = dense<2.5> : tensor<3xf32>}> : () -> tensor<3xf32>
  %98 = tensor.cast %97 : tensor<3xf32> to tensor<*xf32>
  call @printMemrefF32(%98) : (tensor<*xf32>) -> ()
  // CHECK: sizes = [3] {{.*}}data =
  // CHECK-NEXT: [2.5, 2.5, 2.5]
  %99 = "stablehlo.constant"() <{value = dense_resource<two> : tensor<2xf32>}> : () -> tensor<2xf32>
  %100 = tensor.cast %99 : tensor<2xf32> to tensor<*xf32>
  call @printMemrefF32(%100) : (tensor<*xf32>) -> ()
  // 0x3F800000 is 1, 0x40000000 is 2.
  // CHECK: sizes = [2] {{.*}}data =
  // CHECK-NEXT: [1, 2]
  %101 = "stablehlo.constant"() <{value = dense_resource<flags> : tensor<3xi1>}> : () -> tensor<3xi1>
  %102 = "stablehlo.convert"(%101) : (tensor<3xi1>) -> tensor<3xi32>
  %103 = tensor.cast %102 : tensor<3xi32> to tensor<*xi32>
  call @printMemrefI32(%103) : (tensor<*xi32>) -> ()
  // CHECK: sizes = [3] {{.*}}data =
  // CHECK-NEXT: [1, 0, 1]
  %104 = "stablehlo.constant"() <{value = dense<[200, 1]> : tensor<2xui8>}> : () -> tensor<2xui8>
  %105 = "stablehlo.convert"(%104) : (tensor<2xui8>) -> tensor<2xi32>
  %106 = tensor.cast %105 : tensor<2xi32> to tensor<*xi32>
  call @printMemrefI32(%106) : (tensor<*xi32>) -> ()
  // CHECK: sizes = [2] {{.*}}data =
  // CHECK-NEXT: [200, 1]
  return
}

{-#
  dialect_resources: {
    builtin: {
      two: "0x040000000000803F00000040",
      flags: "0x01000000010001"
    }
  }
#-}
