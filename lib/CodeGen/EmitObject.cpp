//===- EmitObject.cpp - A compiled step as one object ---------------------===//
//
// Part of the Remat project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What is added stands in the module of the kernels, so that code generation makes one object of it all, and no linker
// is needed to join two and to hide the kernels' names.
//
//===----------------------------------------------------------------------===//

#include "EmitObject.h"

#include "remat/Runtime/ProgramFile.h"

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"

using namespace mlir;

namespace remat {

namespace {

/// Appends to the end of a module.
class Appender {
public:
  explicit Appender(ModuleOp module)
      : module(module), loc(module.getLoc()), builder(OpBuilder::atBlockEnd(module.getBody())),
        pointer(LLVM::LLVMPointerType::get(module.getContext())) {}

  LLVM::GlobalOp addImage(ArrayRef<char> bytes) {
    auto type = LLVM::LLVMArrayType::get(builder.getI8Type(), bytes.size());
    return LLVM::GlobalOp::create(builder, loc, type, /*isConstant=*/true, LLVM::Linkage::Internal, "remat_image",
                                  builder.getStringAttr(StringRef(bytes.data(), bytes.size())), /*alignment=*/8);
  }

  /// The kernels' addresses; the kernels are seen through it alone from now on.
  LLVM::GlobalOp addTable(ArrayRef<std::string> kernels) {
    auto type = LLVM::LLVMArrayType::get(pointer, kernels.size());
    auto table = LLVM::GlobalOp::create(builder, loc, type, /*isConstant=*/true, LLVM::Linkage::Internal,
                                        "remat_kernels", Attribute());
    OpBuilder::InsertionGuard guard(builder);
    builder.createBlock(&table.getInitializerRegion());
    Value value = LLVM::UndefOp::create(builder, loc, type);
    for (auto [index, symbol] : llvm::enumerate(kernels)) {
      module.lookupSymbol<LLVM::LLVMFuncOp>(symbol).setLinkage(LLVM::Linkage::Internal);
      Value address = LLVM::AddressOfOp::create(builder, loc, pointer, symbol);
      value = LLVM::InsertValueOp::create(builder, loc, value, address, int64_t(index));
    }
    LLVM::ReturnOp::create(builder, loc, value);
    return table;
  }

  void addEntry(StringRef symbol, LLVM::GlobalOp image, size_t imageBytes, LLVM::GlobalOp table, size_t kernels) {
    Type size = builder.getI64Type();
    auto open = LLVM::LLVMFuncOp::create(builder, loc, "remat_program_open",
                                         LLVM::LLVMFunctionType::get(pointer, {pointer, size, pointer, size}));
    auto entry = LLVM::LLVMFuncOp::create(builder, loc, symbol, LLVM::LLVMFunctionType::get(pointer, {}));
    builder.setInsertionPointToStart(entry.addEntryBlock(builder));
    auto number = [&](size_t value) -> Value {
      return LLVM::ConstantOp::create(builder, loc, size, builder.getI64IntegerAttr(int64_t(value)));
    };
    Value arguments[] = {LLVM::AddressOfOp::create(builder, loc, image), number(imageBytes),
                         LLVM::AddressOfOp::create(builder, loc, table), number(kernels)};
    auto call = LLVM::CallOp::create(builder, loc, open, arguments);
    LLVM::ReturnOp::create(builder, loc, call.getResult());
  }

private:
  ModuleOp module;
  Location loc;
  OpBuilder builder;
  Type pointer;
};

} // namespace

void addEntryPoint(ModuleOp module, const runtime::Program &program, StringRef entry) {
  std::vector<char> bytes = runtime::writeProgram(program);
  Appender appender(module);
  LLVM::GlobalOp image = appender.addImage(bytes);
  LLVM::GlobalOp table = appender.addTable(program.kernels);
  appender.addEntry((entry + "_open").str(), image, bytes.size(), table, program.kernels.size());
}

} // namespace remat
