// RUN: not remat-opt %s --function=argument --emit=graph-json -o - 2>&1 | FileCheck %s --check-prefix=ARGUMENT
// RUN: not remat-opt %s --function=result --emit=graph-json -o - 2>&1 | FileCheck %s --check-prefix=RESULT
// RUN: not remat-opt %s --function=flops --emit=graph-json -o - 2>&1 | FileCheck %s --check-prefix=FLOPS

// 2^32 · 2^32 · 4 bytes do not fit int64: no wrapped number may come out.
// ARGUMENT: extract-errors.mlir:[[@LINE+1]]:{{.*}}: error: the bytes of this graph add up to more than 2^60
func.func @argument(%x: tensor<4294967296x4294967296xf32>) -> tensor<4294967296x4294967296xf32> {
  %0 = "stablehlo.tanh"(%x) {remat.phase = "forward"} : (tensor<4294967296x4294967296xf32>) -> tensor<4294967296x4294967296xf32>
  return %0 : tensor<4294967296x4294967296xf32>
}

func.func @result(%x: tensor<f32>) -> tensor<4294967296x4294967296xf32> {
  // RESULT: extract-errors.mlir:[[@LINE+1]]:{{.*}}: error: the bytes of this graph add up to more than 2^60
  %0 = "stablehlo.broadcast_in_dim"(%x) <{broadcast_dimensions = array<i64>}> {remat.phase = "forward"} : (tensor<f32>) -> tensor<4294967296x4294967296xf32>
  return %0 : tensor<4294967296x4294967296xf32>
}

// 2 · 2^25 · 2^25 · 2^25 = 2^76 FLOPs on tensors of 2^52 bytes.
func.func @flops(%x: tensor<33554432x33554432xf32>) -> tensor<33554432x33554432xf32> {
  // FLOPS: extract-errors.mlir:[[@LINE+1]]:{{.*}}: error: the flops of this graph add up to more than 2^60
  %0 = "stablehlo.dot"(%x, %x) {remat.phase = "forward"} : (tensor<33554432x33554432xf32>, tensor<33554432x33554432xf32>) -> tensor<33554432x33554432xf32>
  return %0 : tensor<33554432x33554432xf32>
}
