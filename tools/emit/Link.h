//===- Link.h - An object becomes a shared one ------------------*- C++ -*-===//
//
// Part of the Remat project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#pragma once

#include "remat/Plan/Error.h"

#include "llvm/ADT/ArrayRef.h"

#include <string>
#include <vector>

namespace remat {

/// Links emitted objects with the runtime, by the system's compiler driver.
class SharedLinker {
public:
  /// Looks for the driver on PATH, and for the runtime of the device beside the tool (`executable`, a path): in the
  /// library folder of its installation or build. Error: either isn't there.
  static Expected<SharedLinker> find(llvm::StringRef executable, bool forGpu);

  /// The bytes of a shared object named `name` that exports ENTRY_open and the C API. It needs the C++ library and what
  /// comes with it, no more. Error: the linker fails, and has said why on standard error; no room for temporary files.
  Expected<std::string> link(llvm::ArrayRef<char> object, llvm::StringRef entry, llvm::StringRef name) const;

private:
  std::string driver;
  std::vector<std::string> runtime; ///< Archives, in the order of the link.
};

} // namespace remat
