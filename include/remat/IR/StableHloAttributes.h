//===- StableHloAttributes.h - StableHLO's attributes as data ----*- C++ -*-===//
//
// Part of the Remat project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// StableHLO needn't be registered: then its attributes arrive as text, `#stablehlo.dot<lhs_contracting_dimensions =
// [1], …>`, which is read here. If it is registered, its attributes are printed first, so both ways give the same.
//
//===----------------------------------------------------------------------===//

#pragma once

#include "remat/Plan/Error.h"

#include "mlir/IR/Attributes.h"
#include "mlir/IR/Operation.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringRef.h"

#include <map>
#include <optional>
#include <string>

namespace remat {

using Ints = llvm::SmallVector<int64_t, 4>;

/// An inherent or discardable attribute of an op, wherever it stands: in the properties of a registered op, in those of
/// an unregistered one (`<{…}>`), or in the attribute dictionary (`{…}`). Null if there is none.
mlir::Attribute getHloAttr(mlir::Operation *op, llvm::StringRef name);

/// The text of an attribute of StableHLO, MHLO or CHLO without `#dialect.` or `#dialect<…>` around it.
std::string hloAttributeText(mlir::Attribute attribute);

/// The fields of `name<key = value, …>` with integers and (nested) lists of integers as values.
struct HloRecord {
  std::string name;                  ///< Such as `dot` or `gather`.
  std::map<std::string, Ints> lists; ///< Lists; nested ones are flattened.
  std::map<std::string, int64_t> integers;
  std::map<std::string, std::string> words; ///< Other values: `true`, `LT`, types.

  Ints list(llvm::StringRef key) const; ///< Empty if there is none.
  std::optional<int64_t> integer(llvm::StringRef key) const;
};
/// Error: malformed text (place: the column).
Expected<HloRecord> parseHloRecord(llvm::StringRef text);

/// `#stablehlo.dot<…>`.
struct DotDims {
  Ints lhsBatching, rhsBatching, lhsContracting, rhsContracting;
};
/// Null is no dimension numbers at all: all lists empty. Error: malformed text.
Expected<DotDims> parseDotDims(mlir::Attribute attribute);

/// `#stablehlo.conv<[b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f]>` or the `raw` form.
struct ConvDims {
  int64_t inputBatch = 0, inputFeature = 0, kernelInputFeature = 0, kernelOutputFeature = 0, outputBatch = 0,
          outputFeature = 0;
  Ints inputSpatial, kernelSpatial, outputSpatial; ///< In the order of the spatial dimensions; equally long.
};
/// Error: malformed text, a dimension that is missing or stands twice.
Expected<ConvDims> parseConvDims(mlir::Attribute attribute);

/// `#stablehlo.gather<…>`.
struct GatherDims {
  Ints offsetDims, collapsedSliceDims, operandBatchingDims, startIndicesBatchingDims, startIndexMap;
  int64_t indexVectorDim = 0;
};
/// Error: malformed text.
Expected<GatherDims> parseGatherDims(mlir::Attribute attribute);

/// `#stablehlo.scatter<…>`.
struct ScatterDims {
  Ints updateWindowDims, insertedWindowDims, inputBatchingDims, scatterIndicesBatchingDims, scatterDimsToOperandDims;
  int64_t indexVectorDim = 0;
};
/// Error: malformed text.
Expected<ScatterDims> parseScatterDims(mlir::Attribute attribute);

/// The case of an enum attribute: `LT` of `#stablehlo<comparison_direction LT>`. Empty for null.
std::string hloEnum(mlir::Attribute attribute);

/// The value of an integer attribute, or of all elements of a splat (`dense<3> : tensor<i32>`). Nothing for null,
/// anything else, and integers of more than 64 bits.
std::optional<int64_t> hloInteger(mlir::Attribute attribute);

/// `array<i64: …>`, `array<i1: …>`, `dense<…> : tensor<…xi64>` or an array of integer attributes as integers, row by
/// row. Nothing for null and anything else.
std::optional<Ints> hloIntegers(mlir::Attribute attribute);

} // namespace remat
