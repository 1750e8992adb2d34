//===- Plugin.cpp - The passes and the dialect for a stock mlir-opt -------===//
//
// Part of the Remat project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// mlir-opt-22 --load-pass-plugin=RematPlugin.so runs the passes; to read files that hold ops of the dialect, load it as
// a dialect plugin too: --load-dialect-plugin=RematPlugin.so.
//
//===----------------------------------------------------------------------===//

#include "remat/IR/OpModel.h"
#include "remat/Transforms/Passes.h"

#include "mlir/Tools/Plugins/DialectPlugin.h"
#include "mlir/Tools/Plugins/PassPlugin.h"

extern "C" LLVM_ATTRIBUTE_WEAK mlir::PassPluginLibraryInfo mlirGetPassPluginInfo() {
  return {MLIR_PLUGIN_API_VERSION, "Remat", REMAT_VERSION, [] { remat::registerRematPasses(); }};
}

extern "C" LLVM_ATTRIBUTE_WEAK mlir::DialectPluginLibraryInfo mlirGetDialectPluginInfo() {
  return {MLIR_PLUGIN_API_VERSION, "Remat", REMAT_VERSION, [](mlir::DialectRegistry *registry) {
            registry->insert<remat::RematDialect>();
            remat::registerExternalModels(*registry);
            remat::registerRematPasses();
          }};
}
