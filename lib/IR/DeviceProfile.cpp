//===- DeviceProfile.cpp - How fast a device is ---------------------------===//
//
// Part of the Remat project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "remat/IR/DeviceProfile.h"

#include "remat/Plan/Policy.h"

#include "mlir/IR/BuiltinTypes.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/MemoryBuffer.h"

#include <cmath>

using namespace mlir;

namespace remat {

//===----------------------------------------------------------------------===//
// Built-in devices
//===----------------------------------------------------------------------===//

namespace {
struct BuiltIn {
  std::string_view name, alias;
  DeviceProfile profile;
};
} // namespace

/// Peak rates without sparsity; the link is one direction of PCIe; a launch is what a kernel costs back to back on one
/// stream. sm_80: NVIDIA A100 80GB SXM datasheet (2022). sm_90: NVIDIA H100 SXM datasheet (2023). sm_100: NVIDIA DGX
/// B200 datasheet (2024), an eighth of the system, and the HGX B200 figures for f64 and f32. cpu: two cores with
/// AVX-512 (Intel Xeon, Emerald Rapids): 2 FMA units × 16 lanes × 2 FLOP × 2.5 GHz each; what two cores draw from DDR5;
/// a launch is the fork and join of two threads.
static llvm::ArrayRef<BuiltIn> builtIns() {
  constexpr double tera = 1e12, giga = 1e9;
  static const BuiltIn table[] = {
      {"sm_80",
       "a100",
       {"sm_80",
        {19.5 * tera, 19.5 * tera, 156 * tera, 312 * tera, 312 * tera, 312 * tera, 624 * tera},
        {9.7 * tera, 19.5 * tera, 19.5 * tera, 39 * tera, 78 * tera, 78 * tera, 19.5 * tera},
        2039 * giga,
        32 * giga,
        2500}},
      {"sm_90",
       "h100",
       {"sm_90",
        {67 * tera, 67 * tera, 494.5 * tera, 989.5 * tera, 989.5 * tera, 1979 * tera, 1979 * tera},
        {34 * tera, 67 * tera, 67 * tera, 134 * tera, 134 * tera, 134 * tera, 67 * tera},
        3350 * giga,
        64 * giga,
        2000}},
      {"sm_100",
       "b200",
       {"sm_100",
        {37 * tera, 75 * tera, 1125 * tera, 2250 * tera, 2250 * tera, 4500 * tera, 4500 * tera},
        {37 * tera, 75 * tera, 75 * tera, 150 * tera, 150 * tera, 150 * tera, 75 * tera},
        8000 * giga,
        64 * giga,
        2000}},
      {"cpu",
       "",
       {"cpu",
        {160 * giga, 320 * giga, 320 * giga, 320 * giga, 320 * giga, 320 * giga, 1280 * giga},
        {80 * giga, 160 * giga, 160 * giga, 160 * giga, 160 * giga, 160 * giga, 160 * giga},
        30 * giga,
        30 * giga,
        2000}},
  };
  return table;
}

llvm::ArrayRef<std::string_view> deviceNames() {
  static constexpr std::string_view names[] = {"sm_80", "a100", "sm_90", "h100", "sm_100", "b200", "cpu"};
  return names;
}

Expected<DeviceProfile> findDevice(llvm::StringRef nameOrPath) {
  for (const BuiltIn &device : builtIns())
    if (nameOrPath == llvm::StringRef(device.name) ||
        (!device.alias.empty() && nameOrPath == llvm::StringRef(device.alias)))
      return device.profile;
  auto file = llvm::MemoryBuffer::getFile(nameOrPath);
  if (file) {
    Expected<DeviceProfile> profile = parseDevice((*file)->getBuffer());
    if (!profile) {
      // A field, or a line and a column.
      std::string &place = profile.error().place;
      bool isPosition = !place.empty() && llvm::isDigit(place.front());
      place = nameOrPath.str() + (place.empty() ? "" : isPosition ? ":" : ": ") + place;
    }
    return profile;
  }
  auto nearest = nearestName({nameOrPath.data(), nameOrPath.size()}, {deviceNames().data(), deviceNames().size()});
  std::string note =
      nearest ? "did you mean '" + std::string(*nearest) + "'?"
              : "built-in devices: " +
                    llvm::join(llvm::map_range(deviceNames(), [](auto name) { return std::string(name); }), ", ");
  return makeError("unknown device '" + nameOrPath.str() +
                       "': not a built-in device, and as a file: " + file.getError().message(),
                   {}, std::move(note));
}

//===----------------------------------------------------------------------===//
// JSON
//===----------------------------------------------------------------------===//

namespace {

/// Reads fields of an object and remembers the first thing that is wrong.
class ProfileReader {
public:
  std::optional<Error> error;

  void fail(std::string message, std::string place, std::string note = {}) {
    if (!error)
      error = Error{std::move(message), std::move(place), std::move(note)};
  }

  void checkKeys(const llvm::json::Object &object, const std::string &path, llvm::ArrayRef<std::string_view> known) {
    std::vector<std::string> keys;
    for (const auto &field : object)
      keys.push_back(field.first.str());
    llvm::sort(keys); // The object is a hash table; the first error must not depend on it.
    for (const std::string &key : keys)
      if (!llvm::is_contained(known, std::string_view(key))) {
        auto nearest = nearestName(key, {known.data(), known.size()});
        fail("unknown field", path + key,
             nearest ? "did you mean '" + std::string(*nearest) + "'?"
                     : "the fields are " +
                           llvm::join(llvm::map_range(known, [](auto name) { return std::string(name); }), ", "));
      }
  }

