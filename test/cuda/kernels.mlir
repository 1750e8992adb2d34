// What the kernels look like in PTX.
//
// REQUIRES: remat-run
// RUN: remat-run %s --emit=ptx --device=sm_90 -o %t.ptx && FileCheck %s --input-file=%t.ptx
// RUN: FileCheck %s --check-prefix=EXACT --input-file=%t.ptx

// Nothing is contracted or approximated.
// EXACT-NOT: fma.rn.f32
// EXACT-NOT: div.approx
// EXACT-NOT: atom

func.func public @main(%x: tensor<64x128xf32>, %y: tensor<64x128xf32>, %n: tensor<3x1030xf32>,
                        %h: tensor<9x64xbf16>)
    -> (tensor<64x128xf32>, tensor<128xf32>, tensor<64x128xf32>, tensor<3x1030xf32>, tensor<9x64xbf16>,
        tensor<128x64xf32>) {
  %zero = "stablehlo.constant"() {value = dense<0.0> : tensor<f32>} : () -> tensor<f32>

  // A row of 128 = 32 threads × 4: one load, five shuffles, one store; four rows in a block of 128.
  // CHECK-LABEL: .entry remat_rows_0(
  // CHECK: .maxntid 128
  // CHECK: ld.global.v4.b32
  // CHECK-NOT: ld.global
  // CHECK: shfl.sync.bfly.b32 {{.*}}, 16, 31, -1;
  // CHECK: shfl.sync.bfly.b32 {{.*}}, 8, 31, -1;
  // CHECK: shfl.sync.bfly.b32 {{.*}}, 4, 31, -1;
  // CHECK: shfl.sync.bfly.b32 {{.*}}, 2, 31, -1;
  // CHECK: shfl.sync.bfly.b32 {{.*}}, 1, 31, -1;
  // CHECK-NOT: shfl
  // CHECK: st.global.v4.b32
  // CHECK: ret
  %sum = "stablehlo.reduce"(%x, %zero) ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %s = "stablehlo.add"(%a, %b) : (tensor<f32>, tensor<f32>) -> tensor<f32>
    "stablehlo.return"(%s) : (tensor<f32>) -> ()
  }) {dimensions = array<i64: 1>} : (tensor<64x128xf32>, tensor<f32>) -> tensor<64xf32>
  %all = "stablehlo.broadcast_in_dim"(%sum) {broadcast_dimensions = array<i64: 0>} : (tensor<64xf32>) -> tensor<64x128xf32>
  %rows = "stablehlo.divide"(%x, %all) : (tensor<64x128xf32>, tensor<64x128xf32>) -> tensor<64x128xf32>

  // √64 = 8 slices of 8 threads that have four columns each: blocks of 64.
  // CHECK-LABEL: .entry remat_columns_1(
  // CHECK: .maxntid 64
  // CHECK: bar{{.*}}.sync
  // CHECK: st.global.v4.b32
  %columns = "stablehlo.reduce"(%y, %zero) ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %s = "stablehlo.add"(%a, %b) : (tensor<f32>, tensor<f32>) -> tensor<f32>
    "stablehlo.return"(%s) : (tensor<f32>) -> ()
  }) {dimensions = array<i64: 0>} : (tensor<64x128xf32>, tensor<f32>) -> tensor<128xf32>

  // 64 × 128 / 4 = 2048 threads; a multiplication and an addition stay two instructions.
  // CHECK-LABEL: .entry remat_points_2(
  // CHECK: .maxntid 256
  // CHECK: ld.global.v4.b32
  // CHECK: ld.global.v4.b32
  // CHECK: mul.rn.f32
  // CHECK: add.rn.f32
  // CHECK: st.global.v4.b32
  %product = "stablehlo.multiply"(%x, %y) : (tensor<64x128xf32>, tensor<64x128xf32>) -> tensor<64x128xf32>
  %points = "stablehlo.add"(%product, %y) : (tensor<64x128xf32>, tensor<64x128xf32>) -> tensor<64x128xf32>

  // 3 × 1030 = 3090 = 772 × 4 + 2: the last two elements are single ones.
  // CHECK-LABEL: .entry remat_points_3(
  // CHECK: ld.global.v4.b32
  // CHECK: st.global.v4.b32
  // CHECK: ld.global.b32
  // CHECK: st.global.b32
  %rest = "stablehlo.negate"(%n) : (tensor<3x1030xf32>) -> tensor<3x1030xf32>

  // 64 / 8 = 8 threads a row, which have eight neighbours each: two values for 16 threads of the order. Those are combined
  // at the distances 8, 4 and 2 between threads 4, 2 and 1 apart, both values each time; at the distance 1 within a thread.
  // CHECK-LABEL: .entry remat_rows_4(
  // CHECK: ld.global.v4.b32
  // CHECK-COUNT-2: shfl.sync.bfly.b32 {{.*}}, 4, 31, -1;
  // CHECK-COUNT-2: shfl.sync.bfly.b32 {{.*}}, 2, 31, -1;
  // CHECK-COUNT-2: shfl.sync.bfly.b32 {{.*}}, 1, 31, -1;
  // CHECK-NOT: shfl
  // CHECK: st.global.v4.b32
  %none = "stablehlo.constant"() {value = dense<0.0> : tensor<bf16>} : () -> tensor<bf16>
  %short = "stablehlo.reduce"(%h, %none) ({
  ^bb0(%a: tensor<bf16>, %b: tensor<bf16>):
    %s = "stablehlo.add"(%a, %b) : (tensor<bf16>, tensor<bf16>) -> tensor<bf16>
    "stablehlo.return"(%s) : (tensor<bf16>) -> ()
  }) {dimensions = array<i64: 1>} : (tensor<9x64xbf16>, tensor<bf16>) -> tensor<9xbf16>
  %wide = "stablehlo.broadcast_in_dim"(%short) {broadcast_dimensions = array<i64: 0>} : (tensor<9xbf16>) -> tensor<9x64xbf16>
  %narrow = "stablehlo.divide"(%h, %wide) : (tensor<9x64xbf16>, tensor<9x64xbf16>) -> tensor<9x64xbf16>

  // A tile of 32 × 32 in rows of 33 f32: read along the operand's rows, written along the result's.
  // CHECK-LABEL: .entry remat_points_5(
  // CHECK: .maxntid 256
  // CHECK: .shared {{.*}}[4224]
  // CHECK: ld.global.v4.b32
  // CHECK-COUNT-4: st.shared.b32
  // CHECK: bar{{.*}}.sync
  // CHECK-COUNT-4: ld.shared.b32
  // CHECK: st.global.v4.b32
  %turned = "stablehlo.transpose"(%x) {permutation = array<i64: 1, 0>} : (tensor<64x128xf32>) -> tensor<128x64xf32>
  return %rows, %columns, %points, %rest, %narrow, %turned
      : tensor<64x128xf32>, tensor<128xf32>, tensor<64x128xf32>, tensor<3x1030xf32>, tensor<9x64xbf16>, tensor<128x64xf32>
}
