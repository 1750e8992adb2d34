// RUN: remat-opt %s --remat-check --split-input-file -o /dev/null 2>&1 | FileCheck %s
// RUN: not remat-opt %s --remat-check=fail --split-input-file -o /dev/null 2>&1 | FileCheck %s --check-prefix=FAIL
// FAIL: error: remat-check: 0 of 1 recomputations survived in @merged

// CHECK: remark: remat-check: 1 of 1 recomputations survived in @whole
func.func @whole(%x: tensor<4xf32>) -> tensor<4xf32> attributes {remat.recomputations = 1 : i64} {
  %a = math.sin %x : tensor<4xf32>
  %g = math.cos %a : tensor<4xf32>
  %b = remat.barrier %x after(%g : tensor<4xf32>) {id = 0 : i64} : tensor<4xf32>
  %c = math.sin %b {remat.clone = "a"} : tensor<4xf32>
  %d = arith.mulf %c, %g : tensor<4xf32>
  return %d : tensor<4xf32>
}

// -----

// CHECK: remark: remat-check: 0 of 1 recomputations survived in @merged
// CHECK: note: the others were merged with their originals, or lost the barrier that keeps them late
func.func @merged(%x: tensor<4xf32>) -> tensor<4xf32> attributes {remat.recomputations = 1 : i64} {
  %a = math.sin %x : tensor<4xf32>
  %g = math.cos %a : tensor<4xf32>
  %d = arith.mulf %a, %g : tensor<4xf32>
  return %d : tensor<4xf32>
}

// -----

// CHECK: remark: remat-check: 0 of 1 recomputations survived in @dropped
func.func @dropped(%x: tensor<4xf32>) -> tensor<4xf32> attributes {remat.recomputations = 1 : i64} {
  %a = math.sin %x : tensor<4xf32>
  %g = math.cos %a : tensor<4xf32>
  %c = math.sin %x {remat.clone = "a"} : tensor<4xf32>
  %d = arith.mulf %c, %g : tensor<4xf32>
  return %d : tensor<4xf32>
}

// -----

// CHECK: remark: remat-check: 0 of 1 recomputations survived in @hoisted
func.func @hoisted(%x: tensor<4xf32>) -> tensor<4xf32> attributes {remat.recomputations = 1 : i64} {
  %a = math.sin %x : tensor<4xf32>
  %b = remat.barrier %x {id = 0 : i64} : tensor<4xf32>
  %c = math.sin %b {remat.clone = "a"} : tensor<4xf32>
  %g = math.cos %a : tensor<4xf32>
  %d = arith.mulf %c, %g : tensor<4xf32>
  return %d : tensor<4xf32>
}

// -----

