// SPDX-License-Identifier: Apache-2.0
#include "log/writer/event_file.h"

#include <set>

#include "steptape/ranks/testing.h"

#include "events/framing/event_file_name.h"
#include "log/writer/faulty_file_system.h"
#include "log/writer/run_contents.h"

#include <gmock/gmock.h>

namespace steptape {
namespace {

using detail::log::EventFile;
using detail::log::nextEventFileName;
using detail::log::OpenFiles;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::MatchesRegex;

TEST(EventFileName, HoldsTheSecondsAndIsZeroPadded) {
  EXPECT_THAT(
      nextEventFileName({}, 1'700'000'000.9, ".suffix"),
      MatchesRegex("events.out.tfevents.1700000000\\..+\\.[0-9]+\\.[0-9][0-9][0-9][0-9][0-9]"
                   ".suffix"));
  EXPECT_THAT(nextEventFileName({}, 5.0, ""), HasSubstr("tfevents.0000000005."));
}

TEST(EventFileName, SortsAfterEveryExistingEventFile) {
  std::vector<std::string> names = {"events.out.tfevents.1700000000.zzz.999999.9", "checkpoint.pt"};
  for (int restart = 0; restart < 100; ++restart) {
    const std::string name = nextEventFileName(names, 1'700'000'000.0, "");
    for (const std::string& earlier : names) {
      if (detail::events::isEventFileName(earlier)) {
        ASSERT_LT(earlier, name);
      }
    }
    names.push_back(name);
  }
}

TEST(EventFileName, FollowsAFileFromTheFuture) {
  const std::string future = "events.out.tfevents.1900000000.host.1.00000";
  EXPECT_GT(nextEventFileName({future}, 1'700'000'000.0, ""), future);
}

class EventFileTest : public ::testing::Test {
 protected:
  std::string read() const {
    std::string bytes;
    std::FILE* file = std::fopen(file_.path().c_str(), "rb");
    for (int c = std::fgetc(file); c != EOF; c = std::fgetc(file)) {
      bytes += static_cast<char>(c);
    }
    std::fclose(file);
    return bytes;
  }

  testing::TempDir dir_;
  FaultyFileSystem disk_;
  EventFile file_;
};

TEST_F(EventFileTest, MakesTheDirectoriesItNeeds) {
  const Status status = file_.create(dir_.string() + "/a/b", 1, "");
  ASSERT_TRUE(status.ok()) << status.message();
  EXPECT_FALSE(file_.followsOthers());
  EXPECT_EQ(eventFilesIn(dir_.string() + "/a/b").size(), 1U);
}

TEST_F(EventFileTest, NamesThePathAndTheReasonWhenItCannotBeMade) {
  disk_.breakCreate(EACCES);
  const Status status = file_.create(dir_.string(), 1, "");
  ASSERT_FALSE(status.ok());
  EXPECT_THAT(status.message(), AllOf(HasSubstr("cannot create the event file " + dir_.string()),
                                      HasSubstr("Permission denied")));
  EXPECT_FALSE(file_.created());
}

TEST_F(EventFileTest, WritesAllBytesHoweverShortTheWritesAre) {
  ASSERT_TRUE(file_.create(dir_.string(), 1, "").ok());
  disk_.shortenWrites(1);
  ASSERT_TRUE(file_.append("abcdefgh").ok());
  EXPECT_EQ(read(), "abcdefgh");
}

TEST_F(EventFileTest, LeavesNothingOfAnAppendThatFailed) {
  ASSERT_TRUE(file_.create(dir_.string(), 1, "").ok());
  ASSERT_TRUE(file_.append("whole").ok());
  disk_.tearWrites(2);
  disk_.breakWrites(ENOSPC);
  const Status status = file_.append("torn");
  EXPECT_THAT(status.message(),
              AllOf(HasSubstr("cannot write to " + file_.path()), HasSubstr("No space left")));
  EXPECT_EQ(read(), "whole");
  disk_.breakWrites(0);
  ASSERT_TRUE(file_.append("torn and mended").ok());
  EXPECT_EQ(read(), "wholetorn and mended");
}

TEST_F(EventFileTest, ContinuesAfterAnIncompleteRecordThatItCannotRemove) {
  ASSERT_TRUE(file_.create(dir_.string(), 1, "").ok());
  disk_.tearWrites(2);
  disk_.breakWrites(EIO);
  disk_.breakTruncate(EIO);
  EXPECT_FALSE(file_.append("torn").ok());
  EXPECT_TRUE(file_.hasPartialAppend());
  disk_.breakWrites(0);
  ASSERT_TRUE(file_.append("torn").ok());
  EXPECT_EQ(read(), "torn");
}

TEST_F(EventFileTest, DetectsItsDeletion) {
  ASSERT_TRUE(file_.create(dir_.string(), 1, "").ok());
  EXPECT_FALSE(file_.deleted());
  std::filesystem::remove(file_.path());
  EXPECT_TRUE(file_.deleted());
  file_.closeDescriptor();
  EXPECT_TRUE(file_.deleted());
}

TEST(OpenFiles, KeepsTheMostRecentlyWrittenFilesOpen) {
  testing::TempDir dir;
  FaultyFileSystem disk;
  OpenFiles openFiles(2);
  std::vector<EventFile> files(3);
  for (EventFile& file : files) {
    file.keepWithin(&openFiles);
    ASSERT_TRUE(file.create(dir.string(), 1, "").ok());
    ASSERT_TRUE(file.append("a").ok());
  }
  EXPECT_EQ(openFiles.count(), 2U);
  EXPECT_EQ(disk.openDescriptors(), 2);
  ASSERT_TRUE(files[0].append("b").ok());
  EXPECT_EQ(disk.openDescriptors(), 2);
  EXPECT_EQ(disk.mostOpenDescriptors(), 3);
}

}  // namespace
}  // namespace steptape
