// SPDX-License-Identifier: Apache-2.0
//
// Measures the cost of logging: latency per scalar on the calling thread, compared with the minimum
// of a ring and a cycle counter; CPU time of all threads per event, compared with a plain Protocol
// Buffers loop; bytes per scalar; and the life of a writer. Every figure is a ratio of variants
// that ran alternately; see harness.h.
//
//   build/release/bin/logging_benchmark
#include <algorithm>
#include <array>
#include <atomic>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <memory>
#include <string>
#include <thread>
#include <unistd.h>
#include <vector>

#include "steptape/base/clock.h"
#include "steptape/ranks/testing.h"
#include "steptape/steptape.h"
#include "steptape/wire/event.pb.h"

#include "harness.h"
#include "table_crc.h"

namespace {

constexpr int kRounds = 21;
constexpr int kBursts = 300;
constexpr int kCallsPerBurst = 20;
constexpr auto kBetweenBursts = 100;  // microseconds: the other work of a training step

/// The minimum cost of passing 32 bytes with a time stamp to another thread: the baseline of the
/// writer.
class FloorRing {
 public:
  FloorRing() : consumer_([this] { consume(); }) {}
  ~FloorRing() {
    stop_ = true;
    consumer_.join();
  }
  FloorRing(const FloorRing&) = delete;
  FloorRing& operator=(const FloorRing&) = delete;

  void push(std::uint64_t a, std::uint64_t b) {
    const std::uint64_t tail = tail_.load(std::memory_order_relaxed);
    if (tail + 32 - knownHead_ > kBytes) {
      knownHead_ = head_.load(std::memory_order_acquire);
    }
    const std::uint64_t ticks = steptape::readTicks();
    char* to = bytes_ + tail % kBytes;
    // Word by word: a copy through an array would wait until the earlier stores reach the cache.
    for (const std::uint64_t word : {a, b, ticks, tail}) {
      std::memcpy(to, &word, sizeof(word));
      to += sizeof(word);
    }
    tail_.store(tail + 32, std::memory_order_release);
  }

 private:
  static constexpr std::uint64_t kBytes = 1 << 18;
  void consume() {
    while (!stop_) {
      usleep(4000);
      const std::uint64_t tail = tail_.load(std::memory_order_acquire);
      std::uint64_t sum = 0;
      for (std::uint64_t head = head_.load(); head != tail; head += 32) {
        std::uint64_t word;
        std::memcpy(&word, bytes_ + head % kBytes, sizeof(word));
        sum += word;
      }
      benchmark::keep(sum);
      head_.store(tail, std::memory_order_release);
    }
  }

