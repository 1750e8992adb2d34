//===- RematOpInterface.td - What the planner asks of an op -*- tablegen -*-===//
//
// Part of the Remat project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef REMAT_IR_REMATOPINTERFACE_TD
#define REMAT_IR_REMATOPINTERFACE_TD

include "mlir/IR/OpBase.td"

def RematOpInterface : OpInterface<"RematOpInterface"> {
  let cppNamespace = "::remat";
  let description = [{
    Everything that planning needs to know about an op: what it is, what it costs and whether it may run twice.
    `describeOp` (OpModel.h) asks it before it asks any table, so an op of a foreign dialect becomes plannable by
    implementing this interface, directly or by an external model. Only `getOpClass` must be given.

    Defaults ask the interface again rather than `$_op`: in an external model that op has none of these methods.
    Bytes are those of whole tensors; a method that can't tell (dynamic shapes) returns 0.
  }];

  let methods = [
    InterfaceMethod<[{What the op is. Cloning rules, policies and costs follow from it.}],
      "::remat::OpClass", "getOpClass", (ins)>,

    InterfaceMethod<[{Floating-point operations of one execution, a fused multiply-add being two.
                      A loop's count comes from its body and its trip count; this method isn't asked then.}],
      "int64_t", "getFlops", (ins), "", [{
        return ::remat::defaultFlops($_op.getOperation(), ::remat::askOpClass($_op.getOperation()));
      }]>,

    InterfaceMethod<[{The part of `getFlops` that a convolution spends on padding and dilation holes taken off.}],
      "int64_t", "getValidConvFlops", (ins), "", [{ return ::remat::askFlops($_op.getOperation()); }]>,

    InterfaceMethod<[{Bytes read from and written to memory by one execution.}],
      "int64_t", "getBytesMoved", (ins), "", [{
        return ::remat::defaultBytesMoved($_op.getOperation(), ::remat::askOpClass($_op.getOperation()));
      }]>,

    InterfaceMethod<[{Scratch bytes that live only while the op runs. A loop's are found from its body.}],
      "int64_t", "getWorkspaceBytes", (ins), "", [{ return 0; }]>,

    InterfaceMethod<[{Whether a second execution with the same operands gives the same results and nothing else.}],
      "bool", "isRecomputable", (ins), "", [{
        return ::remat::defaultIsRecomputable($_op.getOperation(), ::remat::askOpClass($_op.getOperation()));
      }]>,

    InterfaceMethod<[{The operand whose storage result `result` shares, if the op only looks at it in another way.}],
      "::std::optional<unsigned>", "getViewedOperand", (ins "unsigned":$result), "", [{
        if (::remat::askOpClass($_op.getOperation()) == ::remat::OpClass::View && result < $_op.getOperation()->getNumOperands())
          return result;
        return ::std::nullopt;
      }]>,

    InterfaceMethod<[{The operand that result `result` overwrites in destination-passing style, if any.}],
      "::std::optional<unsigned>", "getDestinationOperand", (ins "unsigned":$result), "", [{
        return ::std::nullopt;
      }]>,

    InterfaceMethod<[{Number of batch dimensions of a dot; 0 for every other op.}],
      "int32_t", "getDotBatchDims", (ins), "", [{ return 0; }]>,

    InterfaceMethod<[{Executions of the body of a loop in one execution of the op; none where it isn't known.}],
      "::std::optional<int64_t>", "getTripCount", (ins), "", [{ return ::std::nullopt; }]>,

    InterfaceMethod<[{The element type that decides the rate of computation; may be null.}],
      "::mlir::Type", "getComputeType", (ins), "", [{
        return ::remat::defaultComputeType($_op.getOperation());
      }]>
  ];
}

#endif // REMAT_IR_REMATOPINTERFACE_TD
