// RUN: remat-opt %s --split-input-file --pass-pipeline='builtin.module(remat-flatten)' --mlir-print-debuginfo --mlir-print-local-scope | FileCheck %s

// A function that is called twice comes out twice. Unregistered ops keep attributes and properties; the location says both places.

// CHECK-LABEL: func.func @main
// CHECK-NOT: call
// CHECK: "stablehlo.multiply"(%{{.*}}, %{{.*}}) {note = "kept"} {{.*}} loc(callsite("mul" at "first"))
// CHECK: "stablehlo.tanh"(%{{.*}}) <{accuracy = 1 : i64}>
// CHECK: "stablehlo.multiply"(%{{.*}}, %{{.*}}) {note = "kept"} {{.*}} loc(callsite("mul" at "second"))
// CHECK: "stablehlo.tanh"
// CHECK: return
// CHECK-NOT: @layer
func.func private @layer(%x: tensor<4xf32>, %w: tensor<4xf32>) -> tensor<4xf32> {
  %0 = "stablehlo.multiply"(%x, %w) {note = "kept"} : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32> loc("mul")
  %1 = "stablehlo.tanh"(%0) <{accuracy = 1 : i64}> : (tensor<4xf32>) -> tensor<4xf32>
  return %1 : tensor<4xf32>
}
func.func @main(%x: tensor<4xf32>, %w: tensor<4xf32>) -> tensor<4xf32> {
  %0 = func.call @layer(%x, %w) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32> loc("first")
  %1 = func.call @layer(%0, %w) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32> loc("second")
  return %1 : tensor<4xf32>
}

// -----

// Calls in calls, calls in loops, and composites, whose decomposition is a function. A public function stays, and so does a
// private one that it calls.

// CHECK-LABEL: func.func private @twice
// CHECK-LABEL: func.func @other
// CHECK-LABEL: func.func @main
// CHECK-NEXT: "stablehlo.add"
// CHECK-NEXT: "stablehlo.add"
// CHECK-NEXT: "stablehlo.tanh"
// CHECK-NEXT: "stablehlo.while"
// CHECK: "stablehlo.return"
// CHECK: "stablehlo.add"
// CHECK-NEXT: "stablehlo.add"
// CHECK-NEXT: "stablehlo.return"
// CHECK-NOT: @once
func.func private @once(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = "stablehlo.add"(%x, %x) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}
func.func private @twice(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = "stablehlo.add"(%x, %x) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %1 = func.call @once(%0) : (tensor<4xf32>) -> tensor<4xf32>
  return %1 : tensor<4xf32>
}
func.func private @decomposed(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = "stablehlo.tanh"(%x) : (tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}
func.func @other(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = func.call @twice(%x) : (tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}
func.func @main(%x: tensor<4xf32>, %more: tensor<i1>) -> tensor<4xf32> {
  %0 = func.call @twice(%x) : (tensor<4xf32>) -> tensor<4xf32>
  %1 = "stablehlo.composite"(%0) <{name = "my.tanh", decomposition = @decomposed}> : (tensor<4xf32>) -> tensor<4xf32>
  %2 = "stablehlo.while"(%1) ({
  ^bb0(%a: tensor<4xf32>):
    "stablehlo.return"(%more) : (tensor<i1>) -> ()
  }, {
  ^bb0(%a: tensor<4xf32>):
    %3 = func.call @twice(%a) : (tensor<4xf32>) -> tensor<4xf32>
    "stablehlo.return"(%3) : (tensor<4xf32>) -> ()
  }) : (tensor<4xf32>) -> tensor<4xf32>
  return %2 : tensor<4xf32>
}

// -----

// Regions become paths, their policies a list. A region that is written once and met again is another region.

// CHECK-LABEL: func.func @main
// CHECK-SAME: remat.regions = {outer = "save-dots", "outer/inner#1" = "save-nothing"}
// CHECK-NOT: remat.region "
// CHECK: math.tanh {{.*}} {remat.region = "outer"}
// CHECK: math.exp {{.*}} {remat.region = "outer/inner"}
// CHECK: math.sin {{.*}} {remat.region = "outer/inner#1"}
// CHECK: math.cos {{.*}} : tensor<4xf32>
func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
  %y = remat.region "outer" policy "save-dots" -> tensor<4xf32> {
    %0 = math.tanh %x : tensor<4xf32>
    %1 = remat.region "inner" -> tensor<4xf32> {
      %2 = math.exp %0 : tensor<4xf32>
      remat.yield %2 : tensor<4xf32>
    }
    %3 = remat.region "inner" policy "save-nothing" -> tensor<4xf32> {
      %4 = math.sin %1 : tensor<4xf32>
      remat.yield %4 : tensor<4xf32>
    }
    remat.yield %3 : tensor<4xf32>
  }
  %5 = math.cos %y : tensor<4xf32>
  return %5 : tensor<4xf32>
}

// -----

// A name goes to the op that makes the storage, through views.

// CHECK-LABEL: func.func @main
// CHECK-NEXT: "stablehlo.tanh"(%{{.*}}) {remat.checkpoint_name = "h"}
// CHECK-NEXT: "stablehlo.reshape"(%{{[0-9]+}}) :
// CHECK-NEXT: return
func.func @main(%x: tensor<4xf32>) -> tensor<2x2xf32> {
  %0 = "stablehlo.tanh"(%x) : (tensor<4xf32>) -> tensor<4xf32>
  %1 = "stablehlo.reshape"(%0) : (tensor<4xf32>) -> tensor<2x2xf32>
  %2 = remat.name %1 "h" : tensor<2x2xf32>
  return %2 : tensor<2x2xf32>
}
