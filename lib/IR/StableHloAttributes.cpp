//===- StableHloAttributes.cpp - StableHLO's attributes as data -----------===//
//
// Part of the Remat project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "remat/IR/StableHloAttributes.h"

#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/BuiltinTypes.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/raw_ostream.h"

using namespace mlir;

namespace remat {

Attribute getHloAttr(Operation *op, StringRef name) {
  // Operation::getAttr looks into the properties of registered and unregistered ops alike, then into the dictionary.
  return op->getAttr(name);
}

std::string hloAttributeText(Attribute attribute) {
  if (auto opaque = dyn_cast_or_null<OpaqueAttr>(attribute)) {
    // `#stablehlo<"dot<…>">` is how text with odd characters is written; the quotes are part of the data.
    StringRef data = opaque.getAttrData();
    bool quoted = data.size() >= 2 && data.front() == '"' && data.back() == '"';
    return (quoted ? data.drop_front().drop_back() : data).str();
  }
  std::string text;
  llvm::raw_string_ostream(text) << attribute;
  StringRef rest = text;
  if (!rest.consume_front("#"))
    return text;
  // `#dialect.name<…>` or `#dialect<name …>`.
  rest = rest.drop_while([](char c) { return llvm::isAlnum(c) || c == '_'; });
  if (!rest.consume_front(".") && rest.consume_front("<"))
    rest.consume_back(">");
  return rest.str();
}

//===----------------------------------------------------------------------===//
// Reading text
//===----------------------------------------------------------------------===//

namespace {

/// Reads `name<key = value, …>` by recursive descent. Methods that return bool are false once something is wrong;
/// `error()` then says what and where.
class RecordReader {
public:
  explicit RecordReader(StringRef text) : text(text) {}

  /// name `<` fields `>`, to the end of the text.
  bool record(HloRecord &record) {
    record.name = word().str();
    if (record.name.empty())
      return fail("expected a name");
    return expect('<') && fields(record) && expect('>') && end();
  }

  /// A list of integers and letters `b`, `f`, `i`, `o`, as in the dimensions of a convolution: `[b, 0, 1, f]`.
  bool dimensionList(llvm::SmallVectorImpl<StringRef> &items) {
    if (!expect('['))
      return false;
    if (consume(']'))
      return true;
    do {
      items.push_back(word());
      if (items.back().empty())
        return fail("expected a dimension");
    } while (consume(','));
    return expect(']');
  }

  bool expect(char c) { return consume(c) || fail(("expected '" + llvm::Twine(c) + "'").str()); }
  bool end() {
    skipSpace();
    return position == text.size() || fail("unexpected text");
  }
  StringRef word() {
    skipSpace();
    StringRef found = text.substr(position).take_while([](char c) { return llvm::isAlnum(c) || c == '_' || c == '.'; });
    position += found.size();
    return found;
  }
  bool fail(std::string what) {
    if (message.empty()) {
      message = std::move(what);
      failedAt = position;
    }
    return false;
  }
  Error error() const {
    return {"malformed attribute '" + text.str() + "': " + message, "column " + std::to_string(failedAt + 1), {}};
  }

private:
  StringRef text;
  size_t position = 0, failedAt = 0;
  unsigned depth = 0;
  std::string message;

  void skipSpace() {
    while (position < text.size() && llvm::isSpace(text[position]))
      ++position;
  }
  bool peek(char c) {
    skipSpace();
    return position < text.size() && text[position] == c;
  }
  bool consume(char c) {
    if (!peek(c))
      return false;
    ++position;
    return true;
  }

  /// Fields of nested records become fields of this one: no attribute uses a key twice.
  bool fields(HloRecord &record) {
    if (++depth > 64)
      return fail("too deeply nested");
    if (peek('>')) {
      --depth;
      return true;
    }
    do {
      StringRef key = word();
      if (key.empty())
        return fail("expected a field");
      if (!expect('=') || !value(key.str(), record))
        return false;
    } while (consume(','));
    --depth;
    return true;
  }

  bool value(const std::string &key, HloRecord &record) {
    if (peek('['))
      return list(record.lists[key]);
    if (consume('<'))
      return fields(record) && expect('>');
    int64_t number;
    if (integer(number)) {
      record.integers[key] = number;
      return true;
    }
    consume('#');
    StringRef found = word();
    if (found.empty())
      return fail("expected a value");
    if (consume('<')) // An attribute or a type with its dialect's name.
      return fields(record) && expect('>');
    record.words[key] = found.str();
    return true;
  }

  bool list(Ints &into) {
    // Text from a file must not exhaust the stack.
    if (++depth > 64)
      return fail("too deeply nested");
    if (!expect('['))
      return false;
    if (consume(']')) {
      --depth;
      return true;
    }
    do {
      if (peek('[')) {
        if (!list(into))
          return false;
        continue;
      }
      int64_t number;
      if (!integer(number))
        return fail("expected an integer");
      into.push_back(number);
    } while (consume(','));
    --depth;
    return expect(']');
  }

