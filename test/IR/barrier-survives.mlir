// RUN: remat-opt %s --cse --canonicalize --cse | FileCheck %s

// Two barriers on one value are two values, so what hangs on them is computed twice; the dead barrier goes.
// CHECK-LABEL: func.func @clones
// CHECK-DAG: remat.barrier %{{.*}} {id = 0 : i64}
// CHECK-DAG: remat.barrier %{{.*}} {id = 1 : i64}
// CHECK-NOT: id = 2
// CHECK-COUNT-3: math.exp
// CHECK-NOT: math.exp
func.func @clones(%x: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>, tensor<4xf32>) {
  %b0 = remat.barrier %x {id = 0 : i64} : tensor<4xf32>
  %b1 = remat.barrier %x {id = 1 : i64} : tensor<4xf32>
  %b2 = remat.barrier %x {id = 2 : i64} : tensor<4xf32>
  %e = math.exp %x : tensor<4xf32>
  %e0 = math.exp %b0 : tensor<4xf32>
  %e1 = math.exp %b1 : tensor<4xf32>
  return %e, %e0, %e1 : tensor<4xf32>, tensor<4xf32>, tensor<4xf32>
}

// Without barriers the clones are merged: the guard is needed.
// CHECK-LABEL: func.func @unguarded
// CHECK-COUNT-1: math.exp
// CHECK-NOT: math.exp
func.func @unguarded(%x: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) {
  %e0 = math.exp %x : tensor<4xf32>
  %e1 = math.exp %x : tensor<4xf32>
  return %e0, %e1 : tensor<4xf32>, tensor<4xf32>
}

// Names that differ stay; the same name on the same value is one.
// CHECK-LABEL: func.func @names
// CHECK-DAG: remat.name %{{.*}} "a"
// CHECK-DAG: remat.name %{{.*}} "b"
// CHECK-NOT: remat.name
func.func @names(%x: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>, tensor<4xf32>) {
  %0 = remat.name %x "a" : tensor<4xf32>
  %1 = remat.name %x "b" : tensor<4xf32>
  %2 = remat.name %x "a" : tensor<4xf32>
  return %0, %1, %2 : tensor<4xf32>, tensor<4xf32>, tensor<4xf32>
}

// A region whose results nobody reads is dead; reading is all it does.
// CHECK-LABEL: func.func @dead_region
// CHECK-NOT: remat.region
func.func @dead_region(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = remat.region "a" -> tensor<4xf32> {
    %1 = math.exp %x : tensor<4xf32>
    remat.yield %1 : tensor<4xf32>
  }
  return %x : tensor<4xf32>
}
