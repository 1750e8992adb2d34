//===- CommandLine.cpp - What the user asked of a run ----------------------===//
//
// Part of the Remat project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "CommandLine.h"
#include "RunOptions.h"
#include "remat/Plan/Policy.h"

#include "llvm/Support/CommandLine.h"

namespace cl = llvm::cl;

namespace remat {

namespace {

cl::OptionCategory &category() {
  static cl::OptionCategory running("Options of a run");
  return running;
}

struct Flags {
  cl::opt<std::string> program{cl::Positional, cl::desc("PROGRAM.mlir"), cl::init("-"), cl::cat(category())};
  cl::opt<std::string> output{"o", cl::desc("Where --emit writes"), cl::value_desc("FILE"), cl::cat(category())};
  cl::opt<std::string> inputs{"inputs", cl::desc("The arguments, with keys NNNN_name in their order"),
                              cl::value_desc("FILE.npz"), cl::cat(category())};
  cl::opt<uint64_t> randomInputs{
      "random-inputs",
      cl::desc("Make the arguments from a seed, by the rules of PROGRAM's .args.tsv file if there is one"),
      cl::value_desc("SEED"), cl::cat(category())};
  cl::opt<std::string> expect{"expect", cl::desc("Compare the results with these, or with checksums of them"),
                              cl::value_desc("FILE.npz|FILE.json"), cl::cat(category())};
  cl::opt<std::string> outputs{"outputs", cl::desc("Write the results"), cl::value_desc("FILE.npz"),
                               cl::cat(category())};
  cl::opt<int> repeat{"repeat", cl::desc("Run so often, and time each run"), cl::value_desc("N"), cl::init(1),
                      cl::cat(category())};
  cl::opt<bool> verify{"verify", cl::desc("Run the original too, and compare every result bit for bit"),
                       cl::cat(category())};
  cl::opt<std::string> profile{"profile", cl::desc("Time every step; with a file, write a Chrome trace"),
                               cl::value_desc("FILE.json"), cl::ValueOptional, cl::cat(category())};
  cl::opt<bool> measure{"measure", cl::desc("One more run, first, that counts the bytes in use (default: true)"),
                        cl::init(true), cl::cat(category())};
  cl::opt<NanPolicy> nanPolicy{"nan-policy", cl::desc("A result that is NaN or infinite is"),
                               cl::values(clEnumValN(NanPolicy::Allow, "allow", "no error (default)"),
                                          clEnumValN(NanPolicy::Error, "error", "an error")),
                               cl::init(NanPolicy::Allow), cl::cat(category())};
  cl::opt<double> tolerance{"tolerance",
                            cl::desc("The largest error against --expect, relative to each result's largest magnitude"),
                            cl::value_desc("X"), cl::cat(category())};
  cl::opt<std::string> arenaLimit{"arena-limit", cl::desc("A larger arena is an error"), cl::value_desc("SIZE"),
                                  cl::cat(category())};
  cl::opt<bool> cudaGraph{"cuda-graph", cl::desc("With --device=cuda: capture the step as a CUDA graph and replay it"),
                          cl::cat(category())};
  cl::opt<bool> allowTf32{"allow-tf32",
                          cl::desc("With --device=cuda: dots and convolutions of f32 may round their inputs to TF32"),
                          cl::cat(category())};
};

Flags &flags() {
  static Flags all;
  return all;
}

/// What says how a step is run means nothing where none is.
std::optional<Error> checkEmits() {
  Flags &all = flags();
  const cl::Option *ofRuns[] = {&all.inputs,     &all.randomInputs, &all.expect,   &all.outputs,   &all.repeat,
                                &all.verify,     &all.profile,      &all.measure,  &all.nanPolicy, &all.tolerance,
                                &all.arenaLimit, &all.cudaGraph,    &all.allowTf32};
  for (const cl::Option *flag : ofRuns)
    if (flag->getNumOccurrences())
      return makeError("--emit and --" + flag->ArgStr.str() + " contradict each other", "",
                       "an emitted step is run by the program it becomes part of; leave --emit out to run it here");
  if (all.output.empty() || all.output == "-")
    return makeError("--emit needs a file to write", "", "say -o FILE; a header is written beside a step");
  return std::nullopt;
}

std::optional<Error> checkFlags(bool runs) {
  Flags &all = flags();
  if (!runs)
    if (auto error = checkEmits())
      return error;
  if (runs && all.output.getNumOccurrences())
    return makeError("-o without --emit", "",
                     "--emit=object or shared writes the step, --outputs=FILE.npz what it computes");
  if (auto error = checkRange(all.repeat, 1000000))
    return error;
  bool random = all.randomInputs.getNumOccurrences() > 0;
  if (random && !all.inputs.empty())
    return makeError("--inputs and --random-inputs contradict each other", "", "say one of them");
  if (runs && !random && all.inputs.empty())
    return makeError("no inputs", "", "say --inputs=FILE.npz, or --random-inputs=42");
  if (all.tolerance.getNumOccurrences() && !(all.tolerance >= 0))
    return makeError("--tolerance must not be negative");
  if (all.tolerance.getNumOccurrences() && all.expect.empty())
    return makeError("--tolerance without --expect", "", "say what the results are compared with");
  return std::nullopt;
}

} // namespace

void registerRunFlags() {
  flags();
  // LLVM has hundreds more.
  cl::HideUnrelatedOptions({&planningCategory(), &category()});
}

Expected<RunOptions> readRunFlags(bool runs) {
  Flags &all = flags();
  if (auto error = checkFlags(runs))
    return std::move(*error);
  RunOptions options;
  options.program = all.program;
  options.output = all.output;
  options.inputs = all.inputs;
  if (all.randomInputs.getNumOccurrences())
    options.randomSeed = all.randomInputs;
  options.expect = all.expect;
  options.outputs = all.outputs;
  options.repeat = all.repeat;
  options.verify = all.verify;
  options.profile = all.profile.getNumOccurrences() > 0;
  options.profileFile = all.profile;
  options.measure = all.measure;
  options.cudaGraph = all.cudaGraph;
  options.allowTf32 = all.allowTf32;
  options.nanPolicy = all.nanPolicy;
  if (all.tolerance.getNumOccurrences())
    options.tolerance = all.tolerance;
  if (!all.arenaLimit.empty()) {
    Expected<int64_t> size = parseSize(std::string(all.arenaLimit));
    if (!size)
      return makeError(size.error().message, "--arena-limit", size.error().note);
    options.arenaLimitBytes = *size;
  }
  return options;
}

} // namespace remat
