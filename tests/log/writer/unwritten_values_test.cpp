// SPDX-License-Identifier: Apache-2.0
//
// What a process that only reads sees of values that no event file holds yet: of processes that
// live, that are killed, and that are being recovered.
#include <algorithm>
#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <fcntl.h>
#include <filesystem>
#include <functional>
#include <map>
#include <string>
#include <sys/stat.h>
#include <sys/wait.h>
#include <thread>
#include <tuple>
#include <unistd.h>
#include <utility>

#include "steptape/log/summary_writer.h"

#include "log/writer/faulty_file_system.h"
#include "log/writer/killed_run.h"
#include "log/writer/live_reader.h"
#include "log/writer/recovery.h"
#include "log/writer/run_contents.h"
#include "process/blackbox/box_folder.h"
#include "support/content_of.h"

#include <gmock/gmock.h>

namespace steptape {
namespace {

using detail::log::recoverRuns;
using detail::log::Unwritten;
using detail::log::UnwrittenValues;
using ::testing::Each;
using ::testing::Field;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::SizeIs;

/// A process that runs beside the test.
class ChildBeside {
 public:
  explicit ChildBeside(const std::function<void()>& body) {
    std::fflush(nullptr);
    pid_ = fork();
    if (pid_ == 0) {
      body();
      std::exit(0);
    }
  }
  ChildBeside(const ChildBeside&) = delete;
  ChildBeside& operator=(const ChildBeside&) = delete;
  ~ChildBeside() { kill(); }

  void kill() {
    if (pid_ > 0) {
      ::kill(pid_, SIGKILL);
      end();
    }
  }
  /// Stops all its threads where they are.
  void stop() const {
    ::kill(pid_, SIGSTOP);
    waitpid(pid_, nullptr, WUNTRACED);
  }
  /// @return its wait status.
  int end() {
    int status = 0;
    waitpid(std::exchange(pid_, 0), &status, 0);
    return status;
  }
  bool isRunning() {
    int status = 0;
    if (waitpid(pid_, &status, WNOHANG) == pid_) {
      EXPECT_EQ(status, 0);
      pid_ = 0;
    }
    return pid_ > 0;
  }

 private:
  pid_t pid_ = 0;
};

class UnwrittenValuesTest : public KilledRunTest {
 protected:
  void waitFor(const std::atomic<bool>& flag) {
    while (!flag) {
      std::this_thread::yield();
    }
  }
  void waitForReady(int processes) {
    while (noted_->ready < processes) {
      std::this_thread::yield();
    }
  }

  /// Logs `count` values to the run and to its sub-run, says so, and goes on when it may.
  void logAndWait(SummaryWriter* writer, int count) {
    addLoss(writer, count);
    addBoth(writer, count);
    ++noted_->ready;
    waitFor(noted_->mayGoOn);
  }

  /// Expects that the reader shows what was logged, once and in order.
  void expectShows(LiveReader* reader) {
    reader->update();
    expectPoints(reader->scalars(run()), kLoss, noted_->loss);
    expectPoints(reader->scalars(run() + kSubRun), kBoth, noted_->both);
  }

  /// Expects the steps 0, 1, 2, … of a tag, at least `count`.
  /// @return how many there are.
  static std::int64_t expectPrefix(const Curves& curves, std::string_view tag, std::int64_t count) {
    const auto found = curves.find(std::string(tag));
    const auto shown = found == curves.end() ? 0 : static_cast<std::int64_t>(found->second.size());
    EXPECT_GE(shown, count);
    for (std::int64_t step = 0; step < shown; ++step) {
      if (found->second[static_cast<std::size_t>(step)].first != step) {
        ADD_FAILURE() << "got step " << found->second[static_cast<std::size_t>(step)].first
                      << "; expected " << step;
        break;
      }
    }
    return shown;
  }

