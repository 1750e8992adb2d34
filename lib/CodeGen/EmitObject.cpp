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

  LLVM::GlobalOp addBytes(StringRef symbol, ArrayRef<char> bytes) {
    auto type = LLVM::LLVMArrayType::get(builder.getI8Type(), bytes.size());
    return LLVM::GlobalOp::create(builder, loc, type, /*isConstant=*/true, LLVM::Linkage::Internal, symbol,
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

  struct Counted {
    LLVM::GlobalOp data;
    size_t count;
  };

  /// `symbol` hands the data and their counts to the runtime's function `open`, and behind them the `pointers` that it
  /// is given itself.
  void addEntry(StringRef symbol, StringRef open, ArrayRef<Counted> data, unsigned pointers = 0) {
    Type size = builder.getI64Type();
    SmallVector<Type> given(pointers, pointer);
    auto entry = LLVM::LLVMFuncOp::create(builder, loc, symbol, LLVM::LLVMFunctionType::get(pointer, given));
    OpBuilder body = OpBuilder::atBlockBegin(entry.addEntryBlock(builder));
    SmallVector<Value> arguments;
    for (const Counted &each : data) {
      arguments.push_back(LLVM::AddressOfOp::create(body, loc, each.data));
      arguments.push_back(LLVM::ConstantOp::create(body, loc, size, body.getI64IntegerAttr(int64_t(each.count))));
    }
    llvm::append_range(arguments, entry.getArguments());
    auto type = LLVM::LLVMFunctionType::get(pointer, llvm::to_vector(ValueRange(arguments).getTypes()));
    auto call = LLVM::CallOp::create(body, loc, LLVM::LLVMFuncOp::create(builder, loc, open, type), arguments);
    LLVM::ReturnOp::create(body, loc, call.getResult());
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
  LLVM::GlobalOp image = appender.addBytes("remat_image", bytes);
  LLVM::GlobalOp table = appender.addTable(program.kernels);
  appender.addEntry((entry + "_open").str(), "remat_program_open",
                    {{image, bytes.size()}, {table, program.kernels.size()}});
}

OwningOpRef<ModuleOp> makeGpuEntryPoint(Location location, const runtime::Program &program, ArrayRef<char> code,
                                        StringRef entry) {
  OwningOpRef<ModuleOp> module = ModuleOp::create(location);
  std::vector<char> bytes = runtime::writeProgram(program);
  Appender appender(*module);
  LLVM::GlobalOp image = appender.addBytes("remat_image", bytes);
  LLVM::GlobalOp codeBytes = appender.addBytes("remat_code", code);
  appender.addEntry((entry + "_open").str(), "remat_cuda_open", {{image, bytes.size()}, {codeBytes, code.size()}},
                    /*pointers=*/1);
  return module;
}

} // namespace remat
