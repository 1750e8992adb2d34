// A policy or mark that is silently not honoured (R035, R036, R039, R040, R041, R074, R034).

// RUN: remat-opt %s --function=R040 --policy=save-only-names=attn -o /dev/null --report=%t.json
// RUN: FileCheck %s --check-prefix=NAME --input-file=%t.json
// RUN: not remat-opt %s --function=R040 --policy=save-only-names=atn 2>&1 | FileCheck %s --check-prefix=NONAME

// The mark is found inside the called function: residual bytes are o, 64 × 64 × f32 = 16384; p isn't named and is recomputed.
// NAME: "recomputed_ops": 1,
// NAME: "saved": [
// NAME-NEXT: "bytes": 16384, {{.*}}"reason": "saved by the policy"
// NAME-NOT: "value"
// NAME: "recomputed": [
// NAME-NEXT: "exponential.
// NONAME:      error: policy 'save-only-names=atn': no forward op has the checkpoint name 'atn'
// NONAME:      note: did you mean 'attn'? the graph's names are: attn
func.func private @attention(%q: tensor<64x64xf32>) -> (tensor<64x64xf32>, tensor<64x64xf32>) {
  %p = "stablehlo.exponential"(%q) : (tensor<64x64xf32>) -> tensor<64x64xf32>
  %o = "stablehlo.multiply"(%p, %q) : (tensor<64x64xf32>, tensor<64x64xf32>) -> tensor<64x64xf32>
  %n = remat.name %o "attn" : tensor<64x64xf32>
  return %n, %p : tensor<64x64xf32>, tensor<64x64xf32>
}
func.func @R040(%q: tensor<64x64xf32>) -> (tensor<f32>, tensor<64x64xf32>) {
  %o, %p = func.call @attention(%q) : (tensor<64x64xf32>) -> (tensor<64x64xf32>, tensor<64x64xf32>)
  %y = "stablehlo.sine"(%o) : (tensor<64x64xf32>) -> tensor<64x64xf32>
  %loss = "stablehlo.dot_general"(%y, %y) <{dot_dimension_numbers = #stablehlo.dot<lhs_contracting_dimensions = [0, 1], rhs_contracting_dimensions = [0, 1]>}> : (tensor<64x64xf32>, tensor<64x64xf32>) -> tensor<f32>
  %go = "stablehlo.cosine"(%o) : (tensor<64x64xf32>) -> tensor<64x64xf32>
  %gq = "stablehlo.multiply"(%go, %p) : (tensor<64x64xf32>, tensor<64x64xf32>) -> tensor<64x64xf32>
  return %loss, %gq : tensor<f32>, tensor<64x64xf32>
}

// A region's own policy covers its ops alone: h1 and h2 are recomputed; h3 leaves the region and is saved, 256 x 4 = 1024 bytes.
// RUN: remat-opt %s --function=R035 --policy=save-everything -o /dev/null --report=%t.json
// RUN: FileCheck %s --check-prefix=REGION --input-file=%t.json
// REGION: "after": {{{.*}}"residual_bytes": 1024,
// REGION: "recomputed_ops": 2,
// REGION: "saved": [
// REGION-NEXT: "sine.2"
// REGION-NOT: "value"
// REGION: "recomputed": [
func.func @R035(%x: tensor<256xf32>) -> (tensor<f32>, tensor<256xf32>) {
  %h:3 = remat.region "A" policy "save-nothing" -> tensor<256xf32>, tensor<256xf32>, tensor<256xf32> {
    %h1 = "stablehlo.sine"(%x) : (tensor<256xf32>) -> tensor<256xf32>
    %h2 = "stablehlo.sine"(%h1) : (tensor<256xf32>) -> tensor<256xf32>
    %h3 = "stablehlo.sine"(%h2) : (tensor<256xf32>) -> tensor<256xf32>
    remat.yield %h1, %h2, %h3 : tensor<256xf32>, tensor<256xf32>, tensor<256xf32>
  }
  %h4 = "stablehlo.sine"(%h#2) : (tensor<256xf32>) -> tensor<256xf32>
  %loss = "stablehlo.dot"(%h4, %h4) : (tensor<256xf32>, tensor<256xf32>) -> tensor<f32>
  %g3 = "stablehlo.cosine"(%h#2) : (tensor<256xf32>) -> tensor<256xf32>
  %c2 = "stablehlo.cosine"(%h#1) : (tensor<256xf32>) -> tensor<256xf32>
  %g2 = "stablehlo.multiply"(%c2, %g3) : (tensor<256xf32>, tensor<256xf32>) -> tensor<256xf32>
  %c1 = "stablehlo.cosine"(%h#0) : (tensor<256xf32>) -> tensor<256xf32>
  %g1 = "stablehlo.multiply"(%c1, %g2) : (tensor<256xf32>, tensor<256xf32>) -> tensor<256xf32>
  return %loss, %g1 : tensor<f32>, tensor<256xf32>
}

// No name, a wrong name, another system's name, a flag that isn't there: an error that lists what there is, exit code 1.
// RUN: not remat-opt %s --function=R035 --policy= 2>&1 | FileCheck %s --check-prefix=LIST
// RUN: not remat-opt %s --function=R035 --policy=full 2>&1 | FileCheck %s --check-prefix=LIST
// RUN: not remat-opt %s --function=R035 --policy=offload-dots 2>&1 | FileCheck %s --check-prefix=LIST
// LIST: error: {{the policy is empty|unknown policy 'full'|policy 'offload-dots' is not supported}}
// LIST: note: use one of: save-everything, save-nothing, save-dots, save-dots-no-batch-dims, save-only-names=A,B
// RUN: not remat-opt %s --function=R035 --memory-budget=1GiB 2>&1 | FileCheck %s --check-prefix=FLAG
// FLAG: unknown flag '--memory-budget'
// RUN: not remat-opt %s --function=R035 --policy=save-nothing --segments=scope:layer 2>&1 | FileCheck %s --check-prefix=SCOPE
// SCOPE: error: segments 'scope:layer': no scope of a forward op matches
