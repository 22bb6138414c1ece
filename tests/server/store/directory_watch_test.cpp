// SPDX-License-Identifier: Apache-2.0
#include "server/store/directory_watch.h"

#include <chrono>
#include <filesystem>
#include <set>
#include <string>
#include <vector>

#include "log/reader/run_fixture.h"

#include <gmock/gmock.h>

namespace steptape::detail::server {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

class DirectoryWatchTest : public RunFixture {
 protected:
  void SetUp() override {
    RunFixture::SetUp();
    writeBytes("a/events.out.tfevents.1", "");
    std::filesystem::create_directory_symlink("a", path("b"));
  }
  /// Returns the directories that were not watched.
  std::vector<std::string> watch(const std::vector<std::string>& names) {
    std::vector<std::string> paths;
    for (const std::string& name : names) {
      paths.push_back(path(name));
    }
    std::vector<std::string> added;
    EXPECT_EQ(watch_.watch(paths, &added), "");
    return added;
  }
  DirectoryWatch::Changes changes() { return watch_.wait(std::chrono::milliseconds(0)); }

  DirectoryWatch watch_;
};

TEST_F(DirectoryWatchTest, TellsWhichDirectoriesAreNew) {
  EXPECT_THAT(watch({"a"}), ElementsAre(path("a")));
  EXPECT_THAT(watch({"a"}), IsEmpty());
  EXPECT_THAT(watch({"a", "b"}), ElementsAre(path("b")));
  EXPECT_THAT(watch({"missing", "a"}), IsEmpty());
  EXPECT_THAT(watch({"a", "b"}), ElementsAre(path("b")));
}

TEST_F(DirectoryWatchTest, TellsThatAFileGrows) {
  watch({"a"});
  append("a/events.out.tfevents.1", "x");
  const DirectoryWatch::Changes grown = changes();
  EXPECT_THAT(grown.directories, ElementsAre(path("a")));
  EXPECT_FALSE(grown.structure);
  EXPECT_TRUE(changes().isEmpty());
}

TEST_F(DirectoryWatchTest, TellsEachPathOfADirectory) {
  watch({"a", "b"});
  append("a/events.out.tfevents.1", "x");
  EXPECT_THAT(changes().directories, ElementsAre(path("a"), path("b")));
  watch({"b"});
  append("a/events.out.tfevents.1", "x");
  EXPECT_THAT(changes().directories, ElementsAre(path("b")));
}

TEST_F(DirectoryWatchTest, TellsOfNewFilesAndDirectories) {
  watch({"a"});
  writeBytes("a/events.out.tfevents.2", "");
  EXPECT_TRUE(changes().structure);
  std::filesystem::create_directory(path("a/c"));
  EXPECT_TRUE(changes().structure);
  std::filesystem::create_symlink("nowhere", path("a/d"));
  EXPECT_TRUE(changes().structure);
  std::filesystem::remove_all(path("a"));
  EXPECT_TRUE(changes().structure);
}

TEST_F(DirectoryWatchTest, IgnoresOtherFiles) {
  watch({"a"});
  writeBytes("a/model.pt", "weights");
  append("a/model.pt", "more");
  std::filesystem::remove(path("a/model.pt"));
  EXPECT_TRUE(changes().isEmpty());
}

TEST_F(DirectoryWatchTest, IgnoresDirectoriesThatAreNoLongerWatched) {
  watch({"a"});
  watch({});
  append("a/events.out.tfevents.1", "x");
  EXPECT_THAT(changes().directories, IsEmpty());
}

TEST_F(DirectoryWatchTest, WatchesTheNextDirectoryOfAName) {
  watch({"a"});
  std::filesystem::rename(path("a"), path("c"));
  writeBytes("a/events.out.tfevents.1", "");
  EXPECT_TRUE(changes().structure);
  EXPECT_THAT(watch({"a", "c"}), ElementsAre(path("a"), path("c")));
  append("c/events.out.tfevents.1", "x");
  EXPECT_THAT(changes().directories, ElementsAre(path("c")));
}

TEST_F(DirectoryWatchTest, IsWoken) {
  watch_.wake();
  EXPECT_TRUE(watch_.wait(std::chrono::hours(1)).isEmpty());
}

TEST_F(DirectoryWatchTest, TellsNothingOnceItForgets) {
  watch({"a"});
  watch_.forget();
  append("a/events.out.tfevents.1", "x");
  EXPECT_TRUE(changes().isEmpty());
  std::vector<std::string> added;
  EXPECT_EQ(watch_.watch({path("a")}, &added), "inotify is not available");
}

TEST_F(DirectoryWatchTest, FindsNoProblemWithLocalDirectories) {
  EXPECT_EQ(DirectoryWatch::problemOf("/proc"), "");
}

}  // namespace
}  // namespace steptape::detail::server
