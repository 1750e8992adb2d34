// RUN: remat-opt %s --remat-print-op-model -o /dev/null | FileCheck %s

#id = affine_map<(i, j) -> (i, j)>
#row = affine_map<(i, j) -> (i)>
#transposed = affine_map<(i, j) -> (j, i)>

// CHECK-LABEL: @named
func.func @named(%a: tensor<4x8xf32>, %b: tensor<8x16xf32>, %ba: tensor<2x4x8xf32>, %bb: tensor<2x8x16xf32>,
                 %x: tensor<1x6x6x3xf32>, %w: tensor<3x3x3x5xf32>, %p: tensor<2x2xf32>) {
  %zero = arith.constant 0.0 : f32
  // CHECK: tensor.empty constant flops=0 bytes=0 workspace=0 recomputable
  %e = tensor.empty() : tensor<4x16xf32>
  // A fill doesn't read what it fills: 256 bytes.
  // CHECK: linalg.fill data-movement flops=0 bytes=256 workspace=0 recomputable destination=1
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<4x16xf32>) -> tensor<4x16xf32>
  // 2 × 4·16·8; the accumulator is read and written: 128 + 512 + 256 + 256.
  // CHECK: linalg.matmul dot flops=1024 bytes=1152 workspace=0 recomputable destination=2
  %0 = linalg.matmul ins(%a, %b : tensor<4x8xf32>, tensor<8x16xf32>) outs(%f : tensor<4x16xf32>) -> tensor<4x16xf32>
  %be = tensor.empty() : tensor<2x4x16xf32>
  // CHECK: linalg.batch_matmul dot flops=2048 {{.*}} destination=2 batch_dims=1
  %1 = linalg.batch_matmul ins(%ba, %bb : tensor<2x4x8xf32>, tensor<2x8x16xf32>) outs(%be : tensor<2x4x16xf32>) -> tensor<2x4x16xf32>
  %ce = tensor.empty() : tensor<1x4x4x5xf32>
  // 2 × 80 results × 27 taps.
  // CHECK: linalg.conv_2d_nhwc_hwcf convolution flops=4320
  %2 = linalg.conv_2d_nhwc_hwcf ins(%x, %w : tensor<1x6x6x3xf32>, tensor<3x3x3x5xf32>) outs(%ce : tensor<1x4x4x5xf32>) -> tensor<1x4x4x5xf32>
  %pe = tensor.empty() : tensor<1x3x3x3xf32>
  // A pooling has a convolution's loops but no products: 27 results × 4.
  // CHECK: linalg.pooling_nhwc_max reduction flops=108
  %3 = linalg.pooling_nhwc_max {strides = dense<2> : tensor<2xi64>, dilations = dense<1> : tensor<2xi64>} ins(%x, %p : tensor<1x6x6x3xf32>, tensor<2x2xf32>) outs(%pe : tensor<1x3x3x3xf32>) -> tensor<1x3x3x3xf32>
  %te = tensor.empty() : tensor<8x4xf32>
  // CHECK: linalg.transpose data-movement flops=0 bytes=256
  %4 = linalg.transpose ins(%a : tensor<4x8xf32>) outs(%te : tensor<8x4xf32>) permutation = [1, 0]
  return
}

// CHECK-LABEL: @generic
func.func @generic(%a: tensor<4x8xf32>, %r: tensor<4xf32>, %i: tensor<4x8xindex>, %table: tensor<100xf32>) {
  %e = tensor.empty() : tensor<4x8xf32>
  // An exponential and an addition per element: 32 × 9; `outs` isn't read: 128 + 16 + 128.
  // CHECK: linalg.generic elementwise flops=288 bytes=272 workspace=0 recomputable destination=2
  %0 = linalg.generic {indexing_maps = [#id, #row, #id], iterator_types = ["parallel", "parallel"]} ins(%a, %r : tensor<4x8xf32>, tensor<4xf32>) outs(%e : tensor<4x8xf32>) {
  ^bb0(%x: f32, %y: f32, %out: f32):
    %1 = math.exp %x : f32
    %2 = arith.addf %1, %y : f32
    linalg.yield %2 : f32
  } -> tensor<4x8xf32>
  // CHECK: linalg.generic reduction flops=32 bytes=160 workspace=0 recomputable destination=1
  %3 = linalg.generic {indexing_maps = [#id, #row], iterator_types = ["parallel", "reduction"]} ins(%a : tensor<4x8xf32>) outs(%r : tensor<4xf32>) {
  ^bb0(%x: f32, %out: f32):
    %1 = arith.addf %x, %out : f32
    linalg.yield %1 : f32
  } -> tensor<4xf32>
  // A payload that only passes on is a copy.
  // CHECK: linalg.generic data-movement flops=0
  %4 = linalg.generic {indexing_maps = [#row, #id], iterator_types = ["parallel", "parallel"]} ins(%r : tensor<4xf32>) outs(%e : tensor<4x8xf32>) {
  ^bb0(%x: f32, %out: f32):
    linalg.yield %x : f32
  } -> tensor<4x8xf32>
  // A gather reads one element of the table per result: 256 + 128 + 128.
  // CHECK: linalg.generic data-movement flops=0 bytes=512
  %5 = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]} ins(%i : tensor<4x8xindex>) outs(%e : tensor<4x8xf32>) {
  ^bb0(%x: index, %out: f32):
    %1 = tensor.extract %table[%x] : tensor<100xf32>
    linalg.yield %1 : f32
  } -> tensor<4x8xf32>
  // What a payload does that may be seen from outside makes the op run once.
  // CHECK: linalg.generic elementwise {{.*}} once
  %6 = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]} ins(%a : tensor<4x8xf32>) outs(%e : tensor<4x8xf32>) {
  ^bb0(%x: f32, %out: f32):
    %1 = arith.addf %x, %x : f32
    %2 = "foreign.op"(%1) : (f32) -> f32
    linalg.yield %2 : f32
  } -> tensor<4x8xf32>
  return
}

