// SPDX-License-Identifier: Apache-2.0
#include "profile/trace/trace_text.h"

#include <functional>
#include <limits>
#include <random>
#include <string>
#include <vector>

#include "steptape/ranks/testing.h"

#include "profile/trace/gunzip.h"
#include "support/content_of.h"

#include <gtest/gtest.h>

namespace steptape::detail::profile {
namespace {

/// Returns the bytes of a file with the text of `append`.
std::string fileOf(bool compress, const std::function<void(TraceText*)>& append) {
  const testing::TempDir dir;
  const std::string path = dir.string() + "/file";
  base::ReplacementFile file(path);
  EXPECT_TRUE(file.open().ok());
  TraceText text(&file, compress);
  append(&text);
  text.finish();
  EXPECT_TRUE(file.finish().ok());
  EXPECT_TRUE(file.appear(true).ok());
  return test::contentOf(path);
}

/// Returns the text in the file, which is the same with both kinds of file.
std::string textOf(const std::function<void(TraceText*)>& append) {
  const std::string plain = fileOf(false, append);
  EXPECT_TRUE(gunzipped(fileOf(true, append)) == plain);
  return plain;
}

TEST(TraceText, MayBeEmpty) {
  EXPECT_EQ(textOf([](TraceText*) {}), "");
}

TEST(TraceText, WritesIntegers) {
  EXPECT_EQ(
      textOf([](TraceText* text) {
        for (const std::int64_t value :
             {std::int64_t{0}, std::int64_t{-1}, std::int64_t{12345},
              std::numeric_limits<std::int64_t>::max(), std::numeric_limits<std::int64_t>::min()}) {
          text->append(" , ");
          text->appendInteger(value);
        }
      }),
      " , 0 , -1 , 12345 , 9223372036854775807 , -9223372036854775808");
}

TEST(TraceText, WritesMicrosecondsToTheDigit) {
  EXPECT_EQ(textOf([](TraceText* text) {
              for (const std::int64_t nanos :
                   {0L, 1L, 999L, 1000L, 1001L, 99'999L, 100'000L, 123'456'789L, -1L, -2500L,
                    4'493'330'855'355'873L, std::numeric_limits<std::int64_t>::max(),
                    -std::numeric_limits<std::int64_t>::max()}) {
                text->append(" , ");
                text->appendMicros(nanos);
              }
            }),
            " , 0.000 , 0.001 , 0.999 , 1.000 , 1.001 , 99.999 , 100.000 , 123456.789 , -0.001"
            " , -2.500 , 4493330855355.873 , 9223372036854775.807 , -9223372036854775.807");
}

TEST(TraceText, WritesNonFiniteNumbers) {
  EXPECT_EQ(textOf([](TraceText* text) {
              for (const double value : {0.1, -0.0, std::numeric_limits<double>::infinity()}) {
                text->appendNumber(value);
                text->append(" ");
              }
            }),
            "0.1 -0.0 \"Infinity\" ");
}

TEST(TraceText, TakesTextsOfAnySize) {
  std::mt19937 random(1);
  std::string expected;
  std::vector<std::string> texts;
  for (const std::size_t size : {0u, 1u, 131'070u, 1u, 131'072u, 131'073u, 1u, 1'000'000u}) {
    std::string& text = texts.emplace_back(size, '\0');
    for (char& c : text) {
      c = static_cast<char>(random() % 50);
    }
    expected += text;
  }
  EXPECT_TRUE(textOf([&texts](TraceText* text) {
                for (const std::string& part : texts) {
                  text->append(part);
                }
              }) == expected);
}

TEST(TraceText, CompressesNearlyEqualText) {
  const std::string bytes = fileOf(true, [](TraceText* text) {
    for (std::int64_t i = 0; i < 10'000; ++i) {
      text->append("{\"name\": \"aten::addmm\", \"pid\": 12345, \"tid\": 12345, \"ts\": ");
      text->appendMicros(4'493'330'855'355'873 + 1'234'567 * i);
      text->append(", \"dur\": 12.345},\n");
    }
  });
  EXPECT_LT(bytes.size(), 10'000u * 14);
}

}  // namespace
}  // namespace steptape::detail::profile
