// SPDX-License-Identifier: Apache-2.0
// Several processes that would write one run.
#include <cstdlib>
#include <filesystem>
#include <string>
#include <unistd.h>
#include <utility>
#include <vector>

#include "steptape/base/status.h"
#include "steptape/log/summary_writer.h"
#include "steptape/ranks/testing.h"

#include "log/writer/run_contents.h"
#include "support/saying_child.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace steptape {
namespace {

namespace fs = std::filesystem;
using test::SayingChild;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::MatchesRegex;
using ::testing::SizeIs;
using ::testing::StartsWith;

class OccupiedRunTest : public ::testing::Test {
 protected:
  /// Opens a writer, which logs a point and lives to the end of the test or of the process.
  /// @return its directory, or the error.
  std::string open(const WriterOptions& options = {}) {
    return open([&] { return SummaryWriter(run_, options); });
  }
  /// The same with the default directory.
  std::string openDefault() {
    return open([&] { return SummaryWriter(); });
  }

  const testing::TempDir directory_;
  const std::string run_ = directory_.string() + "/run";
  std::vector<SummaryWriter> writers_;

 private:
  template <typename Make>
  std::string open(Make make) {
    try {
      writers_.push_back(make());
      writers_.back().addScalar("a", 1, 0);
      EXPECT_TRUE(writers_.back().flush().ok());
      return writers_.back().logDir();
    } catch (const Error& error) {
      return error.what();
    }
  }
};

WriterOptions with(OccupiedRun occupied) {
  WriterOptions options;
  options.occupied = occupied;
  return options;
}

TEST_F(OccupiedRunTest, RefusesASecondProcessAndNamesTheFirst) {
  const SayingChild first([&] { return open(); });
  EXPECT_EQ(first.said(), run_);
  EXPECT_THAT(open(), AllOf(StartsWith("SummaryWriter: got the run " + run_ + ", which process " +
                                       std::to_string(first.pid()) + " on "),
                            HasSubstr("expected a run of its own for each job")));
  EXPECT_THAT(scalarsIn(run_).at("a"), SizeIs(1));
}

TEST_F(OccupiedRunTest, GoesOnAfterAProcessThatWasKilled) {
  SayingChild first([&] { return open(); });
  first.kill();
  EXPECT_EQ(open(), run_);
}

TEST_F(OccupiedRunTest, IsFreeForWritersOfTheSameProcess) {
  EXPECT_EQ(open(), run_);
  EXPECT_EQ(open(), run_);
}

TEST_F(OccupiedRunTest, IsFreeWithAnotherSuffix) {
  const SayingChild first([&] { return open(); });
  WriterOptions options;
  options.filenameSuffix = ".eval";
  EXPECT_EQ(open(options), run_);
}

TEST_F(OccupiedRunTest, IsLeftForANewDirectoryByOption) {
  const SayingChild first([&] { return open(); });
  const SayingChild second([&] { return open(with(OccupiedRun::kNewDirectory)); });
  EXPECT_EQ(second.said(), run_ + "_2");
  EXPECT_EQ(open(with(OccupiedRun::kNewDirectory)), run_ + "_3");
}

TEST_F(OccupiedRunTest, IsSharedByOption) {
  const SayingChild first([&] { return open(); });
  EXPECT_EQ(open(with(OccupiedRun::kShare)), run_);
}

TEST_F(OccupiedRunTest, IsFreeAfterItsWriterHasClosedIt) {
  const SayingChild other([&] {
    const std::string directory = open();
    EXPECT_TRUE(writers_.back().close().ok());
    return directory;
  });
  EXPECT_EQ(open(), run_);
}

TEST_F(OccupiedRunTest, RefusesPointsAfterACloseIfAnotherProcessHasTakenItSince) {
  EXPECT_EQ(open(), run_);
  EXPECT_TRUE(writers_.back().close().ok());
  const SayingChild other([&] {
    writers_.clear();
    return open();
  });
  ASSERT_EQ(other.said(), run_);
  writers_.back().addScalar("a", 1, 1);
  EXPECT_THAT(writers_.back().flush().message(),
              HasSubstr("which process " + std::to_string(other.pid())));
}

TEST_F(OccupiedRunTest, HasADefaultNameOfItsOwnForEachJobElementAndProcess) {
  const fs::path before = fs::current_path();
  fs::current_path(directory_.path());
  ::setenv("SLURM_JOB_ID", "52", 1);
  const SayingChild first([&] { return openDefault(); });
  const SayingChild second([&] { return openDefault(); });
  ::setenv("SLURM_ARRAY_JOB_ID", "50", 1);
  ::setenv("SLURM_ARRAY_TASK_ID", "3", 1);
  const SayingChild element([&] { return openDefault(); });
  ::unsetenv("SLURM_JOB_ID");
  ::unsetenv("SLURM_ARRAY_JOB_ID");
  ::unsetenv("SLURM_ARRAY_TASK_ID");
  fs::current_path(before);
  EXPECT_THAT(first.said(), MatchesRegex("runs/.*_job52"));
  EXPECT_THAT(second.said(), MatchesRegex("runs/.*_job52(_2)?"));
  EXPECT_NE(first.said(), second.said());
  EXPECT_THAT(element.said(), MatchesRegex("runs/.*_job50_3"));
}

}  // namespace
}  // namespace steptape
