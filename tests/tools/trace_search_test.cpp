// SPDX-License-Identifier: Apache-2.0
#include "tools/steptape/traces/trace_search.h"

#include <string>
#include <vector>

#include "steptape/base/status.h"

#include "log/reader/log_dir_fixture.h"

#include <gmock/gmock.h>

namespace steptape::tools {
namespace {

using ::testing::ElementsAre;

class TraceSearch : public LogDirFixture {
 protected:
  void touch(const std::string& name) const { writeBytes(name, ""); }

  /// Returns paths relative to the test's directory.
  std::vector<std::string> newest(const std::string& directory = "") const {
    std::vector<std::string> files = newestTraceFiles(path(directory));
    for (std::string& file : files) {
      file = std::filesystem::path(file).lexically_relative(root_).string();
    }
    return files;
  }
};

// In nanoseconds: the 14th of November 2023, 22:13:20 UTC.
constexpr char kThen[] = ".1700000000000000000.pt.trace.json.gz";
constexpr char kASecondLater[] = ".1700000001000000000.pt.trace.json.gz";
constexpr char kAnHourLater[] = ".1700003600000000000.pt.trace.json.gz";

TEST_F(TraceSearch, RecognizesFormatsByName) {
  EXPECT_EQ(traceFormOf("a/b.pt.trace.json"), TraceForm::kJson);
  EXPECT_EQ(traceFormOf("b.json.gz"), TraceForm::kCompressedJson);
  EXPECT_EQ(traceFormOf("b.pftrace"), TraceForm::kPerfetto);
  EXPECT_EQ(traceFormOf("b.pftrace.gz"), TraceForm::kCompressedPerfetto);
  EXPECT_EQ(traceFormOf("b.xplane.pb"), TraceForm::kXPlane);
  EXPECT_EQ(traceFormOf("b.xplane.pb.gz"), TraceForm::kCompressedXPlane);
  EXPECT_EQ(traceFormOf("b.pb"), TraceForm::kUnknown);
  EXPECT_EQ(traceFormOf("json"), TraceForm::kUnknown);
}

TEST_F(TraceSearch, FindsAllRanksOfTheNewestSession) {
  touch("runs/demo/plugins/profile/2023_11_14_22_13_20/a_rank00000.xplane.pb");
  touch("runs/demo/plugins/profile/2023_11_14_22_13_21/a_rank00000.xplane.pb");
  touch("runs/demo/plugins/profile/2023_11_14_22_13_21/b_rank00001.xplane.pb");
  touch("runs/older/plugins/profile/2023_11_13_22_13_21/b_rank00001.xplane.pb");
  const auto all =
      ElementsAre("runs/demo/plugins/profile/2023_11_14_22_13_21/a_rank00000.xplane.pb",
                  "runs/demo/plugins/profile/2023_11_14_22_13_21/b_rank00001.xplane.pb");
  EXPECT_THAT(newest("runs"), all);
  EXPECT_THAT(newest("runs/demo"), all);
  EXPECT_THAT(newest("runs/demo/plugins/profile/2023_11_14_22_13_21"), all);
}

TEST_F(TraceSearch, PrefersTheLaterOfTwoSessionsInASecond) {
  touch("plugins/profile/2023_11_14_22_13_20/a.xplane.pb");
  touch("plugins/profile/2023_11_14_22_13_20_1/a.xplane.pb");
  EXPECT_THAT(newest(), ElementsAre("plugins/profile/2023_11_14_22_13_20_1/a.xplane.pb"));
}

// JAX writes both; sometimes only the second is copied.
TEST_F(TraceSearch, FindsTheJsonOfASessionWithoutAProfile) {
  touch("plugins/profile/2023_11_14_22_13_20/a.trace.json.gz");
  touch("plugins/profile/2023_11_14_22_13_20/b.trace.json");
  touch("plugins/profile/2023_11_14_22_13_20/perfetto_trace.json.gz");
  touch("plugins/profile/2023_11_13_22_13_20/a.xplane.pb");
  const auto both = ElementsAre("plugins/profile/2023_11_14_22_13_20/a.trace.json.gz",
                                "plugins/profile/2023_11_14_22_13_20/b.trace.json");
  EXPECT_THAT(newest(), both);
  EXPECT_THAT(newest("plugins/profile/2023_11_14_22_13_20"), both);
  touch("plugins/profile/2023_11_14_22_13_20/a.xplane.pb");
  EXPECT_THAT(newest(), ElementsAre("plugins/profile/2023_11_14_22_13_20/a.xplane.pb"));
}

TEST_F(TraceSearch, SkipsUnfinishedSessions) {
  touch("plugins/profile/2023_11_14_22_13_20/a_rank00000.xplane.pb");
  touch("plugins/profile_unfinished/2023_11_14_22_13_30/a_rank00000.xplane.pb");
  EXPECT_THAT(newest(), ElementsAre("plugins/profile/2023_11_14_22_13_20/a_rank00000.xplane.pb"));
}

TEST_F(TraceSearch, TakesTheNewestTraceOfEachRank) {
  touch(std::string("a_rank00000_17") + kThen);
  touch(std::string("a_rank00000_17") + kASecondLater);
  touch(std::string("a_rank00001_18") + kASecondLater);
  touch(std::string("a_rank00001_18") + kThen);
  // Another process as rank 1.
  touch(std::string("a_rank00001_99") + kThen);
  EXPECT_THAT(newest(), ElementsAre(std::string("a_rank00000_17") + kASecondLater,
                                    std::string("a_rank00001_18") + kASecondLater));
}

TEST_F(TraceSearch, DistinguishesProcessesWithoutARank) {
  touch(std::string("a_17") + kThen);
  touch(std::string("a_18") + kASecondLater);
  EXPECT_THAT(newest(),
              ElementsAre(std::string("a_17") + kThen, std::string("a_18") + kASecondLater));
}

TEST_F(TraceSearch, LeavesOutTracesOfAnEarlierJob) {
  touch(std::string("a_17") + kThen);
  touch(std::string("a_18") + kAnHourLater);
  EXPECT_THAT(newest(), ElementsAre(std::string("a_18") + kAnHourLater));
}

TEST_F(TraceSearch, UsesFileTimesIfNamesHaveNone) {
  touch("a_17.pt.trace.json");
  touch("b_17.1700000000000.pt.trace.json");
  EXPECT_THAT(newest(), ElementsAre("a_17.pt.trace.json", "b_17.1700000000000.pt.trace.json"));
  const auto now = std::filesystem::last_write_time(path("a_17.pt.trace.json"));
  std::filesystem::last_write_time(path("b_17.1700000000000.pt.trace.json"),
                                   now - std::chrono::hours(1));
  EXPECT_THAT(newest(), ElementsAre("a_17.pt.trace.json"));
}

TEST_F(TraceSearch, PrefersXprofProfilesUnlessTheyAreOlder) {
  ::setenv("TZ", "UTC", 1);
  touch("plugins/profile/2023_11_14_22_13_20/a.xplane.pb");
  touch(std::string("a_17") + kASecondLater);
  EXPECT_THAT(newest(), ElementsAre("plugins/profile/2023_11_14_22_13_20/a.xplane.pb"));
  touch(std::string("a_18") + kAnHourLater);
  EXPECT_THAT(newest(), ElementsAre(std::string("a_18") + kAnHourLater));
  ::unsetenv("TZ");
}

TEST_F(TraceSearch, ReportsADirectoryWithoutTraces) {
  touch("events.out.tfevents.1");
  touch("trace.json");
  touch("a.trace.json.gz");
  EXPECT_THROW(newest(), Error);
}

}  // namespace
}  // namespace steptape::tools
