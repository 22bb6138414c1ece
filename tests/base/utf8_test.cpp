// SPDX-License-Identifier: Apache-2.0
#include "base/utf8.h"

#include <string>
#include <string_view>

#include <gtest/gtest.h>

namespace steptape {
namespace {

constexpr char kReplacement[] = "\xef\xbf\xbd";

std::string replacements(int count) {
  std::string text;
  for (int i = 0; i < count; ++i) {
    text += kReplacement;
  }
  return text;
}

/// Returns the bytes of one code point by the definition of UTF-8.
std::string encoded(char32_t point) {
  const auto byte = [](char32_t bits) { return static_cast<char>(bits); };
  if (point < 0x80) {
    return {byte(point)};
  }
  if (point < 0x800) {
    return {byte(0xc0 | point >> 6), byte(0x80 | (point & 0x3f))};
  }
  if (point < 0x10000) {
    return {byte(0xe0 | point >> 12), byte(0x80 | (point >> 6 & 0x3f)),
            byte(0x80 | (point & 0x3f))};
  }
  return {byte(0xf0 | point >> 18), byte(0x80 | (point >> 12 & 0x3f)),
          byte(0x80 | (point >> 6 & 0x3f)), byte(0x80 | (point & 0x3f))};
}

TEST(Utf8, AcceptsEveryCodePointAndNoSurrogate) {
  for (char32_t point = 0; point <= 0x10ffff; ++point) {
    const bool isSurrogate = point >= 0xd800 && point <= 0xdfff;
    ASSERT_EQ(detail::base::isValidUtf8(encoded(point)), !isSurrogate)
        << "U+" << std::hex << std::size_t{point};
  }
}

TEST(Utf8, AcceptsText) {
  EXPECT_TRUE(detail::base::isValidUtf8(""));
  EXPECT_TRUE(detail::base::isValidUtf8("loss/tr\xc3\xa4in \xf0\x9f\x94\xa5"));
  EXPECT_TRUE(detail::base::isValidUtf8({"\0", 1}));
}

TEST(Utf8, RejectsIllFormedText) {
  EXPECT_FALSE(detail::base::isValidUtf8("\x80"));              // a continuation without a start
  EXPECT_FALSE(detail::base::isValidUtf8("\xc3"));              // cut short
  EXPECT_FALSE(detail::base::isValidUtf8("\xc3z"));             // a start without a continuation
  EXPECT_FALSE(detail::base::isValidUtf8("\xc0\xaf"));          // overlong
  EXPECT_FALSE(detail::base::isValidUtf8("\xe0\x9f\xbf"));      // overlong
  EXPECT_FALSE(detail::base::isValidUtf8("\xf0\x8f\xbf\xbf"));  // overlong
  EXPECT_FALSE(detail::base::isValidUtf8("\xf4\x90\x80\x80"));  // beyond U+10FFFF
  EXPECT_FALSE(detail::base::isValidUtf8("\xff"));
}

TEST(Utf8, KeepsWellFormedText) {
  for (const std::string_view text : {"", "loss", "\xc3\xa4\xe2\x82\xac\xf0\x9f\x94\xa5"}) {
    EXPECT_EQ(detail::base::replaceInvalidUtf8(text), text);
  }
}

// The example of The Unicode Standard 15.0, table 3-11.
TEST(Utf8, ReplacesEachMaximalPart) {
  EXPECT_EQ(detail::base::replaceInvalidUtf8("\xe1\x80\xe2\xf0\x91\x92\xf1\xbf\x41"),
            replacements(4) + "A");
}

// The example of table 3-8: bytes that can start nothing are replaced one by one.
TEST(Utf8, ReplacesEachByteOfAnOverlongForm) {
  EXPECT_EQ(detail::base::replaceInvalidUtf8("\xc0\xaf\xe0\x80\xbf\xf0\x81\x82\x41"),
            replacements(8) + "A");
}

TEST(Utf8, GivesWellFormedTextForEveryPairOfBytes) {
  for (int first = 0; first < 256; ++first) {
    for (int second = 0; second < 256; ++second) {
      const std::string bytes = {static_cast<char>(first), static_cast<char>(second)};
      ASSERT_TRUE(detail::base::isValidUtf8(detail::base::replaceInvalidUtf8(bytes)))
          << first << ' ' << second;
      ASSERT_EQ(detail::base::replaceInvalidUtf8(bytes) == bytes, detail::base::isValidUtf8(bytes))
          << first << ' ' << second;
    }
  }
}

}  // namespace
}  // namespace steptape
