// SPDX-License-Identifier: Apache-2.0
//
// Processes that are killed at one of their system calls, at each of them in turn or at a sample:
// while a writer starts, ends, fills its files or replaces its log, and while it recovers what
// another one left. Every scalar whose call had returned is then shown to a process that only
// reads, and after the next writer has begun, it is in the run: once and in order. Nothing stays in
// the folder of the black boxes.
#include <cerrno>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <new>
#include <string>
#include <thread>
#include <unistd.h>

#include "steptape/log/summary_writer.h"

#include "log/writer/faulty_file_system.h"
#include "log/writer/killed_run.h"
#include "log/writer/live_reader.h"
#include "log/writer/recovery.h"
#include "support/sweep.h"
#include "support/traced_child.h"

#include <gtest/gtest.h>

namespace steptape {
namespace {

using detail::log::recoverRuns;

/// Waits until the background thread has encoded this many scalars. Sleeps, because each call that
/// it makes is a stop.
void waitForScalars(const SummaryWriter& writer, std::uint64_t count) {
  while (writer.stats().scalars < count) {
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
  }
}

class KillAtEachCallTest : public KilledRunTest {
 protected:
  /// Returns whether a process is killed at a stop. By default, before each call that may change
  /// what outlives it: another kill would find what one of these finds, except for stores into
  /// shared memory. Every night at every stop.
  static bool counts(const test::CallStop& call) {
    return test::takesEveryCase() || call.number == test::CallStop::kUnknown ||
           (call.isEntry && !test::changesNothingOutside(call));
  }

  /// Looks at the run as a process does that only reads, and expects everything that was logged.
  void expectReaderShowsEverything() {
    LiveReader reader(logs_.string());
    reader.update();
    expectPoints(reader.scalars(run()), kLoss, noted_->loss);
    expectPoints(reader.scalars(run() + kSubRun), kBoth, noted_->both);
  }

  /// Kills `body` at its first stop, at one of the next ones, …, until it ends before that. Before
  /// each, `prepare` runs; after each, and after `mend`, a process that only reads sees
  /// everything, and then the next writer finds it.
  ///
  /// @param least The number of stops that `body` must exceed, or it is not what it was.
  void killAtEachStop(
      const std::function<void()>& body, std::size_t least,
      const std::function<void()>& prepare = [] {},
      const std::function<void(std::size_t stop)>& mend = [](std::size_t) {}) {
    bool isRefused = false;
    std::size_t stops = 0;  // of the last body: all it has, because none killed it
    test::sweep(4, [&](std::size_t stop) {
      std::filesystem::remove_all(run());
      for (const auto& file : std::filesystem::directory_iterator(boxes_.folder())) {
        std::filesystem::remove(file.path());
      }
      new (&*noted_) Noted{};
      prepare();
      const test::TracedEnd end = test::runAndKillAtStop(stop, noted_->isCounting, counts, body);
      isRefused = end.isRefused;
      stops = end.stops;
      if (isRefused) {
        return false;
      }
      expectReaderShowsEverything();
      mend(stop);
      expectReaderShowsEverything();
      expectNextWriterFindsEverything();
      EXPECT_TRUE(end.isKilled || end.status == 0) << end.status;
      return end.isKilled;
    });
    if (isRefused) {
      GTEST_SKIP() << "the operating system does not let a process trace its children: nothing was "
                      "killed";
    }
    EXPECT_GT(stops, least);
  }
};

TEST_F(KillAtEachCallTest, OfAStartLosesNothing) {
  const auto start = [this] {
    noted_->isCounting = true;
    SummaryWriter writer(run(), lazy());
    addLoss(&writer, 3);
    addBoth(&writer, 1);
    waitForScalars(writer, 1);
    addLoss(&writer, 1);
    _exit(0);
  };
  killAtEachStop(start, 30);
}

TEST_F(KillAtEachCallTest, OfAnEndLosesNothing) {
  const auto end = [this] {
    SummaryWriter writer(run(), lazy());
    addLoss(&writer, 3);
    noted_->isCounting = true;
    if (!writer.flush().ok()) {
      _exit(1);
    }
    addLoss(&writer, 3);
    std::thread([&] { addBoth(&writer, 2); }).join();
    if (!writer.close().ok()) {
      _exit(2);
    }
  };
  killAtEachStop(end, 25);
}

TEST_F(KillAtEachCallTest, BetweenFilesLosesNothing) {
  const auto rotate = [this] {
    WriterOptions options = lazy();
    options.maxFileBytes = 1;  // each flush ends a file
    SummaryWriter writer(run(), options);
    noted_->isCounting = true;
    for (int i = 0; i < 3; ++i) {
      addLoss(&writer, 2);
      addBoth(&writer, 1);
      if (!writer.flush().ok()) {
        _exit(1);
      }
    }
    addLoss(&writer, 2);
    addBoth(&writer, 1);
  };
  killAtEachStop(rotate, 50);
}

/// A thread logs so much that the file is written at once, from the ring, in writes of several
/// calls; another stream waits meanwhile.
TEST_F(KillAtEachCallTest, OfABusyWriterLosesNothing) {
  constexpr int kScalars = 9000;  // several chunks
  const auto log = [this] {
    FaultyFileSystem disk;
    SummaryWriter writer(run(), lazy());
    addLoss(&writer, 3);
    addBoth(&writer, 1);
    waitForScalars(writer, 1);
    disk.shortenWrites(30'000);
    noted_->isCounting = true;
    for (int i = 0; i < kScalars / 100; ++i) {
      addLoss(&writer, 100);
      addBoth(&writer, 1);
    }
    waitForScalars(writer, kScalars);
    _exit(0);
  };
  killAtEachStop(log, 15);
}

TEST_F(KillAtEachCallTest, WhileTheLogIsReplacedLosesNothing) {
  constexpr int kScalars = 8000;  // encoded, far more than a small log
  const auto replace = [this] {
    FaultyFileSystem disk;
    SummaryWriter writer(run(), lazy());
    disk.breakWrites(ENOSPC);
    addLoss(&writer, kScalars);
    noted_->isCounting = true;
    waitForScalars(writer, kScalars);
    // The pass that encodes them also logs them; the next one has begun after that.
    addLoss(&writer, 1);
    waitForScalars(writer, kScalars + 1);
    _exit(0);
  };
  killAtEachStop(replace, 8);
}

TEST_F(KillAtEachCallTest, OfARecoveryIsMendedByTheNextOne) {
  const auto recover = [this] {
    noted_->isCounting = true;
    recoverRuns({run()});
    _exit(0);
  };
  killAtEachStop(recover, 25, [this] { leaveADeadWriter(); });
}

TEST_F(KillAtEachCallTest, OfTwoRecoveriesIsMendedByTheThird) {
  const auto recover = [this] {
    noted_->isCounting = true;
    detail::log::RecoveryOptions options;  // as `steptape recover --all`
    options.below = true;
    recoverRuns(options);
    _exit(0);
  };
  killAtEachStop(
      recover, 25, [this] { leaveADeadWriter(); },
      [&](std::size_t stop) {
        noted_->isCounting = false;
        test::runAndKillAtStop(stop * 5 % 37, noted_->isCounting, counts, recover);
      });
}

TEST_F(KillAtEachCallTest, OfAWriterThatRecoversLosesNeitherItsScalarsNorTheOthers) {
  const auto next = [this] {
    noted_->isCounting = true;
    SummaryWriter writer(run(), lazy());
    addLoss(&writer, 2);
  };
  killAtEachStop(next, 60, [this] { leaveADeadWriter(); });
}

}  // namespace
}  // namespace steptape
