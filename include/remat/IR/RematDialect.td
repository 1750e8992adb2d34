//===- RematDialect.td - The remat dialect and its ops -----*- tablegen -*-===//
//
// Part of the Remat project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef REMAT_IR_REMATDIALECT_TD
#define REMAT_IR_REMATDIALECT_TD

include "mlir/IR/OpBase.td"
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

def YieldOp : RematOp<"yield", [Pure, Terminator, ParentOneOf<["::remat::RegionOp"]>]> {
  let summary = "ends the body of a `remat.region`";
  let arguments = (ins Variadic<AnyType>:$values);
  let assemblyFormat = "attr-dict ($values^ `:` type($values))?";
  let builders = [OpBuilder<(ins), [{ (void)$_state; }]>];
}

#endif // REMAT_IR_REMATDIALECT_TD
