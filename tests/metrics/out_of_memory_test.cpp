// SPDX-License-Identifier: Apache-2.0
//
// Makes single allocations of logging ranks fail, one after the other, and several in a row: no
// rank hangs, no point is wrong, and missing points are reported. A separate program, because it
// replaces operator new.
#include <array>
#include <atomic>
#include <bitset>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <new>
#include <optional>
#include <string>
#include <string_view>
#include <thread>
#include <utility>

#include "steptape/base/status.h"
#include "steptape/log/file_check.h"
#include "steptape/metrics/distributed_writer.h"
#include "steptape/ranks/testing.h"

#include "events/framing/event_file_name.h"
#include "metrics/read_back.h"
#include "support/allocations.h"
#include "support/sweep.h"

#include <gtest/gtest.h>

namespace steptape {
namespace {

constexpr std::size_t kSteps = 4;
constexpr std::size_t kMetrics = 20;

double valueOf(std::size_t metric, std::int64_t step) {
  return static_cast<double>(100 * metric) + static_cast<double>(step);
}

/// One rank's loop, which continues after a call throws: std::bad_alloc, or Error if its partner
/// has failed.
class LoggingRank {
 public:
  LoggingRank(std::shared_ptr<Communicator> world, std::string logDir,
              DistributedWriterOptions options)
      : world_(std::move(world)), logDir_(std::move(logDir)), options_(std::move(options)) {}

  void run() {
    std::optional<DistributedWriter> writer;
    if (!attempt<Error>([&] { writer.emplace(logDir_, world_, options_); })) {
      return;
    }
    for (std::size_t i = 0; i < kSteps; ++i) {
      const auto step = static_cast<std::int64_t>(i);
      // From the second step on, with metrics that the first step did not have.
      std::bitset<kMetrics> queued;
      for (std::size_t metric = 0; metric < (step == 0 ? 2 : kMetrics); ++metric) {
        queued[metric] = attempt<Error>([&] { addReduced(*writer, metric, step); });
      }
      if (attempt<Error>([&] { writer->reduce(step); })) {
        logged_[i] = queued;
      } else if (i > 0 && options_.reduceMode == ReduceMode::kNonBlocking) {
        logged_[i - 1].reset();  // it returns the status of the previous step
      }
      attempt<Error>([&] { writer->addTextFromRanks("text", "some words", step); });
    }
    hasClosed_ = attempt<Error>([&] { closed_ = writer->close(); });
    dropped_ = writer->jobWriter().stats().droppedScalars;
  }

  void expectNoWrongPointAndNoneMissing(const std::string& logDir) const {
    std::map<std::pair<std::int64_t, std::size_t>, int> found;
    for (const auto& [tag, points] : test::readPoints(logDir)) {
      const std::string_view name = tag;
      if (name.substr(0, 7) != "metric/" || name.find('/', 7) != std::string_view::npos) {
        continue;
      }
      const std::size_t metric = std::stoul(tag.substr(7));
      for (const auto& [step, value] : points) {
        EXPECT_EQ(value, static_cast<float>(valueOf(metric, step))) << tag << " at " << step;
        ++found[{step, metric}];
      }
    }
    for (const auto& [point, times] : found) {
      EXPECT_EQ(times, 1) << "metric " << point.second << " at step " << point.first;
    }
    std::uint64_t missing = 0;
    for (std::size_t step = 0; step < kSteps; ++step) {
      for (std::size_t metric = 0; metric < kMetrics; ++metric) {
        missing += logged_[step][metric] && found.count({step, metric}) == 0 ? 1 : 0;
      }
    }
    // A failed close reports on the step that a reduce() had left in flight.
    if (hasClosed_ && closed_.ok()) {
      EXPECT_LE(missing, dropped_);
    }
  }

 private:
  static void addReduced(DistributedWriter& writer, std::size_t metric, std::int64_t step) {
    const std::string tag = "metric/" + std::to_string(metric);
    ReducedOptions options;
    options.band = metric == 1;
    options.perRankHistogram = metric == 3;
    if (metric == 4) {
      options.percentiles = {50};
      options.description = "a description that is longer than a small string";
    }
    writer.addReduced(tag, valueOf(metric, step), step, options);
  }

