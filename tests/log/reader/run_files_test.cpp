// SPDX-License-Identifier: Apache-2.0
#include <filesystem>
#include <string>
#include <vector>

#include "steptape/log/run_reader.h"

#include "log/reader/log_dir_fixture.h"

#include <gmock/gmock.h>

namespace steptape {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

class ListRunsTest : public LogDirFixture {
 protected:
  std::vector<std::string> names(const std::string& where) const {
    std::vector<std::string> result;
    for (const RunFiles& run : listRuns(where)) {
      result.push_back(run.name);
    }
    return result;
  }
};

TEST_F(ListRunsTest, FindsTheLogDirectoryItself) {
  const std::string file = writeBytes("events.out.tfevents.1", "");
  const std::vector<RunFiles> runs = listRuns(root_);
  ASSERT_EQ(runs.size(), 1u);
  EXPECT_EQ(runs[0].name, ".");
  EXPECT_EQ(runs[0].directory, root_);
  EXPECT_THAT(runs[0].files, ElementsAre(file));
}

TEST_F(ListRunsTest, FindsNestedRunsInOrder) {
  writeBytes("b/events.out.tfevents.1", "");
  writeBytes("a/deep/events.out.tfevents.1", "");
  writeBytes("events.out.tfevents.1", "");
  EXPECT_THAT(names(root_), ElementsAre(".", "a/deep", "b"));
  EXPECT_EQ(listRuns(root_)[1].directory, path("a/deep"));
}

TEST_F(ListRunsTest, TakesFilesInTheOrderOfTheirNames) {
  writeBytes("events.out.tfevents.2", "");
  writeBytes("events.out.tfevents.10", "");
  writeBytes("events.out.tfevents.1", "");
  EXPECT_THAT(listRuns(root_)[0].files,
              ElementsAre(path("events.out.tfevents.1"), path("events.out.tfevents.10"),
                          path("events.out.tfevents.2")));
}

TEST_F(ListRunsTest, FindsFilesOfMindSpore) {
  const std::string file = writeBytes("a/events.out.events.summary.1795700000.0.host_MS", "");
  writeBytes("a/events.out.events.summary.1795700000.0.host_MS_lineage", "");
  const std::vector<RunFiles> runs = listRuns(root_);
  ASSERT_EQ(runs.size(), 1u);
  EXPECT_THAT(runs[0].files, ElementsAre(file));
}

TEST_F(ListRunsTest, LeavesOutOtherFilesAndEmptyDirectories) {
  writeBytes("notes.txt", "");
  writeBytes("empty/model.pt", "");
  EXPECT_THAT(listRuns(root_), IsEmpty());
}

TEST_F(ListRunsTest, IgnoresSlashesAtTheEnd) {
  writeBytes("a/events.out.tfevents.1", "");
  const std::vector<RunFiles> runs = listRuns(root_ + "//");
  ASSERT_EQ(runs.size(), 1u);
  EXPECT_EQ(runs[0].name, "a");
  EXPECT_EQ(runs[0].directory, path("a"));
}

TEST_F(ListRunsTest, TakesOneFileForARun) {
  const std::string file = writeBytes("any.name", "");
  const std::vector<RunFiles> runs = listRuns(file);
  ASSERT_EQ(runs.size(), 1u);
  EXPECT_EQ(runs[0].name, ".");
  EXPECT_EQ(runs[0].directory, root_);
  EXPECT_THAT(runs[0].files, ElementsAre(file));
}

TEST_F(ListRunsTest, FollowsLinksOnceOnly) {
  writeBytes("a/events.out.tfevents.1", "");
  std::filesystem::create_directory_symlink(root_, path("a/loop"));
  std::filesystem::create_directory_symlink(path("a"), path("b"));
  EXPECT_THAT(names(root_), ElementsAre("a"));
}

TEST_F(ListRunsTest, CallsARunByTheNameOfItsDirectoryAndNotOfALink) {
  writeBytes("run_7/events.out.tfevents.1", "");
  std::filesystem::create_directory_symlink(path("run_7"), path("latest"));
  writeBytes("all/notes.txt", "");
  std::filesystem::create_directory_symlink(path("run_7"), path("all/first"));
  EXPECT_THAT(names(root_), ElementsAre("run_7"));
}

TEST_F(ListRunsTest, FollowsLinksBelowLinks) {
  writeBytes("elsewhere/runs/events.out.tfevents.1", "");
  writeBytes("elsewhere/data/deep/events.out.tfevents.1", "");
  std::filesystem::create_directory_symlink(path("elsewhere/data"), path("elsewhere/runs/more"));
  writeBytes("here/notes.txt", "");
  std::filesystem::create_directory_symlink(path("elsewhere/runs"), path("here/link"));
  EXPECT_THAT(names(path("here")), ElementsAre("link", "link/more/deep"));
}

TEST_F(ListRunsTest, CountsTheBytesOfARunsFiles) {
  writeBytes("events.out.tfevents.1", "12345");
  const std::string second = writeBytes("events.out.tfevents.2", "678");
  const RunFiles run = listRuns(root_).front();
  EXPECT_EQ(totalBytes(run), 8u);
  std::filesystem::remove(second);
  EXPECT_EQ(totalBytes(run), 5u);
}

TEST_F(ListRunsTest, NamesAMissingPath) {
  try {
    listRuns(path("absent"));
    FAIL() << "found runs in a directory that is not there";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::kIoError);
    EXPECT_EQ(error.what(), "cannot read " + path("absent") + ": No such file or directory");
  }
}

}  // namespace
}  // namespace steptape
