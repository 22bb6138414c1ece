// SPDX-License-Identifier: Apache-2.0
#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "support/small_disk.h"
#include "tools/tool_fixture.h"

#include <gmock/gmock.h>

namespace steptape {
namespace {

using nlohmann::json;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

class Aggregate : public ToolFixture {
 protected:
  void writeRun(const std::string& run, float first, float last) const {
    writeEvents(run + "/events.out.tfevents.1",
                {simpleScalar("loss", first, 0), simpleScalar("loss", last, 10)});
  }
};

TEST_F(Aggregate, ShowsTheLastStepOfEachScalar) {
  writeRun("seed_1", 1, 0.5F);
  writeRun("seed_2", 3, 1.5F);
  const Outcome outcome = steptape("aggregate 'seed_*' --output mean");
  EXPECT_EQ(outcome.exitCode, 0) << outcome.error;
  EXPECT_EQ(outcome.out,
            "mean: 1 scalar of 2 runs\n"
            "\n"
            "  scalar  runs  steps  left out  last step  mean     std  min  max\n"
            "  loss       2      2         0         10     1  0.7071  0.5  1.5\n");
}

TEST_F(Aggregate, WritesARunThatTheToolReads) {
  writeRun("seed_1", 1, 0.5F);
  writeRun("seed_2", 3, 1.5F);
  steptape("aggregate seed_1 seed_2 --output mean");
  EXPECT_EQ(steptape("check mean").exitCode, 0);
  const Outcome outcome = steptape("export mean --format csv --tag '^loss$'");
  EXPECT_EQ(outcome.out, "step,loss\n0,2.0\n10,1.0\n");
}

TEST_F(Aggregate, JoinsRunsOfTheSameNameBelowSeveralPaths) {
  for (const std::string seed : {"1", "2"}) {
    writeRun("seed_" + seed + "/train", 1, 1);
    writeRun("seed_" + seed + "/test", 2, 2);
  }
  const json groups = json::parse(steptape("aggregate 'seed_?' --output mean --json").out);
  ASSERT_EQ(groups.size(), 2U);
  EXPECT_EQ(groups[0]["output"], "mean/test");
  EXPECT_THAT(groups[0]["runs"], ElementsAre("seed_1/test", "seed_2/test"));
  EXPECT_EQ(groups[0]["scalars"][0]["last"]["mean"], 2);
  EXPECT_EQ(groups[1]["output"], "mean/train");
  EXPECT_EQ(groups[1]["scalars"][0]["last"]["mean"], 1);
}

TEST_F(Aggregate, JoinsAllRunsBelowOnePath) {
  writeRun("runs/a", 1, 1);
  writeRun("runs/b", 3, 3);
  writeRun("runs/other", 100, 100);
  const json groups = json::parse(steptape("aggregate runs --run '/[ab]$' --output m --json").out);
  ASSERT_EQ(groups.size(), 1U);
  EXPECT_EQ(groups[0]["output"], "m");
  EXPECT_EQ(groups[0]["scalars"][0]["last"]["mean"], 2);
}

TEST_F(Aggregate, NamesRunsWithoutACounterpart) {
  writeRun("seed_1/train", 1, 1);
  writeRun("seed_2/train", 1, 1);
  writeRun("seed_2/test", 1, 1);
  EXPECT_THAT(
      steptape("aggregate seed_1 seed_2 --output mean"),
      Exits(0, HasSubstr("note: left out, because no other run has its name: seed_2/test")));
  EXPECT_FALSE(std::filesystem::exists(path("mean/test")));
}

TEST_F(Aggregate, SaysWhichTagsTooFewRunsHave) {
  writeEvents("seed_1/events.out.tfevents.1",
              {simpleScalar("loss", 1, 0), simpleScalar("level_1", 1, 0)});
  writeRun("seed_2", 1, 1);
  EXPECT_THAT(
      steptape("aggregate 'seed_*' --output mean").out,
      HasSubstr("\n  left out, because fewer than 2 runs have it (see --min-runs): level_1\n"));
  EXPECT_THAT(steptape("aggregate 'seed_*' --output all --min-runs 1").out,
              HasSubstr("all: 2 scalars of 2 runs\n"));
}

TEST_F(Aggregate, NamesTagsThatNeedTheSameName) {
  for (const char* const seed : {"seed_1", "seed_2"}) {
    writeEvents(std::string(seed) + "/events.out.tfevents.1",
                {simpleScalar("loss", 1, 0), simpleScalar("reward", 1, 0),
                 simpleScalar("reward/max", 1, 0)});
  }
  const Outcome outcome = steptape("aggregate 'seed_*' --output mean");
  EXPECT_EQ(outcome.exitCode, 0) << outcome.error;
  EXPECT_THAT(outcome.out, HasSubstr("mean: 1 scalar of 2 runs\n"));
  EXPECT_THAT(outcome.out, HasSubstr("\n  left out, because both need the name reward/max: reward "
                                     "and reward/max; --tag selects one of them\n"));
  const json group = json::parse(steptape("aggregate 'seed_*' --output again --json").out)[0];
  EXPECT_EQ(group["conflicts"][0]["name"], "reward/max");
  EXPECT_THAT(group["conflicts"][0]["tags"], ElementsAre("reward", "reward/max"));
}

TEST_F(Aggregate, TakesOneRunIfOneIsEnough) {
  writeRun("seed_1/train", 1, 1);
  writeRun("seed_2/train", 1, 1);
  writeRun("seed_2/test", 1, 1);
  EXPECT_THAT(steptape("aggregate seed_1 seed_2 --output mean --min-runs 1").out,
              HasSubstr("mean/test: 1 scalar of 1 run\n"));
}

TEST_F(Aggregate, RefusesOneRun) {
  writeRun("seed_1", 1, 1);
  EXPECT_THAT(steptape("aggregate seed_1 --output mean"),
              Exits(1, HasSubstr("seed_1; expected at least 2")));
  EXPECT_FALSE(std::filesystem::exists(path("mean")));
}

TEST_F(Aggregate, DoesNotChangeAnExistingRun) {
  writeRun("seed_1", 1, 1);
  writeRun("seed_2", 1, 1);
  writeRun("mean", 7, 7);
  const std::string before = contentOf("mean/events.out.tfevents.1");
  EXPECT_THAT(steptape("aggregate seed_1 seed_2 --output mean"),
              Exits(1, HasSubstr("mean holds 1 event file")));
  EXPECT_EQ(contentOf("mean/events.out.tfevents.1"), before);
}

TEST_F(Aggregate, WritesAllGroupsOrNone) {
  for (const std::string seed : {"1", "2"}) {
    writeRun("seed_" + seed + "/train", 1, 1);
    writeRun("seed_" + seed + "/test", 2, 2);
  }
  writeRun("mean/train", 7, 7);
  EXPECT_THAT(steptape("aggregate 'seed_?' --output mean"),
              Exits(1, HasSubstr("mean/train holds 1 event file")));
  EXPECT_FALSE(std::filesystem::exists(path("mean/test")));
  writeEvents("seed_3/train/events.out.tfevents.1", {simpleScalar("accuracy", 1, 0)});
  writeRun("seed_3/test", 2, 2);
  EXPECT_THAT(steptape("aggregate 'seed_?' --output deep/mean --min-runs 3"),
              Exits(1, HasSubstr("got no scalar tag that 3 runs have")));
  EXPECT_FALSE(std::filesystem::exists(path("deep")));
}

TEST_F(Aggregate, LeavesNothingOnAFullDisk) {
  for (const std::string seed : {"seed_1", "seed_2"}) {
    std::vector<event::Event> events;
    for (int step = 0; step < 1000; ++step) {
      events.push_back(simpleScalar("loss", 1, step));
    }
    writeEvents(seed + "/events.out.tfevents.1", events);
  }
  const test::SmallDisk disk(1000);
  EXPECT_THAT(steptape("aggregate seed_1 seed_2 --output mean"),
              Exits(1, HasSubstr("File too large")));
  EXPECT_FALSE(std::filesystem::exists(path("mean")));
}

TEST_F(Aggregate, RefusesAPatternWithoutMatches) {
  EXPECT_THAT(steptape("aggregate 'seed_*' --output mean"),
              Exits(2, HasSubstr("cannot find seed_*")));
}

TEST_F(Aggregate, ReportsDamageAndContinues) {
  writeRun("seed_1", 1, 0.5F);
  writeBytes("seed_2/events.out.tfevents.1", damagedFile());
  const Outcome outcome = steptape("aggregate seed_1 seed_2 --output mean --min-runs 1");
  EXPECT_EQ(outcome.exitCode, 1);
  EXPECT_THAT(outcome.error, HasSubstr("problem: "));
  EXPECT_THAT(outcome.out, HasSubstr("mean: 1 scalar of 2 runs"));
}

TEST_F(Aggregate, TakesAnExistingPathWithWildcardsLiterally) {
  writeRun("seed_[1]", 1, 1);
  writeRun("seed_2", 3, 3);
  EXPECT_THAT(steptape("aggregate 'seed_[1]' seed_2 --output mean").out,
              HasSubstr("mean: 1 scalar of 2 runs"));
}

}  // namespace
}  // namespace steptape
