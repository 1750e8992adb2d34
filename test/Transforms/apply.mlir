// RUN: remat-opt %s --remat="policy=save-nothing" | FileCheck %s
// RUN: remat-opt %s --remat="policy=save-nothing" | remat-opt --cse --canonicalize --remat-check=fail 2>&1 | FileCheck %s --check-prefixes=CHECK,SURVIVE
// RUN: remat-opt %s --policy=save-nothing --report=- -o %t.mlir | FileCheck %s --check-prefix=REPORT
// RUN: remat-opt %t.mlir --policy=save-nothing -o %t.2.mlir && cmp %t.mlir %t.2.mlir

// A chain of three, 16 f32 = 64 bytes each; the loss has 4.
// peak at g3: h1(64) + h2(64) + h3(64) + loss(4) + g4(64) + g3(64) = 324.
// Recomputed in one segment, h1, h2 and h3 are back by then: the same 324.
// REPORT: peak bytes {{ *}}324 (324 B){{ *}}324 (324 B)

// No clone can run before the gradient: each reaches it through a barrier (jax-ml/jax#2391).
// SURVIVE:       remat-check: 3 of 3 recomputations survived in @main
// CHECK-LABEL: func.func @main
// CHECK-SAME:    (%[[X:.*]]: tensor<16xf32>, %[[G:.*]]: tensor<16xf32>)
// CHECK-SAME:    remat.recomputations = 3
// CHECK:         %[[G4:.*]] = arith.negf %[[G]]
// CHECK-NEXT:    %[[B:.*]] = remat.barrier %[[X]] after(%[[G4]] : tensor<16xf32>) {id = 0 : i64, of = "sin.0"
// CHECK-NEXT:    %[[C1:.*]] = math.sin %[[B]] {remat.clone = "sin.0"
// CHECK-NEXT:    %[[C2:.*]] = math.sin %[[C1]] {remat.clone = "sin.1"
// CHECK-NEXT:    %[[C3:.*]] = math.sin %[[C2]] {remat.clone = "sin.2"
// CHECK-NEXT:    %[[G3:.*]] = arith.mulf %[[C3]], %[[G4]]
// CHECK-NEXT:    %[[G2:.*]] = arith.mulf %[[C2]], %[[G3]]
// CHECK-NEXT:    %[[G1:.*]] = arith.mulf %[[C1]], %[[G2]]
// CHECK-NEXT:    return %{{.*}}, %[[G1]]
func.func @main(%x: tensor<16xf32>, %g: tensor<16xf32>) -> (tensor<f32>, tensor<16xf32>) {
  %h1 = math.sin %x {remat.phase = "forward"} : tensor<16xf32>
  %h2 = math.sin %h1 {remat.phase = "forward"} : tensor<16xf32>
  %h3 = math.sin %h2 {remat.phase = "forward"} : tensor<16xf32>
  %zero = arith.constant {remat.phase = "forward"} dense<0.0> : tensor<f32>
  %loss = linalg.reduce {arith.addf} ins(%h3 : tensor<16xf32>) outs(%zero : tensor<f32>) dimensions = [0] {remat.phase = "forward"}
  %g4 = arith.negf %g {remat.phase = "backward"} : tensor<16xf32>
  %g3 = arith.mulf %h3, %g4 {remat.phase = "backward"} : tensor<16xf32>
  %g2 = arith.mulf %h2, %g3 {remat.phase = "backward"} : tensor<16xf32>
  %g1 = arith.mulf %h1, %g2 {remat.phase = "backward"} : tensor<16xf32>
  return %loss, %g1 : tensor<f32>, tensor<16xf32>
}
