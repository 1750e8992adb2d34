//===- Objects.cpp - The LLVM dialect to machine code ---------------------===//
//
// Part of the Remat project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// One way for both uses: an object file in memory is either loaded into this process or written to disk.
//
//===----------------------------------------------------------------------===//

#include "Lower.h"

#include "remat/Runtime/Processor.h"

#include "mlir/IR/Threading.h"
#include "mlir/Target/LLVMIR/Dialect/Builtin/BuiltinToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Dialect/LLVMIR/LLVMToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Export.h"
#include "llvm/ExecutionEngine/Orc/ExecutionUtils.h"
#include "llvm/ExecutionEngine/Orc/LLJIT.h"
#include "llvm/IR/LegacyPassManager.h"
#include "llvm/IR/Module.h"
#include "llvm/MC/TargetRegistry.h"
#include "llvm/Passes/PassBuilder.h"
#include "llvm/Support/SmallVectorMemoryBuffer.h"
#include "llvm/Support/TargetSelect.h"
#include "llvm/Target/TargetMachine.h"
#include "llvm/TargetParser/Host.h"

using namespace mlir;

namespace remat {

/// Instructions that whoever loads the code can't ask for are not used, though this machine may have them.
static std::string targetFeatures() {
  constexpr llvm::StringLiteral baseline[] = {"64bit", "cmov", "cx8", "fxsr", "mmx", "sse", "sse2"};
  std::vector<std::string> usable = runtime::processorFeatures(), features;
  for (auto &[name, has] : llvm::sys::getHostCPUFeatures()) {
    bool isUsed = has && (llvm::is_contained(usable, name) || llvm::is_contained(baseline, name));
    features.push_back((isUsed ? "+" : "-") + name.str());
  }
  llvm::sort(features); // A hash table gave them.
  return llvm::join(features, ",");
}

static std::unique_ptr<llvm::TargetMachine> makeTarget(std::string &error) {
  llvm::Triple triple(llvm::sys::getProcessTriple());
  const llvm::Target *target = llvm::TargetRegistry::lookupTarget(triple, error);
  if (!target)
    return nullptr;
  // Elsewhere the runtime can't tell processors apart, and the code takes what all have.
  StringRef processor = triple.isX86() ? llvm::sys::getHostCPUName() : "generic";
  std::string features = triple.isX86() ? targetFeatures() : "";
  llvm::TargetOptions options;
  // A multiplication and an addition of two ops never become one instruction: bits must not depend on clustering.
  options.AllowFPOpFusion = llvm::FPOpFusion::Strict;
  return std::unique_ptr<llvm::TargetMachine>(target->createTargetMachine(
      triple, processor, features, options, llvm::Reloc::PIC_, std::nullopt, llvm::CodeGenOptLevel::Default));
}

void optimize(llvm::Module &module, llvm::TargetMachine &target) {
  llvm::LoopAnalysisManager loops;
  llvm::FunctionAnalysisManager functions;
  llvm::CGSCCAnalysisManager callGraph;
  llvm::ModuleAnalysisManager modules;
  llvm::PipelineTuningOptions tuning;
  tuning.SLPVectorization = false;
  llvm::PassBuilder builder(&target, tuning);
  builder.registerModuleAnalyses(modules);
  builder.registerCGSCCAnalyses(callGraph);
  builder.registerFunctionAnalyses(functions);
  builder.registerLoopAnalyses(loops);
  builder.crossRegisterProxies(loops, functions, callGraph, modules);
  builder.buildPerModuleDefaultPipeline(llvm::OptimizationLevel::O2).run(module, modules);
}

static FailureOr<std::vector<char>> compileObject(ModuleOp module) {
  std::string error;
  std::unique_ptr<llvm::TargetMachine> target = makeTarget(error);
  if (!target)
    return module.emitError() << "no code can be made for this machine: " << error;
  llvm::LLVMContext context;
  std::unique_ptr<llvm::Module> code = translateModuleToLLVMIR(module, context);
  if (!code)
    return module.emitError() << "the kernels have no form in LLVM IR";
  code->setDataLayout(target->createDataLayout());
  code->setTargetTriple(target->getTargetTriple());
  for (llvm::Function &function : *code)
    if (!function.isDeclaration()) {
      function.addFnAttr("prefer-vector-width", "512");
      function.addFnAttr("min-legal-vector-width", "512");
    }
  optimize(*code, *target);
  llvm::SmallVector<char, 0> object;
  llvm::raw_svector_ostream stream(object);
  llvm::legacy::PassManager emitter;
  if (target->addPassesToEmitFile(emitter, stream, nullptr, llvm::CodeGenFileType::ObjectFile))
    return module.emitError() << "no object file can be made for this machine";
  emitter.run(*code);
  return std::vector<char>(object.begin(), object.end());
}

FailureOr<std::vector<std::vector<char>>> compileObjects(ModuleOp module) {
  registerBuiltinDialectTranslation(*module.getContext());
  registerLLVMDialectTranslation(*module.getContext());
  llvm::InitializeNativeTarget();
  llvm::InitializeNativeTargetAsmPrinter();
  SmallVector<ModuleOp> parts(module.getOps<ModuleOp>());
  if (parts.empty())
    parts.push_back(module);
  std::vector<std::vector<char>> objects(parts.size());
  LogicalResult done = failableParallelForEachN(module.getContext(), 0, parts.size(), [&](size_t i) {
    FailureOr<std::vector<char>> object = compileObject(parts[i]);
    if (succeeded(object))
      objects[i] = std::move(*object);
    return LogicalResult(object);
  });
  if (failed(done))
    return failure();
  return objects;
}

FailureOr<LoadedCode> loadObjects(Location location, ArrayRef<std::vector<char>> objects,
                                  ArrayRef<std::string> symbols) {
  auto complain = [&](llvm::Error error) -> LogicalResult {
    return emitError(location) << "the kernels can't be loaded: " << llvm::toString(std::move(error));
  };
  auto jit = llvm::orc::LLJITBuilder().create();
  if (!jit)
    return complain(jit.takeError());
  std::shared_ptr<llvm::orc::LLJIT> owner = std::move(*jit);
  auto process =
      llvm::orc::DynamicLibrarySearchGenerator::GetForCurrentProcess(owner->getDataLayout().getGlobalPrefix());
  if (!process)
    return complain(process.takeError());
  owner->getMainJITDylib().addGenerator(std::move(*process));
  for (auto [i, object] : llvm::enumerate(objects)) {
    llvm::SmallVector<char, 0> copy(object.begin(), object.end());
    auto buffer = std::make_unique<llvm::SmallVectorMemoryBuffer>(std::move(copy), "kernels" + std::to_string(i),
                                                                  /*RequiresNullTerminator=*/false);
    if (auto error = owner->addObjectFile(std::move(buffer)))
      return complain(std::move(error));
  }
  LoadedCode result;
  for (const std::string &symbol : symbols) {
    auto address = owner->lookup(symbol);
    if (!address)
      return complain(address.takeError());
    result.functions.push_back(address->toPtr<void *>());
  }
  result.owner = std::move(owner);
  return result;
}

} // namespace remat
