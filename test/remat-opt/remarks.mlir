// RUN: remat-opt %s --policy=save-nothing --remarks-filter=remat -o /dev/null 2>&1 | FileCheck %s
// RUN: remat-opt %s --policy=save-everything --remarks-filter-missed=remat -o /dev/null 2>&1 | FileCheck %s --check-prefix=SAVED
// RUN: remat-opt %s --policy=save-nothing -o /dev/null 2>&1 | FileCheck %s --check-prefix=UNKNOWN

// CHECK: remarks.mlir:[[#@LINE+9]]:8: remark: [Passed] recomputed | Category:remat | Function=main | Bytes=16, CostNs={{.*}}, Reason={{.*}}, Value=sin.1
// SAVED: remarks.mlir:[[#@LINE+8]]:8: remark: [Missed] saved | Category:remat | Function=main | Bytes=16, CostNs={{.*}}, Reason={{.*}}, Value=sin.1
// Once per op name.
// UNKNOWN: remark: nothing is known about 'mine.op': it is never recomputed
// UNKNOWN-NOT: 'mine.op'


func.func @main(%x: tensor<4xf32>) -> (tensor<f32>, tensor<4xf32>) {
  %zero = arith.constant dense<0.0> : tensor<f32>
  %a = math.sin %x : tensor<4xf32>
  %b = "mine.op"(%a) : (tensor<4xf32>) -> tensor<4xf32>
  %c = "mine.op"(%b) : (tensor<4xf32>) -> tensor<4xf32>
  %loss = linalg.reduce {arith.addf} ins(%c : tensor<4xf32>) outs(%zero : tensor<f32>) dimensions = [0]
  %init = tensor.empty() : tensor<4xf32>
  %g = linalg.broadcast ins(%loss : tensor<f32>) outs(%init : tensor<4xf32>) dimensions = [0]
  %d = arith.mulf %a, %g : tensor<4xf32>
  return %loss, %d : tensor<f32>, tensor<4xf32>
}
