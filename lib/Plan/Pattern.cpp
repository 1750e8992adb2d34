//===- Pattern.cpp - The user's regular expressions ------------------------===//
//
// Part of the Remat project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Pattern.h"

#include "Text.h"

#include <re2/re2.h>

using namespace remat;

Expected<Pattern> Pattern::parse(std::string_view pattern, std::string_view user) {
  re2::RE2::Options options;
  options.set_log_errors(false);
  // Bytes: names come from locations, which need not be UTF-8.
  options.set_encoding(re2::RE2::Options::EncodingLatin1);
  auto regex = std::make_shared<const re2::RE2>(re2::StringPiece(pattern.data(), pattern.size()), options);
  if (!regex->ok())
    return makeError(formatText("{}: bad regular expression: {}", user, regex->error()), {},
                     "write a regular expression as RE2 reads them: without look-around and back-references");
  return Pattern(std::move(regex));
}

bool Pattern::matchesWhole(std::string_view text) const {
  return re2::RE2::FullMatch(re2::StringPiece(text.data(), text.size()), *regex);
}
