//===- Expectation.cpp - What the results should be ------------------------===//
//
// Part of the Remat project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Expectation.h"
#include "Arguments.h"
#include "remat/Plan/OutputFile.h"
#include "remat/Runtime/Types.h"

#include "llvm/Support/JSON.h"

#include <cmath>
#include <limits>

namespace remat {

double defaultTolerance(const runtime::Program &program) {
  bool narrow = false;
  for (const std::vector<runtime::Program::Value> *values : {&program.arguments, &program.results})
    for (const runtime::Program::Value &value : *values)
      narrow |= runtime::isFloat(value.type.element) && value.type.elementBytes() < 4;
  return narrow ? 2e-2 : 1e-5;
}

static Expected<std::vector<OutputError>> compareArrays(const std::string &path, std::optional<double> tolerance,
                                                        const runtime::Program &program, const ResultData &result) {
  auto arrays = runtime::readNpz(path);
  if (!arrays)
    return toError(arrays.error());
  auto references = runtime::matchResults(std::move(*arrays), program, path);
  if (!references)
    return toError(references.error());
  std::vector<OutputError> errors;
  for (size_t i = 0; i < program.results.size(); ++i) {
    const runtime::Program::Value &value = program.results[i];
    double error = runtime::relativeError(value.type, value.isUnsigned, result(i), (*references)[i]);
    errors.push_back({value.name, error, tolerance.value_or(defaultTolerance(program))});
  }
  return errors;
}

namespace {

struct ExpectedSums {
  runtime::Checksum sums;
  double noise = 0;
};

/// The numbers of one item of `outputs`; those of the `f64` run where there is one, which has no rounding of its own.
std::optional<ExpectedSums> readSums(const llvm::json::Object &output) {
  const llvm::json::Object *precise = output.getObject("f64");
  const llvm::json::Object &from = precise ? *precise : output;
  auto sum = from.getNumber("sum"), absolute = from.getNumber("sumabs"), weighted = from.getNumber("wsum"),
       max = from.getNumber("max");
  if (!sum || !absolute || !weighted || !max)
    return std::nullopt;
  return ExpectedSums{{*sum, *absolute, *weighted, *max}, output.getNumber("noise").value_or(0)};
}

std::optional<Error> checkShape(const llvm::json::Object &output, const runtime::Program::Value &value,
                                const std::string &place) {
  const llvm::json::Array *shape = output.getArray("shape");
  runtime::TensorType found{value.type.element, {}};
  if (!shape)
    return std::nullopt;
  for (const llvm::json::Value &size : *shape)
    found.shape.push_back(size.getAsInteger().value_or(-1));
  if (found == value.type)
    return std::nullopt;
  return makeError(
      "result '" + value.name + "' is " + runtime::spell(value.type) + ", expected " + runtime::spell(found), place);
}

/// Distances relative to the sum of magnitudes: a sum of both signs may be near 0. NaN is infinitely far.
double distance(const runtime::Checksum &found, const runtime::Checksum &expected) {
  double scale = expected.absoluteSum > 0 ? expected.absoluteSum : 1;
  double largest = 0;
  for (auto [a, b] : {std::pair(found.sum, expected.sum), std::pair(found.absoluteSum, expected.absoluteSum),
                      std::pair(found.weightedSum, expected.weightedSum)}) {
    double each = std::fabs(a - b) / scale;
    largest = std::isnan(each) ? std::numeric_limits<double>::infinity() : std::max(largest, each);
  }
  return largest;
}

} // namespace

static Expected<std::vector<OutputError>> compareSums(const std::string &path, std::optional<double> tolerance,
                                                      const runtime::Program &program, const ResultData &result) {
  Expected<std::string> text = readFile(path);
  if (!text)
    return text.error();
  auto json = llvm::json::parse(*text);
  if (!json)
    return makeError("no JSON: " + llvm::toString(json.takeError()), path);
  const llvm::json::Object *top = json->getAsObject();
  const llvm::json::Array *outputs = top ? top->getArray("outputs") : nullptr;
  if (!outputs)
    return makeError("expected an object with 'outputs'", path);
  if (outputs->size() != program.results.size())
    return makeError("it has " + std::to_string(outputs->size()) + " outputs, the program has " +
                         std::to_string(program.results.size()) + " results",
                     path);
  uint64_t weightSeed = uint64_t(top->getInteger("wseed").value_or(7));
  std::vector<OutputError> errors;
  for (uint32_t i = 0; i < outputs->size(); ++i) {
    const runtime::Program::Value &value = program.results[i];
    std::string place = path + ": outputs[" + std::to_string(i) + "]";
    const llvm::json::Object *output = (*outputs)[i].getAsObject();
    auto expected = output ? readSums(*output) : std::nullopt;
    if (!expected)
      return makeError("expected an object with the numbers 'sum', 'sumabs', 'wsum' and 'max'", place);
    if (auto error = checkShape(*output, value, place))
      return std::move(*error);
    runtime::Checksum found = runtime::computeChecksum(i, value.type, value.isUnsigned, result(i), weightSeed);
    double allowed = std::max(defaultTolerance(program), 30 * expected->noise);
    errors.push_back({value.name, distance(found, expected->sums), tolerance.value_or(allowed)});
  }
  return errors;
}

Expected<std::vector<OutputError>> compareResults(const std::string &path, std::optional<double> tolerance,
                                                  const runtime::Program &program, const ResultData &result) {
  return (llvm::StringRef(path).ends_with(".json") ? compareSums : compareArrays)(path, tolerance, program, result);
}

} // namespace remat
