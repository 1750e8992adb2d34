//===- NpzTest.cpp ---------------------------------------------------------===//
//
// Part of the Remat project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "remat/Runtime/Inputs.h"
#include "remat/Runtime/Types.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <sstream>

using namespace remat::runtime;

/// numpy.savez_compressed of 0000_x = arange(6, float32).reshape(2, 3), 0001_f = asfortranarray(arange(6,
/// int16).reshape(2, 3)) and 0002_s = bool_(True): deflated, with zip64 fields.
static std::string compressedByNumpy() {
  constexpr std::string_view digits =
      "504b03042d0000000800000021004fe9002affffffffffffffff0a001400303030305f782e6e707901001000980000000000"
      "000055000000000000009bec17ea1b10c9c850c650ad9e925a9c5ca46ea5a06e9366a2aea3a09e965f54529498179f5f9492"
      "0a12774bcc294e058a17672416a402f91a463a0ac69a3a0ab50a64032e063068b007120e4004c40d40bcc00100504b03042d"
      "00000008000000210068c6180fffffffffffffffff0a001400303030315f662e6e7079010010008c00000000000000510000"
      "00000000009bec17ea1b10c9c850c650ad9e925a9c5ca46ea5a06e9369a4aea3a09e965f54529498179f5f94920a120f292a"
      "4d050a17672416a402b91a463a0ac69a3a0ab50ae4032e06066606460616062606560600504b03042d000000080000002100"
      "822df8d3ffffffffffffffff0a001400303030325f732e6e707901001000810000000000000043000000000000009bec17ea"
      "1b10c9c850c650ad9e925a9c5ca46ea5a05e9364a8aea3a09e965f54529498179f5f94920a12774bcc294e058a17672416a4"
      "02f91a9a3a0ab50a14012e4600504b01022d032d0000000800000021004fe9002a55000000980000000a0000000000000000"
      "000000800100000000303030305f782e6e7079504b01022d032d00000008000000210068c6180f510000008c0000000a0000"
      "000000000000000000800191000000303030315f662e6e7079504b01022d032d000000080000002100822df8d34300000081"
      "0000000a000000000000000000000080011e010000303030325f732e6e7079504b05060000000003000300a80000009d0100"
      "000000";
  std::string bytes;
  for (size_t i = 0; i < digits.size(); i += 2)
    bytes += char(std::stoi(std::string(digits.substr(i, 2)), nullptr, 16));
  return bytes;
}

template <typename T>
static std::vector<T> valuesOf(const NpzArray &array) {
  std::vector<T> values(array.data.size() / sizeof(T));
  std::memcpy(values.data(), array.data.data(), array.data.size());
  return values;
}

static std::string write(const std::vector<NpzEntry> &entries) {
  std::ostringstream out;
  writeNpz(out, entries);
  return out.str();
}

TEST(NpzTest, readsWhatNumpyDeflates) {
  auto arrays = parseNpz(compressedByNumpy(), "x.npz");
  ASSERT_TRUE(arrays) << arrays.error().str();
  ASSERT_EQ(arrays->size(), 3u);
  EXPECT_EQ((*arrays)[0].key, "0000_x");
  EXPECT_EQ(spell((*arrays)[0].type), "2x3xf32");
  EXPECT_EQ(valuesOf<float>((*arrays)[0]), (std::vector<float>{0, 1, 2, 3, 4, 5}));
  // Stored by columns, read by rows.
  EXPECT_EQ(spell((*arrays)[1].type), "2x3xi16");
  EXPECT_EQ(valuesOf<int16_t>((*arrays)[1]), (std::vector<int16_t>{0, 1, 2, 3, 4, 5}));
  EXPECT_EQ(spell((*arrays)[2].type), "i1");
  EXPECT_EQ(valuesOf<char>((*arrays)[2]), std::vector<char>{1});
}

TEST(NpzTest, readsWhatItWrites) {
  std::vector<double> data = {1.5, -2, 3, 4, 5, 6};
  std::vector<NpzEntry> entries;
  std::pair<ElementType, bool> types[] = {
      {ElementType::F64, false}, {ElementType::F32, false}, {ElementType::F16, false}, {ElementType::I64, false},
      {ElementType::I64, true},  {ElementType::I32, false}, {ElementType::I32, true},  {ElementType::I16, true},
      {ElementType::I8, false},  {ElementType::I8, true},   {ElementType::I1, false}};
  for (auto [element, isUnsigned] : types)
    for (const std::vector<int64_t> &shape : {std::vector<int64_t>{}, {3}, {2, 3}, {0, 4}})
      entries.push_back({npzKey(entries.size(), "a"), {element, shape}, isUnsigned, data.data()});
  std::string bytes = write(entries);
  EXPECT_EQ(bytes, write(entries));
  auto arrays = parseNpz(bytes, "x.npz");
  ASSERT_TRUE(arrays) << arrays.error().str();
  ASSERT_EQ(arrays->size(), entries.size());
  for (size_t i = 0; i < entries.size(); ++i) {
    EXPECT_EQ((*arrays)[i].key, entries[i].key);
    EXPECT_EQ((*arrays)[i].type, entries[i].type);
    EXPECT_EQ((*arrays)[i].isUnsigned, entries[i].isUnsigned);
    const std::vector<char> &read = (*arrays)[i].data;
    EXPECT_EQ(read.size(), size_t(entries[i].type.bytes()));
    EXPECT_TRUE(std::equal(read.begin(), read.end(), reinterpret_cast<const char *>(data.data())));
  }
}