  /// A number above `least` (or equal to it, if `orEqual`), or `byDefault` where the field is missing.
  double number(const llvm::json::Object &object, llvm::StringRef key, const std::string &path,
                std::optional<double> byDefault, bool zeroAllowed = false) {
    const llvm::json::Value *value = object.get(key);
    if (!value) {
      if (!byDefault)
        fail("missing field", path + key.str(),
             "docs/Formats.md, \"Device profile\", lists the fields and their units");
      return byDefault.value_or(0);
    }
    std::optional<double> found = value->getAsNumber();
    if (!found || !std::isfinite(*found) || *found < 0 || (*found == 0 && !zeroAllowed))
      fail(zeroAllowed ? "expected a number that is not negative" : "expected a positive number", path + key.str(),
           "rates are per second, launch_ns is in nanoseconds");
    return found.value_or(0);
  }

  Throughput throughput(const llvm::json::Object &object, llvm::StringRef key) {
    Throughput rates;
    const llvm::json::Value *value = object.get(key);
    const llvm::json::Object *types = value ? value->getAsObject() : nullptr;
    if (!types) {
      fail(value ? "expected an object of numbers by type" : "missing field", key.str(),
           "say FLOP/s by element type, such as {\"f32\": 1e13}");
      return rates;
    }
    std::string path = key.str() + ".";
    checkKeys(*types, path, {"f64", "f32", "tf32", "bf16", "f16", "f8", "i8"});
    rates.f32 = number(*types, "f32", path, std::nullopt);
    rates.f64 = number(*types, "f64", path, rates.f32 / 2);
    rates.tf32 = number(*types, "tf32", path, rates.f32);
    rates.bf16 = number(*types, "bf16", path, rates.tf32);
    rates.f16 = number(*types, "f16", path, rates.bf16);
    rates.f8 = number(*types, "f8", path, rates.f16);
    rates.i8 = number(*types, "i8", path, rates.f8);
    return rates;
  }
};

} // namespace

Expected<DeviceProfile> parseDevice(llvm::StringRef json) {
  llvm::Expected<llvm::json::Value> value = llvm::json::parse(json);
  if (!value) {
    // LLVM writes `[line:column, byte=N]: text`.
    std::string text = llvm::toString(value.takeError());
    auto [place, message] = llvm::StringRef(text).split("]: ");
    place.consume_front("[");
    return makeError("not JSON: " + message.str(), place.split(',').first.str(), "a device profile is a JSON object");
  }
  const llvm::json::Object *object = value->getAsObject();
  if (!object)
    return makeError("expected an object", {}, "docs/Formats.md, \"Device profile\", lists the fields");
  ProfileReader reader;
  reader.checkKeys(*object, "",
                   {"name", "matrix_flops", "vector_flops", "bytes_per_second", "link_bytes_per_second", "launch_ns"});
  DeviceProfile profile;
  std::optional<llvm::StringRef> name = object->getString("name");
  if (!name || name->empty())
    reader.fail("expected a string that is not empty", "name", "the name stands in reports");
  profile.name = name.value_or("").str();
  profile.matrix = reader.throughput(*object, "matrix_flops");
  profile.vector = reader.throughput(*object, "vector_flops");
  profile.bytesPerSecond = reader.number(*object, "bytes_per_second", "", std::nullopt);
  profile.linkBytesPerSecond = reader.number(*object, "link_bytes_per_second", "", std::nullopt);
  profile.launchNs = reader.number(*object, "launch_ns", "", std::nullopt, /*zeroAllowed=*/true);
  if (reader.error)
    return std::move(*reader.error);
  return profile;
}

//===----------------------------------------------------------------------===//
// Roofline
//===----------------------------------------------------------------------===//

static double rateOf(const Throughput &rates, Type type) {
  if (auto complex = dyn_cast_or_null<ComplexType>(type))
    type = complex.getElementType();
  if (!type || !type.isIntOrIndexOrFloat())
    return rates.f32;
  if (isa<FloatTF32Type>(type))
    return rates.tf32;
  if (type.isBF16())
    return rates.bf16;
  unsigned width = type.isIndex() ? 64 : type.getIntOrFloatBitWidth();
  if (width > 32)
    return rates.f64;
  if (isa<FloatType>(type))
    return width > 16 ? rates.f32 : width > 8 ? rates.f16 : rates.f8;
  return width > 8 ? rates.f32 : rates.i8;
}

double costNs(const OpModel &model, const DeviceProfile &device) {
  constexpr double nsPerSecond = 1e9;
  if (model.isFree())
    return 0;
  if (model.opClass == OpClass::Loop) {
    double trip = 0;
    for (const OpModel &each : model.body)
      trip += costNs(each, device);
    return trip * static_cast<double>(model.tripCount.value_or(1));
  }
  double bytes = static_cast<double>(model.bytesMoved);
  if (model.opClass == OpClass::Collective)
    return bytes / device.linkBytesPerSecond * nsPerSecond + device.launchNs;
  bool matrix = model.opClass == OpClass::Dot || model.opClass == OpClass::Convolution;
  double rate = rateOf(matrix ? device.matrix : device.vector, model.computeType);
  // Libraries skip the holes of dilated convolutions.
  double flops = static_cast<double>(model.opClass == OpClass::Convolution ? model.convFlopsValid : model.flops);
  return std::max(flops / rate, bytes / device.bytesPerSecond) * nsPerSecond + device.launchNs;
}

} // namespace remat
