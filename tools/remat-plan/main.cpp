//===- main.cpp - The planner without MLIR ---------------------------------===//
//
// Part of the Remat project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "CommandLine.h"

#include "remat/Plan/Generate.h"
#include "remat/Plan/GraphJson.h"
#include "remat/Plan/OutputFile.h"
#include "remat/Plan/Report.h"
#include "remat/Plan/SearchWatch.h"

#include <chrono>
#include <functional>
#include <iostream>

using namespace remat;

namespace {

constexpr std::string_view toolName = "remat-plan";

int fail(const Error &error) {
  std::cerr << toolName << ": error: " << (error.place.empty() ? "" : error.place + ": ") << error.message << "\n";
  if (!error.note.empty())
    std::cerr << "note: " << error.note << "\n";
  return 1;
}

/// Puts the file before the place: `g.json:3:14` where the place is a position, `g.json: ops[3]` where it is a path.
Error inFile(Error error, const std::string &path) {
  std::string file = path == "-" ? "<stdin>" : path;
  bool isPosition = !error.place.empty() && error.place.front() >= '0' && error.place.front() <= '9';
  error.place = error.place.empty() ? file : file + (isPosition ? ":" : ": ") + error.place;
  return error;
}

Expected<Graph> loadGraph(const CommandLine &line) {
  bool isGenerated = !line.generate.empty();
  auto text = isGenerated ? line.generate : readFile(line.input);
  if (!text)
    return std::move(text.error());
  auto graph = isGenerated ? generateGraph(*text) : readGraph(*text);
  if (!graph)
    graph.error() = inFile(std::move(graph.error()), isGenerated ? "--generate" : line.input);
  return graph;
}

/// Reads the plan file and compares what it claims with what it is.
Expected<PolicyPlan> loadPlan(const Graph &graph, const std::string &path) {
  auto inPlanFile = [&](Error error) { return inFile(std::move(error), path); };
  auto text = readFile(path);
  if (!text)
    return std::move(text.error());
  auto plan = readLegalPlan(*text, graph);
  if (!plan && plan.error().place == "cost_ns")
    plan.error().note = "a plan for another device? make the graph with the --device that the plan was made for";
  if (!plan)
    return inPlanFile(std::move(plan.error()));
  return PolicyPlan{std::move(*plan), {}};
}

Expected<PolicyPlan> makePlan(const Graph &graph, const CommandLine &line) {
  if (!line.planFile.empty())
    return loadPlan(graph, line.planFile);
  SearchWatch watch;
  PlanOptions options = line.planning;
  options.interrupt = watch.interrupt();
  options.progress = [&](const SearchProgress &progress) { watch.show(progress); };
  auto planned = plan(graph, options);
  // Regions' policies are the graph file's.
  if (!planned && planned.error().place.starts_with("region") && line.generate.empty())
    planned.error() = inFile(std::move(planned.error()), line.input);
  if (planned)
    if (auto error = verify(graph, planned->plan)) {
      error->message = "internal error: the planner made an illegal plan: " + error->message;
      error->note = "please report this with the graph and the flags";
      return std::move(*error);
    }
  return planned;
}

ReportContext makeContext(const CommandLine &line, double planSeconds) {
  ReportContext context;
  context.tool = std::string(toolName) + " " REMAT_VERSION;
  context.input = line.generate.empty() ? line.input : "--generate=" + line.generate;
  context.policy = line.planFile.empty() ? line.planning.policy : "--plan=" + line.planFile;
  context.segments = line.planning.segments;
  if (context.segments.empty())
    context.segments = context.policy == "sqrt-n" ? "sqrt" : "none";
  context.planSeconds = planSeconds;
  return context;
}

/// The outputs of one run, which appear together: nothing is written before `commit`, for what went to standard output
/// can't be taken back.
class Outputs {
public:
  using Write = std::function<void(std::ostream &)>;

  std::optional<Error> add(const std::string &path, Write write) {
    auto file = OutputFile::open(path);
    if (!file)
      return std::move(file.error());
    usesStdout |= path == "-";
    files.push_back(std::move(*file));
    writes.push_back(std::move(write));
    return std::nullopt;
  }

  /// Text for people: on standard output, unless that carries something else.
  std::optional<Error> say(Write write) {
    if (!usesStdout)
      return add("-", std::move(write));
    write(std::cerr);
    return std::nullopt;
  }

  std::optional<Error> commit() {
    for (size_t i = 0; i < files.size(); ++i)
      writes[i](files[i].stream());
    return OutputFile::commitAll(files);
  }

private:
  std::vector<OutputFile> files;
  std::vector<Write> writes;
  bool usesStdout = false;
};

void describeGraph(std::ostream &out, const Graph &graph) {
  out << "graph '" << graph.name() << "': " << graph.numOps() << " ops, " << graph.numValues() << " values, peak "
      << simulate(graph, programOrder(graph)).peakBytes << " bytes\n";
}

std::optional<Error> writeOutputs(const CommandLine &line, const Graph &graph, const std::optional<PolicyPlan> &planned,
                                  double planSeconds) {
  Outputs outputs;
  auto emitGraph = [&](std::ostream &out) { writeGraph(out, graph); };
  auto emitPlan = [&](std::ostream &out) {
    // Without a limit there is no plan but those of the front.
    if (!planned->front.empty() && !planned->limit)
      return writePlans(out, graph, planned->front, planned->interrupted);
    writePlan(out, graph, planned->plan, planned->interrupted);
  };
  std::optional<Error> error;
  if (!line.output.empty())
    error = line.emit == Emit::Graph ? outputs.add(line.output, emitGraph) : outputs.add(line.output, emitPlan);
  if (!error && !line.emitGraph.empty())
    error = outputs.add(line.emitGraph, emitGraph);
  if (error)
    return error;
  std::optional<Report> made;
  if (planned) {
    const Report &report = made.emplace(makeReport(graph, *planned, makeContext(line, planSeconds)));
    if (line.reportKind == ReportKind::Json)
      error = outputs.add(line.report, [&](std::ostream &out) { writeReportJson(out, report); });
    else if (line.reportKind == ReportKind::Text)
      error = outputs.add(line.report, [&](std::ostream &out) { writeReportText(out, report); });
    if (!error && line.report != "-")
      error = outputs.say([&](std::ostream &out) { writeReportSummary(out, report); });
  } else {
    error = outputs.say([&](std::ostream &out) { describeGraph(out, graph); });
  }
  return error ? error : outputs.commit();
}

int run(const CommandLine &line) {
  auto graph = loadGraph(line);
  if (!graph)
    return fail(graph.error());
  std::optional<PolicyPlan> planned;
  auto begin = std::chrono::steady_clock::now();
  if (line.plans) {
    auto made = makePlan(*graph, line);
    if (!made)
      return fail(made.error());
    planned = std::move(*made);
  }
  std::chrono::duration<double> planTime = std::chrono::steady_clock::now() - begin;
  auto error = writeOutputs(line, *graph, planned, planTime.count());
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
