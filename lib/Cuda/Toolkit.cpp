//===- Toolkit.cpp - ptxas and fatbinary ----------------------------------===//
//
// Part of the Remat project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Toolkit.h"

#include "remat/CodeGen/WorkFolder.h"
#include "remat/Cuda/Emit.h"
#include "remat/Plan/OutputFile.h"

#include "llvm/ADT/SmallString.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/Program.h"

#include <cstdlib>

namespace remat {

/// 12.8 is the first that assembles for all of `cudaTargets`.
static constexpr const char *remedy =
    "install NVIDIA's CUDA toolkit, 12.8 or later (of its packages cuda-nvcc-12-8 is enough), and set CUDA_HOME to its "
    "folder";

Expected<std::string> findInToolkit(llvm::StringRef path) {
  bool isProgram = path.starts_with("bin/");
  for (const char *variable : {"CUDA_HOME", "CUDA_PATH", "CUDA_ROOT"}) {
    const char *folder = std::getenv(variable);
    if (!folder || !*folder)
      continue;
    llvm::SmallString<128> whole(folder);
    llvm::sys::path::append(whole, path);
    if (!llvm::sys::fs::exists(whole))
      return makeError((path + " of the CUDA toolkit isn't there").str(), whole.str().str(), remedy);
    if (isProgram && !llvm::sys::fs::can_execute(whole))
      return makeError((path + " of the CUDA toolkit can't be executed").str(), whole.str().str(), remedy);
    return whole.str().str();
  }
  if (isProgram)
    if (auto found = llvm::sys::findProgramByName(llvm::sys::path::filename(path)))
      return *found;
  return makeError((path + " of the CUDA toolkit isn't there").str(),
                   isProgram ? (llvm::sys::path::filename(path) + " in PATH").str() : "", remedy);
}

/// Whether a program of the toolkit says that it doesn't know what it was given.
static bool isTooOld(llvm::StringRef said) {
  return said.contains("Unsupported .version") || said.contains("is not defined for option 'gpu-name'");
}

/// Runs a program of the toolkit; gives what it says.
static Expected<std::string> runTool(llvm::StringRef name, const WorkFolder &folder,
                                     llvm::ArrayRef<std::string> arguments) {
  Expected<std::string> program = findInToolkit(("bin/" + name).str());
  if (!program)
    return program.error();
  llvm::SmallVector<llvm::StringRef> words{*program};
  words.append(arguments.begin(), arguments.end());
  std::string log = folder.file("log"), failure;
  std::optional<llvm::StringRef> redirects[] = {llvm::StringRef(""), llvm::StringRef(log), llvm::StringRef(log)};
  int status = llvm::sys::ExecuteAndWait(*program, words, std::nullopt, redirects, 0, 0, &failure);
  if (!failure.empty())
    return makeError("'" + *program + "' can't be run: " + llvm::StringRef(failure).rtrim().str(), "", remedy);
  Expected<std::string> said = readFile(log);
  if (!said || status == 0)
    return said;
  std::string complaint = llvm::StringRef(*said).rtrim().str();
  if (isTooOld(complaint))
    return makeError("'" + *program + "' is too old: " + complaint, "", remedy);
  return makeError("'" + *program + "' exits with " + std::to_string(status), "", complaint);
}

static Expected<Assembled> assembleOnce(llvm::StringRef ptx, llvm::StringRef target) {
  Expected<WorkFolder> folder = WorkFolder::make();
  if (!folder)
    return folder.error();
  std::string source = folder->file("kernels.ptx"), object = folder->file("kernels.cubin");
  if (auto error = folder->write("kernels.ptx", ptx))
    return *error;
  Expected<std::string> said = runTool("ptxas", *folder, {"-v", "-arch=" + target.str(), "-o", object, source});
  if (!said)
    return said.error();
  Expected<std::string> cubin = readFile(object);
  if (!cubin)
    return cubin.error();
  return Assembled{std::move(*cubin), std::move(*said)};
}

/// The functions that ptxas gave a stack, by what it says of each.
static llvm::StringSet<> findStacks(llvm::StringRef log) {
  llvm::StringSet<> found;
  llvm::StringRef name;
  for (llvm::StringRef line : llvm::split(log, '\n')) {
    if (size_t begin = line.find("Function properties for "); begin != llvm::StringRef::npos)
      name = line.substr(begin).rsplit(' ').second.rtrim();
    else if (line.contains(" bytes stack frame") && !line.ltrim().starts_with("0 "))
      found.insert(name);
  }
  return found;
}

/// PTX that asks for no more than one block at once of some kernels.
static std::string allowOneBlock(llvm::StringRef ptx, const llvm::StringSet<> &kernels) {
  std::string result;
  llvm::StringRef name;
  for (llvm::StringRef line : llvm::split(ptx, '\n')) {
    result.append(line).push_back('\n');
    if (llvm::StringRef entry = line; entry.consume_front(".visible .entry "))
      name = entry.take_until([](char c) { return c == '('; });
    if (line.starts_with(".maxntid") && kernels.contains(name))
      result += ".minnctapersm 1\n";
  }
  return result;
}

/// ptxas would rather spill a register than have fewer blocks run at once, which a kernel that waits for memory pays
/// for; told that one block is enough, it doesn't. That is said of no other kernel, for it takes registers freely then.
Expected<Assembled> assemble(llvm::StringRef ptx, llvm::StringRef target) {
  Expected<Assembled> assembled = assembleOnce(ptx, target);
  if (!assembled)
    return assembled;
  llvm::StringSet<> stacks = findStacks(assembled->log);
  return stacks.empty() ? std::move(assembled) : assembleOnce(allowOneBlock(ptx, stacks), target);
}

Expected<std::string> emitFatbin(llvm::ArrayRef<CubinFor> cubins) {
  Expected<WorkFolder> folder = WorkFolder::make();
  if (!folder)
    return folder.error();
  std::string whole = folder->file("kernels.fatbin");
  std::vector<std::string> arguments{"-64", "--create=" + whole};
  for (const CubinFor &cubin : cubins) {
    std::string name = cubin.target + ".cubin";
    if (auto error = folder->write(name, cubin.cubin))
      return *error;
    arguments.push_back("--image3=kind=elf,sm=" + cubin.target.substr(3) + ",file=" + folder->file(name));
  }
  if (Expected<std::string> said = runTool("fatbinary", *folder, arguments); !said)
    return said.error();
  return readFile(whole);
}

static mlir::InFlightDiagnostic complain(GpuKernels &kernels, const Error &error) {
  mlir::InFlightDiagnostic diag = kernels.module->emitError() << error.message;
  if (!error.place.empty())
    diag.attachNote() << "looked for " << error.place;
  if (!error.note.empty())
    diag.attachNote() << error.note;
  return diag;
}

static mlir::FailureOr<std::string> emitCubin(GpuKernels &kernels, llvm::StringRef target) {
  mlir::FailureOr<std::string> ptx = emitPtx(kernels, target);
  if (failed(ptx))
    return mlir::failure();
  Expected<Assembled> assembled = assemble(*ptx, target);
  if (!assembled)
    return complain(kernels, assembled.error());
  return std::move(assembled->cubin);
}

mlir::FailureOr<std::string> emitKernels(GpuKernels &kernels, llvm::StringRef kind, llvm::StringRef target) {
  if (kind == "ptx")
    return emitPtx(kernels, target);
  if (kind == "cubin")
    return emitCubin(kernels, target);
  std::vector<CubinFor> cubins;
  for (llvm::StringRef each : cudaTargets) {
    mlir::FailureOr<std::string> cubin = emitCubin(kernels, each);
    if (failed(cubin))
      return mlir::failure();
    cubins.push_back({each.str(), std::move(*cubin)});
  }
  Expected<std::string> whole = emitFatbin(cubins);
  if (!whole)
    return complain(kernels, whole.error());
  return std::move(*whole);
}

} // namespace remat
