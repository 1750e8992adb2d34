//===- Ids.h - Strong ids of the planner's graph -----------------*- C++ -*-===//
//
// Part of the Remat project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#pragma once

#include <compare>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>

namespace remat {

/// An index into one table of a Graph. Ids of different tables do not convert into each other.
template <typename Tag>
class Id {
public:
  constexpr Id() = default;
  constexpr explicit Id(size_t index) : value(static_cast<uint32_t>(index)) {}

  constexpr size_t index() const { return value; }
  constexpr bool isValid() const { return value != invalid; }
  constexpr explicit operator bool() const { return isValid(); }
  constexpr auto operator<=>(const Id &) const = default;

private:
  static constexpr uint32_t invalid = std::numeric_limits<uint32_t>::max();
  uint32_t value = invalid;
};

using OpId = Id<struct OpTag>;
using ValueId = Id<struct ValueTag>;

} // namespace remat

template <typename Tag>
struct std::hash<remat::Id<Tag>> {
  size_t operator()(remat::Id<Tag> id) const { return std::hash<size_t>()(id.index()); }
};
