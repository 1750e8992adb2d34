//===- Passes.td - The passes, their options and what they promise -*- tablegen -*-===//
//
// Part of the Remat project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef REMAT_TRANSFORMS_PASSES_TD
#define REMAT_TRANSFORMS_PASSES_TD

include "mlir/Pass/PassBase.td"

class RematModulePass<string name> : Pass<name, "::mlir::ModuleOp"> {
  let dependentDialects = ["::remat::RematDialect", "::mlir::func::FuncDialect"];
}

defvar functionOption = Option<"function", "function", "std::string", /*default=*/"",
  "The function of the training step (default: main, else the only public one)">;
defvar extractOptions = [
  Option<"device", "device", "std::string", /*default=*/"\"sm_90\"",
    "Whose speeds costs are made of: sm_80 (a100), sm_90 (h100), sm_100 (b200), cpu, or a JSON file">,
  ListOption<"dim", "dim", "std::string",
    "Bounds of dynamic dimensions: argI.D=N, NAME.D=N, or *=N for all others">,
  functionOption];
defvar planOptions = [
  Option<"policy", "policy", "std::string", /*default=*/"\"save-everything\"",
    "What is saved from forward to backward: save-everything, save-nothing, save-dots, "
    "save-dots-no-batch-dims, save-only-names=A,B, save-any-names-but=A,B, save-larger-than=SIZE, "
    "save-ops=REGEX, min-cut, min-cut=R, P1+P2, or sqrt-n">,
  Option<"segments", "segments", "std::string", /*default=*/"",
    "Where the forward part is cut; inputs of segments are saved (default: sqrt for sqrt-n, else none)">,
  ListOption<"keep", "keep", "std::string",
    "Values, ops or checkpoint names that are saved whatever the policy says">,
  ListOption<"recompute", "recompute", "std::string",
    "Values, ops or checkpoint names that are recomputed whatever the policy says">,
  Option<"prune", "prune", "bool", /*default=*/"false",
    "Save again what is recomputed without lowering the peak">,
  Option<"memoryLimit", "memory-limit", "std::string", /*default=*/"",
    "The cheapest plan whose peak is at most this (N%: of the peak of the graph as given); what a policy other than "
    "save-everything saves is never recomputed">,
  Option<"deviceMemory", "device-memory", "std::string", /*default=*/"",
    "The same for the arguments and the peak together">,
  Option<"order", "order", "std::string", /*default=*/"",
    "Whether first executions keep their order or move to lower the peak (default: free with a limit, else given)">,
  Option<"cost", "cost", "std::string", /*default=*/"\"time\"", "What recomputation is to be cheap in">,
  Option<"pareto", "pareto", "int64_t", /*default=*/"0",
    "Besides, N plans from the cheapest to the smallest, in the report">,
  Option<"effort", "effort", "int64_t", /*default=*/"100",
    "Work of the search under a limit, in percent; the same effort gives the same plan">,
  Option<"seed", "seed", "int64_t", /*default=*/"1", "Of the search's random numbers">,
  Option<"timeLimit", "time-limit", "std::string", /*default=*/"",
    "End a search after 500ms, 10s, 2min or 1h with the best plan so far">];
defvar lossOption = Option<"lossResult", "loss-result", "int64_t", /*default=*/"-1",
  "The result that is the loss, where no names tell forward from backward (default: 0 if it is a scalar float)">;

def RematFlattenPass : RematModulePass<"remat-flatten"> {
  let summary = "Inline calls and regions so that the step is one flat block";
  let description = [{
    Planning sees leaf ops only. Calls of functions of the module and bodies of `remat.region` are inlined into the main
    function, recursively; where they came from stays in locations and attributes.

    Before:
    ```mlir
    %y = remat.region "layer0" policy "save-dots" -> tensor<4xf32> {
      %0 = math.tanh %x : tensor<4xf32>
      remat.yield %0 : tensor<4xf32>
    }
    %z = remat.name %y "h" : tensor<4xf32>
    ```
    After:
    ```mlir
    %y = math.tanh %x {remat.region = "layer0", remat.checkpoint_name = "h"} : tensor<4xf32>
    ```

    Requires: one block in every function involved, no recursion.
    Guarantees: the main function holds no call of a function of the module, no `remat.region` and no `remat.name`; private
    functions without a caller are gone.
    Complexity: linear in the size of the result.
  }];
  let options = [functionOption];
}

def RematPhasesPass : RematModulePass<"remat-phases"> {
  let summary = "Tell forward from backward ops";
  let description = [{
    Sets `remat.phase` on every op of the main function: as given, else by JAX's name stacks (`transpose(`), else by
    program order up to the loss. What depends on a backward op is backward; so is what stands behind the first backward
    op and is read by backward ops alone.

    Before:
    ```mlir
    %h = math.tanh %x : tensor<4xf32> loc("jit(step)/jvp()/tanh")
    %g = arith.mulf %h, %d : tensor<4xf32> loc("jit(step)/transpose(jvp())/mul")
    ```
    After:
    ```mlir
    %h = math.tanh %x {remat.phase = "forward"} : tensor<4xf32>
    %g = arith.mulf %h, %d {remat.phase = "backward"} : tensor<4xf32>
    ```

    Requires: `remat-flatten`.
    Guarantees: every op carries a phase, or an error says what to add.
    Complexity: linear.
  }];
  let options = [lossOption, functionOption];
  let statistics = [
    Statistic<"forwardOps", "forward-ops", "Ops of the forward part">,
    Statistic<"backwardOps", "backward-ops", "Ops of the backward part">
  ];
}

