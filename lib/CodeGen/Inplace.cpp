//===- Inplace.cpp - Results over dying inputs ----------------------------===//
//
// Part of the Remat project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Inplace.h"

#include "LoopNest.h"

using namespace mlir;

namespace remat {

/// The last pass that reads the buffer; none if something reads it elsewhere than at the current point.
static std::optional<unsigned> lastPassAtPoint(const LoopNest &nest, unsigned buffer) {
  Sizes dense = rowMajorStrides(nest.space);
  unsigned last = 0;
  for (const LoopNest::Member &member : nest.members) {
    for (const auto *sources : {&member.inputs, &member.inits})
      for (const LoopNest::Source &source : *sources) {
        if (source.kind != LoopNest::Source::Kind::Buffer || source.buffer != buffer)
          continue;
        if (member.perRow || source.access.offset != 0 || source.access.strides != dense)
          return std::nullopt;
        last = std::max(last, member.pass);
      }
    bool isIndexed = false;
    member.op.getBody()->walk([&](tensor::ExtractOp extract) {
      auto argument = dyn_cast<BlockArgument>(findBase(extract.getTensor()));
      isIndexed |= argument && argument.getArgNumber() == buffer;
    });
    if (isIndexed)
      return std::nullopt;
  }
  return last;
}

SmallVector<SmallVector<unsigned>> findOverwritable(KernelOp kernel) {
  SmallVector<SmallVector<unsigned>> candidates(kernel.getNumResults());
  std::optional<LoopNest> nest = analyzeKernel(kernel);
  if (!nest)
    return candidates;
  unsigned inputs = kernel.getInputs().size();
  for (const LoopNest::Member &member : nest->members)
    for (const LoopNest::Output &output : member.outputs) {
      if (member.perRow || member.reduces)
        continue;
      auto type = cast<RankedTensorType>(kernel.getResult(output.buffer - inputs).getType());
      for (unsigned i = 0; i < inputs; ++i) {
        auto input = dyn_cast<RankedTensorType>(kernel.getInputs()[i].getType());
        if (!input || input.getElementType() != type.getElementType() ||
            input.getNumElements() != type.getNumElements())
          continue;
        std::optional<unsigned> last = lastPassAtPoint(*nest, i);
        if (last && *last <= member.pass)
          candidates[output.buffer - inputs].push_back(i);
      }
    }
  return candidates;
}

} // namespace remat
