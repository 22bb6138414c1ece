// SPDX-License-Identifier: Apache-2.0
// What the ranks of a job say of themselves and of each other, for all_ranks_test.py.
//
//   mpiexec -n 4 rank_writer metrics <run> root_only|per_rank
//   mpiexec -n 4 rank_writer steps <run> <slow rank, or -1> <slow part>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <exception>
#include <iostream>
#include <memory>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include <steptape/metrics/straggler_report.h>
#include <steptape/mpi.h>
#include <steptape/ranks/testing.h>
#include <steptape/steptape.h>

namespace {

using std::chrono::milliseconds;
using steptape::StepPart;

constexpr std::int64_t kSteps = 60;
constexpr std::int64_t kSide = 48;  // Of an image, in pixels.

steptape::ReducedOptions withBand(double weight) {
  steptape::ReducedOptions options;
  options.weight = weight;
  options.band = true;
  return options;
}

/// Returns rings around a center that differs on each rank.
std::vector<float> rings(int rank) {
  std::vector<float> pixels;
  for (std::int64_t y = 0; y < kSide; ++y) {
    for (std::int64_t x = 0; x < kSide; ++x) {
      const auto distance = std::hypot(static_cast<double>(x - 12 * rank), static_cast<double>(y));
      pixels.push_back(static_cast<float>(0.5 + 0.5 * std::sin(distance / 3)));
    }
  }
  return pixels;
}

/// Metrics in bands, a histogram over the ranks, and images and texts of some of them.
void logMetrics(const std::string& run, const std::shared_ptr<steptape::Communicator>& world,
                steptape::RankPolicy policy) {
  steptape::DistributedWriterOptions writerOptions;
  writerOptions.rankPolicy = policy;
  steptape::DistributedWriter writer(run, world, writerOptions);
  const int rank = world->rank();
  std::mt19937 random(static_cast<unsigned>(rank));
  std::normal_distribution<double> noise(0.05 * rank, 0.1);

  steptape::ReducedOptions spread = withBand(rank + 1);
  spread.perRankHistogram = true;
  spread.percentiles = {50};
  spread.argmaxRank = true;
  for (std::int64_t step = 0; step < kSteps; ++step) {
    const double decay = std::exp(-static_cast<double>(step) / 20);
    writer.addReduced("loss/train", 2 * decay + 0.3 + noise(random), step, spread);
    writer.addReduced("loss/test [EMA.9]", 2 * decay + 0.5 + noise(random) / 3, step, withBand(1));
    writer.addReduced("|gradient|^2+$", 5 * decay + 1 + 4 * std::abs(noise(random)), step,
                      withBand(1));
    writer.reduce(step);
  }

  const std::vector<float> pixels = rings(rank);
  steptape::ImageFromRanksOptions image;
  image.ranks = {0, 2};
  image.dataFormat = "HW";
  writer.addImageFromRanks("sample", {pixels.data(), {kSide, kSide}}, kSteps, image);
  steptape::TextFromRanksOptions text;
  text.ranks = {1, 3};
  writer.addTextFromRanks("files", "shard **" + std::to_string(rank) + "** of 4", kSteps, text);
  writer.close().throwIfError();
}

/// Makes steps of 2 ms of input and 4 ms of computation, in which all wait for the last rank. In
/// the second half, the slow rank takes 50 ms longer in one of the two. Without a slow rank, the
/// times are equal, by a simulated clock: real times on a busy machine are not.
void makeSteps(const std::string& run, const std::shared_ptr<steptape::Communicator>& world,
               int slowRank, const std::string& slowPart) {
  steptape::DistributedWriter writer(run, world);
  const auto equalTimes = std::make_shared<steptape::testing::FakeClock>();
  steptape::StragglerReportOptions options;
  options.everySteps = 5;
  options.detailScalars = true;
  if (slowRank < 0) {
    options.clock = equalTimes;
  }
  steptape::StragglerReport report(writer, options);
  const auto spend = [&](StepPart part, int usual, std::int64_t step) {
    const bool isSlow =
        step > 15 && world->rank() == slowRank && slowPart == steptape::stepPartName(part);
    const milliseconds time(usual + (isSlow ? 50 : 0));
    const auto timer = report.time(part);
    std::this_thread::sleep_for(time);
    equalTimes->advance(time);
  };
  for (std::int64_t step = 1; step <= 30; ++step) {
    spend(StepPart::kInput, 2, step);
    spend(StepPart::kForward, 4, step);
    {
      const auto timer = report.time(StepPart::kWait);
      world->barrier();
    }
    report.endStep(step);
  }
  writer.close().throwIfError();
}

}  // namespace

int main(int argc, char** argv) {
  const steptape::Environment environment(argc, argv);
  const std::vector<std::string> arguments(argv + 1, argv + argc);
  try {
    if (arguments.size() == 3 && arguments[0] == "metrics") {
      logMetrics(arguments[1], steptape::world(),
                 arguments[2] == "per_rank" ? steptape::RankPolicy::kPerRank
                                            : steptape::RankPolicy::kRootOnly);
    } else if (arguments.size() == 4 && arguments[0] == "steps") {
      makeSteps(arguments[1], steptape::world(), std::stoi(arguments[2]), arguments[3]);
    } else {
      std::cerr << "rank_writer metrics <run> <policy> | steps <run> <slow rank> <slow part>\n";
      return 2;
    }
  } catch (const std::exception& error) {
    environment.abort(error.what());
  }
  return 0;
}
