//===- main.cpp - remat-opt -----------------------------------------------===//
//
// Part of the Remat project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// With planning flags: read, plan, rewrite, write. With passes, or without any of both: a plain MLIR opt tool.
//
//===----------------------------------------------------------------------===//

#include "Emit.h"
#include "Run.h"

#include "remat/CodeGen/Cpu.h"
#include "remat/IR/OpModel.h"
#include "remat/Import/Import.h"
#include "remat/Plan/OutputFile.h"
#include "remat/Transforms/Passes.h"

#include "mlir/IR/Remarks.h"
#include "mlir/InitAllDialects.h"
#include "mlir/InitAllExtensions.h"
#include "mlir/InitAllPasses.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Remark/RemarkStreamer.h"
#include "mlir/Tools/mlir-opt/MlirOptMain.h"
#include "llvm/Support/InitLLVM.h"
#include "llvm/Support/MemoryBuffer.h"

using namespace mlir;
using namespace remat;

static LogicalResult enableRemarks(MLIRContext &context, const MlirOptMainConfig &config) {
  if (!config.shouldEmitRemarks())
    return success();
  // The engine asks the filter of the remark's kind alone.
  auto filter = [all = config.getRemarksAllFilter()](std::string text) {
    text = text.empty() ? all : text;
    return text.empty() ? std::nullopt : std::optional(text);
  };
  remark::RemarkCategories categories = {filter(config.getRemarksAllFilter()), filter(config.getRemarksPassedFilter()),
                                         filter(config.getRemarksMissedFilter()),
                                         filter(config.getRemarksAnalyseFilter()),
                                         filter(config.getRemarksFailedFilter())};
  auto policy = std::make_unique<remark::RemarkEmittingPolicyAll>();
  if (config.getRemarkFormat() == RemarkFormat::REMARK_FORMAT_STDOUT)
    return remark::enableOptimizationRemarks(context, nullptr, std::move(policy), categories,
                                             /*printAsEmitRemarks=*/true);
  bool yaml = config.getRemarkFormat() == RemarkFormat::REMARK_FORMAT_YAML;
  std::string path = config.getRemarksOutputFile();
  if (path.empty())
    path = yaml ? "mlir-remarks.yaml" : "mlir-remarks.bitstream";
  return remark::enableOptimizationRemarksWithLLVMStreamer(
      context, path, yaml ? llvm::remarks::Format::YAML : llvm::remarks::Format::Bitstream, std::move(policy),
      categories);
}

/// The passes that the command line names.
static bool hasPasses(const MlirOptMainConfig &config) {
  MLIRContext context;
  PassManager manager(&context);
  ScopedDiagnosticHandler quiet(&context, [](Diagnostic &) { return success(); });
  return failed(config.setupPassPipeline(manager)) || manager.size() > 0;
}

/// `program`: argv[0].
static LogicalResult runPlanning(const CommandLine &line, const Input &input, DialectRegistry &registry,
                                 const MlirOptMainConfig &config, const char *program) {
  MLIRContext context(registry);
  context.allowUnregisteredDialects();
  context.printOpOnDiagnostic(false);
  context.getOrLoadDialect<RematDialect>(); // The rewriter creates its ops.
  llvm::SourceMgr sources;
  sources.AddNewSourceBuffer(llvm::MemoryBuffer::getMemBuffer(input.content, input.name), llvm::SMLoc());
  InputDiagnostics diagnostics(sources, &context, input);
  if (failed(enableRemarks(context, config)))
    return failure();
  if (emitsStep(line.emit))
    context.loadAllAvailableDialects();
  OwningOpRef<ModuleOp> module = parseModule(sources, &context, input);
  if (!module)
    return failure();
  if (!emitsStep(line.emit))
    return run(line, input, *module);
  return emitStep(*module, line, input, program);
}

/// MLIR's own driver; its output appears whole or not at all too.
static LogicalResult runPasses(const CommandLine &line, const Input &input, DialectRegistry &registry,
                               const MlirOptMainConfig &config) {
  Expected<OutputFile> file = OutputFile::open(line.output);
  if (!file)
    return printError(file.error()), failure();
  std::string text;
  llvm::raw_string_ostream stream(text);
  LogicalResult result =
      MlirOptMain(stream, llvm::MemoryBuffer::getMemBufferCopy(input.content, input.name), registry, config);
  if (failed(result)) {
    // MLIR's driver keeps its diagnostics to itself.
    if (!input.isBytecode() && StringRef(input.content).contains(" = stablehlo."))
      llvm::errs() << "remat-opt: note: " << genericFormNote << "\n";
    return failure();
  }
  file->stream().write(text.data(), text.size());
  if (std::optional<Error> error = file->commit())
    return printError(*error), failure();
  return success();
}

