// SPDX-License-Identifier: Apache-2.0
//
// The writer with a disk that is full, torn, slow, dead or removed, and without room in memory.
#include <thread>

#include "steptape/log/summary_writer.h"

#include "log/writer/faulty_file_system.h"
#include "log/writer/run_contents.h"
#include "log/writer/scalar_ring.h"
#include "log/writer/wait_check.h"
#include "log/writer/writer_fixture.h"

#include <gmock/gmock.h>

namespace steptape {
namespace {

using detail::log::ScalarRing;
using ::testing::AllOf;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::SizeIs;

constexpr auto kBound = std::chrono::seconds(20);
constexpr std::uint64_t kRingScalars = ScalarRing::kWords / ScalarRing::kEntryWords;

class DiskTroubleTest : public WriterFixture {
 protected:
  DiskTroubleTest() { options_.flushPeriod = std::chrono::milliseconds(1); }
  ~DiskTroubleTest() override { disk_.resume(); }

  void open() { writer_ = std::make_unique<SummaryWriter>(WriterFixture::open(options_)); }
  /// Logs scalars of a tag whose first value in each file has metadata.
  void log(std::int64_t from, std::int64_t to) {
    ScalarOptions named;
    named.displayName = "A";
    for (std::int64_t step = from; step < to; ++step) {
      writer_->addScalar("a", static_cast<double>(step), step, named);
    }
  }
  template <typename Condition>
  bool eventually(const Condition& condition) {
    const auto deadline = std::chrono::steady_clock::now() + kBound;
    while (!condition() && std::chrono::steady_clock::now() < deadline) {
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
    return condition();
  }
  std::size_t pointsOnDisk() { return scalarsIn(dir_.string())["a"].size(); }
  /// Fills the calling thread's ring while nothing drains it.
  void fillRing() {
    disk_.stall();
    log(0, 1);
    ASSERT_TRUE(eventually([this] { return disk_.writes() > 1; }));
    log(1, 1 + static_cast<std::int64_t>(kRingScalars));
  }

  /// Logs to a full disk until `dropped` points are lost, frees the disk and flushes.
  /// @return the number of logged points.
  std::int64_t logUntilAFullDiskDrops(std::uint64_t dropped) {
    open();
    disk_.breakWrites(ENOSPC);
    log(0, 1);
    EXPECT_FALSE(writer_->flush().ok());  // the first point has left the ring
    std::int64_t step = 1;
    EXPECT_TRUE(eventually([&] {
      log(step, step + 1000);
      step += 1000;
      return writer_->stats().droppedScalars > dropped;
    }));
    disk_.breakWrites(0);
    EXPECT_TRUE(writer_->flush().ok());
    return step;
  }

  FaultyFileSystem disk_;  // outlives the writer
  WriterOptions options_;
  std::unique_ptr<SummaryWriter> writer_;
};

TEST_F(DiskTroubleTest, KeepsEveryPointOfAFullDiskUntilThereIsRoom) {
  open();
  disk_.breakWrites(ENOSPC);
  log(0, 1000);
  const Status full = writer_->flush();
  ASSERT_FALSE(full.ok());
  EXPECT_EQ(full.code(), ErrorCode::kIoError);
  EXPECT_THAT(full.message(), AllOf(HasSubstr("cannot write to " + dir_.string()),
                                    HasSubstr("No space left on device")));
  EXPECT_EQ(pointsOnDisk(), 0U);

  disk_.breakWrites(0);
  const Status freed = writer_->flush();
  EXPECT_TRUE(freed.ok()) << freed.message();
  EXPECT_EQ(pointsOnDisk(), 1000U);
  EXPECT_EQ(writer_->stats().droppedScalars, 0U);
  EXPECT_GE(writer_->stats().retries, 1U);
}

TEST_F(DiskTroubleTest, RetriesAutomatically) {
  open();
  disk_.breakWrites(ENOSPC);
  log(0, 10);
  ASSERT_FALSE(writer_->flush().ok());
  disk_.breakWrites(0);
  EXPECT_TRUE(eventually([this] { return pointsOnDisk() == 10; }));
}

TEST_F(DiskTroubleTest, ReportsAnEpisodeOnce) {
  open();
  disk_.breakWrites(ENOSPC);
  for (int i = 0; i < 5; ++i) {
    log(i, i + 1);
    EXPECT_FALSE(writer_->flush().ok());
  }
  EXPECT_THAT(reports(), ElementsAre(HasSubstr("No space left on device")));
}

TEST_F(DiskTroubleTest, LeavesOnlyCompleteRecordsAfterATornWrite) {
  open();
  disk_.tearWrites(17);
  disk_.breakWrites(ENOSPC);
  log(0, 100);
  EXPECT_FALSE(writer_->flush().ok());
  EXPECT_EQ(pointsOnDisk(), 0U);  // and eventsOf() checks that the file ends with a complete record
  disk_.breakWrites(0);
  EXPECT_TRUE(writer_->flush().ok());
  EXPECT_EQ(pointsOnDisk(), 100U);
}

TEST_F(DiskTroubleTest, MendsTheFileWhenATornWriteCannotBeCutOff) {
  open();
  disk_.tearWrites(17);
  disk_.breakTruncate(EIO);
  disk_.breakWrites(EIO);
  log(0, 100);
  EXPECT_FALSE(writer_->flush().ok());
  log(100, 200);
  disk_.breakWrites(0);
  EXPECT_TRUE(writer_->flush().ok());
  EXPECT_EQ(pointsOnDisk(), 200U);
}

TEST_F(DiskTroubleTest, WritesTheSameBytesHoweverShortTheWritesAre) {
  open();
  disk_.shortenWrites(7);
  log(0, 1000);
  EXPECT_TRUE(writer_->close().ok());
  EXPECT_EQ(pointsOnDisk(), 1000U);
}

TEST_F(DiskTroubleTest, CountsWhatACloseCouldNotWrite) {
  open();
  disk_.breakWrites(ENOSPC);
  log(0, 100);
  writer_->addText("t", "x", 0);
  EXPECT_FALSE(writer_->close().ok());
  EXPECT_EQ(writer_->stats().droppedScalars, 100U);
  EXPECT_EQ(writer_->stats().droppedValues, 1U);
  EXPECT_THAT(reports(), Contains(HasSubstr("are being dropped")));
}

TEST_F(DiskTroubleTest, ContinuesInANewFileWhenItsFileWasDeleted) {
  open();
  log(0, 10);
  ASSERT_TRUE(writer_->flush().ok());
  std::filesystem::remove_all(dir_.path());
  log(10, 20);
  EXPECT_TRUE(writer_->flush().ok());
  EXPECT_EQ(pointsOnDisk(), 10U);
  EXPECT_THAT(reports(), ElementsAre(HasSubstr("was deleted while the run was being written")));
  // The metadata was in the old file: readers need it in the new one.
  EXPECT_TRUE(valuesIn(dir_.string())[0].metadata);
}

TEST_F(DiskTroubleTest, DescribesTagsAgainThatWereEncodedForADeletedFile) {
  options_.flushPeriod = std::chrono::hours(1);
  open();
  log(0, 10);
  writer_->addText("t", "first", 0);
  ASSERT_TRUE(writer_->flush().ok());
  log(10, 20);
  writer_->addText("t", "second", 1);
  std::filesystem::remove_all(dir_.path());
  EXPECT_TRUE(writer_->flush().ok());
  const std::vector<event::Value> values = valuesIn(dir_.string());
  ASSERT_THAT(values, SizeIs(11));
  int described = 0;
  for (const event::Value& value : values) {
    described += value.metadata ? 1 : 0;
  }
  EXPECT_EQ(described, 2);
}

TEST_F(DiskTroubleTest, CreatesASubRunsFileOnceThatIsPossible) {
  open();
  disk_.breakCreate(EMFILE);
  writer_->addScalars("main", {{"sub", 1}}, 0);
  const Status status = writer_->flush();
  EXPECT_THAT(status.message(), HasSubstr("Too many open files"));
  disk_.breakCreate(0);
  EXPECT_TRUE(writer_->flush().ok());
  EXPECT_THAT(scalarsIn(dir_.string() + "/main/sub"), SizeIs(1));
}

TEST_F(DiskTroubleTest, KeepsABoundedNumberOfFilesOpen) {
  open();
  for (std::int64_t step = 0; step < 2; ++step) {
    for (int curve = 0; curve < 200; ++curve) {
      writer_->addScalars("main", {{"curve" + std::to_string(curve), 1}}, step);
    }
    ASSERT_TRUE(writer_->flush().ok());
  }
  EXPECT_LE(disk_.mostOpenDescriptors(), 70);
  EXPECT_EQ(writer_->stats().files, 201U);
  for (int curve = 0; curve < 200; ++curve) {
    EXPECT_THAT(scalarsIn(dir_.string() + "/main/curve" + std::to_string(curve)).at("main"),
                SizeIs(2));
  }
}

TEST_F(DiskTroubleTest, BlocksUntilThereIsRoomByDefault) {
  options_.blockTimeout = kBound;
  open();
  fillRing();
  std::thread disk([this] {
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    disk_.resume();
  });
  log(100'000, 110'000);
  disk.join();
  EXPECT_TRUE(writer_->flush().ok());
  EXPECT_EQ(writer_->stats().droppedScalars, 0U);
  EXPECT_EQ(pointsOnDisk(), 1 + kRingScalars + 10'000);
}

TEST_F(DiskTroubleTest, StopsBlockingAfterTheTimeoutAndDoesNotWaitAgain) {
  options_.blockTimeout = std::chrono::milliseconds(50);
  open();
  fillRing();
  const auto start = std::chrono::steady_clock::now();
  log(100'000, 101'000);
  // A thousand separate waits would take 50 seconds.
  EXPECT_LT(std::chrono::steady_clock::now() - start, kBound);
  EXPECT_EQ(writer_->stats().droppedScalars, 1000U);
  disk_.resume();
  EXPECT_TRUE(writer_->flush().ok());
  EXPECT_EQ(pointsOnDisk(), 1 + kRingScalars);
  EXPECT_THAT(reports(), ElementsAre(HasSubstr("are being dropped")));
}

TEST_F(DiskTroubleTest, DropsTheNewestWithoutWaiting) {
  options_.overflow = OverflowPolicy::kDropNewest;
  options_.blockTimeout = std::chrono::hours(1);
  open();
  fillRing();
  log(100'000, 100'010);
  EXPECT_EQ(writer_->stats().droppedScalars, 10U);
  disk_.resume();
  EXPECT_TRUE(writer_->flush().ok());
  EXPECT_EQ(scalarsIn(dir_.string())["a"].back().first, static_cast<std::int64_t>(kRingScalars));
}

TEST_F(DiskTroubleTest, DropsTheOldestWithoutWaiting) {
  options_.overflow = OverflowPolicy::kDropOldest;
  options_.blockTimeout = std::chrono::hours(1);
  open();
  fillRing();
  log(100'000, 100'010);
  const std::uint64_t dropped = writer_->stats().droppedScalars;
  EXPECT_GE(dropped, 10U);
  disk_.resume();
  EXPECT_TRUE(writer_->flush().ok());
  EXPECT_EQ(scalarsIn(dir_.string())["a"].back().first, 100'009);
  EXPECT_EQ(pointsOnDisk() + dropped, 1 + kRingScalars + 10);
}

TEST_F(DiskTroubleTest, BoundsMemoryOnAFullDiskByDiscardingTheNewestPoints) {
  options_.queueBytes = 64 << 10;
  options_.overflow = OverflowPolicy::kDropNewest;
  const std::int64_t logged = logUntilAFullDiskDrops(10'000);
  EXPECT_EQ(pointsOnDisk() + writer_->stats().droppedScalars, static_cast<std::size_t>(logged));
  EXPECT_EQ(scalarsIn(dir_.string())["a"].front().first, 0);
}

TEST_F(DiskTroubleTest, BoundsTheMemoryOfAFullDiskByDroppingWhatCameFirst) {
  options_.queueBytes = 600 << 10;
  options_.overflow = OverflowPolicy::kDropOldest;
  const std::int64_t logged = logUntilAFullDiskDrops(50'000);
  EXPECT_EQ(pointsOnDisk() + writer_->stats().droppedScalars, static_cast<std::size_t>(logged));
  EXPECT_EQ(scalarsIn(dir_.string())["a"].back().first, logged - 1);
  // The tag's first value is lost; its metadata must not be.
  EXPECT_TRUE(valuesIn(dir_.string())[0].metadata);
}

TEST_F(DiskTroubleTest, DescribesATagWhoseOnlyChunkWasDropped) {
  options_.queueBytes = 100;  // less than one pass over the ring takes
  options_.overflow = OverflowPolicy::kDropOldest;
  const std::int64_t logged = logUntilAFullDiskDrops(10'000);
  log(logged, logged + 1);
  ASSERT_TRUE(writer_->flush().ok());
  EXPECT_EQ(scalarsIn(dir_.string())["a"].back().first, logged);
  EXPECT_TRUE(valuesIn(dir_.string())[0].metadata);
}

TEST_F(DiskTroubleTest, KeepsTheChunkOfATornWriteThatCannotBeCutOffBeyondItsMemory) {
  options_.queueBytes = 100;  // less than that chunk
  options_.overflow = OverflowPolicy::kDropOldest;
  options_.flushTimeout = kBound;
  disk_.tearWrites(17);
  disk_.breakTruncate(EIO);
  const std::int64_t logged = logUntilAFullDiskDrops(10'000);
  EXPECT_EQ(pointsOnDisk() + writer_->stats().droppedScalars, static_cast<std::size_t>(logged));
  EXPECT_EQ(scalarsIn(dir_.string())["a"].front().first, 0);
}

TEST_F(DiskTroubleTest, BoundsTheMemoryOfCapturedValues) {
  options_.queueBytes = 1000;
  options_.overflow = OverflowPolicy::kDropNewest;
  open();
  disk_.stall();
  log(0, 1);
  ASSERT_TRUE(eventually([this] { return disk_.writes() > 1; }));
  for (int i = 0; i < 10; ++i) {
    writer_->addText("t", std::string(400, 'x'), i);
  }
  EXPECT_EQ(writer_->stats().droppedValues, 7U);
  disk_.resume();
  EXPECT_TRUE(writer_->flush().ok());
  EXPECT_EQ(writer_->stats().values, 3U);
}

TEST_F(DiskTroubleTest, EndsAFlushWhenItsDeadlinePasses) {
  options_.flushTimeout = std::chrono::milliseconds(50);
  open();
  disk_.stall();
  log(0, 1);
  const Status status = writer_->flush();
  EXPECT_EQ(status.code(), ErrorCode::kDeadlineExceeded);
  EXPECT_THAT(status.message(), HasSubstr("the disk did not take everything within 50 ms"));
}

TEST_F(DiskTroubleTest, EndsAFlushForWhichItsThreadMayNotWait) {
  open();
  disk_.stall();
  log(0, 1);
  {
    static int asked = 0;
    const detail::log::WaitCheck check([] { return ++asked < 3; });
    const Status status = writer_->flush();
    EXPECT_EQ(status.code(), ErrorCode::kDeadlineExceeded);
    EXPECT_THAT(status.message(), HasSubstr("within the time until the interruption"));
    EXPECT_EQ(asked, 3);
  }
  disk_.resume();
  EXPECT_TRUE(writer_->flush().ok());
  EXPECT_EQ(pointsOnDisk(), 1U);
}

TEST_F(DiskTroubleTest, DestroysAWriterWhoseDiskHangsWithinItsDeadline) {
  options_.flushTimeout = std::chrono::milliseconds(50);
  open();
  disk_.stall();
  log(0, 1);
  const auto start = std::chrono::steady_clock::now();
  writer_.reset();
  EXPECT_LT(std::chrono::steady_clock::now() - start, kBound);
  disk_.resume();
  EXPECT_TRUE(eventually([this] { return disk_.openDescriptors() == 0; }));
}

TEST_F(DiskTroubleTest, CarriesOnAfterAValueThatCannotBeEncoded) {
  open();
  disk_.shortenWrites(std::string::npos);
  HistogramRaw raw;
  raw.bucketLimits = {1, 2};
  raw.bucketCounts = {1};
  EXPECT_THROW(writer_->addHistogramRaw("h", raw, 0), Error);
  log(0, 1);
  EXPECT_TRUE(writer_->flush().ok());
  EXPECT_EQ(pointsOnDisk(), 1U);
}

}  // namespace
}  // namespace steptape
