//===- Input.cpp - Reading a module and saying what is wrong with it ------===//
//
// Part of the Remat project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Input.h"

#include "CommandLine.h"

#include "remat/IR/OpModel.h"
#include "remat/Plan/OutputFile.h"

#include "mlir/IR/AttrTypeSubElements.h"
#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/DialectResourceBlobManager.h"
#include "mlir/IR/Verifier.h"
#include "mlir/Parser/Parser.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/CrashRecoveryContext.h"
#include "llvm/Support/Endian.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;

namespace remat {

bool Input::isBytecode() const { return StringRef(content).starts_with("ML\xefR"); }

/// Where MLIR's parser gets a blob with a bad alignment, it aborts or asks for all memory there is
/// (llvm-project#181266). The alignment is the first four bytes of the hexadecimal text.
static bool checkBlobs(const Input &input) {
  StringRef text = input.content;
  size_t begin = text.rfind("{-#");
  if (begin == StringRef::npos)
    return true;
  for (size_t at = text.find("\"0x", begin); at != StringRef::npos; at = text.find("\"0x", at + 1)) {
    StringRef header = text.substr(at + 3, 8);
    std::string bytes;
    bool isHex = header.size() == 8 && llvm::tryGetFromHex(header, bytes);
    uint32_t alignment = isHex ? llvm::support::endian::read32le(bytes.data()) : 0;
    if (isHex && llvm::isPowerOf2_32(alignment))
      continue;
    size_t line = text.substr(0, at).count('\n') + 1, column = at - (text.rfind('\n', at) + 1) + 1;
    llvm::errs() << input.name << ":" << line << ":" << column << ": error: bad resource blob: ";
    if (isHex)
      llvm::errs() << "its alignment " << alignment << " is no power of two\n";
    else
      llvm::errs() << "it does not begin with four bytes of alignment\n";
    llvm::errs()
        << input.name << ":" << line << ":" << column
        << ": note: the first four bytes, little-endian, are the alignment, such as 0x04000000; the data follow\n";
    return false;
  }
  return true;
}

std::optional<Input> readInput(const std::string &path) {
  Expected<std::string> content = readFile(path);
  if (!content) {
    printError(content.error());
    return std::nullopt;
  }
  Input input = {path == "-" ? "<stdin>" : path, std::move(*content)};
  if (StringRef(input.content).trim().empty()) {
    printError(input.name + ": the file is empty", "expected a module as MLIR text or bytecode");
    return std::nullopt;
  }
  if (!input.isBytecode() && !checkBlobs(input))
    return std::nullopt;
  return input;
}

/// Adds the way out to a diagnostic of MLIR's readers.
void InputDiagnostics::advise(Diagnostic &diag) {
  if (diag.getSeverity() != DiagnosticSeverity::Error)
    return;
  std::string text = diag.str();
  StringRef message = text;
  auto holds = [&](ArrayRef<StringRef> parts) {
    return llvm::any_of(parts, [&](StringRef part) { return message.contains(part); });
  };
  if (input.isBytecode() && message.contains("does not implement the bytecode interface")) {
    diag.attachNote() << "bytecode of this dialect can't be read here; " << genericFormNote;
  } else if (input.isBytecode() && holds({"remain", "null-terminated", "end of", "truncated"})) {
    prefix = "truncated bytecode: ";
    diag.attachNote() << "the file ends before the module does; copy or write it again";
  } else if (!input.isBytecode() && holds({"stablehlo", "mhlo", "chlo", "vhlo"}) &&
             holds({"not found for custom op", "is unknown"})) {
    diag.attachNote() << genericFormNote;
  }
}

/// Prints a diagnostic of one line: where the place is unknown (JAX's exports give functions none) the file is named.
/// False: it is to be printed as usual, with its source line.
bool InputDiagnostics::printWithoutLine(Diagnostic &diag) {
  auto place = dyn_cast<FileLineColRange>(diag.getLocation());
  bool isUnknown = isa<UnknownLoc>(diag.getLocation());
  if (!isUnknown && (!place || place.getFilename() != input.name))
    return false;
  // A source line that helps is one that can be seen at a glance.
  StringRef text = input.content;
  for (unsigned line = 1; place && line < place.getStartLine() && !input.isBytecode(); ++line)
    text = text.split('\n').second;
  if (!isUnknown && !input.isBytecode() && text.split('\n').first.size() <= 240)
    return false;
  auto print = [&](const Diagnostic &part, StringRef kind, StringRef before) {
    auto at = dyn_cast<FileLineColRange>(part.getLocation());
    llvm::errs() << input.name << ":";
    if (at && at.getStartLine())
      llvm::errs() << at.getStartLine() << ":" << at.getStartColumn() << ":";
    llvm::errs() << " " << kind << ": " << before << part.str() << "\n";
  };
  constexpr StringRef kinds[] = {"note", "warning", "error", "remark"};
  print(diag, kinds[static_cast<int>(diag.getSeverity())], prefix);
  for (const Diagnostic &note : diag.getNotes())
    print(note, "note", "");
  return true;
}

InputDiagnostics::InputDiagnostics(llvm::SourceMgr &sources, MLIRContext *context, const Input &input)
    : input(input), printer(sources, context), adviser(context, [this](Diagnostic &diag) {
        prefix.clear();
        advise(diag);
        return success(printWithoutLine(diag));
      }) {}

/// A blob that is shorter than its type needs is read past its end by whoever uses it.
static LogicalResult checkResources(ModuleOp module) {
  Operation *current = nullptr;
  bool bad = false;
  AttrTypeWalker walker;
  walker.addWalk([&](DenseResourceElementsAttr attribute) {
    AsmResourceBlob *blob = attribute.getRawHandle().getBlob();
    std::optional<int64_t> bytes = typeBytes(attribute.getType());
    if (!blob || !bytes || int64_t(blob->getData().size()) >= *bytes || bad)
      return;
    bad = true;
    InFlightDiagnostic diag = current->emitError() << "bad resource blob '" << attribute.getRawHandle().getKey()
                                                   << "': " << blob->getData().size() << " bytes, but "
                                                   << attribute.getType() << " needs " << *bytes;
    diag.attachNote() << "the first four bytes of the text are the alignment, the data follow";
  });
  module.walk([&](Operation *op) {
    current = op;
    walker.walk(op->getAttrDictionary());
  });
  return failure(bad);
}

OwningOpRef<ModuleOp> parseModule(llvm::SourceMgr &sources, MLIRContext *context, const Input &input) {
  OwningOpRef<ModuleOp> module;
  llvm::CrashRecoveryContext::Enable();
  llvm::CrashRecoveryContext guard;
  ParserConfig unverified(context, /*verifyAfterParse=*/false);
  bool finished = guard.RunSafely([&] {
    module = parseSourceFile<ModuleOp>(sources, unverified);
    if (module && (failed(inlineHiddenCalls(*module)) || failed(verify(*module))))
      module = nullptr;
  });
  llvm::CrashRecoveryContext::Disable();
  if (!finished) {
    printError(input.name + ": MLIR's parser crashed on this file",
               "it is damaged, or breaks a rule that the parser does not check");
    llvm::errs().flush();
    // Nothing of the parser's state may be touched again.
    _exit(1);
  }
  if (module && failed(checkResources(*module)))
    return {};
  return module;
}

} // namespace remat
