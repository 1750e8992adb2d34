// CSE merges a recomputed clone with its original, so that nothing is saved; or it is switched off, so that what the user wrote
// twice stays twice (R001, R002, R003, R006, R007, R053, R055, R058, R093).

// RUN: rm -rf %t && mkdir %t
// DEFINE: %{passes} = --cse --canonicalize --cse --loop-invariant-code-motion --remat-check=fail

// RUN: remat-opt %s --function=R001 --policy=save-nothing -o %t/R001.mlir
// RUN: remat-opt %t/R001.mlir %{passes} 2> %t/R001.err | FileCheck %s --check-prefix=R001
// RUN: FileCheck %s --check-prefix=R001LEFT --input-file=%t/R001.err
// Four clones, before CSE and after: two dots, two tanh (and the fill that the last dot overwrites).
// R001LEFT: remat-check: [[N:[45]]] of [[N]] recomputations survived in @R001
// R001-LABEL: func.func @R001(
// R001-COUNT-2: math.tanh
// R001:         remat.barrier %arg0 after(
// R001:         linalg.matmul {remat.clone =
// R001:         math.tanh {{.*}}remat.clone =
// R001:         linalg.matmul {remat.clone =
// R001:         math.tanh {{.*}}remat.clone =
// R001-NOT:     math.tanh
// R001:         return
func.func @R001(%x: tensor<16x16xf32>, %w1: tensor<16x16xf32>, %w2: tensor<16x16xf32>) -> (tensor<f32>, tensor<16x16xf32>) {
  %zero = arith.constant 0.0 : f32
  %m = tensor.empty() : tensor<16x16xf32>
  %f = linalg.fill ins(%zero : f32) outs(%m : tensor<16x16xf32>) -> tensor<16x16xf32>
  %h1 = linalg.matmul ins(%x, %w1 : tensor<16x16xf32>, tensor<16x16xf32>) outs(%f : tensor<16x16xf32>) -> tensor<16x16xf32>
  %a1 = math.tanh %h1 : tensor<16x16xf32>
  %h2 = linalg.matmul ins(%a1, %w2 : tensor<16x16xf32>, tensor<16x16xf32>) outs(%f : tensor<16x16xf32>) -> tensor<16x16xf32>
  %a2 = math.tanh %h2 : tensor<16x16xf32>
  %s = tensor.empty() : tensor<f32>
  %s0 = linalg.fill ins(%zero : f32) outs(%s : tensor<f32>) -> tensor<f32>
  %loss = linalg.reduce { arith.addf } ins(%a2 : tensor<16x16xf32>) outs(%s0 : tensor<f32>) dimensions = [0, 1]
  %e2 = arith.mulf %a2, %a2 : tensor<16x16xf32>
  %f1 = linalg.matmul ins(%e2, %w2 : tensor<16x16xf32>, tensor<16x16xf32>) outs(%f : tensor<16x16xf32>) -> tensor<16x16xf32>
  %e1 = arith.mulf %a1, %f1 : tensor<16x16xf32>
  return %loss, %e1 : tensor<f32>, tensor<16x16xf32>
}

// RUN: remat-opt %s --function=R002 --policy=save-nothing | remat-opt %{passes} | FileCheck %s --check-prefix=R002
// The user wrote exp twice in the forward part: CSE makes them one. The clones stay apart from it.
// R002-LABEL: func.func @R002(
// R002:     math.exp %arg0 : tensor<256xf32>
// R002-NOT: math.exp %arg0
// R002:     math.exp %{{[^a].*}} {remat.clone =
// R002:     return
func.func @R002(%x: tensor<256xf32>) -> (tensor<f32>, tensor<256xf32>) {
  %zero = arith.constant 0.0 : f32
  %p = math.exp %x : tensor<256xf32>
  %q = math.exp %x : tensor<256xf32>
  %s = tensor.empty() : tensor<f32>
  %s0 = linalg.fill ins(%zero : f32) outs(%s : tensor<f32>) -> tensor<f32>
  %loss = linalg.dot ins(%p, %q : tensor<256xf32>, tensor<256xf32>) outs(%s0 : tensor<f32>) -> tensor<f32>
  %d = arith.addf %p, %q : tensor<256xf32>
  %g = arith.mulf %d, %p : tensor<256xf32>
  return %loss, %g : tensor<f32>, tensor<256xf32>
}

