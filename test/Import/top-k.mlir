// RUN: %S/Inputs/run.sh %s | FileCheck %s

// The largest elements and where they stand. Expected values are XLA's.

func.func private @printMemrefF32(tensor<*xf32>) attributes {llvm.emit_c_interface}
func.func private @printMemrefI32(tensor<*xi32>) attributes {llvm.emit_c_interface}

func.func @main() {

  // Two of four in each row. Of equal elements the first comes first: 7 stands at 0 and 2.
  %x0 = "stablehlo.constant"() <{value = dense<[[7.0, 1.0, 7.0, 3.0], [-1.0, -2.0, -3.0, -1.0]]> : tensor<2x4xf32>}> : () -> tensor<2x4xf32>
  %r0:2 = "chlo.top_k"(%x0) <{k = 2 : i64}> : (tensor<2x4xf32>) -> (tensor<2x2xf32>, tensor<2x2xi32>)
  %printed0 = tensor.cast %r0#0 : tensor<2x2xf32> to tensor<*xf32>
  call @printMemrefF32(%printed0) : (tensor<*xf32>) -> ()
  // CHECK: data =
  // CHECK-NEXT: {{\[\[}}7, 7],
  // CHECK-NEXT: [-1, -1]]
  %printed1 = tensor.cast %r0#1 : tensor<2x2xi32> to tensor<*xi32>
  call @printMemrefI32(%printed1) : (tensor<*xi32>) -> ()
  // CHECK: data =
  // CHECK-NEXT: {{\[\[}}0, 2],
  // CHECK-NEXT: [0, 3]]

  // All of five, which sorts them, in total order: NaN is the largest, 0 larger than -0.
  %x1 = "stablehlo.constant"() <{value = dense<[-0.0, 0x7FC00000, 0.0, 0x7F800000, -1.0]> : tensor<5xf32>}> : () -> tensor<5xf32>
  %r1:2 = "chlo.top_k"(%x1) <{k = 5 : i64}> : (tensor<5xf32>) -> (tensor<5xf32>, tensor<5xi32>)
  %printed2 = tensor.cast %r1#0 : tensor<5xf32> to tensor<*xf32>
  call @printMemrefF32(%printed2) : (tensor<*xf32>) -> ()
  // CHECK: data =
  // CHECK-NEXT: [nan, inf, 0, -0, -1]
  %printed3 = tensor.cast %r1#1 : tensor<5xi32> to tensor<*xi32>
  call @printMemrefI32(%printed3) : (tensor<*xi32>) -> ()
  // CHECK: data =
  // CHECK-NEXT: [1, 3, 2, 0, 4]

  // More than the list holds (64): the row is sorted. As a custom call, which is how programs without CHLO write it.
  %x2 = "stablehlo.constant"() <{value = dense<[7, 5, 4, 2, 2, 0, 0, 0, 1, 7, 5, 8, 4, 5, 8, 6, 5, 4, 5, 8, 2, 7, 6, 0, 3, 7, 4, 0, 6, 6, 7, 1, 0, 7, 0, 4, 0, 2, 4, 3, 3, 0, 0, 1, 0, 6, 4, 5, 2, 5, 6, 3, 4, 8, 7, 8, 3, 6, 8, 5, 7, 6, 6, 3, 7, 1, 5, 6, 7, 4]> : tensor<70xi32>}> : () -> tensor<70xi32>
  %r2:2 = "stablehlo.custom_call"(%x2) <{call_target_name = "mhlo.topk", has_side_effect = false}> {mhlo.attributes = {k = 66 : i64, largest = true}, mhlo.version = 1 : i64} : (tensor<70xi32>) -> (tensor<66xi32>, tensor<66xi32>)
  %printed4 = tensor.cast %r2#0 : tensor<66xi32> to tensor<*xi32>
  call @printMemrefI32(%printed4) : (tensor<*xi32>) -> ()
  // CHECK: data =
  // CHECK-NEXT: [8, 8, 8, 8, 8, 8, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 6, 6, 6, 6, 6, 6, 6, 6, 6, 6, 5, 5, 5, 5, 5, 5, 5, 5, 5, 4, 4, 4, 4, 4, 4, 4, 4, 4, 3, 3, 3, 3, 3, 3, 2, 2, 2, 2, 2, 1, 1, 1, 1, 0, 0, 0, 0, 0, 0, 0]
  %printed5 = tensor.cast %r2#1 : tensor<66xi32> to tensor<*xi32>
  call @printMemrefI32(%printed5) : (tensor<*xi32>) -> ()
  // CHECK: data =
  // CHECK-NEXT: [11, 14, 19, 53, 55, 58, 0, 9, 21, 25, 30, 33, 54, 60, 64, 68, 15, 22, 28, 29, 45, 50, 57, 61, 62, 67, 1, 10, 13, 16, 18, 47, 49, 59, 66, 2, 12, 17, 26, 35, 38, 46, 52, 69, 24, 39, 40, 51, 56, 63, 3, 4, 20, 37, 48, 8, 31, 43, 65, 5, 6, 7, 23, 27, 32, 34]
  return
}
