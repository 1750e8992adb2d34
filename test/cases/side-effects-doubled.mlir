// Recomputing what prints, counts or writes doubles the effect (R019, R020, R023).

// RUN: remat-opt %s --function=R023 --policy=save-nothing -o %t.mlir --report=%t.json 2> %t.err
// RUN: FileCheck %s --input-file=%t.mlir
// RUN: FileCheck %s --check-prefix=REASON --input-file=%t.json
// RUN: FileCheck %s --check-prefix=REMARK --input-file=%t.err
// RUN: remat-opt %s --function=R020 --policy=save-nothing -o %t.mlir 2> %t.err
// RUN: cmp %s %t.mlir
// RUN: FileCheck %s --check-prefix=WRITE --input-file=%t.err

// The print and the counter run once; a is cloned; b hangs on the print, so b is saved.
// CHECK-LABEL: func.func @R023(
// CHECK:     stablehlo.sine
// CHECK:     stablehlo.custom_call
// CHECK:     counter.increment
// CHECK:     %[[B:.*]] = "stablehlo.exponential"
// CHECK:     stablehlo.optimization_barrier
// CHECK-NOT: {{custom_call|counter|exponential}}
// CHECK:     %[[A:.*]] = "stablehlo.sine"
// CHECK-NOT: {{custom_call|counter|exponential}}
// CHECK:     stablehlo.multiply"(%[[B]], %[[A]])
// CHECK-NEXT: return
// REASON: "exponential.3", "bytes": 1024, {{.*}} "reason": "saved: rebuilding it would run an op that must not run twice"
// REMARK: side-effects-doubled.mlir:[[#@LINE+4]]:{{.*}}: remark: nothing is known about 'counter.increment': it is never recomputed
func.func @R023(%x: tensor<256xf32>) -> (tensor<f32>, tensor<256xf32>) {
  %a = "stablehlo.sine"(%x) : (tensor<256xf32>) -> tensor<256xf32>
  %p = "stablehlo.custom_call"(%a) <{call_target_name = "print", has_side_effect = true}> : (tensor<256xf32>) -> tensor<256xf32>
  "counter.increment"(%a) : (tensor<256xf32>) -> ()
  %b = "stablehlo.exponential"(%p) : (tensor<256xf32>) -> tensor<256xf32>
  %loss = "stablehlo.dot"(%b, %b) : (tensor<256xf32>, tensor<256xf32>) -> tensor<f32>
  %g = "stablehlo.multiply"(%b, %a) : (tensor<256xf32>, tensor<256xf32>) -> tensor<256xf32>
  return %loss, %g : tensor<f32>, tensor<256xf32>
}

// A buffer is read, then written: the read is never repeated behind the write (nothing is rewritten), and the remark names
// both.
// WRITE: remark: nothing is known about 'bufferization.to_tensor': it is never recomputed
// WRITE: remark: nothing is known about 'bufferization.materialize_in_destination': it is never recomputed
func.func @R020(%x: tensor<4xf32>, %buf: memref<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) {
  %r = bufferization.to_tensor %buf {remat.phase = "forward"} : memref<4xf32> to tensor<4xf32>
  %y = arith.mulf %r, %x {remat.phase = "forward"} : tensor<4xf32>
  bufferization.materialize_in_destination %y in writable %buf {remat.phase = "forward"} : (tensor<4xf32>, memref<4xf32>) -> ()
  %b = math.tanh %y {remat.phase = "forward"} : tensor<4xf32>
  %g = arith.mulf %r, %b {remat.phase = "backward"} : tensor<4xf32>
  return %b, %g : tensor<4xf32>, tensor<4xf32>
}