  alignas(64) std::atomic<std::uint64_t> tail_{0};
  std::uint64_t knownHead_ = 0;
  alignas(64) std::atomic<std::uint64_t> head_{0};
  alignas(64) char bytes_[kBytes] = {};
  std::atomic<bool> stop_{false};
  std::thread consumer_;
};

/// Returns the median over bursts of the nanoseconds per call.
template <typename Call>
double burstNanos(const Call& burst) {
  benchmark::Costs costs;
  for (int i = 0; i < kBursts; ++i) {
    const double start = benchmark::nowNanos();
    burst();
    costs.push_back((benchmark::nowNanos() - start) / kCallsPerBurst);
    usleep(kBetweenBursts);
  }
  return benchmark::median(costs);
}

void callLatency() {
  steptape::testing::TempDir dir;
  steptape::SummaryWriter writer(dir.string());
  std::vector<std::string> names;
  std::vector<steptape::ScalarTag> tags;
  for (int i = 0; i < kCallsPerBurst; ++i) {
    names.push_back("train/metric" + std::to_string(i));
    tags.push_back(writer.scalarTag(names.back()));
  }
  const auto floor = std::make_unique<FloorRing>();
  std::int64_t step = 0;
  const auto eachTag = [](const auto& call) {
    return [call] {
      return burstNanos([&] {
        for (std::size_t i = 0; i < kCallsPerBurst; ++i) {
          call(i);
        }
      });
    };
  };
  const auto floorPush =
      eachTag([&](std::size_t i) { floor->push(i, static_cast<std::uint64_t>(++step)); });
  const std::vector<benchmark::Variant> variants = {
      {"rdtsc", eachTag([](std::size_t) { benchmark::keep(steptape::readTicks()); })},
      {"floor: ring push + rdtsc", floorPush},
      {"floor again (A/A)", floorPush},
      {"addScalar(handle, value, step)",
       eachTag([&](std::size_t i) { writer.addScalar(tags[i], 0.5, ++step); })},
      {"addScalar(\"tag\", value, step)",
       eachTag([&](std::size_t i) { writer.addScalar(names[i], 0.5, ++step); })},
      {"atStep(step): 20 x add(handle, value)", [&] {
         return burstNanos([&] {
           steptape::StepBatch batch = writer.atStep(++step);
           for (const steptape::ScalarTag tag : tags) {
             batch.add(tag, 0.5);
           }
         });
       }}};
  const auto costs = benchmark::takeTurns(variants, kRounds);
  benchmark::printTitle("The calling thread, bursts of 20, median, nanoseconds per scalar");
  for (std::size_t i = 0; i < variants.size(); ++i) {
    benchmark::printCosts(variants[i].name, costs[i], "ns");
  }
  benchmark::printControl("floor / floor again", benchmark::ratio(costs[1], costs[2]), 0.1);
  benchmark::printAtMost("addScalar(handle) / floor", benchmark::ratio(costs[3], costs[1]), 1.5);
  benchmark::printAtMost("addScalar(\"tag\") / floor", benchmark::ratio(costs[4], costs[1]), 3);
  benchmark::printAtMost("atStep, per scalar / rdtsc", benchmark::ratio(costs[5], costs[0]), 1);
}

/// A common implementation in C++ writers: a message per event, a byte-wise CRC table and four
/// stream writes.
class PlainWriter {
 public:
  explicit PlainWriter(const std::string& path) : file_(path, std::ios::binary) {}

  void addScalar(const std::string& tag, float value, std::int64_t step) {
    steptape::wire::Event event;
    event.set_wall_time(steptape::Clock::system().wallSeconds());
    event.set_step(step);
    auto* const summaryValue = event.mutable_summary()->add_value();
    summaryValue->set_tag(tag);
    summaryValue->set_simple_value(value);
    const std::string payload = event.SerializeAsString();
    const std::uint64_t length = payload.size();
    const std::uint32_t lengthCrc =
        crc_.masked({reinterpret_cast<const char*>(&length), sizeof(length)});
    const std::uint32_t payloadCrc = crc_.masked(payload);
    file_.write(reinterpret_cast<const char*>(&length), sizeof(length));
    file_.write(reinterpret_cast<const char*>(&lengthCrc), sizeof(lengthCrc));
    file_.write(payload.data(), static_cast<std::streamsize>(payload.size()));
    file_.write(reinterpret_cast<const char*>(&payloadCrc), sizeof(payloadCrc));
  }

