//===- Link.cpp - An object becomes a shared one ---------------------------===//
//
// Part of the Remat project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Link.h"
#include "remat/CodeGen/WorkFolder.h"
#include "remat/Plan/OutputFile.h"

#include "llvm/ADT/SmallString.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/Program.h"

namespace path = llvm::sys::path;

namespace remat {

constexpr llvm::StringLiteral drivers[] = {"cc", "c++", "gcc", "clang", "clang-22"};
/// Where the runtime is, seen from the tool's folder; a distribution's folder of libraries has other names than `lib`.
constexpr llvm::StringLiteral libraryFolders[] = {"../" REMAT_LIBRARY_FOLDER, "../lib"};

constexpr llvm::StringLiteral cpuArchives[] = {"libRematRuntime.a"};
constexpr llvm::StringLiteral gpuArchives[] = {"libRematCudaRuntime.a", "libRematCudaProgram.a", "libRematRuntime.a"};

/// Where the archive is; the last place that was looked at where it isn't.
static std::pair<std::string, bool> findArchive(llvm::StringRef executable, llvm::StringRef archive) {
  std::string tried;
  for (llvm::StringRef folder : libraryFolders) {
    llvm::SmallString<128> place(path::parent_path(executable));
    path::append(place, folder, archive);
    path::remove_dots(place, /*remove_dot_dot=*/true);
    tried = place.str();
    if (llvm::sys::fs::exists(place))
      return {tried, true};
  }
  return {tried, false};
}

Expected<SharedLinker> SharedLinker::find(llvm::StringRef executable, bool forGpu) {
  SharedLinker linker;
  for (llvm::StringRef archive : forGpu ? llvm::ArrayRef(gpuArchives) : llvm::ArrayRef(cpuArchives)) {
    auto [place, isThere] = findArchive(executable, archive);
    if (!isThere && archive == gpuArchives[0])
      return makeError("the CUDA runtime library isn't there", place,
                       "it is left out of builds without the CUDA toolkit's headers: set CUDA_HOME and build again");
    if (!isThere)
      return makeError("the runtime library isn't there", place,
                       "install it beside the tool, or say --emit=object and link that with libRematRuntime");
    linker.runtime.push_back(std::move(place));
  }
  for (llvm::StringRef name : drivers)
    if (auto found = llvm::sys::findProgramByName(name)) {
      linker.driver = *found;
      return linker;
    }
  return makeError("no compiler is there to link with (looked for " + llvm::join(llvm::ArrayRef(drivers), ", ") + ")",
                   "", "install one of them, or say --emit=object, which needs none");
}

Expected<std::string> SharedLinker::link(llvm::ArrayRef<char> object, llvm::StringRef entry,
                                         llvm::StringRef name) const {
  Expected<WorkFolder> folder = WorkFolder::make();
  if (!folder)
    return folder.error();
  std::string step = folder->file("step.o"), exported = folder->file("exported"), shared = folder->file("step.so");
  if (auto error = folder->write("step.o", std::string_view(object.data(), object.size())))
    return *error;
  // The runtime's C++ symbols would meet those of another version in the process that loads this.
  if (auto error = folder->write("exported", ("{ global: " + entry + "_open; remat_*; local: *; };\n").str()))
    return *error;
  // -Xlinker, for names may hold the commas at which -Wl is split.
  std::string script = "--version-script=" + exported, soname = ("-soname=" + name).str();
  llvm::SmallVector<llvm::StringRef> arguments{driver, "-shared", "-o", shared, step};
  arguments.append(runtime.begin(), runtime.end());
  arguments.append({"-Xlinker", script, "-Xlinker", soname, "-Wl,--as-needed", "-lstdc++", "-lm", "-lpthread", "-ldl"});
  std::string failure;
  int status = llvm::sys::ExecuteAndWait(driver, arguments, std::nullopt, {}, 0, 0, &failure);
  if (status != 0)
    return makeError("the step can't be linked: '" + driver + "' " +
                         (failure.empty() ? "exits with " + std::to_string(status) : failure),
                     "", "--emit=object writes the step without linking it");
  return readFile(shared);
}

} // namespace remat
