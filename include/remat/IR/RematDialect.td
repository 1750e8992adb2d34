//===- RematDialect.td - The remat dialect and its ops -----*- tablegen -*-===//
//
// Part of the Remat project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef REMAT_IR_REMATDIALECT_TD
#define REMAT_IR_REMATDIALECT_TD

include "mlir/IR/OpBase.td"
include "mlir/Interfaces/ControlFlowInterfaces.td"
include "mlir/Interfaces/SideEffectInterfaces.td"
include "mlir/Dialect/Bufferization/IR/BufferizableOpInterface.td"
include "remat/IR/RematOpInterface.td"

def RematDialect : Dialect {
  let name = "remat";
  let cppNamespace = "::remat";
  let summary = "Marks that users put on training graphs, and the guards that a rewritten graph needs";
  let description = [{
    Two kinds of marks: what the user says (`remat.region`, `remat.name`, and the attributes below), and what the
    rewriter leaves behind (`remat.barrier`, `remat.clone`). All ops here are free at run time.

    Discardable attributes:

    | attribute | on | type | says |
    | --- | --- | --- | --- |
    | `remat.phase` | any op | string | `"forward"` or `"backward"` |
    | `remat.region` | any op | string | path of the user's regions around the op, such as `"outer/inner"` |
    | `remat.checkpoint_name` | any op | string | the user's name for the op's results |
    | `remat.loss` | any op, a function result; a function | unit; i64 | this makes the loss; the number of the result that is the loss |
    | `remat.plan` | function | array<i64> | the schedule: the ops' numbers in the order of execution |
    | `remat.clone` | any op | string | the op is a clone of the op with that name |
    | `remat.recomputations` | function | i64 | how many guarded clones rewriting made |
    | `remat.policy` | function | string | the policy and segments that it was rewritten by |
    | `remat.regions` | function | dictionary | regions that have a policy of their own: path to policy |
    | `remat.inplace` | any op; function | array<i64>; unit | which results take the place of which operands (-1: none); there are no others |
    | `remat.residuals` | function | i64 | how many of the last results the backward function takes |
  }];
  let hasOperationAttrVerify = 1;
  let hasRegionArgAttrVerify = 1;
  let hasRegionResultAttrVerify = 1;
}

class RematOp<string mnemonic, list<Trait> traits = []> : Op<RematDialect, mnemonic, traits>;

def BarrierOp : RematOp<"barrier", [
    Pure, AllTypesMatch<["input", "result"]>,
    DeclareOpInterfaceMethods<RematOpInterface, ["isRecomputable", "getViewedOperand"]>,
    DeclareOpInterfaceMethods<BufferizableOpInterface, ["bufferizesToMemoryRead", "bufferizesToMemoryWrite",
                                                        "getAliasingValues", "mustBufferizeInPlace", "bufferize"]>]> {
  let summary = "identity that keeps a clone apart from its original, and late";
  let description = [{
    The result is `input`. CSE merges two barriers only if they are the same in every way, which their `id` prevents; so
    what hangs on a barrier isn't merged with what hangs on its input. The operands in `after` are there for their order alone: the barrier, and
    with it what reads the barrier, can't move above them.

    A barrier has no memory effects and no folder, costs nothing, and bufferizes to its input's buffer.

    `of` says what the barrier guards, for people who read the IR.

    ```mlir
    %late = remat.barrier %x after(%gradient : tensor<8xf32>) {id = 3 : i64} : tensor<4xf32>
    ```
  }];
  let arguments = (ins AnyType:$input, Variadic<AnyType>:$after, I64Attr:$id, OptionalAttr<StrAttr>:$of);
  let results = (outs AnyType:$result);
  let assemblyFormat = "$input (`after` `(` $after^ `:` type($after) `)`)? attr-dict `:` type($input)";
}

def NameOp : RematOp<"name", [
    Pure, AllTypesMatch<["input", "result"]>,
    DeclareOpInterfaceMethods<RematOpInterface, ["isRecomputable", "getViewedOperand"]>,
    DeclareOpInterfaceMethods<BufferizableOpInterface, ["bufferizesToMemoryRead", "bufferizesToMemoryWrite",
                                                        "getAliasingValues", "mustBufferizeInPlace", "bufferize"]>]> {
  let summary = "gives a value the name that policies know it by";
  let description = [{
    The result is `input`. Policies such as `save-only-names=attention` speak of the value by this name, as they do of JAX's
    `checkpoint_name`. Costs nothing.

    ```mlir
    %h = remat.name %x "attention" : tensor<4xf32>
    ```
  }];
  let arguments = (ins AnyType:$input, StrAttr:$name);
  let results = (outs AnyType:$result);
  let assemblyFormat = "$input $name attr-dict `:` type($input)";
  let hasVerifier = 1;
}

