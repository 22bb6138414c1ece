// SPDX-License-Identifier: Apache-2.0
#include "profile/trace/chrome/json_check.h"

#include <nlohmann/json.hpp>
#include <random>
#include <string>

#include <gmock/gmock.h>

namespace steptape::detail::profile {
namespace {

TEST(JsonCheck, AcceptsJson) {
  for (const char* text : {"null", "true", "false", "0", "-1.5e+10", "12E-3", "\"\"",
                           R"("a\"\\\/\b\f\n\r\té")", R"("\ud83d\ude00")", "[]", " [ 1 , [ ] ] ",
                           "{}", R"({"a": {"b": [1, "x", null]}, "c": 2})", "\"caf\xc3\xa9\""}) {
    EXPECT_TRUE(isJson(text)) << text;
    EXPECT_TRUE(nlohmann::json::accept(text)) << text;
    EXPECT_EQ(validJson(text), text);
  }
}

TEST(JsonCheck, RefusesWhatSomeReadersRefuse) {
  for (const std::string& text : {std::string(""),
                                  std::string(" "),
                                  std::string("\b\x01\x10"),
                                  std::string("NaN"),
                                  std::string("-Infinity"),
                                  std::string("nul"),
                                  std::string("01"),
                                  std::string("1."),
                                  std::string(".5"),
                                  std::string("+1"),
                                  std::string("1e"),
                                  std::string("-"),
                                  std::string("1 2"),
                                  std::string("[1,]"),
                                  std::string("[1"),
                                  std::string("{\"a\":}"),
                                  std::string("{\"a\" 1}"),
                                  std::string("{1: 2}"),
                                  std::string("{\"a\": 1,}"),
                                  std::string("\"a"),
                                  std::string("\"\n\""),
                                  std::string(R"("\x41")"),
                                  std::string(R"("\u12g4")"),
                                  std::string(R"("\ud83d")"),
                                  std::string(R"("\ude00")"),
                                  std::string("\"\xff\""),
                                  std::string("\"a\0b\"", 5),
                                  std::string("1e999"),
                                  std::string("\\"),
                                  std::string(1000, '[') + std::string(1000, ']')}) {
    EXPECT_FALSE(isJson(text)) << text;
    EXPECT_TRUE(nlohmann::json::accept(validJson(text))) << text;
  }
}

TEST(JsonCheck, ChecksMembersOfAnObject) {
  for (const char* text : {"", R"("a": 1)", R"( "a": [1], "b": {} )"}) {
    EXPECT_TRUE(areJsonMembers(text)) << text;
  }
  for (const char* text :
       {"1", R"("a")", R"("a": 1,)", R"("a": 1} , {"b": 2)", R"("a": 1}, "b": {)"}) {
    EXPECT_FALSE(areJsonMembers(text)) << text;
  }
}

// Whatever is accepted can be read; only numbers near the limits of a double are refused too.
TEST(JsonCheck, AgreesWithAParser) {
  constexpr char kCharacters[] = "{}[]\"\\:, \nu01e-.atrfnlsd";
  std::mt19937 random(7);
  int accepted = 0;
  for (int i = 0; i < 100'000; ++i) {
    std::string text = i % 2 == 0 ? R"({"a": [1, "\u00e9", true], "b": -0.5e1})" : "[[1, 2], [3]]";
    for (int changes = static_cast<int>(random() % 4); changes > 0; --changes) {
      const std::size_t at = random() % text.size();
      const char c = kCharacters[random() % (sizeof kCharacters - 1)];
      text = random() % 2 == 0 ? text.replace(at, 1, 1, c) : text.insert(at, 1, c);
    }
    accepted += isJson(text) ? 1 : 0;
    ASSERT_EQ(isJson(text), nlohmann::json::accept(text)) << text;
    ASSERT_TRUE(nlohmann::json::accept(validJson(text))) << text;
  }
  EXPECT_GT(accepted, 20'000);
}

}  // namespace
}  // namespace steptape::detail::profile
