// RUN: remat-opt %s | remat-opt | FileCheck %s
// RUN: remat-opt %s --mlir-print-op-generic | remat-opt | FileCheck %s

// CHECK-LABEL: func.func @barrier
func.func @barrier(%x: tensor<4xf32>, %g: tensor<8xf32>, %t: index) -> tensor<4xf32> {
  // CHECK: remat.barrier %{{.*}} {id = 0 : i64} : tensor<4xf32>
  %0 = remat.barrier %x {id = 0 : i64} : tensor<4xf32>
  // CHECK: remat.barrier %{{.*}} after(%{{.*}}, %{{.*}} : tensor<8xf32>, index) {id = 1 : i64, of = "tanh"} : tensor<4xf32>
  %1 = remat.barrier %0 after(%g, %t : tensor<8xf32>, index) {id = 1 : i64, of = "tanh"} : tensor<4xf32>
  return %1 : tensor<4xf32>
}

// CHECK-LABEL: func.func @name
func.func @name(%x: tensor<4xf32>) -> tensor<4xf32> {
  // CHECK: remat.name %{{.*}} "attention" : tensor<4xf32>
  %0 = remat.name %x "attention" : tensor<4xf32>
  return %0 : tensor<4xf32>
}

// CHECK-LABEL: func.func @regions
func.func @regions(%x: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) {
  // CHECK: %[[Y:.*]]:2 = remat.region "outer" -> tensor<4xf32>, tensor<4xf32> {
  // CHECK:   %[[Z:.*]] = remat.region "inner" policy "save-dots" -> tensor<4xf32> {
  // CHECK:     remat.yield %{{.*}} : tensor<4xf32>
  // CHECK:   }
  // CHECK:   remat.yield %[[Z]], %{{.*}} : tensor<4xf32>, tensor<4xf32>
  // CHECK: }
  %y:2 = remat.region "outer" -> tensor<4xf32>, tensor<4xf32> {
    %z = remat.region "inner" policy "save-dots" -> tensor<4xf32> {
      %0 = math.tanh %x : tensor<4xf32>
      remat.yield %0 : tensor<4xf32>
    }
    remat.yield %z, %x : tensor<4xf32>, tensor<4xf32>
  }
  // CHECK: remat.region "empty" {
  remat.region "empty" {
  }
  return %y#0, %y#1 : tensor<4xf32>, tensor<4xf32>
}

// CHECK-LABEL: func.func @attributes
// CHECK-SAME: attributes {remat.loss = 0 : i64, remat.plan = array<i64: 0, 1, 0>}
func.func @attributes(%x: tensor<f32>) -> tensor<f32> attributes {remat.loss = 0 : i64, remat.plan = array<i64: 0, 1, 0>} {
  // CHECK: remat.checkpoint_name = "h", remat.clone = "tanh.3", remat.loss, remat.phase = "forward", remat.region = "outer/inner"
  %0 = math.tanh %x {remat.phase = "forward", remat.region = "outer/inner", remat.checkpoint_name = "h", remat.clone = "tanh.3", remat.loss} : tensor<f32>
  return %0 : tensor<f32>
}

// CHECK-LABEL: func.func @loss_result
// CHECK-SAME: -> (tensor<f32> {remat.loss})
func.func @loss_result(%x: tensor<f32>) -> (tensor<f32> {remat.loss}) {
  return %x : tensor<f32>
}
