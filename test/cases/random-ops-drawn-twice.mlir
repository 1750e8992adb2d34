// Dropout whose mask is drawn again in the backward part gives silently wrong gradients (R014, R015, R017, R018).
// What is behind a random op is saved, and of that the smallest; random numbers made from a seed by ordinary ops are ordinary values.

// RUN: rm -rf %t && mkdir %t
// RUN: remat-opt %s --function=R014 --policy=save-nothing -o %t/a.mlir --report=%t/a.json
// RUN: FileCheck %s --check-prefix=RANDOM --input-file=%t/a.mlir
// RUN: FileCheck %s --check-prefix=MASK --input-file=%t/a.json
// RUN: remat-opt %s --function=R014 --policy=save-dots | remat-opt | FileCheck %s --check-prefix=DOTS
// RUN: remat-opt %s --function=R014 --policy=sqrt-n | remat-opt | FileCheck %s --check-prefix=ONCE
// RUN: remat-opt %s --function=R014 --policy=save-nothing --segments=sqrt | remat-opt | FileCheck %s --check-prefix=ONCE
// RUN: not remat-opt %s --function=R014 --recompute=rng.4 2>&1 | FileCheck %s --check-prefix=REFUSED
// REFUSED: error: --recompute: op 'rng.4' must not run twice
// RUN: remat-opt %s --function=R015 --policy=save-nothing | FileCheck %s --check-prefix=SEED
// RUN: remat-opt %s --function=R015 --policy=save-nothing --keep=compare.4 -o /dev/null --report=%t/c.json
// RUN: FileCheck %s --check-prefix=KEEP --input-file=%t/c.json

// One random op before and after; the mask (512 × 256 × i1 = 131072 bytes) is saved, not the numbers (512 × 256 × f32 = 524288).
// RANDOM-LABEL: func.func @R014
// RANDOM:       stablehlo.rng"
// RANDOM:       %[[M:.*]] = "stablehlo.compare"
// RANDOM:       %[[LATE:.*]]:{{[0-9]+}} = "stablehlo.optimization_barrier"({{.*}}%[[M]]
// RANDOM-NOT:   stablehlo.rng"
// RANDOM-NOT:   stablehlo.compare
// RANDOM:       stablehlo.dot_general"(%[[LATE]]
// RANDOM:       return
// MASK: "saved": [
// MASK-NEXT: "compare.5", "bytes": 131072
// MASK-NOT: "value"
// MASK: "recomputed": [

// With save-dots the dot isn't cloned either.
// DOTS-LABEL: func.func @R014
// DOTS:     stablehlo.dot_general"
// DOTS:     stablehlo.optimization_barrier
// DOTS-NOT: {{stablehlo.rng"|stablehlo.compare|stablehlo.dot_general}}
// DOTS:     return