def RematPlanPass : RematModulePass<"remat-plan"> {
  let summary = "Decide what is saved and what is recomputed";
  let description = [{
    Extracts the planner's graph, asks the policy, and attaches the schedule as `remat.plan`: the numbers of the block's
    ops in the order of execution, a number standing again where its op runs again.

    Before:
    ```mlir
    func.func @main(%x: tensor<4xf32>) -> … {
      %0 = math.tanh %x …          // forward
      %1 = arith.mulf %0, %0 …     // forward
      %2 = arith.mulf %0, %d …     // backward
    ```
    After `remat-plan{policy=save-nothing}`:
    ```mlir
    func.func @main(%x: tensor<4xf32>) -> … attributes {remat.plan = array<i64: 0, 1, 0, 2>} {
    ```

    Requires: `remat-flatten`, `remat-phases`.
    Guarantees: the plan is legal; same input, same plan. The IR itself is untouched.
    Complexity: linear for the named policies, but for a minimum cut where an op must not be cloned; `--prune` and `sqrt-n`
    replay the plan several times.
  }];
  let options = !listconcat(planOptions, extractOptions);
  let statistics = [
    Statistic<"savedValues", "saved-values", "Values saved from forward to backward">,
    Statistic<"recomputedOps", "recomputed-ops", "Executions beyond the first, constants and views left out">
  ];
}

def RematApplyPass : RematModulePass<"remat-apply"> {
  let summary = "Run the plan's steps: clone, move, and guard";
  let description = [{
    Rebuilds the block in the order of `remat.plan`. What a run of clones reads from outside goes through a barrier that names
    a gradient: so the clones can neither be merged with their originals nor run early.

    Before (`remat.plan = array<i64: 0, 1, 0, 2>`):
    ```mlir
    %0 = math.tanh %x : tensor<4xf32>
    %1 = arith.mulf %0, %0 : tensor<4xf32>
    %2 = arith.mulf %0, %d : tensor<4xf32>
    ```
    After:
    ```mlir
    %0 = math.tanh %x : tensor<4xf32>
    %1 = arith.mulf %0, %0 : tensor<4xf32>
    %b = remat.barrier %x after(%1 : tensor<4xf32>) {id = 0 : i64, of = "0"} : tensor<4xf32>
    %c = math.tanh %b {remat.clone = "0"} : tensor<4xf32>
    %2 = arith.mulf %c, %d : tensor<4xf32>
    ```
    In functions with StableHLO ops the barrier is one `stablehlo.optimization_barrier` per run of clones, which XLA knows.

    Requires: `remat-plan`, on the same ops.
    Guarantees: every result is the same expression as before; a plan that is the program order changes nothing.
    Complexity: linear in steps and operands.
  }];
  let options = extractOptions;
  let statistics = [Statistic<"clones", "clones", "Clones that are guarded">];
}

def RematVerifyPass : RematModulePass<"remat-verify"> {
  let summary = "Check that the rewritten function needs the bytes that were planned";
  let description = [{
    Extracts the main function again, as if it came from a user, and compares the peak of its program order with `peak-bytes`.
    Fails with both numbers and the op at the peak where they differ. The IR is untouched.

    Requires: `remat-flatten` and `remat-phases` (or what `remat-apply` leaves).
    Guarantees: after it, the function's peak under the memory model is `peak-bytes`.
    Complexity: linear.
  }];
  let options = [Option<"peakBytes", "peak-bytes", "int64_t", /*default=*/"-1",
                        "The peak that was planned, bytes">] # extractOptions;
}

def RematCheckPass : RematModulePass<"remat-check"> {
  let summary = "Count the recomputations that later passes left";
  let description = [{
    Prints `remat-check: N of M recomputations survived` for every function that Remat rewrote: M is what the rewriting noted
    on the function, N the clones that still read through their barrier. Run it behind CSE, canonicalization, fusion and the like. A
    clone is lost if it was merged with its original, if its barrier was dropped or lost the operands that keep it late, or if
    something reads the original after the clone. The IR is untouched.

    Before (one clone merged by a pass):
    ```mlir
    func.func @main(…) attributes {remat.recomputations = 2 : i64} {
    ```
    Prints: `remark: remat-check: 1 of 2 recomputations survived in @main`

    Requires: nothing.
    Guarantees: with `fail`, the pass fails unless all survived.
    Complexity: linear, with a hash table of expressions in StableHLO graphs.
  }];
  let options = [Option<"failIfLost", "fail", "bool", /*default=*/"false", "Fail unless all recomputations survived">];
  let statistics = [
    Statistic<"planned", "planned", "Recomputations that rewriting made">,
    Statistic<"survived", "survived", "Recomputations that are left">
  ];
}

def RematStripPass : RematModulePass<"remat-strip"> {
  let summary = "Remove the remat dialect's attributes";
  let description = [{
    Removes every `remat.*` attribute from functions and their ops, for consumers that don't know the dialect. Barriers stay.

    Before: `%0 = math.tanh %x {remat.phase = "forward"} : tensor<4xf32>`
    After: `%0 = math.tanh %x : tensor<4xf32>`

    Requires: nothing.
    Guarantees: no attribute of the dialect is left; `remat-check` finds nothing to count in linalg graphs afterwards.
    Complexity: linear.
  }];
}

#endif // REMAT_TRANSFORMS_PASSES_TD
