// SPDX-License-Identifier: Apache-2.0
#include "log/writer/entry_events.h"

#include <cstdint>
#include <cstring>
#include <memory>
#include <optional>
#include <random>
#include <string>
#include <vector>

#include "steptape/ranks/testing.h"

#include "log/writer/event_stream.h"
#include "log/writer/file_head.h"
#include "log/writer/run_contents.h"
#include "support/content_of.h"

#include <gtest/gtest.h>

namespace steptape::detail::log {
namespace {

constexpr double kCoalesceSeconds = 0.25;
constexpr int kSeries = 5;

/// A scalar as a thread has put it into a ring.
struct Call {
  std::uint32_t series = 1;
  std::int64_t step = 0;
  float value = 0;
  double seconds = 0;              ///< Since the first call.
  std::optional<double> wallTime;  ///< Given by the caller.
};

/// Steps that repeat and go back, tags that repeat within a step, pauses about the window, a clock
/// that is set, and wall times of the caller's own.
std::vector<Call> randomCalls(std::mt19937* random) {
  const auto below = [random](int limit) {
    return std::uniform_int_distribution<int>(0, limit - 1)(*random);
  };
  std::vector<Call> calls;
  Call call;
  for (int i = 0; i < 400; ++i) {
    call.series = static_cast<std::uint32_t>(1 + below(kSeries));
    call.step += below(4) == 0 ? below(5) - 1 : 0;
    call.value = static_cast<float>(below(100));
    call.seconds += below(10) == 0 ? 0.125 * below(5) : below(20) == 0 ? -0.5 : 0.001953125;
    call.wallTime.reset();
    if (below(3) == 0) {
      call.wallTime = 1000.0 + 0.5 * below(2);
    }
    calls.push_back(call);
  }
  return calls;
}

NamedSeries named(std::uint32_t id) {
  NamedSeries series;
  series.id = id;
  series.tag = "tag " + std::to_string(id);
  series.displayName = id == 2 ? "Shown" : "";
  series.form = id == 3 ? ValueForm::kTensor : ValueForm::kCompatible;
  return series;
}

/// Returns the records that a stream writes of the calls, without the head of its file.
std::string writtenBy(const std::vector<Call>& calls, const TickTimes& times) {
  const testing::TempDir dir;
  WriterOptions options;
  options.coalesceWindow = std::chrono::milliseconds(250);
  options.onError = [](const Status&) {};  // about the steps
  RunContext context(dir.string(), options);
  OpenFiles openFiles(2);
  KillProofLog log;
  EventStream stream(&context, dir.string(), &openFiles, &log);
  std::vector<std::unique_ptr<ScalarSeries>> series;
  for (std::uint32_t id = 0; id <= kSeries; ++id) {
    const NamedSeries name = named(id);
    series.push_back(
        std::make_unique<ScalarSeries>(name.tag, name.displayName, name.description, name.form));
  }
  for (const Call& call : calls) {
    stream.addScalar(series[call.series].get(), call.value, call.step,
                     call.wallTime.value_or(times.wallSeconds + call.seconds),
                     call.wallTime.has_value());
  }
  EXPECT_TRUE(stream.writeAll(std::chrono::steady_clock::now()).ok());
  stream.close();
  const std::string file = test::contentOf(eventFilesIn(dir.string()).at(0));
  const std::size_t head = fileHead(times.wallSeconds, 0).size();
  EXPECT_GT(file.size(), head);
  return file.substr(head);
}

std::string recoveredFrom(const std::vector<Call>& calls, const TickTimes& times) {
  NamedStream stream;
  stream.coalesceSeconds = kCoalesceSeconds;
  EntryEvents events(stream, times);
  for (const Call& call : calls) {
    RingEntry entry;
    entry.series = call.series;
    entry.value = call.value;
    entry.payload = static_cast<std::uint64_t>(call.step);
    entry.ticks =
        times.ticks + static_cast<std::uint64_t>(static_cast<std::int64_t>(call.seconds * 1e9));
    if (call.wallTime) {
      std::memcpy(&entry.wallTime, &*call.wallTime, sizeof(entry.wallTime));
    }
    events.add(entry, named(call.series));
  }
  return events.take();
}

TEST(EntryEvents, AreThoseThatTheWriterOfTheEntriesMakes) {
  TickTimes times;
  times.ticks = 1'000'000'000'000;
  times.wallSeconds = 1'700'000'000;
  times.nanosPerTick = 1;
  std::mt19937 random(20'261'128);
  for (int i = 0; i < 50; ++i) {
    const std::vector<Call> calls = randomCalls(&random);
    const std::string written = writtenBy(calls, times);
    ASSERT_EQ(recoveredFrom(calls, times), written) << "in round " << i;
  }
}

TEST(EntryEvents, AreNoneWithoutEntries) {
  EXPECT_EQ(EntryEvents(NamedStream(), TickTimes()).take(), "");
}

}  // namespace
}  // namespace steptape::detail::log