 private:
  std::ofstream file_;
  benchmark::TableCrc crc_;
};

constexpr std::int64_t kSteps = 20'000;
constexpr int kTags = 10;

/// Runs `body` without a black box.
template <typename Body>
double withoutBox(const Body& body) {
  setenv("STEPTAPE_BLACK_BOX", "off", 1);
  const double cost = body();
  unsetenv("STEPTAPE_BLACK_BOX");
  return cost;
}

std::vector<std::string> nineLetterTags() {
  std::vector<std::string> names;
  names.reserve(kTags);
  for (int i = 0; i < kTags; ++i) {
    names.push_back("metric/" + std::to_string(10 + i));
  }
  return names;
}

void cpuPerEvent() {
  steptape::testing::TempDir dir;
  const std::vector<std::string> names = nineLetterTags();
  constexpr double kScalars = static_cast<double>(kSteps) * kTags;
  const auto cpuNanos = [&](const auto& log) {
    const double start = benchmark::cpuSeconds();
    log();
    return (benchmark::cpuSeconds() - start) * 1e9 / kScalars;
  };
  const auto plain = [&] {
    return cpuNanos([&] {
      PlainWriter writer(dir.string() + "/plain");
      for (std::int64_t step = 0; step < kSteps; ++step) {
        for (const std::string& name : names) {
          writer.addScalar(name, 0.5F, step);
        }
      }
    });
  };
  const auto ours = [&] {
    return cpuNanos([&] {
      // As for the plain file: memory that the operating system has just freed.
      std::filesystem::remove_all(dir.path() / "ours");
      steptape::SummaryWriter writer(dir.string() + "/ours");
      std::vector<steptape::ScalarTag> tags;
      tags.reserve(names.size());
      for (const std::string& name : names) {
        tags.push_back(writer.scalarTag(name));
      }
      for (std::int64_t step = 0; step < kSteps; ++step) {
        for (const steptape::ScalarTag tag : tags) {
          writer.addScalar(tag, 0.5, step);
        }
      }
    });
  };
  const std::vector<benchmark::Variant> variants = {
      {"protobuf, table CRC, four stream writes", plain},
      {"the same again (A/A)", plain},
      {"SummaryWriter::addScalar(handle)", ours},
      {"the same again (A/A)", ours},
      {"the same without a black box", [&] { return withoutBox(ours); }}};
  const auto costs = benchmark::takeTurns(variants, 11);
  benchmark::printTitle("CPU time of all threads until the file is written, ns per scalar");
  for (std::size_t i = 0; i < variants.size(); ++i) {
    benchmark::printCosts(variants[i].name, costs[i], "ns");
  }
  benchmark::printControl("plain / plain again", benchmark::ratio(costs[0], costs[1]), 0.1);
  benchmark::printControl("SummaryWriter / again", benchmark::ratio(costs[2], costs[3]), 0.1);
  benchmark::printAtMost("black box on / off", benchmark::ratio(costs[2], costs[4]), 1.1);
  benchmark::printAtLeast("plain / SummaryWriter", benchmark::ratio(costs[0], costs[2]), 7.5);
}

void bytesPerScalar() {
  steptape::testing::TempDir dir;
  const std::vector<std::string> names = nineLetterTags();
  steptape::SummaryWriter writer(dir.string());
  for (std::int64_t step = 0; step < kSteps; ++step) {
    steptape::StepBatch batch = writer.atStep(step);
    for (const std::string& name : names) {
      batch.add(name, 0.5);
    }
  }
  writer.close().throwIfError();
  const double bytes = static_cast<double>(writer.stats().bytesWritten) /
                       static_cast<double>(writer.stats().scalars);
  benchmark::printTitle("Bytes per scalar, 10 tags of 9 letters per step");
  benchmark::printAtMost("bytes", {bytes, bytes, bytes}, 27);
}

void writersLife() {
  steptape::testing::TempDir dir;
  int run = 0;
  const auto life = [&] {
    const double start = benchmark::nowNanos();
    {
      steptape::SummaryWriter writer(dir.string() + "/" + std::to_string(++run));
      writer.addScalar("a", 1, 1);
    }
    return (benchmark::nowNanos() - start) * 1e-6;
  };
  const std::vector<benchmark::Variant> variants = {
      {"construct, one scalar, destroy", life},
      {"the same again (A/A)", life},
      {"the same without a black box", [&] { return withoutBox(life); }}};
  const auto costs = benchmark::takeTurns(variants, 101);
  benchmark::printTitle("Construct a writer, log one scalar, destroy the writer, milliseconds");
  const benchmark::Costs one(costs[0].size(), 1.0);
  benchmark::printAtMost(variants[0].name, benchmark::ratio(costs[0], one), 1);
  benchmark::printControl("life / again", benchmark::ratio(costs[0], costs[1]), 0.1);
  benchmark::printAtMost("black box on / off", benchmark::ratio(costs[0], costs[2]), 1.5);
}

}  // namespace

int main() {
  callLatency();
  cpuPerEvent();
  bytesPerScalar();
  writersLife();
  return 0;
}
