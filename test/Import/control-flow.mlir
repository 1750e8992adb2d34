// RUN: %S/Inputs/run.sh %s | FileCheck %s

// while, if, case and optimization_barrier.

func.func private @printMemrefF32(tensor<*xf32>) attributes {llvm.emit_c_interface}
func.func private @printMemrefF64(tensor<*xf64>) attributes {llvm.emit_c_interface}
func.func private @printMemrefI32(tensor<*xi32>) attributes {llvm.emit_c_interface}
func.func private @printMemrefI64(tensor<*xi64>) attributes {llvm.emit_c_interface}

func.func @main() {

  // while: i = 0, 1, 2, 3; x = x * 2 + outside: 1, 12, 34, 78, 166 with outside = 10.
  %i = "stablehlo.constant"() <{value = dense<0> : tensor<i32>}> : () -> tensor<i32>
  %one = "stablehlo.constant"() <{value = dense<1> : tensor<i32>}> : () -> tensor<i32>
  %x = "stablehlo.constant"() <{value = dense<[1.0, 0.0]> : tensor<2xf32>}> : () -> tensor<2xf32>
  %outside = "stablehlo.constant"() <{value = dense<10.0> : tensor<2xf32>}> : () -> tensor<2xf32>
  %w:2 = "stablehlo.while"(%i, %x) ({
  ^bb0(%n: tensor<i32>, %v: tensor<2xf32>):
    %limit = "stablehlo.constant"() <{value = dense<4> : tensor<i32>}> : () -> tensor<i32>
    %go = "stablehlo.compare"(%n, %limit) <{comparison_direction = #stablehlo<comparison_direction LT>}> : (tensor<i32>, tensor<i32>) -> tensor<i1>
    "stablehlo.return"(%go) : (tensor<i1>) -> ()
  }, {
  ^bb0(%n: tensor<i32>, %v: tensor<2xf32>):
    %next = "stablehlo.add"(%n, %one) : (tensor<i32>, tensor<i32>) -> tensor<i32>
    %twice = "stablehlo.add"(%v, %v) : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
    %sum = "stablehlo.add"(%twice, %outside) : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
    "stablehlo.return"(%next, %sum) : (tensor<i32>, tensor<2xf32>) -> ()
  }) : (tensor<i32>, tensor<2xf32>) -> (tensor<i32>, tensor<2xf32>)
  %1 = "stablehlo.reshape"(%w#0) : (tensor<i32>) -> tensor<1xi32>
  %2 = tensor.cast %1 : tensor<1xi32> to tensor<*xi32>
  call @printMemrefI32(%2) : (tensor<*xi32>) -> ()
  // CHECK: sizes = [1] {{.*}}data =
  // CHECK-NEXT: [4]
  %3 = tensor.cast %w#1 : tensor<2xf32> to tensor<*xf32>
  call @printMemrefF32(%3) : (tensor<*xf32>) -> ()
  // 0, 10, 30, 70, 150
  // CHECK: sizes = [2] {{.*}}data =
  // CHECK-NEXT: [166, 150]

  // if
  %ptrue = "stablehlo.constant"() <{value = dense<true> : tensor<i1>}> : () -> tensor<i1>
  %iftrue = "stablehlo.if"(%ptrue) ({
    %minus = "stablehlo.negate"(%one) : (tensor<i32>) -> tensor<i32>
    "stablehlo.return"(%minus) : (tensor<i32>) -> ()
  }, {
    %two = "stablehlo.add"(%one, %one) : (tensor<i32>, tensor<i32>) -> tensor<i32>
    "stablehlo.return"(%two) : (tensor<i32>) -> ()
  }) : (tensor<i1>) -> tensor<i32>
  %4 = "stablehlo.reshape"(%iftrue) : (tensor<i32>) -> tensor<1xi32>
  %5 = tensor.cast %4 : tensor<1xi32> to tensor<*xi32>
  call @printMemrefI32(%5) : (tensor<*xi32>) -> ()
  // CHECK: sizes = [1] {{.*}}data =
  // CHECK-NEXT: [-1]
  %pfalse = "stablehlo.constant"() <{value = dense<false> : tensor<i1>}> : () -> tensor<i1>
  %iffalse = "stablehlo.if"(%pfalse) ({
    %minus = "stablehlo.negate"(%one) : (tensor<i32>) -> tensor<i32>
    "stablehlo.return"(%minus) : (tensor<i32>) -> ()
  }, {
    %two = "stablehlo.add"(%one, %one) : (tensor<i32>, tensor<i32>) -> tensor<i32>
    "stablehlo.return"(%two) : (tensor<i32>) -> ()
  }) : (tensor<i1>) -> tensor<i32>
  %6 = "stablehlo.reshape"(%iffalse) : (tensor<i32>) -> tensor<1xi32>
  %7 = tensor.cast %6 : tensor<1xi32> to tensor<*xi32>
  call @printMemrefI32(%7) : (tensor<*xi32>) -> ()
  // CHECK: sizes = [1] {{.*}}data =
  // CHECK-NEXT: [2]

  // case: 0, 1, 2; every other index takes the last branch.
  %n0 = "stablehlo.constant"() <{value = dense<0> : tensor<i32>}> : () -> tensor<i32>
  %case0 = "stablehlo.case"(%n0) ({
    %c0 = "stablehlo.constant"() <{value = dense<1> : tensor<i32>}> : () -> tensor<i32>
    "stablehlo.return"(%c0) : (tensor<i32>) -> ()
  }, {
    %c1 = "stablehlo.constant"() <{value = dense<10> : tensor<i32>}> : () -> tensor<i32>
    "stablehlo.return"(%c1) : (tensor<i32>) -> ()
  }, {
    %c2 = "stablehlo.constant"() <{value = dense<100> : tensor<i32>}> : () -> tensor<i32>
    "stablehlo.return"(%c2) : (tensor<i32>) -> ()
  }) : (tensor<i32>) -> tensor<i32>
  %8 = "stablehlo.reshape"(%case0) : (tensor<i32>) -> tensor<1xi32>
  %9 = tensor.cast %8 : tensor<1xi32> to tensor<*xi32>
  call @printMemrefI32(%9) : (tensor<*xi32>) -> ()
  // CHECK: sizes = [1] {{.*}}data =
  // CHECK-NEXT: [1]
  %n1 = "stablehlo.constant"() <{value = dense<1> : tensor<i32>}> : () -> tensor<i32>
  %case1 = "stablehlo.case"(%n1) ({
    %c0 = "stablehlo.constant"() <{value = dense<1> : tensor<i32>}> : () -> tensor<i32>
    "stablehlo.return"(%c0) : (tensor<i32>) -> ()
  }, {
    %c1 = "stablehlo.constant"() <{value = dense<10> : tensor<i32>}> : () -> tensor<i32>
    "stablehlo.return"(%c1) : (tensor<i32>) -> ()
  }, {
    %c2 = "stablehlo.constant"() <{value = dense<100> : tensor<i32>}> : () -> tensor<i32>
    "stablehlo.return"(%c2) : (tensor<i32>) -> ()
  }) : (tensor<i32>) -> tensor<i32>
  %10 = "stablehlo.reshape"(%case1) : (tensor<i32>) -> tensor<1xi32>
  %11 = tensor.cast %10 : tensor<1xi32> to tensor<*xi32>
  call @printMemrefI32(%11) : (tensor<*xi32>) -> ()
  // CHECK: sizes = [1] {{.*}}data =
  // CHECK-NEXT: [10]
  %n2 = "stablehlo.constant"() <{value = dense<2> : tensor<i32>}> : () -> tensor<i32>
  %case2 = "stablehlo.case"(%n2) ({
    %c0 = "stablehlo.constant"() <{value = dense<1> : tensor<i32>}> : () -> tensor<i32>
    "stablehlo.return"(%c0) : (tensor<i32>) -> ()
  }, {
    %c1 = "stablehlo.constant"() <{value = dense<10> : tensor<i32>}> : () -> tensor<i32>
    "stablehlo.return"(%c1) : (tensor<i32>) -> ()
  }, {
    %c2 = "stablehlo.constant"() <{value = dense<100> : tensor<i32>}> : () -> tensor<i32>
    "stablehlo.return"(%c2) : (tensor<i32>) -> ()
  }) : (tensor<i32>) -> tensor<i32>
  %12 = "stablehlo.reshape"(%case2) : (tensor<i32>) -> tensor<1xi32>
  %13 = tensor.cast %12 : tensor<1xi32> to tensor<*xi32>
  call @printMemrefI32(%13) : (tensor<*xi32>) -> ()
  // CHECK: sizes = [1] {{.*}}data =
  // CHECK-NEXT: [100]
  %n7 = "stablehlo.constant"() <{value = dense<7> : tensor<i32>}> : () -> tensor<i32>
  %case7 = "stablehlo.case"(%n7) ({
    %c0 = "stablehlo.constant"() <{value = dense<1> : tensor<i32>}> : () -> tensor<i32>
    "stablehlo.return"(%c0) : (tensor<i32>) -> ()
  }, {
    %c1 = "stablehlo.constant"() <{value = dense<10> : tensor<i32>}> : () -> tensor<i32>
    "stablehlo.return"(%c1) : (tensor<i32>) -> ()
  }, {
    %c2 = "stablehlo.constant"() <{value = dense<100> : tensor<i32>}> : () -> tensor<i32>
    "stablehlo.return"(%c2) : (tensor<i32>) -> ()
  }) : (tensor<i32>) -> tensor<i32>
  %14 = "stablehlo.reshape"(%case7) : (tensor<i32>) -> tensor<1xi32>
  %15 = tensor.cast %14 : tensor<1xi32> to tensor<*xi32>
  call @printMemrefI32(%15) : (tensor<*xi32>) -> ()
  // CHECK: sizes = [1] {{.*}}data =
  // CHECK-NEXT: [100]
  %nm1 = "stablehlo.constant"() <{value = dense<-1> : tensor<i32>}> : () -> tensor<i32>
  %casem1 = "stablehlo.case"(%nm1) ({
    %c0 = "stablehlo.constant"() <{value = dense<1> : tensor<i32>}> : () -> tensor<i32>
    "stablehlo.return"(%c0) : (tensor<i32>) -> ()
  }, {
    %c1 = "stablehlo.constant"() <{value = dense<10> : tensor<i32>}> : () -> tensor<i32>
    "stablehlo.return"(%c1) : (tensor<i32>) -> ()
  }, {
    %c2 = "stablehlo.constant"() <{value = dense<100> : tensor<i32>}> : () -> tensor<i32>
    "stablehlo.return"(%c2) : (tensor<i32>) -> ()
  }) : (tensor<i32>) -> tensor<i32>
  %16 = "stablehlo.reshape"(%casem1) : (tensor<i32>) -> tensor<1xi32>
  %17 = tensor.cast %16 : tensor<1xi32> to tensor<*xi32>
  call @printMemrefI32(%17) : (tensor<*xi32>) -> ()
  // CHECK: sizes = [1] {{.*}}data =
  // CHECK-NEXT: [100]

  // A barrier is an identity.
  %b:2 = "stablehlo.optimization_barrier"(%x, %one) : (tensor<2xf32>, tensor<i32>) -> (tensor<2xf32>, tensor<i32>)
  %18 = tensor.cast %b#0 : tensor<2xf32> to tensor<*xf32>
  call @printMemrefF32(%18) : (tensor<*xf32>) -> ()
  // CHECK: sizes = [2] {{.*}}data =
  // CHECK-NEXT: [1, 0]
  %19 = "stablehlo.reshape"(%b#1) : (tensor<i32>) -> tensor<1xi32>
  %20 = tensor.cast %19 : tensor<1xi32> to tensor<*xi32>
  call @printMemrefI32(%20) : (tensor<*xi32>) -> ()
  // CHECK: sizes = [1] {{.*}}data =
  // CHECK-NEXT: [1]
  return
}
