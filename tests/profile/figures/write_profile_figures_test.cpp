// SPDX-License-Identifier: Apache-2.0
// Figures of a profile, made by the profiler and the writer, and read back.
#include <map>
#include <set>
#include <string>
#include <vector>

#include "steptape/profile.h"
#include "steptape/profile/trace_summary.h"
#include "steptape/profile_figure.h"
#include "steptape/ranks/testing.h"

#include "log/writer/run_contents.h"
#include "profile/span_chain.h"

#include <gmock/gmock.h>

namespace steptape {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

/// Returns the tags of the images that `log` writes, in order.
template <typename Log>
std::vector<std::string> imagesOf(Log&& log) {
  const testing::TempDir directory;
  SummaryWriter writer(directory.path());
  log(&writer);
  EXPECT_TRUE(writer.close().ok());
  std::vector<std::string> tags;
  for (const event::Value& value : valuesIn(directory.path())) {
    if (value.metadata && value.metadata->pluginName == "images") {
      tags.push_back(value.tag);
    }
  }
  return tags;
}

TEST(WriteProfileFigures, LogsTheFiguresWhoseDataIsKnown) {
  const Trace trace = SpanChain().op("mm", 0, 10).step(3, 0, 20).memory(5, 1, 100).build();
  EXPECT_THAT(imagesOf([&](SummaryWriter* writer) { writeProfileFigures(*writer, trace, 7); }),
              ElementsAre("profile/flame_graph", "profile/step_breakdown", "profile/memory_curve"));
}

TEST(WriteProfileFigures, LeavesOutStepsAndMemoryThatWereNotRecorded) {
  const Trace trace = SpanChain().op("mm", 0, 10).build();
  EXPECT_THAT(imagesOf([&](SummaryWriter* writer) { writeProfileFigures(*writer, trace, 7); }),
              ElementsAre("profile/flame_graph"));
}

TEST(WriteProfileFigures, SharesNoTagWithTheTablesOfATrace) {
  const Trace trace = SpanChain().op("mm", 0, 10).step(3, 0, 20).memory(5, 1, 100).build();
  const testing::TempDir directory;
  SummaryWriter writer(directory.path());
  writeTraceSummary(writer, trace, 7);
  writeProfileFigures(writer, trace, 7);
  ASSERT_TRUE(writer.close().ok());
  std::map<std::string, std::set<std::string>> pluginsByTag;
  for (const event::Value& value : valuesIn(directory.path())) {
    if (value.metadata) {
      pluginsByTag[value.tag].insert(value.metadata->pluginName);
    }
  }
  EXPECT_EQ(pluginsByTag.count("profile/memory"), 1U);
  for (const auto& [tag, plugins] : pluginsByTag) {
    EXPECT_EQ(plugins.size(), 1U) << tag;
  }
}

TEST(DrawProfile, IsCalledByTheProfilerForEachWindow) {
  const std::vector<std::string> tags = imagesOf([](SummaryWriter* writer) {
    ProfilerOptions options;
    options.writer = writer;
    options.onTrace = drawProfile;
    Profiler profiler(options);
    { STEPTAPE_ZONE("load"); }
    profiler.step();
    profiler.stop();
    EXPECT_TRUE(profiler.flush().ok());
  });
  EXPECT_THAT(tags, Contains("profile/flame_graph"));
}

TEST(DrawProfile, DoesNothingWithoutAWriter) {
  EXPECT_THAT(imagesOf([](SummaryWriter*) { drawProfile(Trace(), nullptr, 0); }), IsEmpty());
}

}  // namespace
}  // namespace steptape
