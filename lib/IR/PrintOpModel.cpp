//===- PrintOpModel.cpp - A pass that prints op models --------------------===//
//
// Part of the Remat project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ModelParts.h"
#include "remat/IR/DeviceProfile.h"

#include "mlir/Interfaces/FunctionInterfaces.h"
#include "mlir/Pass/Pass.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/raw_ostream.h"

using namespace mlir;

namespace remat {

namespace {

/// Sums over a function, loops at their trip counts.
struct Totals {
  int64_t dotFlops = 0, convFlops = 0, convFlopsValid = 0, unknownTrips = 0, unknownOps = 0;

  void add(const OpModel &model, int64_t times) {
    unknownOps += !model.known;
    if (model.opClass == OpClass::Dot)
      dotFlops = addClamped(dotFlops, multiplyClamped(times, model.flops));
    if (model.opClass == OpClass::Convolution) {
      convFlops = addClamped(convFlops, multiplyClamped(times, model.flops));
      convFlopsValid = addClamped(convFlopsValid, multiplyClamped(times, model.convFlopsValid));
    }
    if (model.opClass != OpClass::Loop)
      return;
    unknownTrips += !model.tripCount;
    for (const OpModel &each : model.body)
      add(each, multiplyClamped(times, model.tripCount.value_or(1)));
  }
};

struct PrintOpModel : PassWrapper<PrintOpModel, OperationPass<>> {
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(PrintOpModel)
  Option<std::string> device{*this, "device", llvm::cl::desc("Print cost_ns on this device too")};

  PrintOpModel() = default;
  PrintOpModel(const PrintOpModel &other) : PassWrapper(other) {}

  StringRef getArgument() const override { return "remat-print-op-model"; }
  StringRef getDescription() const override { return "Print what is known of each op (for tests)"; }

  void runOnOperation() override {
    std::optional<DeviceProfile> profile;
    if (!device.empty()) {
      Expected<DeviceProfile> found = findDevice(device);
      if (!found) {
        InFlightDiagnostic error = emitError(getOperation()->getLoc());
        if (!found.error().place.empty())
          error << found.error().place << ": ";
        error << found.error().message;
        if (!found.error().note.empty())
          error.attachNote() << found.error().note;
        return signalPassFailure();
      }
      profile = *found;
    }
    getOperation()->walk([&](FunctionOpInterface function) {
      llvm::outs() << "@" << function.getName() << "\n";
      Totals totals;
      for (Block &block : function.getFunctionBody())
        printBlock(block, 1, profile, &totals);
      llvm::outs() << "  total dot_flops=" << totals.dotFlops << " conv_flops=" << totals.convFlops
                   << " conv_flops_valid=" << totals.convFlopsValid
                   << " loops_with_unknown_trip_count=" << totals.unknownTrips << " unknown_ops=" << totals.unknownOps
                   << "\n";
    });
  }

  void printBlock(Block &block, unsigned depth, const std::optional<DeviceProfile> &profile, Totals *totals) {
    for (Operation &op : block) {
      if (isBlockTerminator(&op))
        continue;
      OpModel model = describeOp(&op);
      if (totals)
        totals->add(model, 1);
      llvm::outs().indent(2 * depth) << op.getName();
      print(model);
      if (profile)
        llvm::outs() << llvm::format(" cost_ns=%.3f", costNs(model, *profile));
      llvm::outs() << "\n";
      if (model.opClass == OpClass::Loop)
        for (Region &region : op.getRegions())
          for (Block &inner : region)
            printBlock(inner, depth + 1, profile, nullptr);
    }
  }

  static void printOperands(StringRef what, ArrayRef<std::optional<unsigned>> operands) {
    if (llvm::none_of(operands, [](std::optional<unsigned> operand) { return operand.has_value(); }))
      return;
    llvm::outs() << " " << what << "=";
    llvm::interleave(
        operands, llvm::outs(),
        [](std::optional<unsigned> operand) {
          if (operand)
            llvm::outs() << *operand;
          else
            llvm::outs() << "-";
        },
        ",");
  }

  static void print(const OpModel &model) {
    auto text = toString(model.opClass);
    llvm::outs() << " " << StringRef(text.data(), text.size()) << " flops=" << model.flops;
    if (model.convFlopsValid != model.flops)
      llvm::outs() << " valid=" << model.convFlopsValid;
    llvm::outs() << " bytes=" << model.bytesMoved << " workspace=" << model.workspaceBytes
                 << (model.recomputable ? " recomputable" : " once");
    printOperands("view", model.viewOf);
    printOperands("destination", model.destinationOf);
    if (!model.inplaceOperands.empty()) {
      llvm::outs() << " inplace=";
      llvm::interleave(model.inplaceOperands, llvm::outs(), ",");
    }
    if (model.dotBatchDims)
      llvm::outs() << " batch_dims=" << model.dotBatchDims;
    if (model.opClass == OpClass::Loop && model.tripCount)
      llvm::outs() << " trips=" << *model.tripCount;
    if (!model.known)
      llvm::outs() << " unknown";
    if (!model.problem.empty())
      llvm::outs() << " problem: " << model.problem;
  }
};

} // namespace

void registerPrintOpModelPass() { PassRegistration<PrintOpModel>(); }

} // namespace remat
