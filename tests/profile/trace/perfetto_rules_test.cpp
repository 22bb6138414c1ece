// SPDX-License-Identifier: Apache-2.0
#include "profile/trace/perfetto_rules.h"

#include <string>

#include <gmock/gmock.h>

namespace steptape {
namespace {

using ::testing::ElementsAre;
using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

std::vector<std::string> brokenBy(const std::string& events) {
  return brokenPerfettoRules("{\"traceEvents\": [" + events + "]}");
}

/// Returns a slice on thread 2 of process 1.
std::string slice(int number, const std::string& start, const std::string& duration) {
  return R"({"ph":"X","name":"s)" + std::to_string(number) +
         R"(","pid":1,"tid":2,"args":{"External id":)" + std::to_string(number) + R"(},"ts":)" +
         start + R"(,"dur":)" + duration + "}";
}

TEST(PerfettoRules, HoldForATraceWithEverything) {
  EXPECT_THAT(brokenBy(slice(1, "10", "5") + "," + slice(2, "10.000", "2.001") + "," +
                       slice(3, "12.001", "2.999") + "," + slice(4, "15", "0") + R"(,
      {"ph":"M","name":"process_name","pid":1,"args":{"name":"p"}},
      {"ph":"b","name":"async","cat":"c","id":9,"pid":1,"tid":2,"ts":1,"args":{"External id":9}},
      {"ph":"e","name":"async","cat":"c","id":9,"pid":1,"tid":2,"ts":100},
      {"ph":"s","name":"flow","cat":"f","id":1,"pid":1,"tid":2,"ts":10},
      {"ph":"f","name":"flow","cat":"f","id":1,"pid":1,"tid":2,"ts":13,"bp":"e"},
      {"ph":"i","name":"note","s":"g","pid":1,"tid":2,"ts":100},
      {"ph":"C","name":"memory","pid":1,"ts":5,"args":{"bytes":7}})"),
              IsEmpty());
}

TEST(PerfettoRules, RejectInvalidJson) {
  EXPECT_THAT(brokenPerfettoRules(R"({"traceEvents": [)"), ElementsAre("is no JSON"));
  EXPECT_THAT(brokenBy(R"({"ph":"M","name":"a "quote"","args":{}})"), ElementsAre("is no JSON"));
  EXPECT_THAT(brokenBy("{\"ph\":\"M\",\"name\":\"\xff\",\"args\":{}}"), ElementsAre("is no JSON"));
  EXPECT_THAT(brokenBy("{\"ph\":\"M\",\"name\":\"\n\",\"args\":{}}"), ElementsAre("is no JSON"));
  EXPECT_THAT(brokenPerfettoRules("{}"), ElementsAre("has no array traceEvents"));
}

TEST(PerfettoRules, RejectAKeyThatComesTwice) {
  EXPECT_THAT(brokenBy(R"({"ph":"M","name":"n","args":{"a":1,"b":2,"a":3}})"),
              ElementsAre("has the key \"a\" twice in one object"));
}

TEST(PerfettoRules, RejectEventsWithoutPhaseOrName) {
  EXPECT_THAT(brokenBy("7"), ElementsAre("7 has no phase or no name"));
  EXPECT_THAT(brokenBy(R"({"ph":"X","ts":1,"dur":1})"),
              ElementsAre(EndsWith("has no phase or no name")));
  EXPECT_THAT(brokenBy(R"({"ph":"Q","name":"n","ts":1})"),
              ElementsAre(EndsWith("has an unknown phase")));
}

TEST(PerfettoRules, RejectNegativeAndMissingTimes) {
  EXPECT_THAT(brokenBy(slice(1, "-0.001", "1")),
              ElementsAre(EndsWith("has no ts that is 0 or more")));
  EXPECT_THAT(brokenBy(slice(1, "1", "-1")), ElementsAre(EndsWith("has no dur that is 0 or more")));
  EXPECT_THAT(brokenBy(slice(1, "\"1\"", "1")),
              ElementsAre(EndsWith("has no ts that is 0 or more")));
}

TEST(PerfettoRules, RejectSlicesThatCrossByANanosecond) {
  EXPECT_THAT(
      brokenBy(slice(1, "4493330855355.873", "5") + "," + slice(2, "4493330855357.873", "3.001")),
      ElementsAre("s2 ends behind s1, in which it begins"));
  EXPECT_THAT(
      brokenBy(slice(1, "4493330855355.873", "5") + "," + slice(2, "4493330855357.873", "3.000")),
      IsEmpty());
}

TEST(PerfettoRules, RejectAnExternalIdThatComesTwice) {
  EXPECT_THAT(brokenBy(slice(1, "1", "1") + "," + slice(1, "3", "1")),
              ElementsAre(EndsWith("has no \"External id\" of its own")));
}

TEST(PerfettoRules, RejectAsyncSpansThatDoNotMatch) {
  const std::string begin =
      R"({"ph":"b","name":"a","cat":"c","id":9,"pid":1,"tid":2,"ts":10,"args":{"External id":9}})";
  EXPECT_THAT(brokenBy(begin), ElementsAre(HasSubstr("has not one begin and then one end")));
  EXPECT_THAT(brokenBy(begin + R"(,{"ph":"e","name":"a","cat":"c","id":9,"pid":1,"tid":2,"ts":9})"),
              ElementsAre(HasSubstr("has not one begin and then one end")));
  EXPECT_THAT(brokenBy(R"({"ph":"e","name":"a","cat":"c","id":9,"pid":1,"tid":2,"ts":9})"),
              ElementsAre(HasSubstr("has no begin")));
}

TEST(PerfettoRules, RejectArrowsThatDoNotMatch) {
  const std::string begin =
      slice(1, "10", "5") + R"(,{"ph":"s","name":"f","cat":"f","id":1,"pid":1,"tid":2,"ts":11})";
  const auto end = [](const std::string& members) {
    return R"(,{"ph":"f","name":"f","cat":"f","id":1,"bp":"e",)" + members + "}";
  };
  EXPECT_THAT(brokenBy(begin), ElementsAre(HasSubstr("has not one begin and then one end")));
  EXPECT_THAT(brokenBy(begin + end(R"("pid":1,"tid":2,"ts":10.5)")),
              ElementsAre(HasSubstr("has not one begin and then one end")));
  EXPECT_THAT(brokenBy(begin + end(R"("pid":1,"tid":2,"ts":20)")),
              ElementsAre(HasSubstr("has an end that is in no slice")));
  EXPECT_THAT(brokenBy(begin + end(R"("pid":1,"tid":3,"ts":12)")),
              ElementsAre(HasSubstr("has an end that is in no slice")));
  EXPECT_THAT(brokenBy(slice(1, "10", "5") + end(R"("pid":1,"tid":2,"ts":11)")),
              ElementsAre(HasSubstr("has no begin")));
}

TEST(PerfettoRules, RejectInstantsWithoutScopeAndCountersWithoutNumbers) {
  EXPECT_THAT(brokenBy(R"({"ph":"i","name":"n","pid":1,"tid":2,"ts":1})"),
              ElementsAre(EndsWith("has no scope")));
  EXPECT_THAT(brokenBy(R"({"ph":"C","name":"n","pid":1,"ts":1,"args":{"v":"7"}})"),
              ElementsAre(EndsWith("has no numbers")));
}

}  // namespace
}  // namespace steptape
