// RUN: remat-opt %s --split-input-file --verify-diagnostics

func.func @name(%x: tensor<4xf32>) {
  // expected-error @+1 {{'remat.name' op must have a name that is not empty}}
  %0 = remat.name %x "" : tensor<4xf32>
  return
}

// -----

func.func @region_name(%x: tensor<4xf32>) {
  // expected-error @+1 {{'remat.region' op must have a name that is not empty and holds no '/', but has "a/b"}}
  remat.region "a/b" {
  }
  return
}

// -----

func.func @region_without_name(%x: tensor<4xf32>) {
  // expected-error @+1 {{must have a name that is not empty and holds no '/', but has ""}}
  remat.region "" {
  }
  return
}

// -----

func.func @yield_types(%x: tensor<4xf32>) {
  // expected-error @+1 {{'remat.region' op has results of types ('tensor<4xf32>'), but its body yields ('tensor<4xf32>', 'tensor<4xf32>')}}
  %0 = remat.region "a" -> tensor<4xf32> {
    remat.yield %x, %x : tensor<4xf32>, tensor<4xf32>
  }
  return
}

// -----

func.func @region_arguments(%x: tensor<4xf32>) {
  // expected-error @+1 {{'remat.region' op region should have no arguments}}
  "remat.region"() <{name = "a"}> ({
  ^bb0(%a: tensor<4xf32>):
    "remat.yield"() : () -> ()
  }) : () -> ()
  return
}

// -----

func.func @barrier_without_id(%x: tensor<4xf32>) {
  // expected-error @+1 {{'remat.barrier' op requires attribute 'id'}}
  %0 = remat.barrier %x : tensor<4xf32>
  return
}

// -----

func.func @barrier_type(%x: tensor<4xf32>) {
  // expected-error @+1 {{'remat.barrier' op failed to verify that all of {input, result} have same type}}
  %0 = "remat.barrier"(%x) <{id = 0 : i64}> : (tensor<4xf32>) -> tensor<8xf32>
  return
}
