//===- Size.h - Bytes from text -------------------------------------------------===//
//
// Part of the Remat project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace remat {

/// Bytes of a share such as `70%` or `12.5%`, rounded up to a byte. Nothing unless it is above 0 % and at most
/// 1000 %.
std::optional<int64_t> parseShare(std::string_view text, int64_t ofBytes);

} // namespace remat
