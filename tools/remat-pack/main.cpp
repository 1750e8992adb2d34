//===- main.cpp - Packing alone --------------------------------------------===//
//
// Part of the Remat project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "BufferCsv.h"
#include "CommandLine.h"

#include "remat/Plan/OutputFile.h"

#include <iomanip>
#include <iostream>
#include <sstream>

using namespace remat;

namespace {

constexpr std::string_view toolName = "remat-pack";

int fail(const Error &error) {
  std::cerr << toolName << ": error: " << (error.place.empty() ? "" : error.place + ": ") << error.message << "\n";
  if (!error.note.empty())
    std::cerr << "note: " << error.note << "\n";
  return 1;
}

/// Puts the file before the place: `b.csv:3` where the place is a line, `b.csv: buffer 3` where it is not.
Error inFile(Error error, const std::string &path) {
  std::string file = path == "-" ? "<stdin>" : path;
  bool isLine = !error.place.empty() && error.place.front() >= '0' && error.place.front() <= '9';
  error.place = error.place.empty() ? file : file + (isLine ? ":" : ": ") + error.place;
  return error;
}

Expected<ArenaPlan> pack(const BufferTable &table, const ArenaOptions &options) {
  auto plan = packArena(table.buffers, options);
  if (plan)
    if (auto error = verifyArena(table.buffers, plan->offsets, options.alignment, options.capacity)) {
      error->message = "internal error: the packing is wrong: " + error->message;
      error->note = "please report this with the file and the flags";
      return std::move(*error);
    }
  return plan;
}

std::string summarize(const BufferTable &table, const ArenaPlan &plan) {
  std::ostringstream text;
  double ratio = plan.livePeakBytes ? double(plan.bytes) / double(plan.livePeakBytes) : 1;
  text << table.ids.size() << " buffers: arena " << plan.bytes << " bytes, live peak " << plan.livePeakBytes
       << " bytes, ratio " << std::fixed << std::setprecision(4) << ratio << ", "
       << (plan.provenOptimal ? "proven optimal" : "not proven optimal") << "\n";
  return text.str();
}

std::optional<Error> writeOutputs(const CommandLine &line, const BufferTable &table, const ArenaPlan &plan) {
  std::vector<OutputFile> files;
  auto add = [&](const std::string &path, auto write) -> std::optional<Error> {
    auto file = OutputFile::open(path);
    if (!file)
      return std::move(file.error());
    write(file->stream());
    files.push_back(std::move(*file));
    return std::nullopt;
  };
  std::optional<Error> error;
  if (!line.output.empty())
    error = add(line.output, [&](std::ostream &out) { writeBuffers(out, table, plan.offsets); });
  if (!error && line.output != "-")
    error = add("-", [&](std::ostream &out) { out << summarize(table, plan); });
  if (!error)
    error = OutputFile::commitAll(files);
  if (!error && line.output == "-")
    std::cerr << summarize(table, plan);
  return error;
}

int run(const CommandLine &line) {
  auto text = readFile(line.input);
  if (!text)
    return fail(text.error());
  auto table = readBuffers(*text);
  if (!table)
    return fail(inFile(std::move(table.error()), line.input));
  auto plan = pack(*table, line.options);
  if (!plan)
    return fail(inFile(std::move(plan.error()), line.input));
  auto error = writeOutputs(line, *table, *plan);
  return error ? fail(*error) : 0;
}

} // namespace

int main(int argc, char **argv) {
  OutputFile::removeOnSignals();
  std::vector<std::string_view> arguments(argv + 1, argv + argc);
  auto line = parseCommandLine(arguments);
  if (!line)
    return fail(line.error());
  if (line->help || line->version) {
    std::cout << (line->help ? helpText() : std::string(toolName) + " " REMAT_VERSION "\n") << std::flush;
    return std::cout.good() ? 0 : 1;
  }
  return run(*line);
}
