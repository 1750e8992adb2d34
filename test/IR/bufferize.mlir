// RUN: remat-opt %s --one-shot-bufferize="bufferize-function-boundaries function-boundary-type-conversion=identity-layout-map" \
// RUN:   --canonicalize | FileCheck %s

// Barriers and names leave no trace: both payloads read the argument's buffer.
// CHECK-LABEL: func.func @identity
// CHECK-SAME: (%[[X:.*]]: memref<4xf32>, %{{.*}}: memref<8xf32>)
// CHECK-NOT: remat.
// CHECK-NOT: memref.copy
// CHECK-COUNT-2: linalg.exp ins(%[[X]] : memref<4xf32>)
// CHECK-NOT: memref.copy
func.func @identity(%x: tensor<4xf32>, %g: tensor<8xf32>) -> (tensor<4xf32>, tensor<4xf32>) {
  %b = remat.barrier %x after(%g : tensor<8xf32>) {id = 0 : i64} : tensor<4xf32>
  %n = remat.name %x "x" : tensor<4xf32>
  %e0 = tensor.empty() : tensor<4xf32>
  %e1 = tensor.empty() : tensor<4xf32>
  %0 = linalg.exp ins(%b : tensor<4xf32>) outs(%e0 : tensor<4xf32>) -> tensor<4xf32>
  %1 = linalg.exp ins(%n : tensor<4xf32>) outs(%e1 : tensor<4xf32>) -> tensor<4xf32>
  return %0, %1 : tensor<4xf32>, tensor<4xf32>
}

// Writing over a barrier's result while its input is still read must not spoil the input: the writer gets a buffer of its own.
// CHECK-LABEL: func.func @overwritten
// CHECK: %[[Y:.*]] = memref.alloc
// CHECK: linalg.exp {{.*}} outs(%[[Y]]
// CHECK: %[[OTHER:.*]] = memref.alloc
// CHECK: linalg.fill {{.*}} outs(%[[OTHER]]
// CHECK: return %[[Y]], %[[OTHER]]
func.func @overwritten(%x: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<4xf32>
  %y = linalg.exp ins(%x : tensor<4xf32>) outs(%e : tensor<4xf32>) -> tensor<4xf32>
  %b = remat.barrier %y {id = 0 : i64} : tensor<4xf32>
  %f = linalg.fill ins(%zero : f32) outs(%b : tensor<4xf32>) -> tensor<4xf32>
  return %y, %f : tensor<4xf32>, tensor<4xf32>
}