// RUN: remat-opt %s --function=R003 --policy=save-nothing 2> %t/R003.err | cmp - %s
// RUN: FileCheck %s --check-prefix=R003 --input-file=%t/R003.err
// A forward part alone: no clones, no barriers, the text as it came.
// R003: remark: function 'R003' has no backward part: there is nothing to plan
func.func @R003(%x: tensor<256xf32>) -> tensor<256xf32> {
  %a = math.sin %x {remat.phase = "forward"} : tensor<256xf32>
  %b = math.exp %a {remat.phase = "forward"} : tensor<256xf32>
  %c = arith.mulf %a, %b {remat.phase = "forward"} : tensor<256xf32>
  return %c : tensor<256xf32>
}

// RUN: remat-opt %s --function=R058 --policy=save-nothing | remat-opt --cse --canonicalize --cse | FileCheck %s --check-prefix=R058
// A mask that is made of nothing but constants and an index: it is made again, and no pass turns it into a stored constant.
// R058-LABEL: func.func @R058(
// R058-COUNT-2: tensor.generate
// R058-NOT: dense<[
// R058:     return
func.func @R058(%x: tensor<16x16xf32>, %k: tensor<16x16xf32>) -> (tensor<f32>, tensor<16x16xf32>) {
  %zero = arith.constant 0.0 : f32
  %m = tensor.generate {
  ^bb0(%i: index, %j: index):
    %c = arith.cmpi ule, %i, %j : index
    tensor.yield %c : i1
  } : tensor<16x16xi1>
  %t = arith.select %m, %x, %k : tensor<16x16xi1>, tensor<16x16xf32>
  %p = math.exp %t : tensor<16x16xf32>
  %s = tensor.empty() : tensor<f32>
  %s0 = linalg.fill ins(%zero : f32) outs(%s : tensor<f32>) -> tensor<f32>
  %loss = linalg.reduce { arith.addf } ins(%p : tensor<16x16xf32>) outs(%s0 : tensor<f32>) dimensions = [0, 1]
  %g = arith.mulf %p, %p : tensor<16x16xf32>
  %gs = arith.select %m, %g, %x : tensor<16x16xi1>, tensor<16x16xf32>
  return %loss, %gs : tensor<f32>, tensor<16x16xf32>
}

// RUN: remat-opt %s --function=R007 --policy=save-everything -o %t/R007.mlir --report=- | FileCheck %s --check-prefix=ALIAS
// RUN: remat-opt %s --function=R007 --policy=save-nothing | remat-opt %{passes} | FileCheck %s --check-prefix=R007
// A barrier that the user wrote is an alias: a, c and e are alive at e, 3 x 1024 bytes, and the loss's 4. Recomputed is a, once.
// ALIAS: peak bytes {{.*}}3076 {{.*}}3076
// R007-LABEL: func.func @R007(
// R007-COUNT-2: math.sin
// R007: math.sin {{.*}} {remat.clone =
// R007-NOT: math.sin
// R007: return
func.func @R007(%x: tensor<256xf32>) -> (tensor<f32>, tensor<256xf32>) {
  %zero = arith.constant 0.0 : f32
  %a = math.sin %x : tensor<256xf32>
  %b = remat.barrier %a {id = 0 : i64} : tensor<256xf32>
  %c = math.sin %b : tensor<256xf32>
  %s = tensor.empty() : tensor<f32>
  %s0 = linalg.fill ins(%zero : f32) outs(%s : tensor<f32>) -> tensor<f32>
  %loss = linalg.dot ins(%c, %c : tensor<256xf32>, tensor<256xf32>) outs(%s0 : tensor<f32>) -> tensor<f32>
  %e = math.cos %b : tensor<256xf32>
  %f = math.cos %x : tensor<256xf32>
  %g = arith.mulf %e, %f : tensor<256xf32>
  return %loss, %g : tensor<f32>, tensor<256xf32>
}
