// SPDX-License-Identifier: Apache-2.0
// Measures what keeping the state of the process costs its threads: zones, steps, collectives.
//
//   state_benchmark [rounds]
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <functional>
#include <vector>

#include "steptape/base/clock.h"
#include "steptape/process/zone.h"

#include "harness.h"
#include "process/blackbox/state_page.h"
#include "process/blackbox/thread_state.h"
#include "process/spans/span_collector.h"
#include "process/spans/zone_listener.h"

namespace {

using steptape::readTicks;
using steptape::detail::process::kZoneKeptBit;
using steptape::detail::process::StatePage;
using steptape::detail::process::zoneSession;

constexpr int kCalls = 50000;

/// Returns the processor time of this thread in nanoseconds: other programs do not count.
double threadNanos() {
  struct timespec time {};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return static_cast<double>(time.tv_sec) * 1e9 + static_cast<double>(time.tv_nsec);
}

/// Returns the nanoseconds of one call, as the mean of many.
template <typename Call>
double nanosOf(const Call& call) {
  const double start = threadNanos();
  for (int i = 0; i < kCalls; ++i) {
    call(i);
  }
  return (threadNanos() - start) / kCalls;
}

void oneZone(int i) {
  STEPTAPE_ZONE("benchmark");
  benchmark::keep(i);
}

double zones() {
  return nanosOf(oneZone);
}

/// Zones while the state is not kept.
double zonesOfNobody() {
  zoneSession.fetch_and(~kZoneKeptBit);
  const double nanos = zones();
  zoneSession.fetch_or(kZoneKeptBit);
  return nanos;
}

double recordedZones(bool areKept) {
  steptape::detail::process::SpanCollector collector(std::size_t{1} << 20);
  if (!areKept) {
    zoneSession.fetch_and(~kZoneKeptBit);
  }
  collector.startRecording();
  const double nanos = zones();
  collector.stopRecording();
  zoneSession.fetch_or(kZoneKeptBit);
  collector.drain([](const steptape::detail::process::SpanBatch&) {});
  return nanos;
}

}  // namespace

int main(int argc, char** argv) {
  const int rounds = argc > 1 ? std::atoi(argv[1]) : 31;
  StatePage::keep();
  StatePage* const page = StatePage::current();
  if (page == nullptr) {
    std::fprintf(stderr, "the state cannot be kept here\n");
    return 1;
  }
  steptape::setThreadName("benchmark");
  oneZone(0);
  const std::uint32_t group = page->collectives().addGroup(1, "ranks 0-1", 0, 2);
  const auto type = steptape::DType::kFloat32;
  std::uint64_t sequence = 0;
  const std::vector<benchmark::Variant> variants{
      {"zone that nobody wants", zonesOfNobody},
      {"zone kept", zones},
      {"zone kept, again", zones},
      {"two readings of the counter",
       [] {
         return nanosOf([](int) {
           benchmark::keep(readTicks());
           benchmark::keep(readTicks());
         });
       }},
      {"two readings, begin and end of a kept zone",
       [] {
         return nanosOf([](int) {
           steptape::detail::process::beginKeptZone(1, readTicks());
           benchmark::keep(0);
           steptape::detail::process::endKeptZone(readTicks());
         });
       }},
      {"zone recorded by a profiler", [] { return recordedZones(false); }},
      {"zone recorded and kept", [] { return recordedZones(true); }},
      {"noteStep()", [] { return nanosOf([](int i) { steptape::detail::process::noteStep(i); }); }},
      {"phase",
       [] {
         return nanosOf([](int) {
           const steptape::detail::process::PhaseScope phase(
               steptape::detail::process::RunPhase::kForward);
         });
       }},
      {"collective, from start to end",
       [&] {
         using Phase = steptape::detail::process::RankState::CollectivePhase;
         return nanosOf([&](int) {
           const std::uint64_t number = page->collectives().start(
               group, ++sequence, "allreduce(sum) 'gradients'", 4096, &type, Phase::kWaiting);
           page->collectives().setPhase(number, Phase::kTransfer);
           page->collectives().end(group, number, true);
         });
       }},
  };
  const std::vector<benchmark::Costs> costs = benchmark::takeTurns(variants, rounds);
  benchmark::printTitle("the state of the process");
  for (std::size_t i = 0; i < variants.size(); ++i) {
    benchmark::printCosts(variants[i].name, costs[i], "ns");
  }
  benchmark::printControl("kept / kept", benchmark::ratio(costs[2], costs[1]), 0.1);
  benchmark::printAtMost("two readings with a kept zone / without",
                         benchmark::ratio(costs[4], costs[3]), 1.15);
  benchmark::printAtMost("recorded and kept / recorded", benchmark::ratio(costs[6], costs[5]), 1.5);
  return 0;
}
