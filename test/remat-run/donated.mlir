// Results in donated arguments: the step takes 4 bytes for the loss, 64 in the arena, and 64 × 64 × 4 = 16384 for the
// product, which both are gone or small when it ends; %m1 lies in %m, %w1 in %w. Without donation %m1 takes 16384 more,
// and %w1 the product's place.
//
// REQUIRES: remat-run
// RUN: remat-run %s --random-inputs=1 --threads=1 --verify --repeat=3 --outputs=%t.npz --report=%t.json | FileCheck %s
// CHECK: measured peak {{.*}}, as planned
// CHECK: verified
// RUN: sed 's/{tf.aliasing_output = 1 : i32}//; s/{jax.buffer_donor = true}//' %s > %t.kept.mlir
// RUN: remat-run %t.kept.mlir --random-inputs=1 --threads=1 --expect=%t.npz --tolerance=0 --report=%t.kept.json
// RUN: %python -c "import json, sys; a, b = (json.load(open(f))['planned_peak_bytes'] for f in sys.argv[1:]); assert b - a == 16384, (a, b)" %t.json %t.kept.json

// A result that isn't the alias's, one that is returned twice, and an argument that is read later, stay in the arena.
//
// RUN: sed 's/tf.aliasing_output = 1/tf.aliasing_output = 0/; s/-> (tensor<f32>, tensor<64x64xf32>, tensor<64x64xf32>)/-> (tensor<f32>, tensor<64x64xf32>, tensor<64x64xf32>, tensor<64x64xf32>)/; s/return %loss, %w1, %m1 :/return %loss, %w1, %m1, %m1 : tensor<f32>, tensor<64x64xf32>, tensor<64x64xf32>, tensor<64x64xf32> \/\//' %s > %t.twice.mlir
// RUN: remat-run %t.twice.mlir --random-inputs=1 --threads=1 --verify --report=%t.twice.json
// RUN: %python -c "import json, sys; a, b = (json.load(open(f))['planned_peak_bytes'] for f in sys.argv[1:]); assert a == b, (a, b)" %t.twice.json %t.kept.json

// C's callers ask which arguments a run overwrites.
//
// RUN: remat-run %s --emit=object --threads=1 -o %t.o

func.func @main(%w: tensor<64x64xf32> {tf.aliasing_output = 1 : i32}, %m: tensor<64x64xf32> {jax.buffer_donor = true}, %g: tensor<64x64xf32>)
    -> (tensor<f32>, tensor<64x64xf32>, tensor<64x64xf32>) {
  %z = "stablehlo.constant"() {value = dense<0.0> : tensor<f32>} : () -> tensor<f32>
  %loss = "stablehlo.reduce"(%w, %z) ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %s = "stablehlo.add"(%a, %b) : (tensor<f32>, tensor<f32>) -> tensor<f32>
    "stablehlo.return"(%s) : (tensor<f32>) -> ()
  }) {dimensions = array<i64: 0, 1>} : (tensor<64x64xf32>, tensor<f32>) -> tensor<f32>
  %m1 = "stablehlo.add"(%m, %g) : (tensor<64x64xf32>, tensor<64x64xf32>) -> tensor<64x64xf32>
  %d = "stablehlo.dot_general"(%m1, %w) {dot_dimension_numbers = #stablehlo.dot<lhs_contracting_dimensions = [1],
      rhs_contracting_dimensions = [0]>} : (tensor<64x64xf32>, tensor<64x64xf32>) -> tensor<64x64xf32>
  %w1 = "stablehlo.subtract"(%w, %d) : (tensor<64x64xf32>, tensor<64x64xf32>) -> tensor<64x64xf32>
  return %loss, %w1, %m1 : tensor<f32>, tensor<64x64xf32>, tensor<64x64xf32>
}