TEST(NpzTest, writesNarrowFloatsAsF32) {
  // bf16: 0x3fc0 = 1.5, 0xc000 = -2. f8E4M3FN: 0x38 = 1, 0x7e = 448.
  uint16_t brain[] = {0x3fc0, 0xc000};
  uint8_t eight[] = {0x38, 0x7e};
  auto arrays = parseNpz(
      write({{"b", {ElementType::BF16, {2}}, false, brain}, {"e", {ElementType::F8E4M3FN, {2}}, false, eight}}),
      "x.npz");
  ASSERT_TRUE(arrays);
  EXPECT_EQ((*arrays)[0].type, (TensorType{ElementType::F32, {2}}));
  EXPECT_EQ(valuesOf<float>((*arrays)[0]), (std::vector<float>{1.5, -2}));
  EXPECT_EQ(valuesOf<float>((*arrays)[1]), (std::vector<float>{1, 448}));
}

TEST(NpzTest, checksumsWhatHasNoElementsAndNoAddress) {
  auto arrays = parseNpz(write({{"a", {ElementType::F32, {0, 4}}, false, nullptr}}), "x.npz");
  ASSERT_TRUE(arrays) << arrays.error().str();
  EXPECT_EQ((*arrays)[0].type, (TensorType{ElementType::F32, {0, 4}}));
}

TEST(NpzTest, saysWhatIsWrongWithAFile) {
  auto errorOf = [](std::string_view bytes) { return parseNpz(bytes, "x.npz").error().str(); };
  EXPECT_EQ(errorOf(""), "x.npz: the file is empty (expected an .npz file: numpy.savez writes them)");
  EXPECT_EQ(errorOf("hello"), "x.npz: no archive of numpy's (expected an .npz file: numpy.savez writes them)");
  std::string bytes = compressedByNumpy();
  EXPECT_EQ(errorOf(std::string_view(bytes).substr(0, bytes.size() / 2)),
            "x.npz: the archive is cut off or corrupt (write the file again)");
  auto npy = [](std::string header) {
    header.resize(118, ' ');
    return std::string("\x93NUMPY\1\0\x76\0", 10) + header;
  };
  EXPECT_EQ(errorOf(npy("{'descr': '>f4', 'fortran_order': False, 'shape': (2,), }") + "12345678"),
            "x.npz: elements of type '>f4' are big-endian (expected little-endian ones: convert with numpy's "
            "astype('<f4'))");
  EXPECT_EQ(errorOf(npy("{'descr': '<c8', 'fortran_order': False, 'shape': (1,), }") + "12345678"),
            "x.npz: elements of type '<c8' (expected f2, f4, f8, i1 to i8, u1 to u8 or b1: convert with numpy's "
            "astype)");
  EXPECT_EQ(errorOf(npy("{'descr': '<f4', 'fortran_order': False, 'shape': (3,), }") + "12345678"),
            "x.npz: 3xf32 needs 12 bytes, found 8 (the array is cut off: write the file again)");
  EXPECT_EQ(errorOf(npy("{'descr': '<f4', 'fortran_order': False, 'shape': (-3,), }")),
            "x.npz: the header's shape is '(-3,)' (the file is corrupt)");
  EXPECT_EQ(errorOf(npy("{'descr': [('a', '<f4')], 'fortran_order': False, 'shape': (1,), }")),
            "x.npz: elements of type 'a list of fields' (expected f2, f4, f8, i1 to i8, u1 to u8 or b1: convert with "
            "numpy's astype)");
  auto missing = readNpz("/no/such/file.npz");
  ASSERT_FALSE(missing);
  EXPECT_EQ(missing.error().str(), "/no/such/file.npz: cannot read: no such file or directory");
}

