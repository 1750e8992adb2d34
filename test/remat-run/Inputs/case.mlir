// The gradient of sum(f²), where f(i, x, w) is jax.lax.cond(i > 1, mean of squares, sum, y) of
// y = jax.lax.switch(i, [sin, 2 ×, exp(-)], x @ w); exported by JAX, with the name stacks that tell the phases.
"builtin.module"() <{sym_name = "jit_f"}> ({
  "func.func"() <{arg_attrs = [{}, {}, {}], function_type = (tensor<i32>, tensor<4x8xf32>, tensor<8x8xf32>) -> (tensor<f32>, tensor<8x8xf32>), res_attrs = [{jax.result_info = "result[0]"}, {jax.result_info = "result[1]"}], sym_name = "main", sym_visibility = "public"}> ({
  ^bb0(%arg0: tensor<i32>, %arg1: tensor<4x8xf32>, %arg2: tensor<8x8xf32>):
    %0 = "stablehlo.dot_general"(%arg1, %arg2) <{dot_dimension_numbers = #stablehlo.dot<lhs_contracting_dimensions = [1], rhs_contracting_dimensions = [0]>}> : (tensor<4x8xf32>, tensor<8x8xf32>) -> tensor<4x8xf32> loc("jit(f)/jvp()/dot_general")
    %1 = "stablehlo.constant"() <{value = dense<0> : tensor<i32>}> : () -> tensor<i32> loc("jit(f)")
    %2 = "stablehlo.constant"() <{value = dense<2> : tensor<i32>}> : () -> tensor<i32> loc("jit(f)")
    %3 = "stablehlo.clamp"(%1, %arg0, %2) : (tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<i32> loc("jit(f)/jvp()/clamp")
    %4:2 = "stablehlo.case"(%3) ({
      %56 = "stablehlo.sine"(%0) : (tensor<4x8xf32>) -> tensor<4x8xf32> loc("jit(f)/jvp()/cond/branch_0_fun/sin")
      %57 = "stablehlo.cosine"(%0) : (tensor<4x8xf32>) -> tensor<4x8xf32> loc("jit(f)/jvp()/cond/branch_0_fun/cos")
      "stablehlo.return"(%56, %57) : (tensor<4x8xf32>, tensor<4x8xf32>) -> () loc("jit(f)/jvp()/cond")
    }, {
      %51 = "stablehlo.constant"() <{value = dense<2.000000e+00> : tensor<f32>}> : () -> tensor<f32> loc("jit(f)/jvp()/cond")
      %52 = "stablehlo.broadcast_in_dim"(%51) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<4x8xf32> loc("jit(f)/jvp()/cond/branch_1_fun/mul")
      %53 = "stablehlo.multiply"(%0, %52) : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xf32> loc("jit(f)/jvp()/cond/branch_1_fun/mul")
      %54 = "stablehlo.constant"() <{value = dense<0.000000e+00> : tensor<f32>}> : () -> tensor<f32> loc("jit(f)/jvp()/cond/branch_1_fun/empty2")
      %55 = "stablehlo.broadcast_in_dim"(%54) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<4x8xf32> loc("jit(f)/jvp()/cond/branch_1_fun/broadcast_in_dim")
      "stablehlo.return"(%53, %55) : (tensor<4x8xf32>, tensor<4x8xf32>) -> () loc("jit(f)/jvp()/cond")
    }, {
      %49 = "stablehlo.negate"(%0) : (tensor<4x8xf32>) -> tensor<4x8xf32> loc("jit(f)/jvp()/cond/branch_2_fun/neg")
      %50 = "stablehlo.exponential"(%49) : (tensor<4x8xf32>) -> tensor<4x8xf32> loc("jit(f)/jvp()/cond/branch_2_fun/exp")
      "stablehlo.return"(%50, %50) : (tensor<4x8xf32>, tensor<4x8xf32>) -> () loc("jit(f)/jvp()/cond")
    }) : (tensor<i32>) -> (tensor<4x8xf32>, tensor<4x8xf32>) loc("jit(f)/jvp()/cond")
    %5 = "stablehlo.constant"() <{value = dense<1> : tensor<i32>}> : () -> tensor<i32> loc("jit(f)")
    %6 = "stablehlo.compare"(%arg0, %5) <{compare_type = #stablehlo<comparison_type SIGNED>, comparison_direction = #stablehlo<comparison_direction GT>}> : (tensor<i32>, tensor<i32>) -> tensor<i1> loc("jit(f)/jvp()/gt")
    %7 = "stablehlo.convert"(%6) : (tensor<i1>) -> tensor<i32> loc("jit(f)/jvp()/convert_element_type")
    %8:2 = "stablehlo.case"(%7) ({
      %42 = "stablehlo.multiply"(%4#0, %4#0) : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xf32> loc("jit(f)/jvp()/cond/branch_0_fun/mul")
      %43 = "stablehlo.constant"() <{value = dense<0.000000e+00> : tensor<f32>}> : () -> tensor<f32> loc("jit(f)/jvp()/cond/branch_0_fun/reduce_sum")
      %44 = "stablehlo.reduce"(%42, %43) <{dimensions = array<i64: 0>}> ({
      ^bb0(%arg7: tensor<f32>, %arg8: tensor<f32>):
        %48 = "stablehlo.add"(%arg7, %arg8) : (tensor<f32>, tensor<f32>) -> tensor<f32> loc("jit(f)/jvp()/cond/branch_0_fun/reduce_sum")
        "stablehlo.return"(%48) : (tensor<f32>) -> () loc("jit(f)/jvp()/cond/branch_0_fun/reduce_sum")
      }) : (tensor<4x8xf32>, tensor<f32>) -> tensor<8xf32> loc("jit(f)/jvp()/cond/branch_0_fun/reduce_sum")
      %45 = "stablehlo.constant"() <{value = dense<4.000000e+00> : tensor<f32>}> : () -> tensor<f32> loc("jit(f)/jvp()/cond")
      %46 = "stablehlo.broadcast_in_dim"(%45) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<8xf32> loc("jit(f)/jvp()/cond/branch_0_fun/div")
      %47 = "stablehlo.divide"(%44, %46) : (tensor<8xf32>, tensor<8xf32>) -> tensor<8xf32> loc("jit(f)/jvp()/cond/branch_0_fun/div")
      "stablehlo.return"(%47, %4#0) : (tensor<8xf32>, tensor<4x8xf32>) -> () loc("jit(f)/jvp()/cond")
    }, {
      %37 = "stablehlo.constant"() <{value = dense<0.000000e+00> : tensor<f32>}> : () -> tensor<f32> loc("jit(f)/jvp()/cond/branch_1_fun/reduce_sum")
      %38 = "stablehlo.reduce"(%4#0, %37) <{dimensions = array<i64: 0>}> ({
      ^bb0(%arg5: tensor<f32>, %arg6: tensor<f32>):
        %41 = "stablehlo.add"(%arg5, %arg6) : (tensor<f32>, tensor<f32>) -> tensor<f32> loc("jit(f)/jvp()/cond/branch_1_fun/reduce_sum")
        "stablehlo.return"(%41) : (tensor<f32>) -> () loc("jit(f)/jvp()/cond/branch_1_fun/reduce_sum")
      }) : (tensor<4x8xf32>, tensor<f32>) -> tensor<8xf32> loc("jit(f)/jvp()/cond/branch_1_fun/reduce_sum")
      %39 = "stablehlo.constant"() <{value = dense<0.000000e+00> : tensor<f32>}> : () -> tensor<f32> loc("jit(f)/jvp()/cond/branch_1_fun/empty2")
      %40 = "stablehlo.broadcast_in_dim"(%39) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<4x8xf32> loc("jit(f)/jvp()/cond/branch_1_fun/broadcast_in_dim")
      "stablehlo.return"(%38, %40) : (tensor<8xf32>, tensor<4x8xf32>) -> () loc("jit(f)/jvp()/cond")
    }) : (tensor<i32>) -> (tensor<8xf32>, tensor<4x8xf32>) loc("jit(f)/jvp()/cond")
    %9 = "stablehlo.multiply"(%8#0, %8#0) : (tensor<8xf32>, tensor<8xf32>) -> tensor<8xf32> loc("jit(f)/jvp()/integer_pow")
    %10 = "stablehlo.constant"() <{value = dense<2.000000e+00> : tensor<f32>}> : () -> tensor<f32> loc("jit(f)")
    %11 = "stablehlo.broadcast_in_dim"(%10) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<8xf32> loc("jit(f)/jvp()/mul")
    %12 = "stablehlo.multiply"(%11, %8#0) : (tensor<8xf32>, tensor<8xf32>) -> tensor<8xf32> loc("jit(f)/jvp()/mul")
    %13 = "stablehlo.constant"() <{value = dense<0.000000e+00> : tensor<f32>}> : () -> tensor<f32> loc("jit(f)/jvp()/reduce_sum")
    %14 = "stablehlo.reduce"(%9, %13) <{dimensions = array<i64: 0>}> ({
    ^bb0(%arg3: tensor<f32>, %arg4: tensor<f32>):
      %36 = "stablehlo.add"(%arg3, %arg4) : (tensor<f32>, tensor<f32>) -> tensor<f32> loc("jit(f)/jvp()/reduce_sum")
      "stablehlo.return"(%36) : (tensor<f32>) -> () loc("jit(f)/jvp()/reduce_sum")
    }) : (tensor<8xf32>, tensor<f32>) -> tensor<f32> loc("jit(f)/jvp()/reduce_sum")
    %15 = "stablehlo.constant"() <{value = dense<1.000000e+00> : tensor<f32>}> : () -> tensor<f32> loc("jit(f)")
    %16 = "stablehlo.broadcast_in_dim"(%15) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<8xf32> loc("jit(f)/transpose(jvp())/broadcast_in_dim")
    %17 = "stablehlo.multiply"(%16, %12) : (tensor<8xf32>, tensor<8xf32>) -> tensor<8xf32> loc("jit(f)/transpose(jvp())/mul")
    %18 = "stablehlo.case"(%7) ({
      %29 = "stablehlo.constant"() <{value = dense<4.000000e+00> : tensor<f32>}> : () -> tensor<f32> loc("jit(f)/transpose(jvp())/cond")
      %30 = "stablehlo.broadcast_in_dim"(%29) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<8xf32> loc("jit(f)/transpose(jvp())/cond/branch_0_fun/div")
      %31 = "stablehlo.divide"(%17, %30) : (tensor<8xf32>, tensor<8xf32>) -> tensor<8xf32> loc("jit(f)/transpose(jvp())/cond/branch_0_fun/div")
      %32 = "stablehlo.broadcast_in_dim"(%31) <{broadcast_dimensions = array<i64: 1>}> : (tensor<8xf32>) -> tensor<4x8xf32> loc("jit(f)/transpose(jvp())/cond/branch_0_fun/broadcast_in_dim")
      %33 = "stablehlo.multiply"(%8#1, %32) : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xf32> loc("jit(f)/transpose(jvp())/cond/branch_0_fun/mul")
      %34 = "stablehlo.multiply"(%32, %8#1) : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xf32> loc("jit(f)/transpose(jvp())/cond/branch_0_fun/mul")
      %35 = "stablehlo.add"(%33, %34) : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xf32> loc("jit(f)/transpose(jvp())/cond/branch_0_fun/add_any")
      "stablehlo.return"(%35) : (tensor<4x8xf32>) -> () loc("jit(f)/transpose(jvp())/cond")
    }, {
      %28 = "stablehlo.broadcast_in_dim"(%17) <{broadcast_dimensions = array<i64: 1>}> : (tensor<8xf32>) -> tensor<4x8xf32> loc("jit(f)/transpose(jvp())/cond/branch_1_fun/broadcast_in_dim")
      "stablehlo.return"(%28) : (tensor<4x8xf32>) -> () loc("jit(f)/transpose(jvp())/cond")
    }) : (tensor<i32>) -> tensor<4x8xf32> loc("jit(f)/transpose(jvp())/cond")
    %19 = "stablehlo.case"(%3) ({
      %27 = "stablehlo.multiply"(%18, %4#1) : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xf32> loc("jit(f)/transpose(jvp())/cond/branch_0_fun/mul")
      "stablehlo.return"(%27) : (tensor<4x8xf32>) -> () loc("jit(f)/transpose(jvp())/cond")
    }, {
      %24 = "stablehlo.constant"() <{value = dense<2.000000e+00> : tensor<f32>}> : () -> tensor<f32> loc("jit(f)/transpose(jvp())/cond")
      %25 = "stablehlo.broadcast_in_dim"(%24) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<4x8xf32> loc("jit(f)/transpose(jvp())/cond/branch_1_fun/mul")
      %26 = "stablehlo.multiply"(%18, %25) : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xf32> loc("jit(f)/transpose(jvp())/cond/branch_1_fun/mul")
      "stablehlo.return"(%26) : (tensor<4x8xf32>) -> () loc("jit(f)/transpose(jvp())/cond")
    }, {
      %22 = "stablehlo.multiply"(%18, %4#1) : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xf32> loc("jit(f)/transpose(jvp())/cond/branch_2_fun/mul")
      %23 = "stablehlo.negate"(%22) : (tensor<4x8xf32>) -> tensor<4x8xf32> loc("jit(f)/transpose(jvp())/cond/branch_2_fun/neg")
      "stablehlo.return"(%23) : (tensor<4x8xf32>) -> () loc("jit(f)/transpose(jvp())/cond")
    }) : (tensor<i32>) -> tensor<4x8xf32> loc("jit(f)/transpose(jvp())/cond")
    %20 = "stablehlo.dot_general"(%19, %arg1) <{dot_dimension_numbers = #stablehlo.dot<lhs_contracting_dimensions = [0], rhs_contracting_dimensions = [0]>}> : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<8x8xf32> loc("jit(f)/transpose(jvp())/dot_general")
    %21 = "stablehlo.transpose"(%20) <{permutation = array<i64: 1, 0>}> : (tensor<8x8xf32>) -> tensor<8x8xf32> loc("jit(f)/transpose(jvp())/transpose")
    "func.return"(%14, %21) : (tensor<f32>, tensor<8x8xf32>) -> () loc("jit(f)")
  }) : () -> ()
}) {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} : () -> ()