// In StableHLO clones carry no mark: they are found as second computations.
// CHECK: remark: remat-check: 1 of 1 recomputations survived in @hlo_whole
func.func @hlo_whole(%x: tensor<4xf32>) -> tensor<4xf32> attributes {mhlo.frontend_attributes = {remat.recomputations = "1"}} {
  %a = "stablehlo.sine"(%x) : (tensor<4xf32>) -> tensor<4xf32>
  %g = "stablehlo.cosine"(%a) : (tensor<4xf32>) -> tensor<4xf32>
  %b:2 = "stablehlo.optimization_barrier"(%x, %g) {mhlo.frontend_attributes = {remat.clones = "1", remat.id = "0", remat.operands = "2"}} : (tensor<4xf32>, tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>)
  %c = "stablehlo.sine"(%b#0) : (tensor<4xf32>) -> tensor<4xf32>
  %d = "stablehlo.multiply"(%c, %g) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  return %d : tensor<4xf32>
}

// -----

// CHECK: remark: remat-check: 0 of 1 recomputations survived in @hlo_merged
func.func @hlo_merged(%x: tensor<4xf32>) -> tensor<4xf32> attributes {mhlo.frontend_attributes = {remat.recomputations = "1"}} {
  %a = "stablehlo.sine"(%x) : (tensor<4xf32>) -> tensor<4xf32>
  %g = "stablehlo.cosine"(%a) : (tensor<4xf32>) -> tensor<4xf32>
  %d = "stablehlo.multiply"(%a, %g) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  return %d : tensor<4xf32>
}

// -----

// The barrier is gone, the clone is still there: the next CSE would merge it.
// CHECK: remark: remat-check: 0 of 1 recomputations survived in @hlo_dropped
func.func @hlo_dropped(%x: tensor<4xf32>) -> tensor<4xf32> attributes {mhlo.frontend_attributes = {remat.recomputations = "1"}} {
  %a = "stablehlo.sine"(%x) : (tensor<4xf32>) -> tensor<4xf32>
  %g = "stablehlo.cosine"(%a) : (tensor<4xf32>) -> tensor<4xf32>
  %c = "stablehlo.sine"(%x) : (tensor<4xf32>) -> tensor<4xf32>
  %d = "stablehlo.multiply"(%c, %g) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  return %d : tensor<4xf32>
}

// -----

// The barrier lost the gradient and went up.
// CHECK: remark: remat-check: 0 of 1 recomputations survived in @hlo_hoisted
func.func @hlo_hoisted(%x: tensor<4xf32>) -> tensor<4xf32> attributes {mhlo.frontend_attributes = {remat.recomputations = "1"}} {
  %a = "stablehlo.sine"(%x) : (tensor<4xf32>) -> tensor<4xf32>
  %b = "stablehlo.optimization_barrier"(%x) {mhlo.frontend_attributes = {remat.clones = "1", remat.id = "0", remat.operands = "2"}} : (tensor<4xf32>) -> tensor<4xf32>
  %c = "stablehlo.sine"(%b) : (tensor<4xf32>) -> tensor<4xf32>
  %g = "stablehlo.cosine"(%a) : (tensor<4xf32>) -> tensor<4xf32>
  %d = "stablehlo.multiply"(%c, %g) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  return %d : tensor<4xf32>
}

// -----

// The clone runs while the original is still to be read.
// CHECK: remark: remat-check: 0 of 1 recomputations survived in @hlo_both_alive
func.func @hlo_both_alive(%x: tensor<4xf32>) -> tensor<4xf32> attributes {mhlo.frontend_attributes = {remat.recomputations = "1"}} {
  %a = "stablehlo.sine"(%x) : (tensor<4xf32>) -> tensor<4xf32>
  %g = "stablehlo.cosine"(%a) : (tensor<4xf32>) -> tensor<4xf32>
  %b:2 = "stablehlo.optimization_barrier"(%x, %g) {mhlo.frontend_attributes = {remat.clones = "1", remat.id = "0", remat.operands = "2"}} : (tensor<4xf32>, tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>)
  %c = "stablehlo.sine"(%b#0) : (tensor<4xf32>) -> tensor<4xf32>
  %d = "stablehlo.multiply"(%c, %a) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  return %d : tensor<4xf32>
}

// -----

// A backward function by itself: the originals are in the forward function.
// CHECK: remark: remat-check: 1 of 1 recomputations survived in @hlo_backward
func.func @hlo_backward(%x: tensor<4xf32>, %ct: tensor<4xf32>) -> tensor<4xf32> {
  %g = "stablehlo.cosine"(%ct) : (tensor<4xf32>) -> tensor<4xf32>
  %b:2 = "stablehlo.optimization_barrier"(%x, %g) {mhlo.frontend_attributes = {remat.clones = "1", remat.id = "0", remat.operands = "2"}} : (tensor<4xf32>, tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>)
  %c = "stablehlo.sine"(%b#0) : (tensor<4xf32>) -> tensor<4xf32>
  %d = "stablehlo.multiply"(%c, %g) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  return %d : tensor<4xf32>
}
