//===- ClangCxx23.h - MLIR's headers under clang in C++23 --------*- C++ -*-===//
//
// Part of the Remat project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Clang in C++23 mode with libstdc++ can't compile MLIR 22's Types.h: constructors that C++23 makes constexpr are instantiated where they
// are first named, among them one with a vector of functions over Attribute and Type; destroying the vector's elements looks for a
// function `_Destroy` by the element's template arguments, and so needs Attribute and Type complete before they are. The
// specializations below destroy the elements without looking. RematIR's targets include this file ahead of everything
// (lib/IR/CMakeLists.txt); g++ and C++20 don't need it.
//
//===----------------------------------------------------------------------===//

#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#if defined(__clang__) && defined(__GLIBCXX__) && __cplusplus > 202002L

namespace mlir {
class Attribute;
class Type;
class WalkResult;
} // namespace mlir

namespace remat::detail {
template <typename T>
using Replacement = std::function<std::optional<std::pair<T, mlir::WalkResult>>(T)>;
} // namespace remat::detail

template <>
constexpr void std::_Destroy(remat::detail::Replacement<mlir::Attribute> *first,
                             remat::detail::Replacement<mlir::Attribute> *last,
                             std::allocator<remat::detail::Replacement<mlir::Attribute>> &) {
  for (; first != last; ++first)
    first->~function();
}

template <>
constexpr void std::_Destroy(remat::detail::Replacement<mlir::Type> *first,
                             remat::detail::Replacement<mlir::Type> *last,
                             std::allocator<remat::detail::Replacement<mlir::Type>> &) {
  for (; first != last; ++first)
    first->~function();
}

#endif
