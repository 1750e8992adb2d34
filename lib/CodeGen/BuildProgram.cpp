//===- BuildProgram.cpp - A clustered function as a program ---------------===//
//
// Part of the Remat project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "BuildProgram.h"

#include "BlockBuilder.h"
#include "Dots.h"

#include "remat/Transforms/Extract.h"

using namespace mlir;

namespace remat {

uint32_t ProgramParts::addSlot(std::string name, int64_t bytes) {
  program.slots.push_back({std::move(name), 0, bytes});
  parents.push_back(-1);
  return program.slots.size() - 1;
}

int64_t ProgramParts::addConstant(ArrayRef<char> data) {
  program.constants.resize(llvm::alignTo(program.constants.size(), 64));
  int64_t offset = program.constants.size();
  program.constants.insert(program.constants.end(), data.begin(), data.end());
  return offset;
}

/// Makes the slots' offsets absolute, and the buffers' those of their slots.
static void resolve(ProgramParts &parts) {
  std::vector<runtime::Slot> &slots = parts.program.slots;
  SmallVector<bool> done(slots.size());
  auto absolute = [&](auto &self, int slot) -> int64_t {
    if (!done[slot] && parts.parents[slot] >= 0)
      slots[slot].offset += self(self, parts.parents[slot]);
    done[slot] = true;
    return slots[slot].offset;
  };
  for (size_t i = 0; i < slots.size(); ++i)
    absolute(absolute, i);
  auto place = [&](runtime::Buffer &buffer) {
    if (buffer.space == runtime::Buffer::Space::Arena)
      buffer = {buffer.space, 0, slots[buffer.index].offset + buffer.offset};
  };
  forEachStep(parts.program.steps, [&](runtime::Step &step) {
    for (runtime::Buffer &buffer : step.buffers)
      place(buffer);
  });
  for (runtime::Buffer &buffer : parts.program.resultBuffers)
    place(buffer);
}

static LogicalResult addSignature(func::FuncOp function, runtime::Program &program) {
  auto add = [&](std::vector<runtime::Program::Value> &values, Type type, StringRef name) -> LogicalResult {
    auto tensor = dyn_cast<RankedTensorType>(type);
    std::optional<runtime::ElementType> element;
    if (tensor && tensor.hasStaticShape())
      element = toElementType(tensor.getElementType());
    if (!element)
      return function.emitError() << "no buffer can hold a value of type " << type;
    values.push_back({name.str() + std::to_string(values.size()), {*element, tensor.getShape().vec()}});
    return success();
  };
  for (Type type : function.getArgumentTypes())
    if (failed(add(program.arguments, type, "arg")))
      return failure();
  for (Type type : function.getResultTypes())
    if (failed(add(program.results, type, "result")))
      return failure();
  return success();
}

FailureOr<BuiltProgram> buildProgram(func::FuncOp function, KernelTable &kernels, int64_t enoughBytes) {
  ProgramParts parts{kernels, enoughBytes};
  parts.program.threads = kernels.target.threads();
  parts.program.name = function.getName().str();
  if (failed(addSignature(function, parts.program)))
    return failure();
  BlockBuilder builder(parts, function.front(), nullptr);
  for (BlockArgument argument : function.getArguments())
    builder.placeArgument(argument, {runtime::Buffer::Space::Argument, argument.getArgNumber(), 0}, false);
  for (BlockArgument argument : function.getArguments())
    if (isDonated(function, argument.getArgNumber()))
      builder.donate(argument, donatedResult(function, argument.getArgNumber()));
  if (failed(builder.addItems()))
    return failure();
  for (Value value : function.front().getTerminator()->getOperands())
    parts.program.resultBuffers.push_back(builder.bufferOf(value));
  if (failed(builder.finish()))
    return failure();
  parts.program.steps = std::move(builder.steps);
  parts.program.arenaBytes = builder.arenaBytes;
  parts.program.plannedPeakBytes = builder.livePeakBytes;
  for (const EmittedKernel &kernel : kernels.kernels)
    parts.program.kernels.push_back(kernel.symbol);
  resolve(parts);
  return BuiltProgram{std::move(parts.program), std::move(builder.origins), builder.builtItems(),
                      std::move(builder.graph), builder.livePeakBytes,      parts.provenPacking};
}

} // namespace remat
