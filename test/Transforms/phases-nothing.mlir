// Where no op reads what another one computes, or nothing comes out, there is nothing to tell apart and nothing to plan:
// whatever is asked, the function comes out as it went in.
//
// RUN: rm -rf %t && split-file %s %t
// RUN: for file in argument constant one-op no-results empty; do \
// RUN:   for flag in --policy=save-dots --policy=sqrt-n --policy=min-cut --memory-limit=1KiB --memory-limit=100%% --order=free; do \
// RUN:     remat-opt %t/$file.mlir $flag -o %t/out.mlir --report=%t/out.json && cmp %t/$file.mlir %t/out.mlir && \
// RUN:     grep '"recomputed_ops": 0' %t/out.json || exit 1; \
// RUN:   done; \
// RUN: done

//--- argument.mlir
func.func @main(%a: tensor<4xf32>) -> tensor<4xf32> {
  return %a : tensor<4xf32>
}
//--- constant.mlir
func.func @main(%a: tensor<4xf32>) -> (tensor<f32>, tensor<4xf32>, tensor<4xf32>) {
  %zero = arith.constant dense<0.0> : tensor<f32>
  %one = arith.constant dense<1.0> : tensor<4xf32>
  return %zero, %one, %a : tensor<f32>, tensor<4xf32>, tensor<4xf32>
}
//--- one-op.mlir
func.func @main(%a: tensor<4xf32>) -> tensor<4xf32> {
  %one = arith.constant dense<1.0> : tensor<4xf32>
  %b = arith.addf %a, %one : tensor<4xf32>
  return %b : tensor<4xf32>
}
//--- no-results.mlir
func.func @main(%a: tensor<4xf32>) {
  %b = math.exp %a : tensor<4xf32>
  %c = math.exp %b : tensor<4xf32>
  return
}
//--- empty.mlir
func.func @main() {
  return
}
