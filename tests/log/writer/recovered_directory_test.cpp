// SPDX-License-Identifier: Apache-2.0
//
// The directory that gets what a killed process had logged: its run, wherever that is now, and no
// other.
#include <cstdint>
#include <filesystem>
#include <string>

#include "events/framing/open_record.h"
#include "events/framing/record_buffer.h"
#include "log/writer/box_records.h"
#include "log/writer/directory_place.h"
#include "log/writer/killed_run.h"
#include "log/writer/recovery.h"
#include "process/blackbox/box_file.h"
#include "process/blackbox/box_folder.h"

#include <gmock/gmock.h>

namespace steptape {
namespace {

using detail::log::DirectoryIdentity;
using detail::log::NamedRun;
using detail::log::placeOf;
using detail::log::recoverRuns;
using detail::process::BoxName;
using detail::process::listBoxes;
using ::testing::Each;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::SizeIs;

class RecoveredDirectoryTest : public KilledRunTest {
 protected:
  std::string other() const { return logs_.string() + "/other"; }

  /// Gives the run of the dead process another identity, which the box then holds.
  void identifyRun(const DirectoryIdentity& identity) const {
    NamedRun named;
    named.id = 1;
    named.directory = placeOf(run()).directory;
    named.identity = identity;
    detail::events::RecordBuffer records;
    detail::events::OpenRecord open(&records);
    detail::log::appendNameRecord(named, open.payload());
    open.end();
    const BoxName box = listBoxes(boxes_.folder()).at(0);
    const std::uint64_t bytes = std::filesystem::file_size(box.pathOf("names"));
    ASSERT_TRUE(detail::process::continueBoxFile(box, "names", bytes, records.take()).ok());
  }
};

TEST_F(RecoveredDirectoryTest, IsTheRunWhereverItWasMoved) {
  leaveADeadWriter();
  std::filesystem::rename(run(), other());
  EXPECT_EQ(recoverRuns({other()}).processes.at(0).values, 9U);
  EXPECT_THAT(scalarsIn(other()).at("loss"), SizeIs(9));
  EXPECT_THAT(scalarsIn(other() + kSubRun).at("both"), SizeIs(3));
}

// ext4 gives the inode of a deleted directory to the next new one. The box says here that it
// happened, so that the test does not depend on the file system.
TEST_F(RecoveredDirectoryTest, IsNoneThatGotTheInodeOfADeletedRun) {
  leaveADeadWriter();
  std::filesystem::remove_all(run());
  std::filesystem::create_directories(other());
  DirectoryIdentity dead = placeOf(other()).identity;
  if (dead.created == 0) {
    GTEST_SKIP() << "this file system does not keep when a directory was created";
  }
  --dead.created;
  identifyRun(dead);
  EXPECT_THAT(recoverRuns({other()}).processes, IsEmpty());
  EXPECT_TRUE(std::filesystem::is_empty(other()));

  std::filesystem::rename(other(), run());
  const auto processes = recoverRuns({run()}).processes;
  ASSERT_THAT(processes, SizeIs(1));
  EXPECT_THAT(processes[0].problems, Not(IsEmpty()));
  EXPECT_THAT(processes[0].problems,
              Each(HasSubstr("was deleted or moved, and another directory has its name")));
  EXPECT_TRUE(std::filesystem::is_empty(run()));
}

TEST_F(RecoveredDirectoryTest, IsFoundWhereNobodyKnowsWhenItWasCreated) {
  leaveADeadWriter();
  DirectoryIdentity withoutTime = placeOf(run()).identity;
  withoutTime.created = 0;
  identifyRun(withoutTime);
  EXPECT_EQ(recoverRuns({run()}).processes.at(0).values, 9U);
}

}  // namespace
}  // namespace steptape
