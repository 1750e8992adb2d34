// Clones that lose attributes compute something else (R098); clones of called functions broke the verifier, and a second run
// added more of them (R099).

// RUN: rm -rf %t && mkdir %t
// RUN: remat-opt %s --policy=save-nothing -o %t/once.mlir
// RUN: FileCheck %s --input-file=%t/once.mlir
// RUN: remat-opt %t/once.mlir --policy=save-nothing -o %t/twice.mlir
// RUN: cmp %t/once.mlir %t/twice.mlir
// RUN: remat-opt %t/once.mlir --policy=save-everything | cmp - %t/once.mlir
// RUN: remat-opt %t/once.mlir --remat-check=fail -o /dev/null 2>&1 | FileCheck %s --check-prefix=SURVIVED
// RUN: remat-opt %t/once.mlir --emit=mlirbc -o %t/once.mlirbc --policy=save-nothing
// RUN: remat-opt %t/once.mlirbc --policy=save-nothing -o /dev/null --report=- | FileCheck %s --check-prefix=STABLE

// What differs between clone and original: operands, the result, and the location's name around the original's own.
// CHECK-LABEL: func.func @main
// CHECK:      = "stablehlo.dot_general"(%{{.*}}, %{{.*}}) [[ATTRIBUTES:<{.*}> {.*mhlo.frontend_attributes = {process_group = "3"}, mhlo.sharding = "{replicated}", my.tag = 7 : i64} : .*]] loc(#[[LOC:.*]])
// CHECK:      stablehlo.optimization_barrier
// CHECK:      = "stablehlo.dot_general"(%{{.*}}#{{[01]}}, %{{.*}}#{{[01]}}) [[ATTRIBUTES]] loc(#[[CLONE:.*]])
// CHECK-NOT:  func.func
// CHECK:      #[[CLONE]] = loc("remat.recompute:"(#[[LOC]]))
// SURVIVED:   1 of 1 recomputations survived
// STABLE:     nothing gained: the peak stays at
// STABLE:     0 ops recomputed
func.func private @f(%x: tensor<64x64xf32>, %w: tensor<64x64xf32>) -> tensor<64x64xf32> {
  %h = "stablehlo.dot_general"(%x, %w) <{dot_dimension_numbers = #stablehlo.dot<lhs_contracting_dimensions = [1], rhs_contracting_dimensions = [0]>, precision_config = [#stablehlo<precision HIGHEST>, #stablehlo<precision DEFAULT>]}> {mhlo.frontend_attributes = {process_group = "3"}, mhlo.sharding = "{replicated}", my.tag = 7 : i64} : (tensor<64x64xf32>, tensor<64x64xf32>) -> tensor<64x64xf32>
  return %h : tensor<64x64xf32>
}
func.func @main(%x: tensor<64x64xf32>, %w: tensor<64x64xf32>) -> (tensor<f32>, tensor<64x64xf32>) {
  %h = func.call @f(%x, %w) : (tensor<64x64xf32>, tensor<64x64xf32>) -> tensor<64x64xf32>
  %a = "stablehlo.sine"(%h) : (tensor<64x64xf32>) -> tensor<64x64xf32>
  %loss = "stablehlo.dot_general"(%a, %a) <{dot_dimension_numbers = #stablehlo.dot<lhs_contracting_dimensions = [0, 1], rhs_contracting_dimensions = [0, 1]>}> : (tensor<64x64xf32>, tensor<64x64xf32>) -> tensor<f32>
  %g = "stablehlo.cosine"(%h) : (tensor<64x64xf32>) -> tensor<64x64xf32>
  return %loss, %g : tensor<f32>, tensor<64x64xf32>
}
