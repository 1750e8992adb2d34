//===- TypesTest.cpp -------------------------------------------------------===//
//
// Part of the Remat project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "remat/Runtime/Types.h"

#include <gtest/gtest.h>

#include <cmath>

using namespace remat::runtime;

TEST(TypesTest, countsBytes) {
  EXPECT_EQ((TensorType{ElementType::F32, {2, 3}}).bytes(), 24);
  EXPECT_EQ((TensorType{ElementType::BF16, {}}).bytes(), 2);
  EXPECT_EQ((TensorType{ElementType::I1, {5, 0}}).bytes(), 0);
  EXPECT_EQ(spell(TensorType{ElementType::F8E4M3FN, {2, 3}}), "2x3xf8E4M3FN");
  EXPECT_EQ(spell(TensorType{ElementType::I64, {}}), "i64");
}

TEST(TypesTest, roundsToNearestEven) {
  // f16: 1 + 2^-11 ties to 1, 1 + 3 × 2^-11 to 1 + 2^-9.
  EXPECT_EQ(encodeNarrowFloat(ElementType::F16, 1 + 0x1p-11f), 0x3c00);
  EXPECT_EQ(encodeNarrowFloat(ElementType::F16, 1 + 0x3p-11f), 0x3c02);
  EXPECT_EQ(encodeNarrowFloat(ElementType::F16, 65504.0f), 0x7bff);
  EXPECT_EQ(encodeNarrowFloat(ElementType::F16, 65519.0f), 0x7bff);
  EXPECT_EQ(encodeNarrowFloat(ElementType::F16, 65520.0f), 0x7c00); // infinity
  EXPECT_EQ(encodeNarrowFloat(ElementType::F16, 0x1p-24f), 1);      // the least subnormal
  EXPECT_EQ(encodeNarrowFloat(ElementType::F16, 0x1p-25f), 0);      // a tie, to even
  EXPECT_EQ(encodeNarrowFloat(ElementType::F16, -0.0f), 0x8000);
  EXPECT_EQ(encodeNarrowFloat(ElementType::BF16, 3.0e38f), 0x7f62);
  // 448 is the largest f8E4M3FN; 464 ties to it, more is NaN.
  EXPECT_EQ(encodeNarrowFloat(ElementType::F8E4M3FN, 448.0f), 0x7e);
  EXPECT_EQ(encodeNarrowFloat(ElementType::F8E4M3FN, 464.0f), 0x7e);
  EXPECT_EQ(encodeNarrowFloat(ElementType::F8E4M3FN, 465.0f), 0x7f);
  EXPECT_EQ(encodeNarrowFloat(ElementType::F8E5M2, 57344.0f), 0x7b);
  EXPECT_EQ(encodeNarrowFloat(ElementType::F8E5M2, 61440.0f), 0x7c);
}

TEST(TypesTest, encodesWhatItDecodes) {
  for (ElementType element : {ElementType::F16, ElementType::BF16, ElementType::F8E5M2, ElementType::F8E4M3FN}) {
    int codes = TensorType{element, {}}.elementBytes() == 2 ? 1 << 16 : 1 << 8;
    for (int code = 0; code < codes; ++code) {
      float value = decodeNarrowFloat(element, uint16_t(code));
      if (std::isnan(value))
        EXPECT_TRUE(std::isnan(decodeNarrowFloat(element, encodeNarrowFloat(element, value))));
      else
        ASSERT_EQ(encodeNarrowFloat(element, value), code) << spell(element);
    }
  }
}

TEST(TypesTest, readsAllTypesAsDoubles) {
  double out[2];
  int8_t bytes[] = {-1, 2};
  toDoubles(ElementType::I8, false, bytes, 2, out);
  EXPECT_EQ(out[0], -1);
  toDoubles(ElementType::I8, true, bytes, 2, out);
  EXPECT_EQ(out[0], 255);
  uint16_t halves[] = {0x3c00, 0xc000};
  toDoubles(ElementType::F16, false, halves, 2, out);
  EXPECT_EQ(out[1], -2);
}
