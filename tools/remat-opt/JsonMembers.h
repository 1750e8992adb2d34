//===- JsonMembers.h - More members for a report ----------------*- C++ -*-===//
//
// Part of the Remat project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#pragma once

#include <string>

namespace remat {

/// A JSON object as text with `members` behind its own: `"name": value, …`.
inline std::string addMembers(const std::string &object, const std::string &members) {
  size_t end = object.rfind('}');
  size_t last = object.find_last_not_of(" \n", end - 1);
  return object.substr(0, last + 1) + ",\n  " + members + "\n}\n";
}

} // namespace remat
