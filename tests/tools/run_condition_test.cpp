// SPDX-License-Identifier: Apache-2.0
#include <string>
#include <utility>
#include <vector>

#include "tools/runs_fixture.h"
#include "tools/steptape/jobs/duration_text.h"

#include <gmock/gmock.h>

namespace steptape {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

class RunConditionTest : public RunsCommand {
 protected:
  /// Three runs, of which the last has no hyperparameters.
  void writeKinds() const {
    writeRun("runs/a",
             {{"lr", 0.1}, {"amp", true}, {"decay", "1e-05"}, {"opt", "sgd"}, {"width", 8}},
             {simpleScalar("loss", 1, 0), simpleScalar("loss", 1, 100)});
    writeRun("runs/b",
             {{"lr", 0.01}, {"amp", false}, {"decay", "0.1"}, {"opt", ""}, {"width", "auto"}},
             {simpleScalar("loss", std::numeric_limits<float>::quiet_NaN(), 4000)});
    writeEvents("runs/c/events.out.tfevents.1", {version(), simpleScalar("loss", 3, 0)});
  }
  std::vector<std::string> namesWhere(const std::string& condition) const {
    return names("runs --where '" + condition + "'");
  }
};

TEST_F(RunConditionTest, FindsTheComparisonBehindANameThatHasItsSigns) {
  writeRun("runs/a", {{"x=1", 5}}, {});
  EXPECT_THAT(namesWhere("x=1=5"), ElementsAre("a"));
  EXPECT_THAT(namesWhere("x=1>5"), IsEmpty());
}

TEST_F(RunConditionTest, RefusesAValueThatTheColumnCannotHave) {
  writeKinds();
  const std::pair<const char*, const char*> kCases[] = {
      {"lr<O.05", R"(--where "lr<O.05": got "O.05"; expected a number, as all its values are)"},
      {"lr=>0.05", R"(got ">0.05"; expected a number)"},
      {"lr<=0,05", R"(got "0,05"; expected a number)"},
      {"lr<abc", R"(got "abc"; expected a number)"},
      {"lr=", R"(got ""; expected a number)"},
      {"lr<nan", R"(got "nan"; expected a number)"},
      {"lr=true", R"(got "true"; expected a number)"},
      {"loss<2x", R"(got "2x"; expected a number)"},
      {"step>many", R"(got "many"; expected a number)"},
      {"sessions>many", R"(got "many"; expected a number)"},
      {"decay<low", R"(got "low"; expected a number)"},
      {"amp=yes", R"(got "yes"; expected true or false)"},
      {"amp<true", "expected = or !=, as all its values are true or false"},
      {"trained<soon", R"(got "soon"; expected seconds, or a duration such as 3:25)"},
      {"age<2023-11-14", R"(got "2023-11-14"; expected seconds, or a duration)"},
      {"state=finished",
       R"(got "finished"; expected = or !=, and one of running, hanging, killed, failed, ended, -)"},
      {"state<killed", R"(got "killed"; expected = or !=)"},
  };
  for (const auto& [condition, message] : kCases) {
    EXPECT_THAT(runs(std::string("runs --where '") + condition + "'"), Exits(2, HasSubstr(message)))
        << condition;
  }
}

TEST_F(RunConditionTest, ComparesBooleansWithoutCase) {
  writeKinds();
  EXPECT_THAT(namesWhere("amp=True"), ElementsAre("a"));
  EXPECT_THAT(namesWhere("amp=false"), ElementsAre("b"));
  EXPECT_THAT(namesWhere("amp!=TRUE"), ElementsAre("b", "c"));
}

TEST_F(RunConditionTest, ComparesNumbersThatAreTextsAsNumbers) {
  writeKinds();
  EXPECT_THAT(namesWhere("decay<0.05"), ElementsAre("a"));
  EXPECT_THAT(namesWhere("decay>=0.1"), ElementsAre("b"));
  EXPECT_THAT(namesWhere("decay=0.00001"), ElementsAre("a"));
}

TEST_F(RunConditionTest, KeepsNamesOfDigitsApart) {
  writeRun("runs/a", {{"commit", "0012345"}}, {});
  writeRun("runs/b", {{"commit", "12345"}}, {});
  writeRun("runs/c", {{"commit", "12e4567"}}, {});
  writeRun("runs/d", {{"commit", "13e4567"}}, {});
  EXPECT_THAT(namesWhere("commit=0012345"), ElementsAre("a"));
  EXPECT_THAT(namesWhere("commit=12345"), ElementsAre("b"));
  EXPECT_THAT(namesWhere("commit=12e4567"), ElementsAre("c"));
}

TEST_F(RunConditionTest, ComparesTextsAsTexts) {
  writeKinds();
  EXPECT_THAT(namesWhere("opt=sgd"), ElementsAre("a"));
  EXPECT_THAT(namesWhere("opt=adam"), IsEmpty());
  EXPECT_THAT(namesWhere("opt="), ElementsAre("b"));
  EXPECT_THAT(namesWhere("opt!="), ElementsAre("a", "c"));
  EXPECT_THAT(namesWhere("run=runs/b"), ElementsAre("b"));
  EXPECT_THAT(namesWhere("state=-"), ElementsAre("a", "b", "c"));
  EXPECT_THAT(namesWhere("state!=killed"), ElementsAre("a", "b", "c"));
}

TEST_F(RunConditionTest, ComparesANumberWithTheNumbersOfAColumnThatHasTextsToo) {
  writeKinds();
  EXPECT_THAT(namesWhere("width>4"), ElementsAre("a"));
  EXPECT_THAT(namesWhere("width=auto"), ElementsAre("b"));
  EXPECT_THAT(namesWhere("width!=auto"), ElementsAre("a", "c"));
}

TEST_F(RunConditionTest, FindsNan) {
  writeKinds();
  EXPECT_THAT(namesWhere("loss=nan"), ElementsAre("b"));
  EXPECT_THAT(namesWhere("loss!=nan"), ElementsAre("a", "c"));
  EXPECT_THAT(namesWhere("loss<inf"), ElementsAre("a", "c"));
}

TEST_F(RunConditionTest, TakesDurationsAsTheTableShowsThem) {
  writeKinds();
  ASSERT_THAT(runs("runs").out, HasSubstr("  1:40  "));  // of the run a
  EXPECT_THAT(namesWhere("trained>=1:40"), ElementsAre("a", "b"));
  EXPECT_THAT(namesWhere("trained<1:41"), ElementsAre("a", "c"));
  EXPECT_THAT(namesWhere("trained>1h"), ElementsAre("b"));
  EXPECT_THAT(namesWhere("trained>100"), ElementsAre("b"));
  EXPECT_THAT(namesWhere("age>2 d 3:00:00"), ElementsAre("a", "b", "c"));
}

TEST(DurationText, IsReadInEachFormThatTablesShow) {
  const std::pair<const char*, double> kCases[] = {
      {"15 ms", 0.015},
      {"0.4 s", 0.4},
      {"12 s", 12},
      {"3:25", 205},
      {"10:00", 600},
      {"1:02:03", 3723},
      {"2 d 3:00:00", 183600},
      {"90", 90},
      {"1h", 3600},
      {"10m", 600},
      {"10min", 600},
      {"30s", 30},
      {"1h30m", 5400},
      {"2d", 172800},
  };
  for (const auto& [text, seconds] : kCases) {
    EXPECT_EQ(tools::shownSecondsOf(text).value_or(-1), seconds) << text;
  }
  for (const char* const text :
       {"", "soon", "1:2", "1:60", "1:00:00:00", ":30", "1:", "-1", "1x", "h", "1 h soon", "1,5"}) {
    EXPECT_FALSE(tools::shownSecondsOf(text)) << text;
  }
}

}  // namespace
}  // namespace steptape
