//===- Emit.cpp - Writes the compiled step ---------------------------------===//
//
// Part of the Remat project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Emit.h"
#include "EmitHeader.h"
#include "Link.h"
#include "Outputs.h"

#include "llvm/Support/Path.h"

#include <iostream>
#include <sstream>

using namespace mlir;

namespace remat {

namespace {

/// The files to be written and what makes them.
class Emitter {
public:
  Emitter(const CommandLine &line, const RunOptions &options) : line(line), options(options) {}

  /// Opens the files and finds what links, for compiling takes a while.
  std::optional<Error> prepare(StringRef tool) {
    entry = entryName(options.output);
    if (entry + "_open" == "remat_program_open")
      return makeError("the entry point would be remat_program_open, which is the runtime's", options.output,
                       "name the file otherwise");
    if (line.emit == "shared") {
      Expected<SharedLinker> found = SharedLinker::find(tool);
      if (!found)
        return found.error();
      linker = std::move(*found);
    }
    llvm::SmallString<128> header(options.output);
    llvm::sys::path::replace_extension(header, "h");
    for (const std::string &path : {options.output, std::string(header)})
      if (auto error = outputs.open(path))
        return error;
    for (const std::string &path : line.reports)
      if (auto error = outputs.open(path))
        return error;
    return std::nullopt;
  }

  std::optional<Error> write(const CpuStep &step, const Report &report) {
    std::string text(step.object.begin(), step.object.end());
    if (linker) {
      Expected<std::string> shared = linker->link(step.object, entry, llvm::sys::path::filename(options.output));
      if (!shared)
        return shared.error();
      text = std::move(*shared);
    }
    outputs.stream(0) << text;
    outputs.stream(1) << emitHeader(step.program, entry);
    for (size_t i = 0; i < line.reports.size(); ++i)
      StringRef(line.reports[i]).ends_with(".json") ? writeReportJson(outputs.stream(2 + i), report)
                                                    : writeReportText(outputs.stream(2 + i), report);
    return outputs.commit();
  }

  std::string entry; ///< Known once prepared.

private:
  const CommandLine &line;
  const RunOptions &options;
  std::optional<SharedLinker> linker;
  Outputs outputs; ///< The step, its header, the reports.
};

} // namespace

LogicalResult emitStep(ModuleOp module, const CommandLine &line, const RunOptions &options, const Input &input,
                       StringRef tool) {
  Emitter emitter(line, options);
  if (auto error = emitter.prepare(tool))
    return printError(*error), failure();
  FailureOr<CompiledStep> compiled = compileStep(module, line, input, options.threads, emitter.entry);
  if (failed(compiled))
    return failure();
  if (auto error = emitter.write(compiled->step, compiled->report))
    return printError(*error), failure();
  if (!llvm::is_contained(line.reports, "-"))
    writeReportSummary(std::cout, compiled->report);
  return success();
}

} // namespace remat
