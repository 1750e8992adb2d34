//===- CommandLine.cpp - The flags of planning ----------------------------===//
//
// Part of the Remat project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "CommandLine.h"

#include "remat/Plan/OutputFile.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/CommandLine.h"
#include "llvm/Support/raw_ostream.h"

#include <sched.h>

namespace cl = llvm::cl;

namespace remat {

cl::OptionCategory &planningCategory() {
  static cl::OptionCategory planning("Planning options");
  return planning;
}

namespace {

/// Flags of Options.def, by member.
struct Flags {
  using Text = cl::opt<std::string>;
  using List = cl::list<std::string>;
  using Flag = cl::opt<bool>;
  using Number = cl::opt<int64_t>;
  // The commas of a policy's names are its own; those of lists separate.
#define REMAT_OPTION(TYPE, MEMBER, NAME, DEFAULT, VALUE, HELP)                                                         \
  TYPE MEMBER{NAME, cl::desc(HELP), cl::value_desc(VALUE), cl::cat(planningCategory())};
#include "remat/Transforms/Options.def"

  cl::opt<std::string> emit{"emit",
                            cl::desc("What to write: object or shared (the compiled step), ptx, cubin or fatbin (its "
                                     "kernels for a GPU), graph-json (the planner's graph; of remat-run the graph of "
                                     "clusters); remat-opt: mlir (default) or mlirbc, too"),
                            cl::value_desc("KIND"), cl::cat(planningCategory())};
  cl::list<std::string> report{"report",
                               cl::desc("Write what was gained; - prints it; remat-run: FILE.trace.json for a Chrome "
                                        "trace of a run"),
                               cl::value_desc("FILE.json|FILE.txt|-"), cl::cat(planningCategory())};
  cl::opt<std::string> plan{"plan", cl::desc("Apply this plan instead of making one"), cl::value_desc("FILE.json"),
                            cl::cat(planningCategory())};
  cl::opt<std::string> planOut{"plan-out", cl::desc("Write the plan"), cl::value_desc("FILE.json"),
                               cl::cat(planningCategory())};
  cl::opt<int> threads{
      "threads", cl::desc("Threads that share the work of a step for the CPU (default: the processors there are)"),
      cl::value_desc("N"), cl::cat(planningCategory())};
};

/// LLVM's libraries register flags of their own, such as `threads` of ThinLTO; a name can only mean one thing.
void forgetFlag(llvm::StringRef name) {
  auto &registered = cl::getRegisteredOptions();
  if (auto found = registered.find(name); found != registered.end())
    found->second->removeArgument();
}

Flags &flags() {
  [[maybe_unused]] static bool forgotten = (forgetFlag("threads"), true);
  static Flags all;
  return all;
}

int processors() {
  cpu_set_t set;
  return ::sched_getaffinity(0, sizeof(set), &set) == 0 ? CPU_COUNT(&set) : 1;
}

} // namespace

static Tool theTool = Tool::Opt;
void setTool(Tool tool) { theTool = tool; }
llvm::StringRef toolName() { return theTool == Tool::Opt ? "remat-opt" : "remat-run"; }

void printError(llvm::StringRef message, llvm::StringRef note) {
  llvm::errs() << toolName() << ": error: " << message << "\n";
  if (!note.empty())
    llvm::errs() << toolName() << ": note: " << note << "\n";
}

void printError(const Error &error) {
  printError(error.place.empty() ? error.message : error.place + ": " + error.message, error.note);
}

void printRemark(llvm::StringRef message) { llvm::errs() << toolName() << ": remark: " << message << "\n"; }

std::optional<Error> checkRange(const cl::opt<int> &flag, int most) {
  if (flag.getNumOccurrences() == 0 || (flag >= 1 && flag <= most))
    return std::nullopt;
  return makeError("--" + flag.ArgStr.str() + "=" + std::to_string(flag) + " is out of range", "",
                   "say a number from 1 to " + std::to_string(most));
}

void registerPlanningFlags() {
  flags().device.setDescription(
      theTool == Tool::Opt
          ? "Whose speeds costs are made of, and what --emit makes code for: sm_80 (a100), sm_90 (h100; default), "
            "sm_100 (b200), cpu, or a JSON file of speeds (code for the CPU); with --emit=object, shared or fatbin "
            "also cuda, any of the GPUs, planned for sm_90"
          : "Where the step runs: cpu (default) or cuda, this machine's GPU; or a JSON file, the CPU's speeds. With "
            "--emit what code is made for, at whose speeds: cpu, sm_80 (a100), sm_90 (h100; default of ptx, cubin and "
            "fatbin), sm_100 (b200), cuda, any of the GPUs, planned for sm_90, or a JSON file of speeds");
}

template <typename Flag, typename T>
static void take(const Flag &flag, T &value, bool &given) {
  if (flag.getNumOccurrences() == 0)
    return;
  given = true;
  value = flag;
}
/// A list's items may be given one by one, by commas, or both.
static void take(const Flags::List &flag, std::vector<std::string> &value, bool &given) {
  for (llvm::StringRef text : flag)
    for (llvm::StringRef item : llvm::split(text, ','))
      value.push_back(item.str()); // Empty ones too: whoever reads the list complains.
  given |= flag.getNumOccurrences() > 0;
}

static bool unsupported(const llvm::Twine &what, llvm::StringRef note) {
  printError((what + " is not supported by this version").str(), note);
  return false;
}

static bool isElsewhere(const llvm::Twine &what, llvm::StringRef tool, llvm::StringRef note) {
  printError((what + " is " + tool + "'s").str(), note);
  return false;
}

static bool checkEmit(llvm::StringRef emit) {
  bool isGraph = llvm::is_contained({"mlir", "mlirbc"}, emit);
  if (llvm::is_contained({"graph-json", "object", "shared", "ptx", "cubin", "fatbin"}, emit) ||
      (isGraph && theTool == Tool::Opt))
    return true;
  if (isGraph)
    return isElsewhere("--emit=" + emit, "remat-opt",
                       "remat-run runs the step, or writes --emit=object, shared, ptx, cubin, fatbin or graph-json");
  llvm::StringRef note =
      theTool == Tool::Opt ? "this version writes --emit=mlir, mlirbc, graph-json, object, shared, ptx, cubin or fatbin"
                           : "this version writes --emit=object, shared, ptx, cubin, fatbin or graph-json";
  if (llvm::is_contained({"linalg", "llvm"}, emit))
    return unsupported("--emit=" + emit, note);
  printError(("unknown --emit '" + emit + "'").str(), note);
  return false;
}

static bool checkReport(llvm::StringRef report) {
  llvm::StringRef note = "say --report=FILE.json, --report=FILE.txt or --report=-";
  if (isTrace(report))
    return theTool == Tool::Run ||
           isElsewhere("--report=" + report, "remat-run", "a trace has the times of a run; " + note.str());
  if (report.ends_with(".html"))
    return unsupported("--report=" + report, note);
  if (report == "-" || report.ends_with(".json") || report.ends_with(".txt"))
    return true;
  printError(("--report=" + report + " has no kind that is known").str(), note);
  return false;
}

/// The first flag that is given and begins so; empty where none is.
static std::string findFlag(llvm::ArrayRef<llvm::StringRef> prefixes) {
  std::string first; // The registry is a hash table.
  for (auto &[name, option] : cl::getRegisteredOptions())
    if (option->getNumOccurrences() &&
        llvm::any_of(prefixes, [&](llvm::StringRef prefix) { return name.starts_with(prefix); }))
      first = first.empty() ? name.str() : std::min(first, name.str());
  return first;
}

/// LLVM takes the last of several values without a word.
static bool checkRepetitions() {
  for (auto &[name, option] : cl::getRegisteredOptions())
    if (llvm::is_contained(option->Categories, &planningCategory()) && option->getNumOccurrences() > 1 &&
        option->getNumOccurrencesFlag() == cl::Optional)
      return printError(("--" + name + " is given twice").str(), "say it once"), false;
  return true;
}

/// The first flag that says how to make a plan.
static std::string findPlanningFlag() {
  for (const char *name : {"memory-limit", "device-memory", "pareto", "policy", "segments", "keep", "recompute",
                           "prune", "order", "cost", "effort", "seed", "time-limit"})
    if (cl::getRegisteredOptions()[name]->getNumOccurrences())
      return name;
  return "";
}

std::optional<CommandLine> readPlanningFlags() {
  CommandLine result;
  bool &given = result.anyPlanningFlag;
#define REMAT_OPTION(TYPE, MEMBER, NAME, DEFAULT, VALUE, HELP) take(flags().MEMBER, result.options.MEMBER, given);
#include "remat/Transforms/Options.def"
  take(flags().emit, result.emit, given);
  take(flags().report, result.reports, given);
  take(flags().plan, result.planFile, given);
  take(flags().planOut, result.planOut, given);
  result.threads = processors();
  take(flags().threads, result.threads, result.threadsGiven);
  given |= result.threadsGiven;
  result.printingFlag = findFlag({"mlir-print-assume", "mlir-print-debuginfo", "mlir-print-elements",
                                  "mlir-print-local", "mlir-print-op-g", "mlir-print-skip", "mlir-print-unique",
                                  "mlir-print-value", "mlir-pretty", "mlir-elide", "mlir-use-"});
  result.passFlag = findFlag({"mlir-timing", "mlir-output-format", "mlir-print-ir-", "mlir-pass-",
                              "mlir-enable-debugger", "mlir-very-unsafe", "log-", "profile-actions",
                              "dump-pass-pipeline", "emit-bytecode", "elide-resource-data", "verify-roundtrip",
                              "no-implicit-module", "run-reproducer", "output-split-marker"});
  bool emits = flags().emit.getNumOccurrences() > 0;
  if (!emits && theTool == Tool::Opt)
    result.emit = "mlir";
  // A step runs on the CPU unless something else is said; kernels alone run on a GPU.
  bool isForGpu = llvm::is_contained({"ptx", "cubin", "fatbin"}, result.emit);
  if (theTool == Tool::Run && !isForGpu && flags().device.getNumOccurrences() == 0)
    result.options.device = "cpu";
  if (!checkRepetitions() || (emits && !checkEmit(result.emit)) || !llvm::all_of(result.reports, checkReport))
    return std::nullopt;
  // Where nobody says anything it is 0 as well.
  if (flags().pareto.getNumOccurrences() && result.options.pareto == 0)
    return printError(paretoOutOfRange(0)), std::nullopt;
  if (std::optional<Error> error = checkRange(flags().threads, 1024))
    return printError(*error), std::nullopt;
  result.planningFlag = findPlanningFlag();
  if (!result.planFile.empty() && !result.planningFlag.empty()) {
    printError("--plan and --" + result.planningFlag + " contradict each other", "a plan file is applied as it is");
    return std::nullopt;
  }
  return result;
}

std::optional<Error> checkFlagFiles(const CommandLine &line, std::vector<std::string> paths) {
  if (std::optional<Error> error = OutputFile::checkNotInput(paths, line.planFile))
    return error;
  paths.push_back(line.planOut);
  return OutputFile::checkNotInput(paths, line.options.device);
}

} // namespace remat
