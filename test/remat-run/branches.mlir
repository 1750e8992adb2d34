// Branches: every result is what was computed minus what is expected, so all sums are 0. Of x = [1, 2, 3, 4]:
// branch 0 gives x + x = [2, 4, 6, 8] and x × x = [1, 4, 9, 16], 1 gives -x and x, 2 gives 10 × x and a constant.
//
// REQUIRES: remat-run
// DEFINE: %{zero} = {"shape": [4], "sum": 0, "sumabs": 0, "wsum": 0, "max": 0}
// RUN: echo '{"outputs": [%{zero}, %{zero}, %{zero}, %{zero}, %{zero}, %{zero}, %{zero}, %{zero}]}' > %t.json
// DEFINE: %{run} = remat-run %s --random-inputs=1 --expect=%t.json --tolerance=0 --verify --report=%t.report.json
// RUN: %{run} --threads=2 | FileCheck %s
// RUN: %{run} --threads=1 | FileCheck %s
// CHECK: largest error 0 of
// CHECK: verified

// The branch that isn't taken needs nothing: what was measured is at most what was planned.
//
// RUN: %python -c "import json, sys; r = json.load(open(sys.argv[1])); assert 0 < r['measured_peak_bytes'] <= r['planned_peak_bytes']" %t.report.json

// A gradient through branches, planned.
//
// RUN: remat-run %S/Inputs/case.mlir --policy=save-nothing --random-inputs=3 --verify | FileCheck %s --check-prefix=PLANNED
// RUN: remat-run %S/Inputs/case.mlir --policy=sqrt-n --random-inputs=3 --verify | FileCheck %s --check-prefix=PLANNED
// PLANNED: verified

// An index out of range takes the last branch.
func.func private @pick(%index: tensor<i32>, %x: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) {
  %r:2 = "stablehlo.case"(%index) ({
    %a = "stablehlo.add"(%x, %x) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
    %b = "stablehlo.multiply"(%x, %x) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
    "stablehlo.return"(%a, %b) : (tensor<4xf32>, tensor<4xf32>) -> ()
  }, {
    %a = "stablehlo.negate"(%x) : (tensor<4xf32>) -> tensor<4xf32>
    "stablehlo.return"(%a, %x) : (tensor<4xf32>, tensor<4xf32>) -> ()
  }, {
    %ten = "stablehlo.constant"() {value = dense<10.0> : tensor<4xf32>} : () -> tensor<4xf32>
    %a = "stablehlo.multiply"(%x, %ten) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
    %b = "stablehlo.constant"() {value = dense<[5.0, 6.0, 7.0, 8.0]> : tensor<4xf32>} : () -> tensor<4xf32>
    "stablehlo.return"(%a, %b) : (tensor<4xf32>, tensor<4xf32>) -> ()
  }) : (tensor<i32>) -> (tensor<4xf32>, tensor<4xf32>)
  return %r#0, %r#1 : tensor<4xf32>, tensor<4xf32>
}

func.func private @choose(%flag: tensor<i1>, %x: tensor<4xf32>) -> tensor<4xf32> {
  %r = "stablehlo.if"(%flag) ({
    %a = "stablehlo.add"(%x, %x) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
    "stablehlo.return"(%a) : (tensor<4xf32>) -> ()
  }, {
    "stablehlo.return"(%x) : (tensor<4xf32>) -> ()
  }) : (tensor<i1>) -> tensor<4xf32>
  return %r : tensor<4xf32>
}

// Expected of case 0, 1, 2 and -1 together: 2x, x², -x, x, 10x, [5, 6, 7, 8], 10x + [5, 6, 7, 8]; of `if`: 2x + x = 3x.
func.func @main(%unused: tensor<f32>) -> (tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>,
                                          tensor<4xf32>, tensor<4xf32>, tensor<4xf32>) {
  %x = "stablehlo.constant"() {value = dense<[1.0, 2.0, 3.0, 4.0]> : tensor<4xf32>} : () -> tensor<4xf32>
  %i0 = "stablehlo.constant"() {value = dense<0> : tensor<i32>} : () -> tensor<i32>
  %i1 = "stablehlo.constant"() {value = dense<1> : tensor<i32>} : () -> tensor<i32>
  %i2 = "stablehlo.add"(%i1, %i1) : (tensor<i32>, tensor<i32>) -> tensor<i32>
  %i3 = "stablehlo.negate"(%i1) : (tensor<i32>) -> tensor<i32>
  %r0:2 = func.call @pick(%i0, %x) : (tensor<i32>, tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>)
  %r1:2 = func.call @pick(%i1, %x) : (tensor<i32>, tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>)
  %r2:2 = func.call @pick(%i2, %x) : (tensor<i32>, tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>)
  %r3:2 = func.call @pick(%i3, %x) : (tensor<i32>, tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>)
  %last = "stablehlo.add"(%r3#0, %r3#1) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %true = "stablehlo.compare"(%i1, %i0) {comparison_direction = #stablehlo<comparison_direction GT>}
      : (tensor<i32>, tensor<i32>) -> tensor<i1>
  %false = "stablehlo.not"(%true) : (tensor<i1>) -> tensor<i1>
  %yes = func.call @choose(%true, %x) : (tensor<i1>, tensor<4xf32>) -> tensor<4xf32>
  %no = func.call @choose(%false, %x) : (tensor<i1>, tensor<4xf32>) -> tensor<4xf32>
  %both = "stablehlo.add"(%yes, %no) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>

  %e0 = "stablehlo.constant"() {value = dense<[2.0, 4.0, 6.0, 8.0]> : tensor<4xf32>} : () -> tensor<4xf32>
  %e1 = "stablehlo.constant"() {value = dense<[1.0, 4.0, 9.0, 16.0]> : tensor<4xf32>} : () -> tensor<4xf32>
  %e2 = "stablehlo.constant"() {value = dense<[-1.0, -2.0, -3.0, -4.0]> : tensor<4xf32>} : () -> tensor<4xf32>
  %e4 = "stablehlo.constant"() {value = dense<[10.0, 20.0, 30.0, 40.0]> : tensor<4xf32>} : () -> tensor<4xf32>
  %e5 = "stablehlo.constant"() {value = dense<[5.0, 6.0, 7.0, 8.0]> : tensor<4xf32>} : () -> tensor<4xf32>
  %e6 = "stablehlo.constant"() {value = dense<[15.0, 26.0, 37.0, 48.0]> : tensor<4xf32>} : () -> tensor<4xf32>
  %e7 = "stablehlo.constant"() {value = dense<[3.0, 6.0, 9.0, 12.0]> : tensor<4xf32>} : () -> tensor<4xf32>
  %d0 = "stablehlo.subtract"(%r0#0, %e0) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %d1 = "stablehlo.subtract"(%r0#1, %e1) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %d2 = "stablehlo.subtract"(%r1#0, %e2) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %d3 = "stablehlo.subtract"(%r1#1, %x) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %d4 = "stablehlo.subtract"(%r2#0, %e4) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %d5 = "stablehlo.subtract"(%r2#1, %e5) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %d6 = "stablehlo.subtract"(%last, %e6) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %d7 = "stablehlo.subtract"(%both, %e7) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  return %d0, %d1, %d2, %d3, %d4, %d5, %d6, %d7 : tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>,
      tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>
}