  bool integer(int64_t &number) {
    skipSpace();
    StringRef rest = text.substr(position);
    size_t digits = rest.drop_while([](char c) { return c == '-'; }).take_while(llvm::isDigit).size();
    size_t length = digits + (rest.starts_with("-") ? 1 : 0);
    // A word such as `8bit` isn't a number.
    if (digits == 0 || (length < rest.size() && (llvm::isAlpha(rest[length]) || rest[length] == '_')))
      return false;
    if (rest.take_front(length).getAsInteger(10, number))
      return fail("integer out of range");
    position += length;
    return true;
  }
};

} // namespace

Ints HloRecord::list(StringRef key) const {
  auto found = lists.find(key.str());
  return found == lists.end() ? Ints() : found->second;
}

std::optional<int64_t> HloRecord::integer(StringRef key) const {
  auto found = integers.find(key.str());
  return found == integers.end() ? std::nullopt : std::optional(found->second);
}

Expected<HloRecord> parseHloRecord(StringRef text) {
  HloRecord record;
  RecordReader reader(text);
  if (!reader.record(record))
    return reader.error();
  return record;
}

/// The record of an attribute that must be called `name`.
static Expected<HloRecord> readRecord(Attribute attribute, StringRef name) {
  if (!attribute)
    return makeError(("missing attribute '" + name + "<…>'").str());
  std::string text = hloAttributeText(attribute);
  Expected<HloRecord> record = parseHloRecord(text);
  if (record && record->name != name)
    return makeError(("expected an attribute '" + name + "<…>', but found '" + text + "'").str());
  return record;
}

//===----------------------------------------------------------------------===//
// Dimension numbers
//===----------------------------------------------------------------------===//

Expected<DotDims> parseDotDims(Attribute attribute) {
  if (!attribute)
    return DotDims();
  std::string text = hloAttributeText(attribute);
  // A ragged dot holds the numbers of a dot in a field of its own.
  Expected<HloRecord> record = readRecord(attribute, StringRef(text).starts_with("ragged_dot<") ? "ragged_dot" : "dot");
  if (!record)
    return record.error();
  return DotDims{record->list("lhs_batching_dimensions"), record->list("rhs_batching_dimensions"),
                 record->list("lhs_contracting_dimensions"), record->list("rhs_contracting_dimensions")};
}

/// One operand of `[b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f]`: where its two letters stand, and its spatial dimensions in
/// order.
static bool readConvOperand(RecordReader &reader, char first, char second, int64_t &firstAt, int64_t &secondAt,
                            Ints &spatial) {
  SmallVector<StringRef> items;
  if (!reader.dimensionList(items))
    return false;
  if (items.size() < 2)
    return reader.fail("expected at least two dimensions");
  firstAt = secondAt = -1;
  spatial.assign(items.size() - 2, -1);
  for (auto [position, item] : llvm::enumerate(items)) {
    int64_t number;
    int64_t *slot = nullptr;
    if (item == StringRef(&first, 1))
      slot = &firstAt;
    else if (item == StringRef(&second, 1))
      slot = &secondAt;
    else if (!item.getAsInteger(10, number) && number >= 0 && number < static_cast<int64_t>(spatial.size()))
      slot = &spatial[number];
    if (!slot)
      return reader.fail(("unexpected dimension '" + item + "'").str());
    if (*slot >= 0)
      return reader.fail(("dimension '" + item + "' stands twice").str());
    *slot = static_cast<int64_t>(position);
  }
  return true;
}

static Expected<ConvDims> readPrettyConv(StringRef text) {
  ConvDims dims;
  RecordReader reader(text);
  bool ok = reader.word() == "conv" && reader.expect('<') &&
            readConvOperand(reader, 'b', 'f', dims.inputBatch, dims.inputFeature, dims.inputSpatial) &&
            reader.expect('x') &&
            readConvOperand(reader, 'i', 'o', dims.kernelInputFeature, dims.kernelOutputFeature, dims.kernelSpatial) &&
            reader.expect('-') && reader.expect('>') &&
            readConvOperand(reader, 'b', 'f', dims.outputBatch, dims.outputFeature, dims.outputSpatial) &&
            reader.expect('>') && reader.end();
  if (!ok) {
    reader.fail("expected 'conv<[…]x[…]->[…]>'");
    return reader.error();
  }
  return dims;
}

static Expected<ConvDims> readRawConv(StringRef text) {
  // `conv<raw key = value, …>` is a record but for the word `raw`.
  StringRef rest = text;
  rest.consume_front("conv<raw");
  Expected<HloRecord> record = parseHloRecord(("conv<" + rest).str());
  if (!record)
    return record.error();
  ConvDims dims;
  std::pair<StringRef, int64_t *> numbers[] = {{"input_batch_dimension", &dims.inputBatch},
                                               {"input_feature_dimension", &dims.inputFeature},
                                               {"kernel_input_feature_dimension", &dims.kernelInputFeature},
                                               {"kernel_output_feature_dimension", &dims.kernelOutputFeature},
                                               {"output_batch_dimension", &dims.outputBatch},
                                               {"output_feature_dimension", &dims.outputFeature}};
  for (auto [key, into] : numbers) {
    std::optional<int64_t> number = record->integer(key);
    if (!number)
      return makeError(("malformed attribute '" + text + "': missing '" + key + "'").str());
    *into = *number;
  }
  dims.inputSpatial = record->list("input_spatial_dimensions");
  dims.kernelSpatial = record->list("kernel_spatial_dimensions");
  dims.outputSpatial = record->list("output_spatial_dimensions");
  return dims;
}

Expected<ConvDims> parseConvDims(Attribute attribute) {
  if (!attribute)
    return makeError("missing attribute 'dimension_numbers'");
  std::string text = hloAttributeText(attribute);
  bool raw = StringRef(text).starts_with("conv<raw");
  Expected<ConvDims> dims = raw ? readRawConv(text) : readPrettyConv(text);
  if (dims && (dims->inputSpatial.size() != dims->kernelSpatial.size() ||
               dims->inputSpatial.size() != dims->outputSpatial.size()))
    return makeError("malformed attribute '" + text +
                     "': input, kernel and output have different numbers of dimensions");
  return dims;
}

Expected<GatherDims> parseGatherDims(Attribute attribute) {
  Expected<HloRecord> record = readRecord(attribute, "gather");
  if (!record)
    return record.error();
  return GatherDims{record->list("offset_dims"),           record->list("collapsed_slice_dims"),
                    record->list("operand_batching_dims"), record->list("start_indices_batching_dims"),
                    record->list("start_index_map"),       record->integer("index_vector_dim").value_or(0)};
}

Expected<ScatterDims> parseScatterDims(Attribute attribute) {
  Expected<HloRecord> record = readRecord(attribute, "scatter");
  if (!record)
    return record.error();
  return ScatterDims{record->list("update_window_dims"),           record->list("inserted_window_dims"),
                     record->list("input_batching_dims"),          record->list("scatter_indices_batching_dims"),
                     record->list("scatter_dims_to_operand_dims"), record->integer("index_vector_dim").value_or(0)};
}

//===----------------------------------------------------------------------===//
// Enums and integers
//===----------------------------------------------------------------------===//

std::string hloEnum(Attribute attribute) {
  if (!attribute)
    return {};
  std::string text = hloAttributeText(attribute);
  StringRef rest = StringRef(text).trim();
  return rest.substr(rest.find_last_of(" \t") + 1).str();
}

/// Whether values of the type fit 64 bits.
static bool isNarrow(Type type) { return type.isIndex() || (type.isInteger() && type.getIntOrFloatBitWidth() <= 64); }

std::optional<int64_t> hloInteger(Attribute attribute) {
  if (auto integer = dyn_cast_or_null<IntegerAttr>(attribute); integer && isNarrow(integer.getType()))
    return integer.getValue().getSExtValue();
  if (auto elements = dyn_cast_or_null<DenseIntElementsAttr>(attribute);
      elements && elements.isSplat() && isNarrow(elements.getElementType()))
    return elements.getSplatValue<llvm::APInt>().getSExtValue();
  return std::nullopt;
}

std::optional<Ints> hloIntegers(Attribute attribute) {
  if (auto array = dyn_cast_or_null<DenseI64ArrayAttr>(attribute))
    return Ints(array.asArrayRef());
  if (auto array = dyn_cast_or_null<DenseI32ArrayAttr>(attribute))
    return Ints(array.asArrayRef());
  if (auto array = dyn_cast_or_null<DenseBoolArrayAttr>(attribute))
    return Ints(array.asArrayRef());
  Ints integers;
  if (auto elements = dyn_cast_or_null<DenseIntElementsAttr>(attribute)) {
    // Windows and paddings are short; a splat that claims otherwise isn't one.
    if (elements.getNumElements() > 4096 || !isNarrow(elements.getElementType()))
      return std::nullopt;
    for (const llvm::APInt &value : elements.getValues<llvm::APInt>())
      integers.push_back(elements.getElementType().isInteger(1) ? value.getZExtValue() : value.getSExtValue());
    return integers;
  }
  if (auto array = dyn_cast_or_null<ArrayAttr>(attribute)) {
    for (Attribute element : array) {
      auto integer = dyn_cast<IntegerAttr>(element);
      if (!integer || !isNarrow(integer.getType()))
        return std::nullopt;
      integers.push_back(integer.getValue().getSExtValue());
    }
    return integers;
  }
  return std::nullopt;
}

} // namespace remat