def RegionOp : RematOp<"region", [
    RecursiveMemoryEffects, RecursivelySpeculatable, NoRegionArguments,
    SingleBlockImplicitTerminator<"::remat::YieldOp">,
    DeclareOpInterfaceMethods<RematOpInterface, ["getTripCount"]>]> {
  let summary = "a part of the graph that the user marks, such as a layer";
  let description = [{
    Runs its body once; the results are what the body yields. The body may read any value from outside. Regions may be nested.
    A `policy` holds for the ops inside instead of the one on the command line.

    ```mlir
    %y = remat.region "layer0" policy "save-dots" -> tensor<4xf32> {
      %0 = math.tanh %x : tensor<4xf32>
      remat.yield %0 : tensor<4xf32>
    }
    ```
  }];
  let arguments = (ins StrAttr:$name, OptionalAttr<StrAttr>:$policy);
  let results = (outs Variadic<AnyType>:$results);
  let regions = (region SizedRegion<1>:$body);
  let assemblyFormat = [{
    $name (`policy` $policy^)? (`->` type($results)^)? attr-dict-with-keyword $body
  }];
  let hasVerifier = 1;
}

def KernelOp : RematOp<"kernel", [
    IsolatedFromAbove, RecursiveMemoryEffects, RecursivelySpeculatable, SingleBlockImplicitTerminator<"::remat::YieldOp">]> {
  let summary = "computations that run as one piece of code, whose intermediate values are stored nowhere else";
  let description = [{
    The body computes the results from the block arguments, one for every input, by ops of upstream dialects on tensors
    of static shape (`linalg`, `tensor`, `scf`, `arith`, `math`). Its inputs and results are buffers; what lies between
    them is the kernel's own business.

    `inplace` gives for every result the input whose buffer it may be written into because every element is read
    before it is overwritten, or because only a part of it changes (`tensor.insert_slice`); -1: none. Without it, none.

    ```mlir
    %y = remat.kernel (%x) : (tensor<4xf32>) -> tensor<6xf32> {
    ^bb0(%a: tensor<4xf32>):
      %zero = arith.constant dense<0.0> : tensor<6xf32>
      %r = tensor.insert_slice %a into %zero[1] [4] [1] : tensor<4xf32> into tensor<6xf32>
      remat.yield %r : tensor<6xf32>
    }
    ```
  }];
  let arguments = (ins Variadic<AnyType>:$inputs, OptionalAttr<DenseI64ArrayAttr>:$inplace);
  let results = (outs Variadic<AnyRankedTensor>:$results);
  let regions = (region SizedRegion<1>:$body);
  let assemblyFormat = "`(` $inputs `)` attr-dict `:` functional-type($inputs, $results) $body";
  let hasVerifier = 1;
}

def ConvolutionOp : RematOp<"convolution", [Pure]> {
  let summary = "convolution with everything a library can do: strides, padding, dilations on both sides, groups";
  let description = [{
    StableHLO's `convolution`. All lists are in the order of the spatial dimensions; `padding` holds low and high for
    each. The dimension numbers say which dimension of a tensor is which: `lhs_dims` and `result_dims` are
    [batch, feature, spatial…], `rhs_dims` is [input feature, output feature, spatial…].

    ```mlir
    %y = remat.convolution %x, %w {strides = array<i64: 2, 2>, padding = array<i64: 1, 1, 1, 1>,
        lhs_dilation = array<i64: 1, 1>, rhs_dilation = array<i64: 1, 1>,
        lhs_dims = array<i64: 0, 3, 1, 2>, rhs_dims = array<i64: 2, 3, 0, 1>, result_dims = array<i64: 0, 3, 1, 2>}
        : (tensor<8x32x32x3xf32>, tensor<3x3x3x64xf32>) -> tensor<8x16x16x64xf32>
    ```
  }];
  let arguments = (ins
    AnyRankedTensor:$lhs, AnyRankedTensor:$rhs,
    DenseI64ArrayAttr:$strides, DenseI64ArrayAttr:$padding, DenseI64ArrayAttr:$lhs_dilation,
    DenseI64ArrayAttr:$rhs_dilation, DenseI64ArrayAttr:$lhs_dims, DenseI64ArrayAttr:$rhs_dims,
    DenseI64ArrayAttr:$result_dims, DefaultValuedAttr<DenseBoolArrayAttr, "{}">:$reversed,
    DefaultValuedAttr<I64Attr, "1">:$feature_groups, DefaultValuedAttr<I64Attr, "1">:$batch_groups);
  let results = (outs AnyRankedTensor:$result);
  let assemblyFormat = "$lhs `,` $rhs attr-dict `:` functional-type(operands, $result)";
  let hasVerifier = 1;
}

def YieldOp : RematOp<"yield", [Pure, Terminator, ReturnLike, ParentOneOf<["::remat::RegionOp", "::remat::KernelOp"]>]> {
  let summary = "ends the body of a `remat.region` or `remat.kernel`";
  let arguments = (ins Variadic<AnyType>:$values);
  let assemblyFormat = "attr-dict ($values^ `:` type($values))?";
  let builders = [OpBuilder<(ins), [{ (void)$_state; }]>];
}

#endif // REMAT_IR_REMATDIALECT_TD
