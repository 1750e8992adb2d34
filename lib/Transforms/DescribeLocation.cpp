//===- DescribeLocation.cpp - Locations as text ---------------------------===//
//
// Part of the Remat project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "remat/Transforms/Extract.h"

#include "mlir/IR/Location.h"

#include <algorithm>

using namespace mlir;

namespace remat {

/// True for frames of a Python traceback: file lines, named for their functions (`<lambda>`, `loss_fn`) or bare.
static bool isTraceback(Location location) {
  if (auto name = dyn_cast<NameLoc>(location))
    return !name.getName().getValue().contains('/') && isa<FileLineColRange>(name.getChildLoc());
  if (auto site = dyn_cast<CallSiteLoc>(location))
    return isTraceback(site.getCallee()) && isTraceback(site.getCaller());
  return isa<FileLineColRange>(location);
}

/// JAX writes an op's name stack as the name of its location and Python's frames below it, as call sites of named file
/// lines: names, but of functions. A name with a colon at its end says what kind of op it is; the name stack is then
/// the next name.
static std::string nameStack(Location location) {
  if (auto name = dyn_cast<NameLoc>(location)) {
    StringRef text = name.getName();
    if (!text.consume_back(":"))
      return text.str();
    std::string below = nameStack(name.getChildLoc());
    return below.empty() ? text.str() : below;
  }
  if (auto site = dyn_cast<CallSiteLoc>(location)) {
    if (isTraceback(location))
      return {};
    std::string caller = nameStack(site.getCaller()), callee = nameStack(site.getCallee());
    StringRef root = StringRef(caller).split('/').first;
    // Some ops of a callee hold the whole stack by themselves.
    if (caller.empty() || (!root.empty() && StringRef(callee).starts_with(root)))
      return callee;
    return callee.empty() ? caller : caller + "/" + callee;
  }
  if (auto fused = dyn_cast<FusedLoc>(location))
    for (Location part : fused.getLocations())
      if (std::string stack = nameStack(part); !stack.empty())
        return stack;
  return {};
}

/// The innermost file line.
static FileLineColRange sourceLine(Location location) {
  if (auto line = dyn_cast<FileLineColRange>(location))
    return line;
  if (auto name = dyn_cast<NameLoc>(location))
    return sourceLine(name.getChildLoc());
  if (auto site = dyn_cast<CallSiteLoc>(location)) {
    FileLineColRange line = sourceLine(site.getCallee());
    return line ? line : sourceLine(site.getCaller());
  }
  if (auto fused = dyn_cast<FusedLoc>(location))
    for (Location part : fused.getLocations())
      if (FileLineColRange line = sourceLine(part))
        return line;
  return {};
}

std::string describeLocation(Location location) {
  std::string text = nameStack(location);
  std::replace(text.begin(), text.end(), ' ', '_');
  FileLineColRange line = sourceLine(location);
  if (!line)
    return text;
  // The first blank ends the name stack, so a file's own blanks must not come first.
  if (!text.empty() || line.getFilename().getValue().contains(' '))
    text += ' ';
  return text + line.getFilename().str() + ":" + std::to_string(line.getStartLine()) + ":" +
         std::to_string(line.getStartColumn());
}

} // namespace remat
