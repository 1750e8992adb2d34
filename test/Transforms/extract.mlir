// RUN: remat-opt %s --function=names --emit=graph-json -o - | FileCheck %s --check-prefix=NAMES
// RUN: remat-opt %s --function=views --emit=graph-json -o - | FileCheck %s --check-prefix=VIEWS
// RUN: remat-opt %s --function=captures --emit=graph-json -o - | FileCheck %s --check-prefix=CAPTURES

// Arguments are called as their locations say, if no other is; ops by kind and number; results of several by number, too.
// NAMES: {"name": "x", "bytes": 32}
// NAMES: {"name": "arg1", "bytes": 4}
// NAMES: {"name": "arg2", "bytes": 4}
// NAMES: {"name": "tanh.0", "op": "stablehlo.tanh", "class": "elementwise", "phase": "forward", "operands": ["x"]
// NAMES-SAME: "results": [{"name": "tanh.0", "bytes": 32}]
// NAMES-SAME: "checkpoint_name": "h", "region": "layer"
// NAMES-SAME: "loc": "jit(f)/jvp(h00)/tanh model.py:12:3"
// NAMES: {"name": "custom_call.1"
// NAMES-SAME: "results": [{"name": "custom_call.1#0", "bytes": 32}, {"name": "custom_call.1#1", "bytes": 1}]
// NAMES-SAME: "recomputable": false
// NAMES: "results": ["x", "multiply.2", "multiply.2"]
func.func @names(%0: tensor<8xf32> loc("x"), %1: tensor<f32> loc("same"), %2: tensor<f32> loc("same")) -> (tensor<8xf32>, tensor<8xf32>, tensor<8xf32>) {
  %h = "stablehlo.tanh"(%0) {remat.phase = "forward", remat.checkpoint_name = "h", remat.region = "layer"} : (tensor<8xf32>) -> tensor<8xf32>
    loc("jit(f)/jvp(h00)/tanh"("model.py":12:3))
  %c:2 = "stablehlo.custom_call"(%h) {call_target_name = "x", remat.phase = "forward"} : (tensor<8xf32>) -> (tensor<8xf32>, tensor<i1>)
  %d = "stablehlo.multiply"(%c#0, %h) {remat.phase = "backward"} : (tensor<8xf32>, tensor<8xf32>) -> tensor<8xf32>
  return %0, %d, %d : tensor<8xf32>, tensor<8xf32>, tensor<8xf32>
}

// Only a name stack holds scopes: neither Python's frames nor the folders of files do, wherever the file lies.
// RUN: not remat-opt %s --function=scopes --policy=save-nothing --segments=scope:none 2>&1 | FileCheck %s --check-prefix=SCOPES
// RUN: remat-opt %s --function=scopes --emit=graph-json -o - | FileCheck %s --check-prefix=STACKS
// SCOPES: note: the scopes are: f, h_00{{$}}
// STACKS: "loc": "/tmp/jax/model.py:7:1"
// STACKS: "loc": "jit(f)/jvp(h_00)/tanh /tmp/my models/model.py:8:1"
// STACKS: "loc": " /tmp/my models/graphs/model.py:9:1"
func.func @scopes(%x: tensor<8xf32>) -> tensor<8xf32> {
  %a = "stablehlo.tanh"(%x) {remat.phase = "forward"} : (tensor<8xf32>) -> tensor<8xf32>
    loc(callsite("<lambda>"("/tmp/jax/model.py":7:1) at callsite("loss_fn"("/tmp/graphs/a.py":1:1) at "<module>"("/tmp/graphs/a.py":9:1))))
  %b = "stablehlo.tanh"(%a) {remat.phase = "forward"} : (tensor<8xf32>) -> tensor<8xf32>
    loc("jit(f)/jvp(h 00)/tanh"("/tmp/my models/model.py":8:1))
  %c = "stablehlo.tanh"(%b) {remat.phase = "forward"} : (tensor<8xf32>) -> tensor<8xf32> loc("/tmp/my models/graphs/model.py":9:1)
  %d = "stablehlo.multiply"(%c, %b) {remat.phase = "backward"} : (tensor<8xf32>, tensor<8xf32>) -> tensor<8xf32>
  return %d : tensor<8xf32>
}

// A view of a constant, a view of a view, and a barrier's results one by one. Constants have no bytes.
// VIEWS: "name": "constant.0"{{.*}}"results": [{"name": "constant.0", "bytes": 0}]
// VIEWS: "name": "reshape.1"{{.*}}"view_of": "constant.0"
// VIEWS: "name": "reshape.2"{{.*}}"view_of": "reshape.1"
// VIEWS: "name": "optimization_barrier.4"{{.*}}"results": [{"name": "optimization_barrier.4#0", "bytes": 0, "view_of": "tanh.3"}, {"name": "optimization_barrier.4#1", "bytes": 0, "view_of": "arg0"}]
func.func @views(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = "stablehlo.constant"() <{value = dense<1.0> : tensor<4xf32>}> {remat.phase = "forward"} : () -> tensor<4xf32>
  %1 = "stablehlo.reshape"(%0) {remat.phase = "forward"} : (tensor<4xf32>) -> tensor<2x2xf32>
  %2 = "stablehlo.reshape"(%1) {remat.phase = "forward"} : (tensor<2x2xf32>) -> tensor<4xf32>
  %3 = "stablehlo.tanh"(%2) {remat.phase = "forward"} : (tensor<4xf32>) -> tensor<4xf32>
  %4:2 = "stablehlo.optimization_barrier"(%3, %x) {remat.phase = "backward"} : (tensor<4xf32>, tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>)
  %5 = "stablehlo.multiply"(%4#0, %3) {remat.phase = "backward"} : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  return %5 : tensor<4xf32>
}

// What a loop's body reads from outside it reads, too. Inside, a(16) and then b(16) are made and a is read by b: 32 bytes of workspace.
// CAPTURES: "name": "while.1"{{.*}}"operands": ["arg0", "arg1", "tanh.0"]{{.*}}"workspace_bytes": 32
func.func @captures(%x: tensor<4xf32>, %more: tensor<i1>) -> tensor<4xf32> {
  %0 = "stablehlo.tanh"(%x) {remat.phase = "forward"} : (tensor<4xf32>) -> tensor<4xf32>
  %1 = "stablehlo.while"(%x) ({
  ^bb0(%a: tensor<4xf32>):
    "stablehlo.return"(%more) : (tensor<i1>) -> ()
  }, {
  ^bb0(%a: tensor<4xf32>):
    %2 = "stablehlo.sine"(%a) : (tensor<4xf32>) -> tensor<4xf32>
    %3 = "stablehlo.add"(%2, %0) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
    "stablehlo.return"(%3) : (tensor<4xf32>) -> ()
  }) {remat.phase = "forward"} : (tensor<4xf32>) -> tensor<4xf32>
  %4 = "stablehlo.multiply"(%1, %0) {remat.phase = "backward"} : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  return %4 : tensor<4xf32>
}