/// LLVM takes an unknown `--polcy` for a group of letters, so the flags of this tool are looked up first.
static bool checkFlagNames(int argc, char **argv) {
  std::vector<std::string_view> names;
  auto &registered = llvm::cl::getRegisteredOptions();
  for (auto &[name, option] : registered)
    names.push_back({name.data(), name.size()});
  llvm::sort(names);
  for (int i = 1; i < argc; ++i) {
    StringRef flag = StringRef(argv[i]).split('=').first;
    // A plugin brings flags that aren't known yet.
    if (flag.starts_with("--load-"))
      return true;
    if (flag == "--")
      return true;
    if (!flag.consume_front("--") || registered.contains(flag))
      continue;
    auto nearest = nearestName({flag.data(), flag.size()}, names);
    printError(("unknown flag '--" + flag + "'").str(),
               nearest ? "did you mean '--" + std::string(*nearest) + "'?" : "--help lists the flags");
    return false;
  }
  return true;
}

/// Outputs that would replace an input of another kind. A module may replace the module.
static std::optional<Error> checkInputsStay(const CommandLine &line) {
  std::vector<std::string> paths = line.reports;
  paths.push_back(line.planOut);
  if (line.emit != "mlir" && line.emit != "mlirbc")
    paths.push_back(line.output);
  if (std::optional<Error> error = OutputFile::checkNotInput(paths, line.input))
    return error;
  paths = line.reports;
  paths.push_back(line.output);
  return checkFlagFiles(line, std::move(paths));
}

/// LLVM's libraries bring over a thousand flags; --help-hidden lists them.
static void hideFlagsOfLibraries() {
  for (auto &[name, option] : llvm::cl::getRegisteredOptions())
    if (!llvm::StringRef(name).starts_with("help") && name != "version")
      option->setHiddenFlag(llvm::cl::Hidden);
}

/// What is known before the step is read.
static std::optional<Error> checkFlags(const CommandLine &line, const MlirOptMainConfig &config) {
  if (emitsStep(line.emit) && line.output == "-")
    return makeError("--emit=" + line.emit + " needs a file to write", "", "say -o FILE");
  if (line.anyPlanningFlag && !line.printingFlag.empty() && line.emit != "mlir")
    return makeError("--" + line.printingFlag + " and --emit=" + line.emit + " contradict each other", "",
                     "it says how a module is printed as text");
  if (emitsStep(line.emit) && config.shouldEmitRemarks() && line.options.planOptions().hasLimit())
    return makeError("remarks on a plan within a limit and --emit=" + line.emit + " contradict each other", "",
                     "clusters are planned, not the ops that remarks speak of: --report=FILE.json says what is saved "
                     "and recomputed, and without --emit there are remarks");
  if (std::optional<Error> error = checkDevice(line))
    return error;
  return checkInputsStay(line);
}

int main(int argc, char **argv) {
  llvm::InitLLVM init(argc, argv);
  hideFlagsOfLibraries();
  OutputFile::removeOnSignals();
  DialectRegistry registry;
  registerAllDialects(registry);
  registerAllExtensions(registry);
  registerCudaDialects(registry);
  registerExternalModels(registry);
  registerAllPasses();
  registerRematPasses();
  registerImportPasses();
  registerCodeGenPasses();
  registerPrintOpModelPass();
  registerPlanningFlags();

  std::string header = registerCLIOptions("remat-opt: plans what a training step saves and recomputes", registry);
  if (!checkFlagNames(argc, argv))
    return 1;
  auto [inputPath, outputPath] = parseCLIOptions(argc, argv, header);
  std::optional<CommandLine> line = readPlanningFlags();
  if (!line)
    return 1;
  line->input = inputPath;
  line->output = outputPath;
  MlirOptMainConfig config = MlirOptMainConfig::createFromCLOptions();
  config.allowUnregisteredDialects(true);
  if (config.shouldShowDialects() || config.shouldListPasses())
    return failed(MlirOptMain(llvm::outs(), llvm::MemoryBuffer::getMemBuffer(""), registry, config));
  if (line->anyPlanningFlag && hasPasses(config)) {
    printError("planning flags and passes contradict each other",
               "say --pass-pipeline='builtin.module(remat{policy=…},…)' to have both");
    return 1;
  }
  if (std::optional<Error> error = checkFlags(*line, config)) {
    printError(*error);
    return 1;
  }
  std::optional<Input> input = readInput(inputPath);
  if (!input)
    return 1;
  // What MLIR's driver does around passes, it does around the pass `remat` too, which makes all but the reports.
  bool asPass = config.shouldVerifyDiagnostics() || !config.inputSplitMarker().empty() || !line->passFlag.empty();
  if (asPass && (!line->reports.empty() || !line->planFile.empty() || !line->planOut.empty() || line->emit != "mlir" ||
                 line->options.pareto > 0)) {
    printError("--report, --plan, --plan-out, --pareto and --emit don't go with " +
                   (line->passFlag.empty() ? "--split-input-file and --verify-diagnostics" : "--" + line->passFlag),
               "MLIR's own driver runs then, which knows none of them: leave one or the other out");
    return 1;
  }
  if (line->anyPlanningFlag && asPass)
    config.setPassPipelineSetupFn([&](PassManager &manager) {
      manager.addPass(createRematPass(line->options));
      if (config.shouldDumpPassPipeline())
        manager.dump();
      return success();
    });
  return failed(line->anyPlanningFlag && !asPass ? runPlanning(*line, *input, registry, config, argv[0])
                                                 : runPasses(*line, *input, registry, config));
}
