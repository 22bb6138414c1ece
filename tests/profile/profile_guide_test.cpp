// SPDX-License-Identifier: Apache-2.0
#include "profile/recorder/profile_guide.h"

#include <cstdint>
#include <string>

#include "profile/span_chain.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace steptape::detail::profile {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::StartsWith;

constexpr std::int64_t kMilli = 1'000'000;

/// Two steps of 10 ms, the first one with 8 ms of loading.
Trace jobTrace() {
  SpanChain builder;
  builder.step(11, 0, 10 * kMilli);
  builder.step(12, 10 * kMilli, 20 * kMilli);
  builder.span("input", SpanKind::kInput, 0, 8 * kMilli);
  Trace trace = builder.build();
  trace.hostName = "node7";
  trace.processId = 4242;
  return trace;
}

ProfilerOptions writingTo(const std::string& logDir) {
  ProfilerOptions options;
  options.logDir = logDir;
  return options;
}

TEST(ProfileGuide, ShowsWhereTheTimeOfAStepWent) {
  EXPECT_EQ(profileGuide(jobTrace(), {}),
            "**Steps 11 to 12 were recorded.**\n\n"
            "| a step's | input | other | total |\n"
            "| --- | --- | --- | --- |\n"
            "| mean ms | 4.000 | 6.000 | 10.000 |\n"
            "| % | 40.0 | 60.0 | 100.0 |\n\n"
            "The tables below are of all threads: *self* time is without, *total* with what an "
            "operator calls.\n\n");
}

TEST(ProfileGuide, ExplainsHowToOpenTheFiles) {
  const std::string guide = profileGuide(jobTrace(), writingTo("runs/a"));
  EXPECT_THAT(guide, HasSubstr("open `node7_4242."));
  EXPECT_THAT(guide, HasSubstr(".pt.trace.json.gz` of `runs/a` at [ui.perfetto.dev]"));
  EXPECT_THAT(guide, HasSubstr("`pip install xprof`"));
  EXPECT_THAT(guide, HasSubstr("`steptape profile runs/a`"));
  EXPECT_THAT(guide, Not(HasSubstr("merge-traces")));
}

TEST(ProfileGuide, MentionsOnlyWrittenFiles) {
  ProfilerOptions options = writingTo("runs/a");
  options.chromeTrace = false;
  EXPECT_THAT(profileGuide(jobTrace(), options), Not(HasSubstr("perfetto")));
  EXPECT_THAT(profileGuide(jobTrace(), options), HasSubstr("xprof"));
  options.xplane = false;
  EXPECT_EQ(profileGuide(jobTrace(), options), profileGuide(jobTrace(), {}));
}

TEST(ProfileGuide, NamesThePerfettoTraceIfThereIsOne) {
  ProfilerOptions options = writingTo("runs/a");
  options.perfettoTrace = true;
  EXPECT_THAT(profileGuide(jobTrace(), options), HasSubstr(".pftrace.gz` of `runs/a` at"));
}

TEST(ProfileGuide, NamesTheRankOfAJob) {
  Trace trace = jobTrace();
  trace.rank = 1;
  trace.worldSize = 2;
  const std::string guide = profileGuide(trace, writingTo("runs/a"));
  EXPECT_THAT(guide, StartsWith("**Steps 11 to 12 of rank 1 were recorded.**"));
  EXPECT_THAT(guide, HasSubstr("`steptape merge-traces runs/a --output ranks.json.gz`"));
}

TEST(ProfileGuide, IsEmptyWithoutStepsAndFiles) {
  EXPECT_THAT(profileGuide(Trace(), {}), IsEmpty());
}

}  // namespace
}  // namespace steptape::detail::profile
