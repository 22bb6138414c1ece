// SPDX-License-Identifier: Apache-2.0
#include "log/reader/read_progress.h"

#include <vector>

#include <gmock/gmock.h>

namespace steptape::detail::log {
namespace {

using ::testing::ElementsAre;

constexpr std::uint64_t kMiB = std::uint64_t{1} << 20;

class ReadProgressTest : public ::testing::Test {
 protected:
  std::vector<std::uint64_t> reports_;
  ReadProgress progress_{[this](std::uint64_t bytes) { reports_.push_back(bytes); }};
};

TEST_F(ReadProgressTest, ReportsEveryEightMebibytes) {
  progress_.beginFile(0);
  for (const std::uint64_t offset :
       {kMiB, 8 * kMiB - 1, 8 * kMiB + 5, 16 * kMiB, 16 * kMiB + 5, 40 * kMiB}) {
    progress_.reach(offset);
  }
  EXPECT_THAT(reports_, ElementsAre(8 * kMiB + 5, 16 * kMiB + 5, 40 * kMiB));
}

TEST_F(ReadProgressTest, CountsFilesTogetherAndOfEachWhatWasNotReadBefore) {
  progress_.beginFile(100 * kMiB);
  progress_.endFile(103 * kMiB);
  progress_.beginFile(0);
  progress_.reach(4 * kMiB);
  progress_.reach(5 * kMiB);
  EXPECT_THAT(reports_, ElementsAre(8 * kMiB));
}

TEST_F(ReadProgressTest, BeginsAgain) {
  progress_.beginFile(0);
  progress_.reach(9 * kMiB);
  progress_.endFile(9 * kMiB);
  progress_.restart();
  progress_.beginFile(9 * kMiB);
  progress_.reach(17 * kMiB);
  EXPECT_THAT(reports_, ElementsAre(9 * kMiB, 8 * kMiB));
}

TEST(ReadProgress, WorksWithoutACallback) {
  ReadProgress progress(nullptr);
  progress.restart();
  progress.beginFile(0);
  EXPECT_NO_THROW(progress.reach(100 * kMiB));
}

}  // namespace
}  // namespace steptape::detail::log
