//===- CommandLine.cpp - What the user asked of remat-plan -----------------===//
//
// Part of the Remat project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "CommandLine.h"

#include "remat/Plan/OutputFile.h"

#include <algorithm>
#include <charconv>
#include <set>

using namespace remat;

namespace {

/// What was said, beside what comes of it.
struct Given {
  CommandLine line;
  std::set<std::string_view> flags;
  std::string emit;
  std::optional<Error> error; ///< The first number that is none.

  void number(std::string_view flag, std::string_view text, int64_t &value) {
    auto [end, code] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (code != std::errc() || end != text.data() + text.size())
      error = error.value_or(Error{"'" + std::string(flag) + "' takes an integer, found '" + std::string(text) + "'"});
  }
  void pareto(std::string_view text) {
    number("--pareto", text, line.planning.pareto);
    // Where nobody says anything it is 0 as well.
    if (!error && line.planning.pareto == 0)
      error = paretoOutOfRange(0);
  }
};

struct Flag {
  std::string_view name;
  std::string_view argument; ///< Empty: takes none.
  std::string_view help;
  void (*set)(Given &given, std::string_view value);
  bool isPlanning = false;
  bool isList = false; ///< May be given several times.
};

void addList(std::vector<std::string> &list, std::string_view names) {
  while (true) {
    size_t comma = names.find(',');
    list.emplace_back(names.substr(0, comma));
    if (comma == names.npos)
      return;
    names.remove_prefix(comma + 1);
  }
}

constexpr Flag flags[] = {
    {"--policy", "P", "which values are saved from forward to backward (default save-everything):",
     [](Given &g, std::string_view v) { g.line.planning.policy = v; }, true},
    {"--segments", "S",
     "where the forward part is cut: none, auto, sqrt or scope:REGEX\n(default: sqrt for sqrt-n, else none)",
     [](Given &g, std::string_view v) { g.line.planning.segments = v; }, true},
    {"--keep", "A,B", "values that are saved whatever the policy says",
     [](Given &g, std::string_view v) { addList(g.line.planning.keep, v); }, true, true},
    {"--recompute", "A,B", "values that are recomputed whatever the policy says",
     [](Given &g, std::string_view v) { addList(g.line.planning.recompute, v); }, true, true},
    {"--prune", "", "save again what is recomputed without lowering the peak",
     [](Given &g, std::string_view) { g.line.planning.prune = true; }, true},
    {"--memory-limit", "SIZE|N%",
     "the cheapest plan whose peak is at most this (N%: of the peak as given);\n"
     "what a policy other than save-everything saves is never recomputed",
     [](Given &g, std::string_view v) { g.line.planning.memoryLimit = v; }, true},
    {"--device-memory", "SIZE", "the same for the arguments and the peak together",
     [](Given &g, std::string_view v) { g.line.planning.deviceMemory = v; }, true},
    {"--order", "given|free",
     "whether first executions keep their order or move to lower the peak\n"
     "(default: free with a limit, else given)",
     [](Given &g, std::string_view v) { g.line.planning.order = v; }, true},
    {"--cost", "time|flops", "what recomputation is to be cheap in (default: time)",
     [](Given &g, std::string_view v) { g.line.planning.cost = v; }, true},
    {"--pareto", "N", "besides, N plans from the cheapest to the smallest; -o writes them where\nthere is no limit",
     [](Given &g, std::string_view v) { g.pareto(v); }, true},
    {"--effort", "N", "work of the search in percent (default 100); the same effort, the same plan",
     [](Given &g, std::string_view v) { g.number("--effort", v, g.line.planning.effort); }, true},
    {"--seed", "N", "of the search's random numbers (default 1)",
     [](Given &g, std::string_view v) { g.number("--seed", v, g.line.planning.seed); }, true},
    {"--time-limit", "TIME", "end a search after 500ms, 10s, 2min or 1h with the best plan so far",
     [](Given &g, std::string_view v) { g.line.planning.timeLimit = v; }, true},
    {"--plan", "FILE", "judge this plan instead of making one",
     [](Given &g, std::string_view v) { g.line.planFile = v; }},
    {"--generate", "KIND:K=V,...",
     "make the graph: layered:n=1000,seed=1,width=8,ed=0.2,skip=0.1,\n"
     "transformer:layers=12,dmodel=768,heads=12,seq=1024,batch=8,vocab=50257\nor chain:n=100,bytes=1048576",
     [](Given &g, std::string_view v) { g.line.generate = v; }},
    {"-o", "FILE", "write the plan (JSON)", [](Given &g, std::string_view v) { g.line.output = v; }},
    {"--emit", "plan|graph-json",
     "what -o writes (default: plan; graph-json with --generate and neither\n"
     "a planning flag nor --plan)",
     [](Given &g, std::string_view v) { g.emit = v; }},
    {"--emit-graph", "FILE", "write the graph too", [](Given &g, std::string_view v) { g.line.emitGraph = v; }},
    {"--report", "FILE.json|FILE.txt|-", "write a report; - is text on standard output",
     [](Given &g, std::string_view v) { g.line.report = v; }},
    {"--help", "", "print this", [](Given &g, std::string_view) { g.line.help = true; }},
    {"--version", "", "print the version", [](Given &g, std::string_view) { g.line.version = true; }},
};

Error unsupported(std::string_view what, std::string note) {
  return {std::string(what) + " is not supported by this version", "", std::move(note)};
}

Error unknownFlag(std::string_view name) {
  std::vector<std::string_view> names;
  for (const Flag &flag : flags)
    names.push_back(flag.name);
  auto nearest = nearestName(name, names);
  return {"unknown flag '" + std::string(name) + "'", "",
          nearest ? "did you mean '" + std::string(*nearest) + "'?" : "--help lists the flags"};
}

std::optional<Error> parseFlag(Given &given, std::span<const std::string_view> &rest) {
  std::string_view text = rest.front();
  rest = rest.subspan(1);
  std::string_view name = text.substr(0, text.find('='));
  auto flag = std::ranges::find(flags, name, &Flag::name);
  if (flag == std::end(flags))
    return unknownFlag(name);
  std::string quoted = "'" + std::string(name) + "'";
  bool hasValue = name.size() < text.size();
  if (flag->argument.empty() && hasValue)
    return Error{quoted + " takes no value"};
  std::string_view value;
  if (hasValue) {
    value = text.substr(name.size() + 1);
  } else if (!flag->argument.empty()) {
    if (rest.empty())
      return Error{quoted + " needs a value", "", std::string(name) + "=" + std::string(flag->argument)};
    value = rest.front();
    rest = rest.subspan(1);
  }
  if (!flag->argument.empty() && value.empty())
    return Error{quoted + " has an empty value"};
  if (!given.flags.insert(flag->name).second && !flag->isList)
    return Error{quoted + " is given twice"};
  flag->set(given, value);
  return given.error;
}

std::optional<Error> chooseReport(CommandLine &line) {
  std::string_view path = line.report;
  if (path.empty())
    return std::nullopt;
  for (std::string_view later : {".html", ".trace.json"})
    if (path.ends_with(later))
      return unsupported("a " + std::string(later) + " report", "write a .json or .txt report");
  if (path.ends_with(".json"))
    line.reportKind = ReportKind::Json;
  else if (path.ends_with(".txt") || path == "-")
    line.reportKind = ReportKind::Text;
  else
    return Error{"unknown type of report '" + line.report + "'", "", "the name must end in .json or .txt, or be -"};
  return std::nullopt;
}

std::optional<Error> chooseEmit(Given &given) {
  CommandLine &line = given.line;
  bool hasPlanningFlag =
      std::ranges::any_of(flags, [&](const Flag &flag) { return flag.isPlanning && given.flags.contains(flag.name); });
  if (hasPlanningFlag && !line.planFile.empty())
    return Error{"--plan judges a plan that is there: it goes with no flag that makes one"};
  bool wantsPlan = hasPlanningFlag || !line.planFile.empty();
  if (given.emit.empty())
    line.emit = !line.generate.empty() && !wantsPlan ? Emit::Graph : Emit::Plan;
  else if (given.emit == "plan" || given.emit == "graph-json")
    line.emit = given.emit == "plan" ? Emit::Plan : Emit::Graph;
  else
    return Error{"unknown output '" + given.emit + "'", "", "--emit takes plan or graph-json"};
  if (!given.emit.empty() && line.output.empty())
    line.output = "-";
  bool onlyGraph = line.emit == Emit::Graph && !line.output.empty();
  line.plans = wantsPlan || line.reportKind != ReportKind::None || !onlyGraph;
  return std::nullopt;
}

std::optional<Error> checkOutputs(const CommandLine &line) {
  std::vector<std::string> paths;
  for (const std::string &path : {line.output, line.report, line.emitGraph})
    if (!path.empty())
      paths.push_back(path);
  if (auto error = OutputFile::checkDistinct(paths))
    return error;
  // A graph may replace a graph, and a plan a plan.
  std::vector<std::string> besideGraphs{line.report}, besidePlans{line.report, line.emitGraph};
  (line.emit == Emit::Graph ? besidePlans : besideGraphs).push_back(line.output);
  if (auto error = OutputFile::checkNotInput(besideGraphs, line.input))
    return error;
  if (auto error = OutputFile::checkNotInput(besidePlans, line.planFile))
    return error;
  if (line.input == "-" && line.planFile == "-")
    return Error{"'-' is named for two inputs"};
  return std::nullopt;
}

} // namespace

