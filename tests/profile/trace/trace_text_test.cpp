// SPDX-License-Identifier: Apache-2.0
#include "profile/trace/text/trace_text.h"

#include <functional>
#include <limits>
#include <random>
#include <string>
#include <vector>

#include "steptape/base/json.h"
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

/// Returns the text in the file, which is the same with both kinds of file. `append` is called
/// again for each file, because repeated texts belong to one.
std::string textOf(const std::function<void(TraceText*)>& append) {
  const std::string plain = fileOf(false, append);
  EXPECT_TRUE(gunzipped(fileOf(true, append)) == plain);
  return plain;
}

TEST(TraceText, MayBeEmpty) {
  EXPECT_EQ(textOf([](TraceText*) {}), "");
}

TEST(TraceText, RepeatsTexts) {
  EXPECT_EQ(textOf([](TraceText* text) {
              RepeatedText repeated("phrase ");
              text->append(&repeated);
              text->append("and ");
              text->append(&repeated);
              text->append(&repeated);
            }),
            "phrase and phrase phrase ");
}

TEST(TraceText, RepeatsTextsThatAreTooShortToMatch) {
  EXPECT_EQ(textOf([](TraceText* text) {
              RepeatedText none("");
              RepeatedText one("1");
              RepeatedText two("22");
              for (int i = 0; i < 3; ++i) {
                text->append(&none);
                text->append(&one);
                text->append(&two);
              }
            }),
            "122122122");
}

TEST(TraceText, WritesIntegers) {
  EXPECT_EQ(
      textOf([](TraceText* text) {
        RepeatedText comma(" , ");
        for (const std::int64_t value :
             {std::int64_t{0}, std::int64_t{-1}, std::int64_t{12345},
              std::numeric_limits<std::int64_t>::max(), std::numeric_limits<std::int64_t>::min()}) {
          text->append(&comma);
          text->appendInteger(value);
        }
      }),
      " , 0 , -1 , 12345 , 9223372036854775807 , -9223372036854775808");
}

TEST(TraceText, WritesMicrosecondsToTheDigit) {
  EXPECT_EQ(textOf([](TraceText* text) {
              RepeatedText comma(" , ");
              NumberSeries series;
              for (const std::int64_t nanos :
                   {0L, 1L, 999L, 1000L, 1001L, 99'999L, 100'000L, 123'456'789L, -1L, -2500L,
                    4'493'330'855'355'873L, 4'493'330'855'355'999L, 4'493'330'855'400'000L}) {
                text->append(&comma);
                text->appendMicros(nanos);
                text->append(" ");
                text->appendMicros(nanos, &series);
              }
            }),
            " , 0.000 0.000 , 0.001 0.001 , 0.999 0.999 , 1.000 1.000 , 1.001 1.001"
            " , 99.999 99.999 , 100.000 100.000 , 123456.789 123456.789 , -0.001 -0.001"
            " , -2.500 -2.500 , 4493330855355.873 4493330855355.873"
            " , 4493330855355.999 4493330855355.999 , 4493330855400.000 4493330855400.000");
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

TEST(TraceText, TakesPhrasesOfAnySize) {
  std::string expected;
  const auto append = [&expected](TraceText* text) {
    expected.clear();
    for (const std::size_t size : {16'383u, 16'384u, 16'385u, 40'000u, 1'000'000u}) {
      std::string content;
      while (content.size() < size) {
        content += std::to_string(content.size()) + ' ';
      }
      content.resize(size);
      RepeatedText repeated(content);
      for (int i = 0; i < 3; ++i) {
        text->append(&repeated);
        expected += content;
      }
    }
  };
  EXPECT_TRUE(textOf(append) == expected);
}

/// Appends random text made of few parts, so that most of it is repeated, and records the expected
/// text.
void appendAnything(unsigned seed, TraceText* text, std::string* expected) {
  std::mt19937 random(seed);
  std::vector<std::string> parts;
  for (int i = 0; i < 40; ++i) {
    parts.push_back(
        std::string(random() % (i % 8 == 0 ? 900 : 60), static_cast<char>('a' + i % 26)) +
        std::to_string(i));
  }
  struct Known {
    RepeatedText repeated;
    std::string text;
  };
  std::vector<Known> repeatedTexts(1 + random() % 200);
  for (Known& known : repeatedTexts) {
    for (std::size_t count = random() % 6; count > 0; --count) {
      const std::string& part = parts[random() % parts.size()];
      known.repeated.add(part);
      known.text += part;
    }
  }
  NumberSeries series;
  std::int64_t number = static_cast<std::int64_t>(random() % 1'000'000'000);
  for (int i = 0; i < 3000; ++i) {
    if (random() % 4 == 0) {
      const std::string& part = parts[random() % parts.size()];
      text->append(part);
      *expected += part;
    }
    Known& known = repeatedTexts[random() % repeatedTexts.size()];
    text->append(&known.repeated);
    *expected += known.text;
    number += static_cast<std::int64_t>(random() % 300);
    if (random() % 2 == 0) {
      text->appendInteger(number, &series);
      *expected += std::to_string(number);
    } else {
      const auto other = static_cast<std::int64_t>(random() % 100'000);
      text->appendInteger(other);
      *expected += std::to_string(other);
    }
  }
}

TEST(TraceText, IsTheSameTextWhateverIsAppended) {
  for (unsigned seed = 0; seed < 25; ++seed) {
    std::string expected;
    const std::string text = textOf([&](TraceText* to) {
      expected.clear();
      appendAnything(seed, to, &expected);
    });
    ASSERT_TRUE(text == expected) << "seed " << seed;
  }
}

TEST(TraceText, FindsThePartsOfTextsThatAreOutOfReach) {
  // Two texts alternate with 40,000 bytes in between, more than deflate can refer back. One
  // contains the whole other, which is nearer.
  const auto append = [](TraceText* text) {
    std::string filler;
    for (int i = 0; filler.size() < 20'000; ++i) {
      filler += static_cast<char>('0' + i % 10);
    }
    const std::string shared(2000, 's');
    RepeatedText first;
    first.add("first ");
    first.add(shared);
    RepeatedText second;
    second.add("second ");
    second.add(shared);
    for (int i = 0; i < 10; ++i) {
      text->append(&first);
      text->append(filler);
      text->append(&second);
      text->append(filler);
    }
  };
  const std::size_t perPhrase =
      fileOf(true, append).size() - fileOf(true, [](TraceText* text) {
                                      for (int i = 0; i < 20; ++i) {
                                        std::string filler;
                                        for (int c = 0; filler.size() < 20'000; ++c) {
                                          filler += static_cast<char>('0' + c % 10);
                                        }
                                        text->append(filler);
                                      }
                                    }).size();
  EXPECT_LT(perPhrase / 20, 200u);
}

TEST(TraceText, CompressesNearlyEqualText) {
  const std::string bytes = fileOf(true, [](TraceText* text) {
    RepeatedText begin("{\"name\": \"aten::addmm\", \"pid\": 12345, \"tid\": 12345, \"ts\": ");
    RepeatedText end(", \"dur\": 12.345},\n");
    NumberSeries times;
    for (std::int64_t i = 0; i < 10'000; ++i) {
      text->append(&begin);
      text->appendMicros(4'493'330'855'355'873 + 1'234'567 * i, &times);
      text->append(&end);
    }
  });
  EXPECT_LT(bytes.size(), 10'000u * 14);
}

}  // namespace
}  // namespace steptape::detail::profile
