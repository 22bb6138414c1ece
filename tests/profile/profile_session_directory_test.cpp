// SPDX-License-Identifier: Apache-2.0
#include "profile/recorder/profile_session_directory.h"

#include <algorithm>
#include <filesystem>
#include <string>
#include <vector>

#include "steptape/ranks/testing.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace steptape::detail::profile {
namespace {

using std::chrono::milliseconds;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

class ProfileSessionDirectoryTest : public ::testing::Test {
 protected:
  static Trace traceOf(int rank, int worldSize = 2) {
    Trace trace;
    trace.hostName = "node";
    trace.rank = rank;
    trace.worldSize = worldSize;
    return trace;
  }

  std::vector<std::string> filesIn(const std::string& folder) const {
    std::vector<std::string> names;
    if (std::filesystem::exists(dir_.string() + "/plugins/" + folder)) {
      for (const auto& entry :
           std::filesystem::directory_iterator(dir_.string() + "/plugins/" + folder)) {
        names.push_back(entry.path().filename().string());
      }
    }
    std::sort(names.begin(), names.end());
    return names;
  }

  const testing::TempDir dir_;
  ProfileSessionDirectory first_{dir_.string()};
  ProfileSessionDirectory second_{dir_.string()};
};

TEST_F(ProfileSessionDirectoryTest, ShowsTheFileOfASingleProcessAtOnce) {
  ASSERT_TRUE(first_.write("a", traceOf(0, 1)).ok());
  EXPECT_THAT(filesIn("profile/a"), ElementsAre("node.xplane.pb"));
}

TEST_F(ProfileSessionDirectoryTest, ShowsASessionWhenTheFilesOfAllRanksAreThere) {
  ASSERT_TRUE(first_.write("a", traceOf(0)).ok());
  EXPECT_THAT(filesIn("profile"), IsEmpty());
  ASSERT_TRUE(second_.write("a", traceOf(1)).ok());
  EXPECT_THAT(filesIn("profile/a"),
              ElementsAre("node_rank00000.xplane.pb", "node_rank00001.xplane.pb"));
  EXPECT_TRUE(first_.finish(milliseconds(0)).ok());
  EXPECT_THAT(filesIn(""), ElementsAre("profile"));
}

TEST_F(ProfileSessionDirectoryTest, ShowsWhatThereIsWhenARankNeverComes) {
  ASSERT_TRUE(first_.write("a", traceOf(0)).ok());
  ASSERT_TRUE(first_.finish(milliseconds(1)).ok());
  EXPECT_THAT(filesIn("profile/a"), ElementsAre("node_rank00000.xplane.pb"));
}

TEST_F(ProfileSessionDirectoryTest, ShowsAnEarlierSessionWithTheNextOne) {
  ASSERT_TRUE(first_.write("a", traceOf(0)).ok());
  ASSERT_TRUE(first_.write("b", traceOf(0)).ok());
  EXPECT_THAT(filesIn("profile/a"), ElementsAre("node_rank00000.xplane.pb"));
  EXPECT_THAT(filesIn("profile/b"), IsEmpty());
}

TEST_F(ProfileSessionDirectoryTest, AddsTheFileOfARankThatComesTooLate) {
  ASSERT_TRUE(first_.write("a", traceOf(0)).ok());
  ASSERT_TRUE(first_.finish(milliseconds(0)).ok());
  ASSERT_TRUE(second_.write("a", traceOf(1)).ok());
  EXPECT_THAT(filesIn("profile/a"),
              ElementsAre("node_rank00000.xplane.pb", "node_rank00001.xplane.pb"));
}

TEST_F(ProfileSessionDirectoryTest, JoinsTheFilesOfRanksThatDidNotSeeEachOther) {
  ASSERT_TRUE(first_.write("a", traceOf(0)).ok());
  std::filesystem::create_directories(dir_.string() + "/plugins/profile/a");
  std::filesystem::copy(dir_.string() + "/plugins/profile_unfinished/a/node_rank00000.xplane.pb",
                        dir_.string() + "/plugins/profile/a/node_rank00001.xplane.pb");
  ASSERT_TRUE(first_.finish(milliseconds(0)).ok());
  EXPECT_THAT(filesIn("profile/a"),
              ElementsAre("node_rank00000.xplane.pb", "node_rank00001.xplane.pb"));
  EXPECT_THAT(filesIn(""), ElementsAre("profile"));
}

}  // namespace
}  // namespace steptape::detail::profile
