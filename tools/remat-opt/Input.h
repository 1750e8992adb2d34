//===- Input.h - Reading a module and saying what is wrong with it -*- C++ -*-===//
//
// Part of the Remat project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#pragma once

#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"
#include "llvm/Support/SourceMgr.h"

namespace remat {

/// A file and its name in messages. Text or bytecode is told apart by content.
struct Input {
  std::string name; ///< As the user gave it; `-` reads standard input.
  std::string content;
  bool isBytecode() const;
};

/// Reads the file. Prints an error: unreadable, a folder, empty, a resource blob that MLIR's parser would choke on.
std::optional<Input> readInput(const std::string &path);

/// Prints diagnostics as usual while it lives, with a way out where MLIR gives none: StableHLO's pretty form, bytecode
/// of dialects that aren't registered, truncated bytecode. Source lines that are too long to help are left out.
class InputDiagnostics {
public:
  InputDiagnostics(llvm::SourceMgr &sources, mlir::MLIRContext *context, const Input &input);

private:
  void advise(mlir::Diagnostic &diag);
  bool printWithoutLine(mlir::Diagnostic &diag);

  const Input &input;
  std::string prefix; ///< Of the next error's message.
  mlir::SourceMgrDiagnosticHandler printer;
  mlir::ScopedDiagnosticHandler adviser;
};

/// What to do about StableHLO in its pretty form, and about bytecode of dialects that aren't registered.
inline constexpr llvm::StringLiteral genericFormNote =
    "StableHLO is read as text in generic form: in Python module.operation.get_asm(print_generic_op_form=True), or "
    "stablehlo-opt --mlir-print-op-generic";

/// Parses and checks the module. Emits errors. A crash of the parser is an error too.
mlir::OwningOpRef<mlir::ModuleOp> parseModule(llvm::SourceMgr &sources, mlir::MLIRContext *context, const Input &input);

} // namespace remat
