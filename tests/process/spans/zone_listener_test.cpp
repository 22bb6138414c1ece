// SPDX-License-Identifier: Apache-2.0
#include "process/spans/zone_listener.h"

#include <string>
#include <thread>
#include <vector>

#include "steptape/process/zone.h"

#include "process/spans/span_collector.h"

#include <gmock/gmock.h>

namespace steptape::detail::process {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

class Log final : public ZoneListener {
 public:
  void onZoneBegin(const char* name) noexcept override { lines.push_back(std::string("+") + name); }
  void onZoneEnd() noexcept override { lines.emplace_back("-"); }

  std::vector<std::string> lines;
};

void nestedZones() {
  STEPTAPE_ZONE("outer");
  { STEPTAPE_ZONE("inner"); }
}

std::size_t recordsOf(SpanCollector& collector) {
  std::size_t records = 0;
  collector.drain([&](const SpanBatch& batch) { records += batch.records.size(); });
  return records;
}

TEST(ZoneListener, ReceivesZonesWithoutAProfiler) {
  Log log;
  {
    const ListenToZones listening(&log);
    nestedZones();
  }
  EXPECT_THAT(log.lines, ElementsAre("+outer", "+inner", "-", "-"));
}

TEST(ZoneListener, ReceivesNothingBeforeItStartsOrAfterItStops) {
  Log log;
  nestedZones();
  { const ListenToZones listening(&log); }
  nestedZones();
  EXPECT_THAT(log.lines, IsEmpty());
  EXPECT_EQ(zoneSession.load(), 0U);
}

TEST(ZoneListener, IgnoresAZoneThatWasOpenBeforeIt) {
  Log log;
  {
    STEPTAPE_ZONE("around");
    const ListenToZones listening(&log);
  }
  EXPECT_THAT(log.lines, IsEmpty());
}

TEST(ZoneListener, IgnoresOtherThreads) {
  Log log;
  const ListenToZones listening(&log);
  std::thread(&nestedZones).join();
  EXPECT_THAT(log.lines, IsEmpty());
}

TEST(ZoneListener, WorksNextToAProfiler) {
  Log log;
  SpanCollector collector(64);
  collector.startRecording();
  {
    const ListenToZones listening(&log);
    nestedZones();
  }
  nestedZones();
  EXPECT_EQ(log.lines.size(), 4U);
  EXPECT_EQ(recordsOf(collector), 4U);
}

TEST(ZoneListener, ContinuesWhenAProfilerStops) {
  Log log;
  const ListenToZones listening(&log);
  {
    SpanCollector collector(64);
    collector.startRecording();
  }
  nestedZones();
  EXPECT_EQ(log.lines.size(), 4U);
}

}  // namespace
}  // namespace steptape::detail::process
