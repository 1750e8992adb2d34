// RUN: remat-opt %s --remat-print-op-model=device=sm_90 -o /dev/null | FileCheck %s --check-prefixes=CHECK,H100
// RUN: remat-opt %s --remat-print-op-model=device=h100 -o /dev/null | FileCheck %s --check-prefixes=CHECK,H100
// RUN: remat-opt %s --remat-print-op-model=device=%S/Inputs/slow.json -o /dev/null | FileCheck %s --check-prefixes=CHECK,SLOW
// RUN: remat-opt %s --remat-print-op-model=device=sm_100 -o /dev/null | FileCheck %s
// RUN: remat-opt %s --remat-print-op-model=device=a100 -o /dev/null | FileCheck %s
// RUN: remat-opt %s --remat-print-op-model=device=cpu -o /dev/null | FileCheck %s
// RUN: not remat-opt %s --remat-print-op-model=device=sm_91 2>&1 | FileCheck %s --check-prefix=NEAREST
// RUN: not remat-opt %s --remat-print-op-model=device=%S/Inputs/bad-key.json 2>&1 | FileCheck %s --check-prefix=KEY
// RUN: not remat-opt %s --remat-print-op-model=device=%S/Inputs/bad-value.json 2>&1 | FileCheck %s --check-prefix=VALUE
// RUN: not remat-opt %s --remat-print-op-model=device=%S/Inputs/bad-syntax.json 2>&1 | FileCheck %s --check-prefix=SYNTAX
// RUN: echo '{"name": "x"}' > %t.empty.json
// RUN: not remat-opt %s --remat-print-op-model=device=%t.empty.json 2>&1 | FileCheck %s --check-prefix=MISSING

// NEAREST: error: unknown device 'sm_91': not a built-in device, and as a file: No such file or directory
// NEAREST: note: did you mean 'sm_90'?
// KEY: error: {{.*}}bad-key.json: lunch_ns: unknown field
// KEY: note: did you mean 'launch_ns'?
// VALUE: error: {{.*}}bad-value.json: vector_flops.f32: expected a positive number
// VALUE: note: rates are per second
// MISSING: error: {{.*}}empty.json: matrix_flops: missing field
// MISSING: note: say FLOP/s by element type
// SYNTAX: error: {{.*}}bad-syntax.json:2:{{[0-9]+}}: not JSON:

// CHECK-LABEL: @costs
func.func @costs(%a: tensor<4096x4096xf32>, %h: tensor<4096x4096xbf16>, %s: tensor<4x8xf32>) {
  // 2·4096³ FLOP: at f32's 67 TFLOP/s 2051 µs, at bf16's 989.5 TFLOP/s 139 µs, and 2 µs to launch.
  // H100: stablehlo.dot {{.*}} cost_ns=2053327.664
  // SLOW: stablehlo.dot {{.*}} cost_ns=137438953482.000
  %0 = "stablehlo.dot"(%a, %a) : (tensor<4096x4096xf32>, tensor<4096x4096xf32>) -> tensor<4096x4096xf32>
  // In the file bf16 isn't given: it runs at f32's rate.
  // H100: stablehlo.dot {{.*}} cost_ns=140897.376
  // SLOW: stablehlo.dot {{.*}} cost_ns=137438953482.000
  %1 = "stablehlo.dot"(%h, %h) : (tensor<4096x4096xbf16>, tensor<4096x4096xbf16>) -> tensor<4096x4096xbf16>
  // Bound by memory: 192 MiB at 3350 GB/s = 60.1 µs. On the slow device by arithmetic: 16.8 MFLOP at 1 MFLOP/s.
  // H100: stablehlo.add {{.*}} cost_ns=62097.490
  // SLOW: stablehlo.add {{.*}} cost_ns=16777216010.000
  %2 = "stablehlo.add"(%a, %a) : (tensor<4096x4096xf32>, tensor<4096x4096xf32>) -> tensor<4096x4096xf32>
  // Collectives go over the link: 128 MiB at 64 GB/s.
  // H100: stablehlo.all_gather {{.*}} cost_ns=2099152.000
  %3 = "stablehlo.all_gather"(%a) <{all_gather_dim = 0 : i64}> : (tensor<4096x4096xf32>) -> tensor<4096x4096xf32>
  // Views and constants are free on every device.
  // CHECK: stablehlo.reshape {{.*}} cost_ns=0.000
  %4 = "stablehlo.reshape"(%s) : (tensor<4x8xf32>) -> tensor<32xf32>
  // CHECK: stablehlo.constant {{.*}} cost_ns=0.000
  %5 = "stablehlo.constant"() <{value = dense<0.0> : tensor<4x8xf32>}> : () -> tensor<4x8xf32>
  // A loop costs its trips: 5 × (a launch and 32 bytes).
  // H100: scf.for {{.*}} cost_ns=10000.048
  %c0 = arith.constant 0 : index
  %c5 = arith.constant 5 : index
  %c1 = arith.constant 1 : index
  %x = tensor.empty() : tensor<4xf32>
  %6 = scf.for %i = %c0 to %c5 step %c1 iter_args(%v = %x) -> tensor<4xf32> {
    %7 = math.exp %v : tensor<4xf32>
    scf.yield %7 : tensor<4xf32>
  }
  return
}
