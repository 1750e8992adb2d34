//===- TestCalls.h - Programs of one dot or convolution ----------*- C++ -*-===//
//
// Part of the Remat project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#pragma once

#include "LibraryCases.h"
#include "TestSteps.h"

namespace remat::runtime {

/// `count` elements that are whole numbers in [-3, 3]: sums of their products are exact in every type's accumulator, so
/// that two libraries give the same bits.
inline std::vector<char> wholeNumbers(ElementType element, int64_t count, std::mt19937 &random) {
  std::vector<float> values(static_cast<size_t>(count));
  for (float &value : values)
    value = float(int(random() % 7) - 3);
  std::vector<char> bytes(size_t(count * TensorType{element, {}}.elementBytes()));
  fromFloats(values.data(), count, element, bytes.data());
  return bytes;
}

/// A program of one call: operands are arguments, the result lies at 0 of the arena, and a workspace behind it.
inline Program callProgram(Step::Kind kind, const TensorType &a, const TensorType &b, const TensorType &c,
                           int64_t workspaceBytes = 0) {
  Program program;
  program.name = "call";
  program.arguments = {{"a", a}, {"b", b}};
  program.results = {{"c", c}};
  int64_t bytes = (c.bytes() + 63) / 64 * 64;
  program.slots = {{"c", 0, c.bytes()}};
  Step step;
  step.kind = kind;
  step.name = "call.0";
  step.buffers = {argumentAt(0), argumentAt(1), arenaAt(0)};
  step.taken = {0};
  if (workspaceBytes > 0) {
    program.slots.push_back({"workspace", bytes, workspaceBytes});
    step.buffers.push_back(arenaAt(bytes));
    step.taken.push_back(1);
  }
  program.steps = {step};
  program.resultBuffers = {arenaAt(0)};
  program.arenaBytes = bytes + workspaceBytes;
  return program;
}

inline Program callProgram(const ConvolutionSpec &spec, int64_t workspaceBytes = 0) {
  Program program = callProgram(Step::Kind::Convolution, spec.lhs, spec.rhs, spec.result, workspaceBytes);
  program.convolutions = {spec};
  return program;
}

/// Elements that lie between a matrix's first and last, one behind the last.
inline int64_t spanOf(std::initializer_list<std::pair<int64_t, int64_t>> sizesAndStrides) {
  int64_t last = 0;
  for (auto [size, stride] : sizesAndStrides) {
    if (size == 0)
      return 0;
    last += (size - 1) * stride;
  }
  return last + 1;
}

inline Program callProgram(const MatmulSpec &spec, int64_t workspaceBytes = 0) {
  int64_t spans[3] = {spanOf({{spec.m, spec.aRowStride}, {spec.k, spec.aColumnStride}}),
                      spanOf({{spec.k, spec.bRowStride}, {spec.n, spec.bColumnStride}}),
                      spanOf({{spec.m, spec.cRowStride}, {spec.n, spec.cColumnStride}})};
  const std::vector<int64_t> *strides[3] = {&spec.aBatchStrides, &spec.bBatchStrides, &spec.cBatchStrides};
  for (size_t t = 0; t < 3; ++t)
    for (size_t i = 0; i < spec.batch.size(); ++i)
      spans[t] = spec.batch[i] == 0 ? 0 : spans[t] + (spec.batch[i] - 1) * (*strides[t])[i];
  Program program =
      callProgram(Step::Kind::Matmul, {spec.a, {spans[0]}}, {spec.b, {spans[1]}}, {spec.c, {spans[2]}}, workspaceBytes);
  program.matmuls = {spec};
  return program;
}

/// Runs a program of one call on the fake and the same call on the CPU, and compares all bytes of the result. Both
/// start from NaN, so what neither writes agrees.
inline void compareWithCpu(const Program &program, LibraryCall &cpu, const std::string &what) {
  std::mt19937 random(7);
  auto context = contextOf(executableOf(program, {}));
  ASSERT_TRUE(context) << what;
  std::vector<std::vector<char>> data;
  std::vector<DevicePointer> arguments;
  for (const Program::Value &argument : program.arguments) {
    data.push_back(wholeNumbers(argument.type.element, argument.type.elements(), random));
    arguments.push_back(fakecuda::upload(data.back().data(), data.back().size()));
  }
  auto error = context->run(arguments);
  ASSERT_FALSE(error) << error->str() << ": " << what;
  const TensorType &type = program.results[0].type;
  librarycases::Array workspace(ElementType::I8, cpu.workspaceBytes() + 64), result(type.element, type.elements());
  result.poison();
  cpu.run(data[0].data(), data[1].data(), result.data(), workspace.data());
  if (type.bytes() == 0)
    return;
  EXPECT_EQ(std::memcmp(result.data(), reinterpret_cast<const void *>(context->result(0)), size_t(type.bytes())), 0)
      << what;
}

} // namespace remat::runtime