Expected<CommandLine> remat::parseCommandLine(std::span<const std::string_view> arguments) {
  Given given;
  bool onlyInputs = false;
  while (!arguments.empty()) {
    std::string_view text = arguments.front();
    if (!onlyInputs && text.size() > 1 && text.starts_with('-') && text != "--") {
      if (auto error = parseFlag(given, arguments))
        return std::move(*error);
      continue;
    }
    arguments = arguments.subspan(1);
    if (!onlyInputs && text == "--")
      onlyInputs = true;
    else if (!given.line.input.empty())
      return makeError("two graphs: '" + given.line.input + "' and '" + std::string(text) + "'");
    else
      given.line.input = text;
  }
  CommandLine &line = given.line;
  if (line.help || line.version)
    return line;
  if (line.input.empty() == line.generate.empty())
    return makeError(line.input.empty() ? "no graph" : "a graph file and --generate", "",
                     "remat-plan GRAPH.json, or remat-plan --generate=layered:n=1000");
  for (auto check : {chooseReport(line), chooseEmit(given), checkOutputs(line)})
    if (check)
      return std::move(*check);
  return line;
}

std::string remat::helpText() {
  constexpr size_t column = 16;
  std::string text = "usage: remat-plan GRAPH.json [flags]\n"
                     "Plans which tensors of a training step to save and which to recompute.\n"
                     "- is standard input or output. Files are written whole or not at all.\n\n";
  for (const Flag &flag : flags) {
    std::string left = "  " + std::string(flag.name);
    if (!flag.argument.empty())
      left += (flag.name.starts_with("--") ? "=" : " ") + std::string(flag.argument);
    text += left + (left.size() < column ? std::string(column - left.size(), ' ') : "\n" + std::string(column, ' '));
    for (char c : flag.help)
      text += c == '\n' ? "\n" + std::string(column, ' ') : std::string(1, c);
    text += '\n';
    if (flag.name == "--policy")
      for (std::string_view policy : policyNames())
        text += std::string(column + 2, ' ') + std::string(policy) + "\n";
  }
  return text;
}
