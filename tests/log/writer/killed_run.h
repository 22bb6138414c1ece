// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <chrono>
#include <csignal>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <functional>
#include <string>
#include <string_view>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>
#include <utility>
#include <vector>

#include "steptape/log/file_check.h"
#include "steptape/log/run_reader.h"
#include "steptape/log/summary_writer.h"
#include "steptape/ranks/testing.h"

#include "log/writer/faulty_file_system.h"
#include "log/writer/run_contents.h"
#include "support/own_black_boxes.h"
#include "support/shared_object.h"

#include <gmock/gmock.h>

namespace steptape {

/// A run that child processes log to until they are killed, and the calls of theirs that returned.
class KilledRunTest : public ::testing::Test {
 protected:
  static constexpr std::string_view kLoss = "loss";
  static constexpr std::string_view kBoth = "both";
  static constexpr const char* kSubRun = "/both/left";  ///< Below the run.

  /// What the processes of a test tell each other and the test.
  struct Noted {
    std::atomic<bool> isCounting;    ///< Kills may come from now on.
    std::atomic<std::int64_t> loss;  ///< Scalars of kLoss whose calls had returned.
    std::atomic<std::int64_t> both;  ///< Scalars of kBoth, in the sub-run.
    std::atomic<int> nextErrors;     ///< Of the writer that recovers.
    std::atomic<bool> isWriting;     ///< A recovery has begun to write …
    std::atomic<bool> mayGoOn;       ///< … and goes on from now on.
    std::atomic<int> ready;          ///< Processes that wait for each other.
  };

  std::string run() const { return logs_.string() + "/run"; }

  static float valueAt(std::int64_t step) { return 0.5F * static_cast<float>(step % 1000); }

  /// Options of writers that do not write unless they are told to.
  static WriterOptions lazy() {
    WriterOptions options;
    options.flushPeriod = std::chrono::hours(1);
    // However slow the disk is, nothing is dropped: the tests count what is there.
    options.blockTimeout = std::chrono::hours(1);
    options.flushTimeout = std::chrono::hours(1);
    options.onError = [](const Status&) {};
    return options;
  }

  void addLoss(SummaryWriter* writer, int count) {
    for (int i = 0; i < count; ++i) {
      const std::int64_t step = noted_->loss;
      writer->addScalar(kLoss, valueAt(step), step);
      noted_->loss = step + 1;
    }
  }
  void addBoth(SummaryWriter* writer, int count) {
    for (int i = 0; i < count; ++i) {
      const std::int64_t step = noted_->both;
      writer->addScalars(kBoth, {{"left", valueAt(step)}}, step);
      noted_->both = step + 1;
    }
  }

  /// Runs `body` in a child that is not traced.
  static int child(const std::function<void()>& body) {
    std::fflush(nullptr);
    const pid_t child = fork();
    if (child == 0) {
      body();
      std::exit(0);
    }
    int status = 0;
    waitpid(child, &status, 0);
    return status;
  }

  /// Opens the run as the next program does, and expects all of what was logged before.
  void expectNextWriterFindsEverything() {
    const int status = child([&] {
      WriterOptions options;
      options.onError = [this](const Status& error) {
        std::fprintf(stderr, "next writer: %s\n", error.message().c_str());
        ++noted_->nextErrors;
      };
      SummaryWriter writer(run(), options);
      writer.addScalar("next", 1, 0);
    });
    EXPECT_EQ(status, 0);
    EXPECT_EQ(noted_->nextErrors, 0);
    const Curves curves = scalarsIn(run());
    expectPoints(curves, kLoss, noted_->loss);
    expectPoints(curves, "next", 1, [](std::int64_t) { return 1.0F; });
    if (noted_->both > 0 || std::filesystem::exists(run() + kSubRun)) {
      expectPoints(scalarsIn(run() + kSubRun), kBoth, noted_->both);
    }
    for (const RunFiles& files : listRuns(run())) {
      for (const Finding& finding : checkRun(files).findings) {
        EXPECT_FALSE(finding.isLoss())
            << finding.path << ": " << finding.rule << ": " << finding.message;
      }
    }
    EXPECT_THAT(leftBehind(), ::testing::IsEmpty());
  }

  /// Expects `count` points of a tag, and at most one whose call had not yet returned.
  static void expectPoints(const Curves& curves, std::string_view tag, std::int64_t count,
                           const std::function<float(std::int64_t)>& value = valueAt) {
    const auto found = curves.find(std::string(tag));
    if (found == curves.end()) {
      EXPECT_EQ(count, 0) << tag;
      return;
    }
    const auto& points = found->second;
    EXPECT_GE(points.size(), static_cast<std::size_t>(count)) << tag;
    EXPECT_LE(points.size(), static_cast<std::size_t>(count) + 1) << tag;
    for (std::size_t i = 0; i < points.size(); ++i) {
      const auto step = static_cast<std::int64_t>(i);
      ASSERT_EQ(points[i], std::make_pair(step, value(step)))
          << tag << ": " << ::testing::PrintToString(points);
    }
  }

  /// Returns the files that no living process needs: in the folder of the black boxes all but the
  /// states that belong to no run, and in the run all that is not part of it.
  std::vector<std::string> leftBehind() const {
    std::vector<std::string> left;
    for (const auto& entry : std::filesystem::directory_iterator(boxes_.folder())) {
      const std::filesystem::path path = entry.path();
      const auto hasPart = [&path](const char* extension) {
        return std::filesystem::exists(std::filesystem::path(path).replace_extension(extension));
      };
      const bool isStateOrItsId = (path.extension() == ".id" && hasPart(".state")) ||
                                  (path.extension() == ".state" && hasPart(".id"));
      if (!isStateOrItsId) {
        left.push_back(entry.path().string());
      }
    }
    for (const auto& entry : std::filesystem::recursive_directory_iterator(run())) {
      const std::string name = entry.path().filename().string();
      if (entry.is_regular_file() && !detail::events::isEventFileName(name) &&
          entry.path().extension() != ".state") {
        left.push_back(entry.path().string());
      }
    }
    return left;
  }

  /// Leaves a dead process with scalars in a file, in its log and in its rings.
  void leaveADeadWriter() {
    const int status = child([this] {
      FaultyFileSystem disk;
      WriterOptions options = lazy();
      SummaryWriter writer(run(), options);
      addLoss(&writer, 3);
      if (!writer.flush().ok()) {
        _exit(1);
      }
      disk.stall();
      const int writes = disk.writes();
      addLoss(&writer, 3);
      std::thread flusher([&] { static_cast<void>(writer.flush()); });
      while (disk.writes() == writes) {
        std::this_thread::yield();
      }
      // The background thread now waits for the disk, and these stay in the ring.
      addLoss(&writer, 3);
      addBoth(&writer, 3);
      std::raise(SIGKILL);
    });
    EXPECT_TRUE(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL) << status;
  }

  test::OwnBlackBoxes boxes_;
  testing::TempDir logs_;
  test::SharedObject<Noted> noted_;
};

}  // namespace steptape
