// RUN: remat-opt %s --split-input-file --pass-pipeline='builtin.module(func.func(remat-cluster))' | FileCheck %s

// A softmax is one kernel: its rows' maximum and sum are members, and nothing between them is stored.
// CHECK-LABEL: func @softmax
// CHECK: %[[Y:.*]] = remat.kernel(%arg0) : (tensor<64x256xf32>) -> tensor<64x256xf32>
// CHECK-COUNT-5: linalg.generic
// CHECK: return %[[Y]]
#full = affine_map<(r, c) -> (r, c)>
#row = affine_map<(r, c) -> (r)>
func.func @softmax(%x: tensor<64x256xf32>) -> tensor<64x256xf32> {
  %lowest = arith.constant 0xFF800000 : f32
  %zero = arith.constant 0.0 : f32
  %rows = tensor.empty() : tensor<64xf32>
  %all = tensor.empty() : tensor<64x256xf32>
  %m0 = linalg.fill ins(%lowest : f32) outs(%rows : tensor<64xf32>) -> tensor<64xf32>
  %m = linalg.generic {indexing_maps = [#full, #row], iterator_types = ["parallel", "reduction"]}
      ins(%x : tensor<64x256xf32>) outs(%m0 : tensor<64xf32>) {
  ^bb0(%a: f32, %acc: f32):
    %v = arith.maximumf %acc, %a : f32
    linalg.yield %v : f32
  } -> tensor<64xf32>
  %d = linalg.generic {indexing_maps = [#full, #row, #full], iterator_types = ["parallel", "parallel"]}
      ins(%x, %m : tensor<64x256xf32>, tensor<64xf32>) outs(%all : tensor<64x256xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %v = arith.subf %a, %b : f32
    linalg.yield %v : f32
  } -> tensor<64x256xf32>
  %e = linalg.generic {indexing_maps = [#full, #full], iterator_types = ["parallel", "parallel"]}
      ins(%d : tensor<64x256xf32>) outs(%all : tensor<64x256xf32>) {
  ^bb0(%a: f32, %o: f32):
    %v = math.exp %a : f32
    linalg.yield %v : f32
  } -> tensor<64x256xf32>
  %s0 = linalg.fill ins(%zero : f32) outs(%rows : tensor<64xf32>) -> tensor<64xf32>
  %s = linalg.generic {indexing_maps = [#full, #row], iterator_types = ["parallel", "reduction"]}
      ins(%e : tensor<64x256xf32>) outs(%s0 : tensor<64xf32>) {
  ^bb0(%a: f32, %acc: f32):
    %v = arith.addf %acc, %a : f32
    linalg.yield %v : f32
  } -> tensor<64xf32>
  %y = linalg.generic {indexing_maps = [#full, #row, #full], iterator_types = ["parallel", "parallel"]}
      ins(%e, %s : tensor<64x256xf32>, tensor<64xf32>) outs(%all : tensor<64x256xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %v = arith.divf %a, %b : f32
    linalg.yield %v : f32
  } -> tensor<64x256xf32>
  return %y : tensor<64x256xf32>
}

// -----

// A product that is summed by columns alone belongs to the sum; the other reader of %t gets %t stored.
// CHECK-LABEL: func @column_sum
// CHECK: %[[T:.*]] = remat.kernel(%arg0) : (tensor<64x256xf32>) -> tensor<64x256xf32>
// CHECK: math.tanh
// CHECK: %[[S:.*]] = remat.kernel(%[[T]], %arg1) : (tensor<64x256xf32>, tensor<64x256xf32>) -> tensor<256xf32>
// CHECK: arith.mulf
// CHECK: arith.addf
// CHECK: return %[[T]], %[[S]]
#full = affine_map<(r, c) -> (r, c)>
#column = affine_map<(r, c) -> (c)>
func.func @column_sum(%x: tensor<64x256xf32>, %g: tensor<64x256xf32>) -> (tensor<64x256xf32>, tensor<256xf32>) {
  %zero = arith.constant 0.0 : f32
  %all = tensor.empty() : tensor<64x256xf32>
  %t = linalg.generic {indexing_maps = [#full, #full], iterator_types = ["parallel", "parallel"]}
      ins(%x : tensor<64x256xf32>) outs(%all : tensor<64x256xf32>) {
  ^bb0(%a: f32, %o: f32):
    %v = math.tanh %a : f32
    linalg.yield %v : f32
  } -> tensor<64x256xf32>
  %p = linalg.generic {indexing_maps = [#full, #full, #full], iterator_types = ["parallel", "parallel"]}
      ins(%t, %g : tensor<64x256xf32>, tensor<64x256xf32>) outs(%all : tensor<64x256xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %v = arith.mulf %a, %b : f32
    linalg.yield %v : f32
  } -> tensor<64x256xf32>
  %columns = tensor.empty() : tensor<256xf32>
  %s0 = linalg.fill ins(%zero : f32) outs(%columns : tensor<256xf32>) -> tensor<256xf32>
  %s = linalg.generic {indexing_maps = [#full, #column], iterator_types = ["reduction", "parallel"]}
      ins(%p : tensor<64x256xf32>) outs(%s0 : tensor<256xf32>) {
  ^bb0(%a: f32, %acc: f32):
    %v = arith.addf %acc, %a : f32
    linalg.yield %v : f32
  } -> tensor<256xf32>
  return %t, %s : tensor<64x256xf32>, tensor<256xf32>
}

// -----

// A dot between two element-wise ops keeps them apart: together they would read what they make. Its result is read
// transposed, so it writes itself that way.
// CHECK-LABEL: func @around_a_dot
// CHECK: %[[A:.*]] = remat.kernel(%arg0)
// CHECK: %[[D:.*]] = linalg.generic {{.*}} ins(%[[A]], %arg0 : tensor<8x16xf32>, tensor<8x16xf32>) outs(%{{.*}} : tensor<16x16xf32>)
// CHECK: %[[B:.*]] = remat.kernel(%[[D]]) : (tensor<16x16xf32>) -> tensor<16x16xf32>
// CHECK-NOT: remat.kernel
// CHECK: return %[[B]]
#full = affine_map<(r, c) -> (r, c)>
#turned = affine_map<(r, c) -> (c, r)>
func.func @around_a_dot(%x: tensor<8x16xf32>) -> tensor<16x16xf32> {
  %zero = arith.constant 0.0 : f32
  %e0 = tensor.empty() : tensor<8x16xf32>
  %a = linalg.generic {indexing_maps = [#full, #full], iterator_types = ["parallel", "parallel"]}
      ins(%x : tensor<8x16xf32>) outs(%e0 : tensor<8x16xf32>) {
  ^bb0(%v: f32, %o: f32):
    %w = arith.negf %v : f32
    linalg.yield %w : f32
  } -> tensor<8x16xf32>
  %e1 = tensor.empty() : tensor<16x16xf32>
  %c0 = linalg.fill ins(%zero : f32) outs(%e1 : tensor<16x16xf32>) -> tensor<16x16xf32>
  %d = linalg.generic {indexing_maps = [affine_map<(m, n, k) -> (k, m)>, affine_map<(m, n, k) -> (k, n)>,
                                        affine_map<(m, n, k) -> (m, n)>],
                       iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%a, %x : tensor<8x16xf32>, tensor<8x16xf32>) outs(%c0 : tensor<16x16xf32>) {
  ^bb0(%p: f32, %q: f32, %acc: f32):
    %m = arith.mulf %p, %q : f32
    %s = arith.addf %acc, %m : f32
    linalg.yield %s : f32
  } -> tensor<16x16xf32>
  %t = linalg.generic {indexing_maps = [#turned, #full], iterator_types = ["parallel", "parallel"]}
      ins(%d : tensor<16x16xf32>) outs(%e1 : tensor<16x16xf32>) {
  ^bb0(%v: f32, %o: f32):
    linalg.yield %v : f32
  } -> tensor<16x16xf32>
  %b = linalg.generic {indexing_maps = [#full, #full], iterator_types = ["parallel", "parallel"]}
      ins(%t : tensor<16x16xf32>) outs(%e1 : tensor<16x16xf32>) {
  ^bb0(%v: f32, %o: f32):
    %w = arith.negf %v : f32
    linalg.yield %w : f32
  } -> tensor<16x16xf32>
  return %b : tensor<16x16xf32>
}

// -----

// A clone behind a barrier runs where its reader runs, which is its own copy of the work: nothing merges it back.
// CHECK-LABEL: func @clone
// CHECK: remat.kernel(%arg0)
// CHECK: math.exp
// CHECK: remat.kernel
// CHECK: math.exp
// CHECK-NOT: remat.barrier
// CHECK: return
#id = affine_map<(i) -> (i)>
func.func @clone(%x: tensor<64xf32>, %w: tensor<64x64xf32>) -> (tensor<64xf32>, tensor<64xf32>) {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<64xf32>
  %a = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]}
      ins(%x : tensor<64xf32>) outs(%e : tensor<64xf32>) {
  ^bb0(%v: f32, %o: f32):
    %r = math.exp %v : f32
    linalg.yield %r : f32
  } -> tensor<64xf32>
  %c0 = linalg.fill ins(%zero : f32) outs(%e : tensor<64xf32>) -> tensor<64xf32>
  %d = linalg.generic {indexing_maps = [affine_map<(m, k) -> (m, k)>, affine_map<(m, k) -> (k)>, affine_map<(m, k) -> (m)>],
                       iterator_types = ["parallel", "reduction"]}
      ins(%w, %a : tensor<64x64xf32>, tensor<64xf32>) outs(%c0 : tensor<64xf32>) {
  ^bb0(%p: f32, %q: f32, %acc: f32):
    %m = arith.mulf %p, %q : f32
    %s = arith.addf %acc, %m : f32
    linalg.yield %s : f32
  } -> tensor<64xf32>
  %late = remat.barrier %x after(%d : tensor<64xf32>) {id = 0 : i64} : tensor<64xf32>
  %again = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]}
      ins(%late : tensor<64xf32>) outs(%e : tensor<64xf32>) {
  ^bb0(%v: f32, %o: f32):
    %r = math.exp %v : f32
    linalg.yield %r : f32
  } -> tensor<64xf32>
  %g = linalg.generic {indexing_maps = [#id, #id, #id], iterator_types = ["parallel"]}
      ins(%again, %d : tensor<64xf32>, tensor<64xf32>) outs(%e : tensor<64xf32>) {
  ^bb0(%v: f32, %u: f32, %o: f32):
    %r = arith.mulf %v, %u : f32
    linalg.yield %r : f32
  } -> tensor<64xf32>
  return %d, %g : tensor<64xf32>, tensor<64xf32>
}
