//===- DynamicDims.h - Bounds of dynamic dimensions --------------*- C++ -*-===//
//
// Part of the Remat project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#pragma once

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringMap.h"

#include <string>

namespace remat {

/// While it lives, the values of a function have static types: every dynamic dimension is replaced by its bound. Sizes
/// and costs are then upper bounds. Nothing but types of values changes, and the destructor puts them back.
class BoundedTypes {
public:
  /// Finds every dynamic dimension's bound: the one given as `NAME.D` (NAME from `argumentNames`, `argI` or the op's
  /// name); else that of the same dimension of an operand of the same type; else `*`; else the only bound there is.
  /// Emits an error that names the first value and dimension without one, or (`allMustMatch`) a bound that is of none.
  /// `anyUnknown()` then is true.
  BoundedTypes(mlir::func::FuncOp function, const llvm::StringMap<int64_t> &bounds,
               llvm::ArrayRef<std::string> argumentNames, llvm::ArrayRef<std::string> opNames, bool allMustMatch);
  ~BoundedTypes();
  BoundedTypes(const BoundedTypes &) = delete;
  BoundedTypes &operator=(const BoundedTypes &) = delete;

  bool anyUnknown() const { return unknownLeft; }

private:
  struct Finder;
  llvm::SmallVector<std::pair<mlir::Value, mlir::Type>> original;
  bool unknownLeft = false;
};

} // namespace remat