TEST(NpzTest, survivesDamage) {
  for (const std::string &whole : {compressedByNumpy(), write({{"a", {ElementType::F32, {}}, false, "1234"}})}) {
    for (size_t size = 0; size < whole.size(); ++size)
      EXPECT_FALSE(parseNpz(std::string_view(whole).substr(0, size), "x")) << size;
    // Some bytes (dates, versions) mean nothing to us; the others must give an error and not a crash.
    for (size_t at = 0; at < whole.size(); ++at)
      for (char flip : {'\x01', '\x80', '\xff'}) {
        std::string damaged = whole;
        damaged[at] ^= flip;
        (void)parseNpz(damaged, "x");
      }
  }
}

namespace {
class MatchTest : public testing::Test {
protected:
  NpzArray array(std::string key, TensorType type, std::vector<float> values) {
    NpzArray result{std::move(key), std::move(type), false, {}};
    result.data.resize(values.size() * 4);
    std::memcpy(result.data.data(), values.data(), result.data.size());
    return result;
  }
  std::string error(std::vector<NpzArray> arrays) {
    auto matched = matchArguments(std::move(arrays), program, "in.npz");
    return matched ? "" : matched.error().str();
  }

  TensorType pair = {ElementType::F32, {2}};
  Program program;
};
} // namespace

TEST_F(MatchTest, ordersByKey) {
  program.arguments = {{"a", pair}, {"b", pair}};
  auto matched = matchArguments({array("0001_b", pair, {3, 4}), array("0000_a", pair, {1, 2})}, program, "in.npz");
  ASSERT_TRUE(matched) << matched.error().str();
  float first;
  std::memcpy(&first, (*matched)[0].data(), 4);
  EXPECT_EQ(first, 1);
}

TEST_F(MatchTest, roundsToBf16) {
  program.arguments = {{"a", {ElementType::BF16, {2}}}};
  // 1 + 2^-8 lies between 1 and 1 + 2^-7: the tie goes to the even 1. 1 + 3 × 2^-8: to 1 + 2^-6.
  auto matched = matchArguments({array("0000_a", pair, {1 + 0x1p-8f, 1 + 0x3p-8f})}, program, "in.npz");
  ASSERT_TRUE(matched) << matched.error().str();
  uint16_t bits[2];
  std::memcpy(bits, (*matched)[0].data(), 4);
  EXPECT_EQ(bits[0], 0x3f80);
  EXPECT_EQ(bits[1], 0x3f82);
}

TEST_F(MatchTest, namesWhatDoesNotFit) {
  program.arguments = {{"a", pair}, {"n", {ElementType::I32, {}}}};
  NpzArray a = array("0000_a", pair, {1, 2}), n{"0001_n", {ElementType::I32, {}}, false, std::vector<char>(4)};
  EXPECT_EQ(error({a, n}), "");
  EXPECT_EQ(error({a}), "in.npz: no array for argument 1: expected '0001_n' of i32 (the program has 2 arguments, the "
                        "file 1 array)");
  EXPECT_EQ(error({a, n, array("0002_x", pair, {1, 2})}),
            "in.npz: the array '0002_x' is one too many: the program has 2 arguments");
  EXPECT_EQ(error({a, array("0000_b", pair, {1, 2})}), "in.npz: the arrays '0000_a' and '0000_b' are both argument 0");
  EXPECT_EQ(
      error({array("0000_a", {ElementType::F32, {1, 2}}, {1, 2}), n}),
      "in.npz: '0000_a': expected 2xf32 for 'a', found 1x2xf32 (reshape with numpy's reshape; a scalar's shape is ())");
  n.type.element = ElementType::I64;
  EXPECT_EQ(error({a, n}), "in.npz: '0001_n': expected i32 for 'n', found i64 (convert with numpy's astype)");
}

TEST_F(MatchTest, measuresTheErrorByTheLargestMagnitude) {
  float data[] = {1, -8};
  // max |a - b| = 2, max |b| = 10
  EXPECT_DOUBLE_EQ(relativeError(pair, false, data, array("r", pair, {1, -10})), 0.2);
  EXPECT_EQ(relativeError(pair, false, data, array("r", pair, {1, -8})), 0);
  // A reference of zeros has no scale.
  EXPECT_EQ(relativeError(pair, false, data, array("r", pair, {0, 0})), 8);
  float nan = std::nanf(""), infinity = std::numeric_limits<float>::infinity(), special[] = {nan, infinity};
  EXPECT_EQ(relativeError(pair, false, special, array("r", pair, {nan, infinity})), 0);
  EXPECT_EQ(relativeError(pair, false, data, array("r", pair, {nan, -8})), infinity);
  EXPECT_EQ(relativeError(pair, false, special, array("r", pair, {nan, 8})), infinity);
  EXPECT_EQ(findNonFinite(pair, data), std::nullopt);
  EXPECT_EQ(findNonFinite(pair, special), 0);
  int32_t integers[] = {0x7fc00000, 1};
  EXPECT_EQ(findNonFinite({ElementType::I32, {2}}, integers), std::nullopt);
}
