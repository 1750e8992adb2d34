//===- Ptx.cpp - GPU kernels to PTX ---------------------------------------===//
//
// Part of the Remat project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// In process, by the NVPTX target of libLLVM.
//
//===----------------------------------------------------------------------===//

#include "Toolkit.h"

#include "remat/Cuda/Emit.h"

#include "../CodeGen/Lower.h"

#include "mlir/Conversion/Passes.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/MemRef/Transforms/Passes.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Target/LLVMIR/Dialect/Builtin/BuiltinToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Dialect/GPU/GPUToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Dialect/LLVMIR/LLVMToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Dialect/NVVM/NVVMToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Export.h"
#include "mlir/Transforms/Passes.h"
#include "llvm/IR/LegacyPassManager.h"
#include "llvm/IR/Module.h"
#include "llvm/IRReader/IRReader.h"
#include "llvm/Linker/Linker.h"
#include "llvm/MC/TargetRegistry.h"
#include "llvm/Support/SourceMgr.h"
#include "llvm/Support/TargetSelect.h"
#include "llvm/Target/TargetMachine.h"
#include "llvm/Transforms/IPO/Internalize.h"

using namespace mlir;

namespace remat {

/// convert-gpu-to-nvvm has libdevice compute what is one instruction, unless the intrinsic is called by name.
static void nameIntrinsics(ModuleOp module) {
  module.walk([](Operation *op) {
    StringRef name = op->getName().getStringRef();
    if (!isa<LLVM::CopySignOp, LLVM::FAbsOp, LLVM::FCeilOp, LLVM::FFloorOp, LLVM::RoundEvenOp, LLVM::SqrtOp>(op) ||
        !name.consume_front("llvm.intr."))
      return;
    OpBuilder builder(op);
    StringAttr intrinsic = builder.getStringAttr("llvm." + name);
    auto call =
        LLVM::CallIntrinsicOp::create(builder, op->getLoc(), op->getResult(0).getType(), intrinsic, op->getOperands());
    op->replaceAllUsesWith(call);
    op->erase();
  });
}

static LogicalResult lowerToNvvm(ModuleOp module) {
  nameIntrinsics(module);
  PassManager manager(module.getContext());
  OpPassManager &kernels = manager.nest<gpu::GPUModuleOp>();
  kernels.addPass(createLowerAffinePass());
  kernels.addPass(memref::createExpandStridedMetadataPass());
  kernels.addPass(createLowerAffinePass());
  kernels.addPass(createSCFToControlFlowPass());
  kernels.addPass(createConvertVectorToLLVMPass());
  ConvertGpuOpsToNVVMOpsOptions options;
  options.indexBitwidth = 64;
  options.useBarePtrCallConv = true;
  kernels.addPass(createConvertGpuOpsToNVVMOps(options));
  kernels.addPass(createCanonicalizerPass());
  kernels.addPass(createCSEPass());
  kernels.addPass(createReconcileUnrealizedCastsPass());
  return manager.run(module);
}

static std::unique_ptr<llvm::TargetMachine> makeTarget(StringRef name, std::string &error) {
  LLVMInitializeNVPTXTargetInfo();
  LLVMInitializeNVPTXTarget();
  LLVMInitializeNVPTXTargetMC();
  LLVMInitializeNVPTXAsmPrinter();
  llvm::Triple triple("nvptx64-nvidia-cuda");
  const llvm::Target *target = llvm::TargetRegistry::lookupTarget(triple, error);
  if (!target)
    return nullptr;
  llvm::TargetOptions options;
  // As on the CPU: bits must not depend on clustering.
  options.AllowFPOpFusion = llvm::FPOpFusion::Strict;
  // The PTX version is the oldest that knows the target; the default is older and ends the process.
  StringRef features = name == "sm_80" ? "+ptx80" : "+ptx86";
  return std::unique_ptr<llvm::TargetMachine>(target->createTargetMachine(
      triple, name, features, options, std::nullopt, std::nullopt, llvm::CodeGenOptLevel::Aggressive));
}

/// The functions of libdevice that the module calls.
static SmallVector<std::string> libdeviceCalls(llvm::Module &module) {
  SmallVector<std::string> names;
  for (llvm::Function &function : module)
    if (function.isDeclaration() && function.getName().starts_with("__nv_") && !function.use_empty())
      names.push_back(function.getName().str());
  return names;
}

/// Links what the module calls of libdevice.
static std::optional<Error> linkLibdevice(llvm::Module &module) {
  SmallVector<std::string> calls = libdeviceCalls(module);
  if (calls.empty())
    return std::nullopt;
  Expected<std::string> path = findInToolkit("nvvm/libdevice/libdevice.10.bc");
  if (!path)
    return makeError("the step calls '" + calls[0] + "', which is libdevice's, and the CUDA toolkit isn't there",
                     path.error().place, path.error().note);
  llvm::SMDiagnostic diagnostic;
  std::unique_ptr<llvm::Module> library = llvm::parseIRFile(*path, diagnostic, module.getContext());
  if (!library)
    return makeError("libdevice can't be read: " + diagnostic.getMessage().str(), *path);
  library->setTargetTriple(module.getTargetTriple());
  library->setDataLayout(module.getDataLayout());
  bool wrong = llvm::Linker::linkModules(module, std::move(library), llvm::Linker::LinkOnlyNeeded,
                                         [](llvm::Module &linked, const llvm::StringSet<> &names) {
                                           llvm::internalizeModule(linked, [&](const llvm::GlobalValue &value) {
                                             return !value.hasName() || !names.contains(value.getName());
                                           });
                                         });
  if (wrong)
    return makeError("libdevice can't be linked", *path);
  if (calls = libdeviceCalls(module); !calls.empty())
    return makeError("libdevice has no '" + calls[0] + "'", *path);
  return std::nullopt;
}

FailureOr<std::string> emitPtx(GpuKernels &kernels, StringRef target) {
  registerBuiltinDialectTranslation(*kernels.module->getContext());
  registerLLVMDialectTranslation(*kernels.module->getContext());
  registerGPUDialectTranslation(*kernels.module->getContext());
  registerNVVMDialectTranslation(*kernels.module->getContext());
  OwningOpRef<ModuleOp> module = kernels.module->clone();
  std::string error;
  std::unique_ptr<llvm::TargetMachine> machine = makeTarget(target, error);
  if (!machine)
    return module->emitError() << "no PTX can be made: " << error;
  if (failed(lowerToNvvm(*module)))
    return failure();
  llvm::LLVMContext context;
  gpu::GPUModuleOp gpuModule = *module->getOps<gpu::GPUModuleOp>().begin();
  std::unique_ptr<llvm::Module> code = translateModuleToLLVMIR(gpuModule, context);
  if (!code)
    return module->emitError() << "the kernels have no form in LLVM IR";
  code->setDataLayout(machine->createDataLayout());
  code->setTargetTriple(machine->getTargetTriple());
  if (std::optional<Error> missing = linkLibdevice(*code)) {
    InFlightDiagnostic diag = module->emitError() << missing->message;
    if (!missing->note.empty())
      diag.attachNote() << missing->note;
    return diag;
  }
  optimize(*code, *machine);
  llvm::SmallString<0> text;
  llvm::raw_svector_ostream stream(text);
  llvm::legacy::PassManager emitter;
  if (machine->addPassesToEmitFile(emitter, stream, nullptr, llvm::CodeGenFileType::AssemblyFile))
    return module->emitError() << "no PTX can be made for " << target;
  emitter.run(*code);
  return text.str().str();
}

} // namespace remat