  std::shared_ptr<Communicator> world_;
  std::string logDir_;
  DistributedWriterOptions options_;
  std::array<std::bitset<kMetrics>, kSteps> logged_;
  Status closed_;
  bool hasClosed_ = false;
  std::uint64_t dropped_ = 0;
};

void expectWholeFiles(const std::string& directory) {
  for (const auto& entry : std::filesystem::recursive_directory_iterator(directory)) {
    if (detail::events::isEventFileName(entry.path().filename().string())) {
      for (const Finding& finding : checkEventFile(entry.path().string()).findings) {
        EXPECT_FALSE(finding.isLoss()) << finding.message;
      }
    }
  }
}

struct Sweep {
  std::uint64_t count = 1;  ///< Number of consecutive failures.
  std::uint64_t oneIn = 4;
  RankPolicy policy = RankPolicy::kRootOnly;
  ReduceMode mode = ReduceMode::kBlocking;
};

DistributedWriterOptions optionsOf(const Sweep& sweep) {
  DistributedWriterOptions options;
  options.rankPolicy = sweep.policy;
  options.reduceMode = sweep.mode;
  options.writer.onError = [](const Status&) {};
  return options;
}

/// Runs a single rank while `count` allocations from one on fail, for one in `oneIn` allocations.
void sweep(const Sweep& sweep) {
  test::sweep(sweep.oneIn, [&](std::uint64_t n) {
    const testing::TempDir directory;
    LoggingRank rank(std::make_shared<Communicator>(), directory.string() + "/run",
                     optionsOf(sweep));
    std::filesystem::create_directories(directory.string() + "/run");
    FailingAllocations failing(n, sweep.count);
    rank.run();
    const bool hasFailed = failing.stop() > 0;
    expectWholeFiles(directory.string());
    rank.expectNoWrongPointAndNoneMissing(directory.string() + "/run");
    return hasFailed;
  });
}

TEST(DistributedWriterOutOfMemory, WritesNoWrongPointWhicheverAllocationFails) {
  sweep({});
}

TEST(DistributedWriterOutOfMemory, WritesNoWrongPointUnderAnyPolicy) {
  sweep({1, 4, RankPolicy::kPerRank});
  sweep({1, 4, RankPolicy::kReduced});
}

TEST(DistributedWriterOutOfMemory, WritesNoWrongPointWithoutBlocking) {
  sweep({1, 4, RankPolicy::kRootOnly, ReduceMode::kNonBlocking});
}

TEST(DistributedWriterOutOfMemory, WritesNoWrongPointWhileSomeAllocationsFail) {
  sweep({20, 28});
  sweep({20, 28, RankPolicy::kPerRank, ReduceMode::kNonBlocking});
}

TEST(DistributedWriterOutOfMemory, KeepsNoOtherRankWaiting) {
  test::sweep(4, [&](std::uint64_t n) {
    std::uint64_t failed = 0;
    const testing::TempDir directory;
    const std::string logDir = directory.string() + "/run";
    std::filesystem::create_directories(logDir);
    std::optional<LoggingRank> root;
    std::atomic<bool> isFailing{false};
    testing::runRanksShared(
        2,
        [&](const std::shared_ptr<Communicator>& world) {
          LoggingRank rank(world, logDir, optionsOf({}));
          std::optional<FailingAllocations> failing;
          world->barrier();
          if (world->isRoot()) {
            failing.emplace(n);
            isFailing = true;
          }
          while (!isFailing) {
            std::this_thread::yield();
          }
          rank.run();
          if (failing) {
            failed = failing->stop();
            root.emplace(std::move(rank));
          }
        },
        std::chrono::milliseconds(500));
    expectWholeFiles(directory.string());
    root->expectNoWrongPointAndNoneMissing(logDir);
    return failed > 0;
  });
}

}  // namespace
}  // namespace steptape
