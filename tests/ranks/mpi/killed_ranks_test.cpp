// SPDX-License-Identifier: Apache-2.0
// Jobs of four ranks of which one is killed at a random moment; the launcher then ends the others.
// What each rank had logged is in the runs afterwards, once and in order.

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <map>
#include <random>
#include <string>
#include <sys/mman.h>

#include "steptape/log/run_reader.h"
#include "steptape/metrics/distributed_writer.h"
#include "steptape/ranks/testing.h"

#include "log/writer/recovery.h"
#include "metrics/read_back.h"
#include "ranks/mpi/killed_rank_notes.h"
#include "support/job.h"
#include "support/own_black_boxes.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace steptape {
namespace {

using test::KilledRankNotes;
using ::testing::Each;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

class KilledRanks : public ::testing::Test {
 protected:
  /// Expects the points of the calls that had returned, and of at most one more.
  void expectPoints(const RunReader& run, const std::string& tag, std::int64_t count, float value) {
    SCOPED_TRACE(tag);
    ASSERT_EQ(run.tags().count(tag), 1U);
    const ScalarColumns& points = run.tags().at(tag).scalars;
    EXPECT_GE(points.size(), static_cast<std::size_t>(count));
    EXPECT_LE(points.size(), static_cast<std::size_t>(count) + 1);
    for (std::size_t i = 0; i < points.size(); ++i) {
      ASSERT_EQ(points.steps[i], static_cast<std::int64_t>(i));
      ASSERT_EQ(points.values[i], value);
    }
    points_ += points.size();
  }

  /// mpiexec may end before ranks that it has killed.
  void recoverEveryRank(const std::string& logDir) {
    detail::log::RecoveryOptions options;
    options.directory = logDir;
    options.below = true;
    bool isDone = false;
    while (!isDone && !HasFailure()) {
      const detail::log::RecoveryReport report = detail::log::recoverRuns(options);
      isDone = report.living.empty();
      for (const auto& process : report.processes) {
        recovered_ += process.values;
        isDone = isDone && !process.isKept;
        EXPECT_THAT(process.problems, Each(HasSubstr("has not ended yet")));
      }
    }
  }

  void killOne(int victim, int microseconds) {
    const testing::TempDir directory;
    const std::string logDir = directory.string() + "/run";
    const std::string notesPath = directory.string() + "/notes";
    auto* const notes = KilledRankNotes::map(notesPath);
    ASSERT_NE(notes, nullptr);
    const test::JobEnd job =
        test::runJob(STEPTAPE_MPIEXEC " -n " + std::to_string(KilledRankNotes::kRanks) + " '" +
                     STEPTAPE_KILLED_RANK_PROGRAM + "' '" + notesPath + "' '" + logDir + "' " +
                     std::to_string(victim) + " " + std::to_string(microseconds));
    EXPECT_THAT(job.output, ::testing::ContainsRegex(STEPTAPE_LAUNCHER_SAYS_KILLED "|has ended"));
    recoverEveryRank(logDir);
    std::map<std::string, int> ranks;
    for (int rank = 0; rank < KilledRankNotes::kRanks; ++rank) {
      EXPECT_GT(notes->reduced[rank], 0);
      ranks[rankRunName(rank)] = rank;
    }
    std::size_t runs = 0;
    for (const RunFiles& run : listRuns(logDir)) {
      SCOPED_TRACE(run.name);
      ++runs;
      const RunReader scalars = test::readRun(run);
      EXPECT_THAT(scalars.damage(), IsEmpty());
      if (run.name == ".") {
        expectPoints(scalars, "loss", notes->reduced[0], 1.5F);
        continue;
      }
      const int rank = ranks.at(run.name);
      expectPoints(scalars, "own", notes->own[rank], static_cast<float>(rank));
      expectPoints(scalars, "loss", notes->reduced[rank], static_cast<float>(rank));
    }
    EXPECT_EQ(runs, 1U + KilledRankNotes::kRanks);
    for (const auto& entry : std::filesystem::directory_iterator(boxes_.folder())) {
      ADD_FAILURE() << entry.path() << " is left";
    }
    munmap(notes, sizeof(*notes));
  }

  const test::OwnBlackBoxes boxes_;
  std::uint64_t points_ = 0;
  std::uint64_t recovered_ = 0;
};

TEST_F(KilledRanks, LoseNothingThatTheirCallsHadTaken) {
  const char* const wanted = std::getenv("STEPTAPE_JOB_KILLS");
  const int kills = wanted != nullptr ? std::atoi(wanted) : 3;
  std::mt19937 random(20'261'125);
  for (int i = 0; i < kills && !HasFailure(); ++i) {
    SCOPED_TRACE("job " + std::to_string(i));
    killOne(i % KilledRankNotes::kRanks, std::uniform_int_distribution<int>(0, 30'000)(random));
  }
  EXPECT_GT(recovered_, 0U);
  std::printf("%d jobs, %llu points, of which %llu were recovered\n", kills,
              static_cast<unsigned long long>(points_),
              static_cast<unsigned long long>(recovered_));
}

}  // namespace
}  // namespace steptape