// ONCE-LABEL: func.func @R014
// ONCE-COUNT-1: stablehlo.rng"
// ONCE-NOT: stablehlo.rng"
// ONCE: return
func.func @R014(%x: tensor<512x256xf32>, %w: tensor<256x256xf32>) -> (tensor<f32>, tensor<512x256xf32>) {
  %lo = "stablehlo.constant"() <{value = dense<0.0> : tensor<f32>}> : () -> tensor<f32>
  %hi = "stablehlo.constant"() <{value = dense<1.0> : tensor<f32>}> : () -> tensor<f32>
  %shape = "stablehlo.constant"() <{value = dense<[512, 256]> : tensor<2xi64>}> : () -> tensor<2xi64>
  %half = "stablehlo.constant"() <{value = dense<0.5> : tensor<512x256xf32>}> : () -> tensor<512x256xf32>
  %u = "stablehlo.rng"(%lo, %hi, %shape) <{rng_distribution = #stablehlo<rng_distribution UNIFORM>}> : (tensor<f32>, tensor<f32>, tensor<2xi64>) -> tensor<512x256xf32>
  %m = "stablehlo.compare"(%u, %half) <{comparison_direction = #stablehlo<comparison_direction GT>}> : (tensor<512x256xf32>, tensor<512x256xf32>) -> tensor<512x256xi1>
  %h = "stablehlo.dot_general"(%x, %w) <{dot_dimension_numbers = #stablehlo.dot<lhs_contracting_dimensions = [1], rhs_contracting_dimensions = [0]>}> : (tensor<512x256xf32>, tensor<256x256xf32>) -> tensor<512x256xf32>
  %d = "stablehlo.select"(%m, %h, %half) : (tensor<512x256xi1>, tensor<512x256xf32>, tensor<512x256xf32>) -> tensor<512x256xf32>
  %loss = "stablehlo.dot_general"(%d, %d) <{dot_dimension_numbers = #stablehlo.dot<lhs_contracting_dimensions = [0, 1], rhs_contracting_dimensions = [0, 1]>}> : (tensor<512x256xf32>, tensor<512x256xf32>) -> tensor<f32>
  %c = "stablehlo.cosine"(%d) : (tensor<512x256xf32>) -> tensor<512x256xf32>
  %gh = "stablehlo.select"(%m, %c, %half) : (tensor<512x256xi1>, tensor<512x256xf32>, tensor<512x256xf32>) -> tensor<512x256xf32>
  return %loss, %gh : tensor<f32>, tensor<512x256xf32>
}

// The random bits come from a seed: all four ops are cloned and read the same seed, through the barrier.
// SEED-LABEL: func.func @R015(
// SEED-SAME:    %[[S:.*]]: tensor<512x256xui32>
// SEED:         stablehlo.xor"(%[[S]], %[[S]])
// SEED:         %[[B:.*]]:{{[0-9]+}} = "stablehlo.optimization_barrier"({{.*}}%[[S]]
// SEED:         %[[BITS:.*]] = "stablehlo.xor"(%[[B]]#[[N:[0-9]+]], %[[B]]#[[N]])
// SEED:         stablehlo.compare"(%[[BITS]]
// SEED:         return

// The user may keep the mask instead: compare and xor run once, dot and select are cloned.
// KEEP: "recomputed_ops": 2,
// KEEP: "compare.4", "bytes": 131072, {{.*}} "reason": "saved by name"
func.func @R015(%seed: tensor<512x256xui32>, %x: tensor<512x256xf32>, %w: tensor<256x256xf32>) -> (tensor<f32>, tensor<512x256xf32>) {
  %zero = "stablehlo.constant"() <{value = dense<0.0> : tensor<512x256xf32>}> : () -> tensor<512x256xf32>
  %half = "stablehlo.constant"() <{value = dense<5> : tensor<512x256xui32>}> : () -> tensor<512x256xui32>
  %h = "stablehlo.dot_general"(%x, %w) <{dot_dimension_numbers = #stablehlo.dot<lhs_contracting_dimensions = [1], rhs_contracting_dimensions = [0]>}> : (tensor<512x256xf32>, tensor<256x256xf32>) -> tensor<512x256xf32>
  %u = "stablehlo.xor"(%seed, %seed) : (tensor<512x256xui32>, tensor<512x256xui32>) -> tensor<512x256xui32>
  %m = "stablehlo.compare"(%u, %half) <{comparison_direction = #stablehlo<comparison_direction GT>}> : (tensor<512x256xui32>, tensor<512x256xui32>) -> tensor<512x256xi1>
  %d = "stablehlo.select"(%m, %h, %zero) : (tensor<512x256xi1>, tensor<512x256xf32>, tensor<512x256xf32>) -> tensor<512x256xf32>
  %loss = "stablehlo.dot_general"(%d, %d) <{dot_dimension_numbers = #stablehlo.dot<lhs_contracting_dimensions = [0, 1], rhs_contracting_dimensions = [0, 1]>}> : (tensor<512x256xf32>, tensor<512x256xf32>) -> tensor<f32>
  %c = "stablehlo.cosine"(%d) : (tensor<512x256xf32>) -> tensor<512x256xf32>
  %gh = "stablehlo.select"(%m, %c, %zero) : (tensor<512x256xi1>, tensor<512x256xf32>, tensor<512x256xf32>) -> tensor<512x256xf32>
  return %loss, %gh : tensor<f32>, tensor<512x256xf32>
}
