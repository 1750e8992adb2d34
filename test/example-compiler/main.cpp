//===- main.cpp - A compiler that runs Remat's pipeline -------------------===//
//
// Part of the Remat project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// usage: example-compiler INPUT POLICY     reads a module, rematerializes it, cleans up as compilers do, and prints it
//
//===----------------------------------------------------------------------===//

#include "remat/IR/OpModel.h"
#include "remat/IR/RematDialect.h"
#include "remat/Transforms/Passes.h"

#include "mlir/IR/BuiltinOps.h"
#include "mlir/InitAllDialects.h"
#include "mlir/Parser/Parser.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Pass/PassRegistry.h"
#include "mlir/Transforms/Passes.h"
#include "llvm/Support/raw_ostream.h"

int main(int argc, char **argv) {
  if (argc != 3) {
    llvm::errs() << "usage: example-compiler INPUT POLICY\n";
    return 1;
  }
  mlir::DialectRegistry registry;
  mlir::registerAllDialects(registry);
  registry.insert<remat::RematDialect>();
  remat::registerExternalModels(registry);
  remat::registerRematPasses();

  mlir::MLIRContext context(registry);
  context.allowUnregisteredDialects();
  auto module = mlir::parseSourceFile<mlir::ModuleOp>(argv[1], &context);
  if (!module)
    return 1;

  mlir::PassManager passes(&context);
  std::string pipeline = "remat{policy=" + std::string(argv[2]) + "}";
  if (failed(mlir::parsePassPipeline(pipeline, passes)))
    return 1;
  passes.addPass(mlir::createCSEPass());
  passes.addPass(mlir::createCanonicalizerPass());
  if (failed(mlir::parsePassPipeline("remat-check{fail}", passes)) || failed(passes.run(*module)))
    return 1;
  module->print(llvm::outs());
  return 0;
}