  LiveReader reader_{logs_.string()};
};

TEST_F(UnwrittenValuesTest, OfALivingWriterAreThoseThatItsFileGetsLater) {
  ChildBeside child([this] {
    SummaryWriter writer(run(), lazy());
    logAndWait(&writer, 20);
    static_cast<void>(writer.close());
  });
  waitForReady(1);
  EXPECT_THAT(scalarsIn(run()), IsEmpty());
  expectShows(&reader_);
  const Curves before = reader_.scalars(run());
  EXPECT_THAT(reader_.unwritten(), Each(Field(&Unwritten::isAlive, true)));
  noted_->mayGoOn = true;
  EXPECT_EQ(child.end(), 0);
  expectShows(&reader_);
  EXPECT_THAT(reader_.unwritten(), IsEmpty());
  EXPECT_EQ(scalarsIn(run()), before);
}

TEST_F(UnwrittenValuesTest, AreSeenBeforeThereIsAFile) {
  ChildBeside child([this] {
    SummaryWriter writer(run(), lazy());
    logAndWait(&writer, 3);
  });
  waitForReady(1);
  ASSERT_FALSE(std::filesystem::exists(run() + kSubRun));
  expectShows(&reader_);
  const std::string subRun = std::filesystem::canonical(run()).string() + kSubRun;
  for (const Unwritten& unwritten : reader_.unwritten()) {
    if (unwritten.directory == subRun) {
      EXPECT_EQ(unwritten.file, "");
      EXPECT_EQ(unwritten.offset, 0U);
      EXPECT_TRUE(detail::events::isEventFileName(unwritten.newFile)) << unwritten.newFile;
    }
  }
}

TEST_F(UnwrittenValuesTest, FollowAFileThatGrows) {
  ChildBeside child([this] {
    SummaryWriter writer(run(), lazy());
    for (int i = 0; i < 50; ++i) {
      noted_->mayGoOn = false;
      logAndWait(&writer, 1 + i % 3);
      if (i % 3 == 0) {
        static_cast<void>(writer.flush());
      }
    }
  });
  for (int i = 1; i <= 50; ++i) {
    waitForReady(i);
    expectShows(&reader_);
    noted_->mayGoOn = true;
  }
  EXPECT_EQ(child.end(), 0);
  expectShows(&reader_);
}

TEST_F(UnwrittenValuesTest, OfAKilledWriterAreSeenBeforeAndAfterItsRecovery) {
  leaveADeadWriter();
  expectShows(&reader_);
  EXPECT_EQ(noted_->loss, 9);
  EXPECT_THAT(reader_.unwritten(), Not(IsEmpty()));
  EXPECT_THAT(reader_.unwritten(), Each(Field(&Unwritten::isAlive, false)));
  const Curves before = reader_.scalars(run());
  const detail::log::RecoveryReport report = recoverRuns({run()});
  ASSERT_THAT(report.processes, SizeIs(1));
  EXPECT_THAT(report.processes[0].problems, IsEmpty());
  expectShows(&reader_);
  EXPECT_THAT(reader_.unwritten(), IsEmpty());
  EXPECT_EQ(scalarsIn(run()), before);
  expectNextWriterFindsEverything();
}

TEST_F(UnwrittenValuesTest, AreSeenOnceWhileAnotherProcessRecoversThem) {
  leaveADeadWriter();
  expectShows(&reader_);
  ChildBeside recovery([this] {
    FaultyFileSystem disk;
    disk.stall();
    std::thread resumer([&] {
      while (disk.writes() == 0) {
        std::this_thread::yield();
      }
      ++noted_->ready;
      waitFor(noted_->mayGoOn);
      disk.resume();
    });
    recoverRuns({run()});
    resumer.join();
  });
  waitForReady(1);
  expectShows(&reader_);
  noted_->mayGoOn = true;
  EXPECT_EQ(recovery.end(), 0);
  expectShows(&reader_);
  EXPECT_THAT(reader_.unwritten(), IsEmpty());
}

TEST_F(UnwrittenValuesTest, OfTwoRunsAreApart) {
  const auto log = [this](const char* name, int count) {
    return [this, name, count] {
      SummaryWriter writer(logs_.string() + name, lazy());
      for (int step = 0; step < count; ++step) {
        writer.addScalar(kLoss, valueAt(step), step);
      }
      ++noted_->ready;
      waitFor(noted_->mayGoOn);
    };
  };
  ChildBeside first(log("/a", 3));
  ChildBeside second(log("/b", 5));
  waitForReady(2);
  reader_.update();
  expectPoints(reader_.scalars(logs_.string() + "/a"), kLoss, 3);
  expectPoints(reader_.scalars(logs_.string() + "/b"), kLoss, 5);
  first.kill();
  EXPECT_EQ(expectPrefix(reader_.updatedScalars(logs_.string() + "/a"), kLoss, 3), 3);
  expectPoints(reader_.scalars(logs_.string() + "/b"), kLoss, 5);
}

TEST_F(UnwrittenValuesTest, OfARunElsewhereAreNotShown) {
  leaveADeadWriter();
  const auto countIn = [](const std::string& directory) {
    UnwrittenValues unwritten(directory);
    unwritten.update();
    return unwritten.all().size();
  };
  EXPECT_EQ(countIn(logs_.string()), 2U);
  EXPECT_EQ(countIn(run()), 2U);
  EXPECT_EQ(countIn(run() + "/both"), 1U);
  EXPECT_EQ(countIn(logs_.string() + "/ru"), 0U);
  EXPECT_EQ(countIn(run() + "2"), 0U);
  std::filesystem::create_directory_symlink(run(), logs_.string() + "/link");
  EXPECT_EQ(countIn(logs_.string() + "/link"), 2U);
}

TEST_F(UnwrittenValuesTest, OfADeletedRunAreNotShown) {
  leaveADeadWriter();
  expectShows(&reader_);
  std::filesystem::remove_all(run());
  UnwrittenValues unwritten(logs_.string());
  unwritten.update();
  EXPECT_THAT(unwritten.all(), IsEmpty());
  std::filesystem::create_directories(run());
  unwritten.update();
  EXPECT_THAT(unwritten.all(), IsEmpty()) << "another run with the same name";
}

TEST_F(UnwrittenValuesTest, OfAMovedRunAreShownToWhoeverLooksThere) {
  leaveADeadWriter();
  const std::string moved = logs_.string() + "/moved";
  std::filesystem::rename(run(), moved);
  LiveReader reader(moved);
  reader.update();
  expectPoints(reader.scalars(moved), kLoss, noted_->loss);
  expectPoints(reader.scalars(moved + kSubRun), kBoth, noted_->both);
}

TEST_F(UnwrittenValuesTest, ThatTheDiskDoesNotTakeAreShown) {
  ChildBeside child([this] {
    FaultyFileSystem disk;
    SummaryWriter writer(run(), lazy());
    addLoss(&writer, 10);
    static_cast<void>(writer.flush());
    disk.breakWrites(ENOSPC);
    disk.breakTruncate(EIO);
    disk.tearWrites(1000);  // inside a record
    addLoss(&writer, 100);
    static_cast<void>(writer.flush());
    logAndWait(&writer, 8000);
  });
  waitForReady(1);
  expectShows(&reader_);
  child.kill();
  expectShows(&reader_);
  expectNextWriterFindsEverything();
}

/// The background thread waits for the disk, and the ring makes room by itself.
TEST_F(UnwrittenValuesTest, AreNotShownAfterOthersThatOnlyTheirProcessHas) {
  ChildBeside child([this] {
    FaultyFileSystem disk;
    WriterOptions options = lazy();
    options.overflow = OverflowPolicy::kDropOldest;
    SummaryWriter writer(run(), options);
    addLoss(&writer, 10);
    static_cast<void>(writer.flush());
    disk.stall();
    addLoss(&writer, 50'000);
    ++noted_->ready;
    waitFor(noted_->mayGoOn);
  });
  waitForReady(1);
  EXPECT_LT(expectPrefix(reader_.updatedScalars(run()), kLoss, 10), 50'000);
  child.kill();
  const Curves shown = reader_.updatedScalars(run());
  ASSERT_THAT(recoverRuns({run()}).processes, SizeIs(1));
  EXPECT_EQ(scalarsIn(run()), shown);
}

TEST_F(UnwrittenValuesTest, AreReadWithoutATrace) {
  ChildBeside child([this] {
    SummaryWriter writer(run(), lazy());
    addLoss(&writer, 3);
    static_cast<void>(writer.flush());
    logAndWait(&writer, 3);
  });
  waitForReady(1);
  child.stop();
  const auto filesIn = [](const std::string& directory) {
    std::map<std::string, std::tuple<std::int64_t, std::int64_t, std::string>> files;
    for (const auto& entry : std::filesystem::recursive_directory_iterator(directory)) {
      struct stat status {};
      EXPECT_EQ(::stat(entry.path().c_str(), &status), 0);
      files[entry.path().string()] = {
          status.st_mtim.tv_sec, status.st_mtim.tv_nsec,
          entry.is_regular_file() ? test::contentOf(entry.path().string()) : ""};
    }
    return files;
  };
  const auto runBefore = filesIn(logs_.string());
  const auto boxesBefore = filesIn(boxes_.folder());
  expectShows(&reader_);
  EXPECT_EQ(filesIn(logs_.string()), runBefore);
  EXPECT_EQ(filesIn(boxes_.folder()), boxesBefore);
}

TEST_F(UnwrittenValuesTest, AreAsBeforeIfNothingHasHappened) {
  leaveADeadWriter();
  UnwrittenValues unwritten(logs_.string());
  EXPECT_TRUE(unwritten.update());
  EXPECT_FALSE(unwritten.update());
  ASSERT_THAT(recoverRuns({run()}).processes, SizeIs(1));
  EXPECT_TRUE(unwritten.update());
  EXPECT_FALSE(unwritten.update());
}

TEST_F(UnwrittenValuesTest, OfTheReadersOwnProcessAreShownAndItKeepsItsBox) {
  SummaryWriter writer(run(), lazy());
  addLoss(&writer, 3);
  expectShows(&reader_);
  const std::string id = detail::process::listBoxes(boxes_.folder()).at(0).pathOf("id");
  const int status = child([&id] {
    struct flock whole {};
    whole.l_type = F_WRLCK;
    _exit(::fcntl(::open(id.c_str(), O_RDWR), F_SETLK, &whole) == 0 ? 1 : 0);
  });
  EXPECT_EQ(status, 0) << "the box was not locked any more";
}

/// Looks again and again while another process logs as fast as it can.
class BusyWriterTest : public UnwrittenValuesTest, public ::testing::WithParamInterface<int> {
 protected:
  static constexpr std::int64_t kScalars = 400'000;
};

TEST_P(BusyWriterTest, AndItsFilesAreAPrefixOfWhatItLogsAtEveryMoment) {
  ChildBeside child([this] {
    WriterOptions options = lazy();
    options.maxFileBytes = GetParam();
    SummaryWriter writer(run(), options);
    for (std::int64_t step = 0; step < kScalars; ++step) {
      writer.addScalar(kLoss, valueAt(step), step);
    }
  });
  std::int64_t shown = 0;
  while (child.isRunning()) {
    shown = expectPrefix(reader_.updatedScalars(run()), kLoss, shown);
    ASSERT_FALSE(HasFailure());
  }
  EXPECT_EQ(expectPrefix(reader_.updatedScalars(run()), kLoss, shown), kScalars);
}

INSTANTIATE_TEST_SUITE_P(OneFileOrMany, BusyWriterTest, ::testing::Values(0, 200'000));

TEST_F(UnwrittenValuesTest, OfThreadsThatTakeTurnsAreAPrefixAtEveryMoment) {
  constexpr std::int64_t kSteps = 1'000;
  ChildBeside child([this] {
    SummaryWriter writer(run(), lazy());
    const auto everySecond = [&](std::int64_t first) {
      for (std::int64_t step = first; step < kSteps; step += 2) {
        while (noted_->loss < step) {
          std::this_thread::yield();
        }
        writer.addScalar(kLoss, valueAt(step), step);
        noted_->loss = step + 1;
      }
    };
    std::thread odd(everySecond, 1);
    everySecond(0);
    odd.join();
  });
  const auto sorted = [](Curves curves) {
    for (auto& [tag, points] : curves) {
      std::sort(points.begin(), points.end());  // clocks of two cores may differ by a few ticks
    }
    return curves;
  };
  std::int64_t shown = 0;
  while (child.isRunning()) {
    shown = expectPrefix(sorted(reader_.updatedScalars(run())), kLoss, shown);
    ASSERT_FALSE(HasFailure());
  }
  EXPECT_EQ(expectPrefix(sorted(reader_.updatedScalars(run())), kLoss, shown), kSteps);
}

}  // namespace
}  // namespace steptape
