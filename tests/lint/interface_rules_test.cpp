// SPDX-License-Identifier: Apache-2.0
// Checks the public headers against the rules of CONTRIBUTING.md for options and for writing.
#include <regex>
#include <set>
#include <string>
#include <vector>

#include "lint/source_tree.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace steptape::lint {
namespace {

using ::testing::IsEmpty;

/// A field of an options struct.
struct Option {
  std::string type;
  std::string name;
  std::string initializer;  ///< Empty if there is none.
  Line line;
};

/// Returns the fields of all public structs whose names end in "Options".
std::vector<Option> publicOptions() {
  static const std::regex kStruct(R"(^struct (?:STEPTAPE_EXPORT )?\w*Options \{)");
  static const std::regex kField(R"(^  ([\w:]+(?:<.*>)?(?: ?\*)?) (\w+)(?: = ([^;]*))?;)");
  std::vector<Option> options;
  for (const std::string& file : library().files()) {
    if (!startsWith(file, "include/")) {
      continue;
    }
    bool isInside = false;
    for (const Line& line : library().lines(file)) {
      isInside = (isInside || std::regex_search(line.text, kStruct)) && line.text != "};";
      std::smatch match;
      if (isInside && std::regex_search(line.text, match, kField)) {
        options.push_back({match[1], match[2], match[3], line});
      }
    }
  }
  return options;
}

/// Returns the lines of the options that break a rule of CONTRIBUTING.md.
template <typename Rule>
std::vector<std::string> optionsThat(const Rule& breaksRule) {
  const std::vector<Option> options = publicOptions();
  EXPECT_GT(options.size(), 200U) << "the options were not found";
  std::vector<std::string> found;
  for (const Option& option : options) {
    if (breaksRule(option)) {
      found.push_back(describe(option.line));
    }
  }
  return found;
}

bool isNumber(const std::string& type) {
  static const std::regex kNumber(
      R"(^(?:std::optional<)?(?:double|float|int|unsigned|std::u?int\d+_t|std::size_t)>?$)");
  return std::regex_match(type, kNumber);
}

TEST(Options, MeasureDurationsWithChrono) {
  static const std::regex kDuration(
      R"((?:Seconds|Minutes|Hours|Millis|Micros|Nanos|Ms|[tT]imeout|[pP]eriod|[dD]uration|Age)$)");
  EXPECT_THAT(optionsThat([](const Option& option) {
                return isNumber(option.type) && std::regex_search(option.name, kDuration);
              }),
              IsEmpty());
}

TEST(Options, AreOffAtZeroOrUnset) {
  static const std::regex kSentinel(R"(^-\d|kUnknown|numeric_limits)");
  EXPECT_THAT(optionsThat([](const Option& option) {
                const bool isOptionalDuration =
                    startsWith(option.type, "std::optional<std::chrono");
                return isOptionalDuration || std::regex_search(option.initializer, kSentinel);
              }),
              IsEmpty());
}

TEST(Options, NameWhatABooleanTurnsOn) {
  static const std::regex kStatement(
      R"(^(?:is|are|has|may|can|does|should|wants|needs|uses|keeps|no|not|dont)[A-Z])");
  EXPECT_THAT(optionsThat([](const Option& option) {
                const bool isBoolean =
                    option.type == "bool" || option.type == "std::optional<bool>";
                return isBoolean && std::regex_search(option.name, kStatement);
              }),
              IsEmpty());
}

TEST(Options, CountWithOneType) {
  // Ranks and pixels are int, as in Communicator and Figure; seeds have all bits.
  const std::set<std::string> ints{"ranksPerNode", "width", "height"};
  EXPECT_THAT(optionsThat([&ints](const Option& option) {
                const bool isInteger = isNumber(option.type) &&
                                       option.type.find("double") == std::string::npos &&
                                       option.type.find("float") == std::string::npos;
                const bool isInt64 = option.type.find("std::int64_t") != std::string::npos;
                return isInteger && !isInt64 && option.name != "seed" &&
                       !(option.type == "int" && ints.count(option.name) != 0);
              }),
              IsEmpty());
}

TEST(Sources, WriteIntoAWriterWithOneVerb) {
  static const std::regex kIntoWriter(R"(^(?:STEPTAPE_EXPORT )?void (\w+)\(SummaryWriter& )");
  static const std::regex kStatus(R"(^(?:STEPTAPE_EXPORT )?Status (?:write|save|export|add)\w*\()");
  std::vector<std::string> found;
  int writing = 0;
  for (const std::string& file : library().files()) {
    if (!startsWith(file, "include/")) {
      continue;
    }
    for (const Line& line : library().lines(file)) {
      std::smatch match;
      if (std::regex_search(line.text, match, kIntoWriter)) {
        ++writing;
        if (!startsWith(match[1], "write")) {
          found.push_back(describe(line));
        }
      }
      if (std::regex_search(line.text, kStatus)) {
        found.push_back(describe(line));
      }
    }
  }
  EXPECT_THAT(found, IsEmpty());
  EXPECT_GT(writing, 3) << "the calls were not found";
}

}  // namespace
}  // namespace steptape::lint