// CHECK-LABEL: @tensors
func.func @tensors(%a: tensor<4x8xf32>, %s: tensor<2x8xf32>) {
  %zero = arith.constant 0.0 : f32
  // CHECK: arith.constant constant flops=0 bytes=0
  // CHECK: tensor.expand_shape view flops=0 bytes=0 {{.*}} view=0
  %0 = tensor.expand_shape %a [[0, 1], [2]] output_shape [2, 2, 8] : tensor<4x8xf32> into tensor<2x2x8xf32>
  // CHECK: tensor.collapse_shape view {{.*}} view=0
  %1 = tensor.collapse_shape %a [[0, 1]] : tensor<4x8xf32> into tensor<32xf32>
  // CHECK: tensor.extract_slice data-movement flops=0 bytes=128
  %2 = tensor.extract_slice %a[0, 0] [2, 8] [1, 1] : tensor<4x8xf32> to tensor<2x8xf32>
  // CHECK: tensor.insert_slice data-movement flops=0 bytes=128 workspace=0 recomputable destination=1
  %3 = tensor.insert_slice %s into %a[0, 0] [2, 8] [1, 1] : tensor<2x8xf32> into tensor<4x8xf32>
  // CHECK: tensor.pad data-movement
  %4 = tensor.pad %a low[0, 0] high[0, 8] {
  ^bb0(%i: index, %j: index):
    tensor.yield %zero : f32
  } : tensor<4x8xf32> to tensor<4x16xf32>
  // CHECK: tensor.concat data-movement flops=0 bytes=512
  %5 = tensor.concat dim(0) %a, %a : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<8x8xf32>
  // CHECK: math.tanh elementwise flops=256 bytes=256 workspace=0 recomputable inplace=0
  %6 = math.tanh %a : tensor<4x8xf32>
  // CHECK: arith.addf elementwise flops=32 bytes=384 workspace=0 recomputable inplace=0,1
  %7 = arith.addf %a, %a : tensor<4x8xf32>
  return
}

// CHECK-LABEL: @tosa
func.func @tosa(%a: tensor<1x4x8xf32>, %b: tensor<1x8x16xf32>, %x: tensor<1x6x6x3xf32>, %w: tensor<5x3x3x3xf32>, %bias: tensor<5xf32>) {
  // CHECK: tosa.const constant
  %zp = "tosa.const"() <{values = dense<0.0> : tensor<1xf32>}> : () -> tensor<1xf32>
  // CHECK: tosa.matmul dot flops=1024 {{.*}} batch_dims=1
  %0 = tosa.matmul %a, %b, %zp, %zp : (tensor<1x4x8xf32>, tensor<1x8x16xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x4x16xf32>
  // CHECK: tosa.conv2d convolution flops=4320
  %1 = tosa.conv2d %x, %w, %bias, %zp, %zp {acc_type = f32, pad = array<i64: 0, 0, 0, 0>, stride = array<i64: 1, 1>, dilation = array<i64: 1, 1>} : (tensor<1x6x6x3xf32>, tensor<5x3x3x3xf32>, tensor<5xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x4x4x5xf32>
  // CHECK: tosa.tanh elementwise flops=256
  %2 = tosa.tanh %a : (tensor<1x4x8xf32>) -> tensor<1x4x8xf32>
  // CHECK: tosa.reduce_sum reduction flops=32
  %3 = tosa.reduce_sum %a {axis = 2 : i32} : (tensor<1x4x8xf32>) -> tensor<1x4x1xf32>
  // CHECK: tosa.const_shape constant
  %shape = tosa.const_shape {values = dense<[32]> : tensor<1xindex>} : () -> !tosa.shape<1>
  // CHECK: tosa.reshape view {{.*}} view=0
  %4 = tosa.reshape %a, %shape : (tensor<1x4x8xf32>, !tosa.shape<1>) -> tensor<32xf32>
  return
}
