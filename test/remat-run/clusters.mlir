// A plan of the clusters: every value of its graph is stored, 16 x 16 x 4 = 1024 bytes each.
//
// REQUIRES: remat-run
// DEFINE: %{steps} =
// DEFINE: %{plan} = echo '{"schema": 1, "graph": "main clusters", "steps": [%{steps}]}' > %t.plan.json
// DEFINE: %{run} = remat-run %s --random-inputs=1 --threads=1 --plan=%t.plan.json --report=%t.json

// As it came. At the dot that reads %w transposed and so needs a workspace: b + c + d = 3072, and the workspace.
//
// REDEFINE: %{steps} = {"op": "generic.0"}, {"op": "kernel.1"}, {"op": "generic.2"}, {"op": "generic.3"}, {"op": "kernel.4"}, {"op": "generic.5"}
// RUN: %{plan} && %{run} && FileCheck %s --check-prefix=CAME --input-file=%t.json
// CAME: "function": "main"
// CAME: "policy": "plan:
// CAME: "level": "clusters"
// CAME: "forward_ops": 3,
// CAME: "backward_ops": 3,
// CAME: "recomputed_ops": 0,
// CAME: "planned_peak_bytes": [[PEAK:[0-9]+]],
// CAME: "planned_peak_bytes_before": [[PEAK]],

// The dot and the tanh again, behind the dot that needs the workspace: c + d = 2048, and the workspace.
//
// REDEFINE: %{steps} = {"op": "generic.0"}, {"op": "kernel.1"}, {"op": "generic.2"}, {"op": "generic.3"}, {"op": "generic.0"}, {"op": "kernel.1"}, {"op": "kernel.4"}, {"op": "generic.5"}
// RUN: %{plan} && %{run} --verify --plan-out=%t.out.json && FileCheck %s --check-prefix=AGAIN --input-file=%t.json
// AGAIN: "recomputed_ops": 2,
// AGAIN: "measured_peak_bytes": [[#PEAK:]],
// AGAIN: "planned_peak_bytes": [[#PEAK]],
// AGAIN: "planned_peak_bytes_before": [[#PEAK+1024]],
// AGAIN: "verified": true

// What is written is what was read, and it can be read again.
//
// RUN: %python -c "import json, sys; a, b = (json.load(open(f)) for f in sys.argv[1:]); assert a['steps'] == b['steps']" %t.plan.json %t.out.json
// RUN: remat-run %s --random-inputs=1 --plan=%t.out.json --plan-out=%t.again.json && cmp %t.out.json %t.again.json

// A tanh that is computed again for one reader becomes a part of that: there are six kernels and calls, not seven.
//
// REDEFINE: %{steps} = {"op": "generic.0"}, {"op": "kernel.1"}, {"op": "generic.2"}, {"op": "generic.3"}, {"op": "kernel.1"}, {"op": "kernel.4"}, {"op": "generic.5"}
// RUN: %{plan} && %{run} --verify --profile | FileCheck %s --check-prefix=FUSED
// FUSED: verified
// FUSED: (all) 6

// Not a plan: the tanh reads what nobody has computed.
//
// REDEFINE: %{steps} = {"op": "kernel.1"}, {"op": "generic.0"}, {"op": "generic.2"}, {"op": "generic.3"}, {"op": "kernel.4"}, {"op": "generic.5"}
// RUN: %{plan} && not %{run} 2>&1 | FileCheck %s --check-prefix=ILLEGAL
// ILLEGAL: remat-run: error: {{.*}}.plan.json: step 0

func.func @main(%x: tensor<16x16xf32>, %w: tensor<16x16xf32>) -> (tensor<16x16xf32>, tensor<16x16xf32>) {
  %a = "stablehlo.dot_general"(%x, %w) {dot_dimension_numbers = #stablehlo.dot<lhs_contracting_dimensions = [1],
      rhs_contracting_dimensions = [0]>, remat.phase = "forward"}
      : (tensor<16x16xf32>, tensor<16x16xf32>) -> tensor<16x16xf32>
  %b = "stablehlo.tanh"(%a) {remat.phase = "forward"} : (tensor<16x16xf32>) -> tensor<16x16xf32>
  %c = "stablehlo.dot_general"(%b, %w) {dot_dimension_numbers = #stablehlo.dot<lhs_contracting_dimensions = [1],
      rhs_contracting_dimensions = [0]>, remat.phase = "forward"}
      : (tensor<16x16xf32>, tensor<16x16xf32>) -> tensor<16x16xf32>
  %d = "stablehlo.dot_general"(%c, %w) {dot_dimension_numbers = #stablehlo.dot<lhs_contracting_dimensions = [1],
      rhs_contracting_dimensions = [1]>, remat.phase = "backward"}
      : (tensor<16x16xf32>, tensor<16x16xf32>) -> tensor<16x16xf32>
  %e = "stablehlo.multiply"(%d, %b) {remat.phase = "backward"}
      : (tensor<16x16xf32>, tensor<16x16xf32>) -> tensor<16x16xf32>
  %f = "stablehlo.dot_general"(%x, %e) {dot_dimension_numbers = #stablehlo.dot<lhs_contracting_dimensions = [0],
      rhs_contracting_dimensions = [0]>, remat.phase = "backward"}
      : (tensor<16x16xf32>, tensor<16x16xf32>) -> tensor<16x16xf32>
  return %c, %f : tensor<16x16xf32>, tensor<16x16xf32>
}
