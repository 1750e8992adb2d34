// Sizes that other tools got wrong: i1 and sub-byte types, empty tensors, dynamic dimensions (R075, R077, R078, R080).

// RUN: remat-opt %s --function=R078 --emit=graph-json | FileCheck %s --check-prefix=TYPES
// 100 elements: a byte each for i1, f8 and i4, as they lie in memory, and two for bf16.
// TYPES: "compare.0", "bytes": 100}
// TYPES: "convert.1", "bytes": 100}
// TYPES: "convert.2", "bytes": 200}
// TYPES: "convert.3", "bytes": 100}
// Text, bytecode, text: a true splat stays true, one-element i1 constants are read.
// RUN: remat-opt %s --function=R078 --policy=save-nothing --emit=mlirbc -o - | remat-opt | FileCheck %s --check-prefix=SPLAT
// SPLAT-LABEL: func.func @R078
// SPLAT: dense<true> : tensor<100xi1>
// SPLAT: dense<true> : tensor<1xi1>
// SPLAT: dense<false> : tensor<i1>
func.func @R078(%x: tensor<100xf32>) -> (tensor<f32>, tensor<100xf32>) {
  %m = "stablehlo.compare"(%x, %x) <{comparison_direction = #stablehlo<comparison_direction GT>}> : (tensor<100xf32>, tensor<100xf32>) -> tensor<100xi1>
  %f8 = "stablehlo.convert"(%x) : (tensor<100xf32>) -> tensor<100xf8E4M3FN>
  %bf16 = "stablehlo.convert"(%x) : (tensor<100xf32>) -> tensor<100xbf16>
  %i4 = "stablehlo.convert"(%x) : (tensor<100xf32>) -> tensor<100xi4>
  %all = "stablehlo.constant"() <{value = dense<true> : tensor<100xi1>}> : () -> tensor<100xi1>
  %one = "stablehlo.constant"() <{value = dense<true> : tensor<1xi1>}> : () -> tensor<1xi1>
  %none = "stablehlo.constant"() <{value = dense<false> : tensor<i1>}> : () -> tensor<i1>
  %y = "user.mix"(%m, %f8, %bf16, %i4, %all, %one, %none) : (tensor<100xi1>, tensor<100xf8E4M3FN>, tensor<100xbf16>, tensor<100xi4>, tensor<100xi1>, tensor<1xi1>, tensor<i1>) -> tensor<100xf32>
  %loss = "stablehlo.dot"(%y, %y) : (tensor<100xf32>, tensor<100xf32>) -> tensor<f32>
  %g = "stablehlo.select"(%m, %y, %x) : (tensor<100xi1>, tensor<100xf32>, tensor<100xf32>) -> tensor<100xf32>
  return %loss, %g : tensor<f32>, tensor<100xf32>
}

// An empty batch: the peak is dW (16 x 16 x 4 = 1024) + loss (4), residuals have 0 bytes, and no figure is NaN or infinite.
// RUN: remat-opt %s --function=R080 --policy=save-nothing -o /dev/null --report=%t.json
// RUN: FileCheck %s --check-prefix=EMPTY --input-file=%t.json --implicit-check-not=nan --implicit-check-not=inf
// RUN: remat-opt %s --function=R080 --policy=sqrt-n -o /dev/null --report=%t.json
// RUN: FileCheck %s --check-prefix=EMPTY --input-file=%t.json --implicit-check-not=nan --implicit-check-not=inf
// EMPTY: "before": {"peak_bytes": 1028, {{.*}}"residual_bytes": 0,
// EMPTY: "after": {"peak_bytes": 1028,
func.func @R080(%x: tensor<0x16xf32>, %w: tensor<16x16xf32>) -> (tensor<f32>, tensor<16x16xf32>) {
  %h = "stablehlo.dot_general"(%x, %w) <{dot_dimension_numbers = #stablehlo.dot<lhs_contracting_dimensions = [1], rhs_contracting_dimensions = [0]>}> : (tensor<0x16xf32>, tensor<16x16xf32>) -> tensor<0x16xf32>
  %loss = "stablehlo.dot_general"(%h, %h) <{dot_dimension_numbers = #stablehlo.dot<lhs_contracting_dimensions = [0, 1], rhs_contracting_dimensions = [0, 1]>}> : (tensor<0x16xf32>, tensor<0x16xf32>) -> tensor<f32>
  %dw = "stablehlo.dot_general"(%x, %h) <{dot_dimension_numbers = #stablehlo.dot<lhs_contracting_dimensions = [0], rhs_contracting_dimensions = [0]>}> : (tensor<0x16xf32>, tensor<0x16xf32>) -> tensor<16x16xf32>
  return %loss, %dw : tensor<f32>, tensor<16x16xf32>
}

// A size without a bound is an error that names the dimension; with bounds, a: 4096 x 32 = 131072, b: 4097 x 32 = 131104.
// RUN: not remat-opt %s --function=R075 --policy=save-nothing 2>&1 | FileCheck %s --check-prefix=UNBOUNDED
// RUN: not remat-opt %s --function=R075 --policy=save-nothing --dim=arg0.0=-1 2>&1 | FileCheck %s --check-prefix=NEGATIVE
// RUN: remat-opt %s --function=R075 --dim=arg0.0=4096 --dim=arg1.0=4097 --emit=graph-json 2>&1 | FileCheck %s --check-prefix=BOUNDED
// UNBOUNDED: error: size of dimension 0 of argument 0 ('arg0') is not known
// UNBOUNDED: note: give a bound with --dim=arg0.0=N or --dim=*=N
// NEGATIVE: error: 'arg0.0=-1' does not bound a dimension
// BOUNDED: "sine.0", "bytes": 131072}
// BOUNDED: "sine.1", "bytes": 131104}
func.func @R075(%x: tensor<?x8xf32>, %y: tensor<?x8xf32>) -> (tensor<?x8xf32>, tensor<?x8xf32>, tensor<?x8xf32>) {
  %a = "stablehlo.sine"(%x) {remat.phase = "forward"} : (tensor<?x8xf32>) -> tensor<?x8xf32>
  %b = "stablehlo.sine"(%y) {remat.phase = "forward"} : (tensor<?x8xf32>) -> tensor<?x8xf32>
  %g = "stablehlo.cosine"(%b) {remat.phase = "backward"} : (tensor<?x8xf32>) -> tensor<?x8xf32>
  return %a, %b, %g : tensor<?x8xf32>, tensor<?x8xf32>, tensor<?x8xf32>
}

// Planned by the bound that is given: p, the residual, has 1024 x 1024 x 4 = 4194304 bytes, or 512 x 1024 x 4 = 2097152.
// RUN: remat-opt %s --function=R077 --policy=save-everything --dim=arg0.0=1024 -o /dev/null --report=- | FileCheck %s --check-prefix=BOUND
// RUN: remat-opt %s --function=R077 --policy=save-everything --dim=arg0.0=512 -o /dev/null --report=- | FileCheck %s --check-prefix=HINT
// BOUND: residual bytes {{.*}} 4194304
// HINT:  residual bytes {{.*}} 2097152
func.func @R077(%t: tensor<?x1024xf32>) -> (tensor<?x1024xf32>, tensor<?x1024xf32>) {
  %p = "stablehlo.exponential"(%t) {remat.phase = "forward"} : (tensor<?x1024xf32>) -> tensor<?x1024xf32>
  %y = "stablehlo.sine"(%p) {remat.phase = "forward"} : (tensor<?x1024xf32>) -> tensor<?x1024xf32>
  %g = "stablehlo.cosine"(%p) {remat.phase = "backward"} : (tensor<?x1024xf32>) -> tensor<?x1024xf32>
  return %y, %g : tensor<?x1024xf32>, tensor<?x1024xf32>
}
