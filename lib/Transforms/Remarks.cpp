//===- Remarks.cpp - Why a tensor is saved or recomputed ------------------===//
//
// Part of the Remat project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "remat/IR/OpModel.h"
#include "remat/Transforms/Pipelines.h"

#include "mlir/IR/Remarks.h"
#include "llvm/ADT/StringSet.h"

using namespace mlir;

namespace remat {

static StringRef ref(std::string_view text) { return {text.data(), text.size()}; }

static void emitValueRemark(func::FuncOp function, const ExtractedGraph &extracted, ValueId value, Reason reason) {
  const Graph &graph = extracted.graph;
  OpId op = graph.producer(value);
  Location location = extracted.ops[op.index()]->getLoc();
  auto describe = [&](StringRef name) {
    return remark::RemarkOpts::name(name).category("remat").function(function.getName());
  };
  auto finish = [&](remark::detail::InFlightRemark remark) {
    remark << remark::detail::Remark::Arg("Value", ref(graph.value(value).name))
           << remark::detail::Remark::Arg("Bytes", graph.value(value).bytes)
           << remark::detail::Remark::Arg("CostNs", graph.op(op).costNs)
           << remark::detail::Remark::Arg("Reason", ref(toString(reason)));
  };
  switch (reason) {
  case Reason::NotRead:
    return;
  case Reason::Recomputed:
    return finish(remark::passed(location, describe("recomputed")));
  case Reason::Moved:
    return finish(remark::passed(location, describe("moved")));
  default:
    return finish(remark::missed(location, describe("saved")));
  }
}

void emitRemarks(func::FuncOp function, const ExtractedGraph &extracted, const PolicyPlan &planned) {
  llvm::StringSet<> unknown;
  for (auto [i, op] : llvm::enumerate(extracted.ops)) {
    // Asked of the graph first: dynamic shapes have their bounds there only.
    if (extracted.graph.op(OpId(i)).opClass != OpClass::Opaque)
      continue;
    OpModel model = describeOp(op);
    if (!model.known && model.problem.empty() && unknown.insert(op->getName().getStringRef()).second)
      emitRemark(op->getLoc()) << "nothing is known about '" << op->getName().getStringRef()
                               << "': it is never recomputed";
  }
  // Constants are rebuilt where they are read; a view has no bytes to save.
  if (!function.getContext()->getRemarkEngine())
    return;
  for (size_t i = 0; i < planned.reasons.size(); ++i)
    if (!extracted.graph.isArgument(ValueId(i)) && extracted.graph.value(ValueId(i)).bytes)
      emitValueRemark(function, extracted, ValueId(i), planned.reasons[i]);
}

} // namespace remat
