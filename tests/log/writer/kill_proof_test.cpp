// SPDX-License-Identifier: Apache-2.0
//
// Processes that are killed while they log: what their calls had taken must be in the run
// afterwards, once and in order.
#include <atomic>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <functional>
#include <iterator>
#include <memory>
#include <optional>
#include <random>
#include <set>
#include <string>
#include <sys/mman.h>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>
#include <vector>

#include "steptape/log/summary_writer.h"
#include "steptape/ranks/testing.h"

#include "log/writer/child_process.h"
#include "log/writer/dead_process.h"
#include "log/writer/directory_place.h"
#include "log/writer/faulty_file_system.h"
#include "log/writer/recovery.h"
#include "log/writer/run_contents.h"
#include "process/blackbox/box_file.h"
#include "process/blackbox/box_folder.h"
#include "process/blackbox/process_box.h"
#include "process/blackbox/rank_state.h"
#include "process/blackbox/state_page.h"
#include "support/own_black_boxes.h"
#include "support/small_disk.h"
#include "support/sweep.h"

#include <gmock/gmock.h>

namespace steptape {
namespace {

using detail::log::recoverRuns;
using detail::log::RecoveryReport;
using detail::process::BoxName;
using detail::process::listBoxes;
using ::testing::AllOf;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::Pair;
using ::testing::SizeIs;
using ::testing::UnorderedElementsAreArray;

constexpr std::size_t kThreads = 8;

/// Counters that parent and child share: what a call had taken when it returned.
struct Taken {
  std::atomic<std::int64_t> calls[kThreads];
  std::atomic<bool> ready;
};

class KillProofTest : public ::testing::Test {
 protected:
  void SetUp() override {
    void* const memory =
        mmap(nullptr, sizeof(Taken), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    ASSERT_NE(memory, MAP_FAILED);
    taken_ = new (memory) Taken{};
  }
  void TearDown() override { munmap(taken_, sizeof(Taken)); }

  std::string run() const { return logs_.string() + "/run"; }

  /// Runs `body` in a child that ends by SIGKILL: after it, or when `killAfter` has passed.
  void killedChild(const std::function<void()>& body,
                   std::chrono::microseconds killAfter = std::chrono::hours(1)) {
    taken_->ready = false;
    const pid_t child = fork();
    if (child == 0) {
      body();
      raise(SIGKILL);
    }
    if (killAfter < std::chrono::hours(1)) {
      while (!taken_->ready && waitpid(child, nullptr, WNOHANG) == 0) {
        std::this_thread::yield();
      }
      std::this_thread::sleep_for(killAfter);
      kill(child, SIGKILL);
    }
    int status = 0;
    waitpid(child, &status, 0);
    EXPECT_TRUE(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
  }

  /// Like killedChild(), with a writer whose events do not reach its files.
  void killedWriter(const std::function<void(SummaryWriter&)>& body) {
    killedChild([&] {
      FaultyFileSystem disk;
      SummaryWriter writer(run());
      disk.stall();
      body(writer);
      raise(SIGKILL);
    });
  }

  RecoveryReport::Process recovered() {
    RecoveryReport report = recoverRuns({run()});
    if (report.processes.size() != 1) {
      ADD_FAILURE() << report.processes.size() << " processes";
      return {};
    }
    return report.processes.front();
  }

  /// Returns the files that hold what was logged. The state of a process lies beside them until the
  /// process ends normally, and until somebody has read why it was killed.
  std::vector<std::string> boxFiles() const {
    std::vector<std::string> names;
    for (const auto& entry : std::filesystem::directory_iterator(boxes_.folder())) {
      const std::filesystem::path path = entry.path();
      if (path.extension() != ".state" && path.extension() != ".id") {
        names.push_back(path.filename().string());
      }
    }
    return names;
  }

  test::OwnBlackBoxes boxes_;
  testing::TempDir logs_;
  Taken* taken_ = nullptr;
};

TEST_F(KillProofTest, ScalarsOfAKilledProcessAreInTheRunOnceRecovered) {
  killedWriter([](SummaryWriter& writer) {
    for (std::int64_t step = 0; step < 3; ++step) {
      writer.addScalar("loss", 0.5F * static_cast<float>(step), step);
    }
  });
  EXPECT_THAT(scalarsIn(run()), IsEmpty());
  const RecoveryReport::Process process = recovered();
  EXPECT_EQ(process.values, 3U);
  EXPECT_THAT(process.problems, IsEmpty());
  EXPECT_THAT(process.files, SizeIs(1));
  EXPECT_THAT(scalarsIn(run()).at("loss"),
              ElementsAre(Pair(0, 0.0F), Pair(1, 0.5F), Pair(2, 1.0F)));
  EXPECT_THAT(boxFiles(), IsEmpty());
  EXPECT_THAT(recoverRuns({run()}).processes, IsEmpty());
}

TEST_F(KillProofTest, TheNextWriterOfARunRecoversIt) {
  killedWriter([](SummaryWriter& writer) { writer.addScalar("loss", 1, 1); });
  {
    SummaryWriter writer(run());
    writer.addScalar("loss", 2, 2);
  }
  EXPECT_THAT(scalarsIn(run()).at("loss"), ElementsAre(Pair(1, 1.0F), Pair(2, 2.0F)));
  EXPECT_THAT(listBoxes(boxes_.folder()), SizeIs(1)) << "that of this process";
}

TEST_F(KillProofTest, TheStateOfADeadProcessMovesToItsRun) {
  killedWriter([](SummaryWriter& writer) { writer.addScalar("loss", 1, 7); });
  ASSERT_EQ(recovered().values, 1U);
  EXPECT_TRUE(std::filesystem::is_empty(boxes_.folder()));
  std::vector<std::string> states;
  for (const auto& entry : std::filesystem::directory_iterator(run() + "/black_box")) {
    states.push_back(entry.path().string());
  }
  ASSERT_THAT(states, SizeIs(1));
  detail::process::RankState state;
  ASSERT_TRUE(detail::process::readRankStateFile(states.front(), &state).ok());
  EXPECT_THAT(state.logDirectories, ElementsAre(HasSubstr("/run")));
}

TEST_F(KillProofTest, TheStateOfARankWithoutAWriterMovesToTheRunOfItsJob) {
  std::filesystem::create_directories(run());
  for (const std::string& directory : {run(), logs_.string() + "/other"}) {
    killedChild([&] {
      detail::process::StatePage::keep();
      detail::process::StatePage::current()->noteLogDirectory(
          detail::log::placeOf(directory).directory);
    });
  }
  EXPECT_THAT(recoverRuns({run()}).processes, IsEmpty());
  EXPECT_THAT(listBoxes(boxes_.folder()), SizeIs(1)) << "the other run's";
  const std::filesystem::directory_iterator states(run() + "/black_box");
  EXPECT_EQ(std::distance(begin(states), end(states)), 1);
}

TEST_F(KillProofTest, KeepsTheNewestStatesOfProcessesWithoutARun) {
  std::filesystem::create_directories(run());
  const auto numbers = [&] {
    std::set<std::uint64_t> found;
    for (const detail::process::BoxName& box : listBoxes(boxes_.folder())) {
      found.insert(box.number);
    }
    return found;
  };
  killedChild([] { detail::process::StatePage::keep(); });
  const std::uint64_t oldest = *numbers().begin();
  for (int i = 0; i < 512; ++i) {
    killedChild([] { detail::process::StatePage::keep(); });
  }
  ASSERT_THAT(numbers(), SizeIs(513));
  recoverRuns({run()});
  EXPECT_THAT(numbers(), AllOf(SizeIs(512), Not(Contains(oldest))));
}

TEST_F(KillProofTest, AWriterOfAnotherRunLeavesItAlone) {
  killedWriter([](SummaryWriter& writer) { writer.addScalar("loss", 1, 1); });
  { SummaryWriter writer(logs_.string() + "/other"); }
  EXPECT_THAT(scalarsIn(run()), IsEmpty());
  EXPECT_EQ(recovered().values, 1U);
}

TEST_F(KillProofTest, KeepsNamesWallTimesBatchesAndSubRuns) {
  killedWriter([](SummaryWriter& writer) {
    ScalarOptions options;
    options.displayName = "shown";
    options.description = "described";
    writer.addScalar("named", 1, 7, options);
    ScalarOptions dated;
    dated.wallTime = 1234.5;
    writer.addScalar("dated", 2, 8, dated);
    {
      auto batch = writer.atStep(9);
      batch.add("a", 3);
      batch.add("b", 4);
    }
    writer.addScalars("both", {{"left", 5}, {"right", 6}}, 10);
  });
  const double before = detail::process::headerOfThisProcess().created - 3600;
  const RecoveryReport::Process process = recovered();
  EXPECT_EQ(process.values, 6U);
  EXPECT_THAT(process.problems, IsEmpty());
  bool isDescribed = false;
  for (const event::Event& event : eventsIn(run())) {
    const auto* const summary = std::get_if<event::Summary>(&event.what);
    if (summary == nullptr) {
      continue;
    }
    for (const event::Value& value : summary->values) {
      if (value.tag == "dated") {
        EXPECT_EQ(event.wallTime, 1234.5);
      } else {
        EXPECT_GT(event.wallTime, before);
        EXPECT_LT(event.wallTime, before + 7200);
      }
      if (value.tag == "named") {
        isDescribed = value.metadata && value.metadata->displayName == "shown" &&
                      value.metadata->description == "described";
      }
    }
  }
  EXPECT_TRUE(isDescribed);
  EXPECT_THAT(scalarsIn(run()).at("a"), ElementsAre(Pair(9, 3.0F)));
  EXPECT_THAT(scalarsIn(run()).at("b"), ElementsAre(Pair(9, 4.0F)));
  EXPECT_THAT(scalarsIn(run() + "/both/left").at("both"), ElementsAre(Pair(10, 5.0F)));
  EXPECT_THAT(scalarsIn(run() + "/both/right").at("both"), ElementsAre(Pair(10, 6.0F)));
}

TEST_F(KillProofTest, OtherValuesSurviveFromWhenTheyAreEncoded) {
  killedChild([&] {
    WriterOptions options;
    options.flushPeriod = std::chrono::hours(1);
    SummaryWriter writer(run(), options);
    writer.addText("note", "kept", 1);
    while (writer.stats().values < 1) {
      std::this_thread::yield();
    }
    // The pass that encodes a value also logs it; the next one has begun after that.
    writer.addText("note", "another", 2);
    while (writer.stats().values < 2) {
      std::this_thread::yield();
    }
    raise(SIGKILL);
  });
  EXPECT_GE(recovered().values, 1U);
  EXPECT_EQ(valuesIn(run()).front().tag, "note");
}

TEST_F(KillProofTest, OneBoxServesOneWriterAfterTheOther) {
  std::vector<std::string> first;
  for (int round = 0; round < 3; ++round) {
    SummaryWriter writer(run());
    writer.addScalar("a", 1, round);
    EXPECT_THAT(boxFiles(), SizeIs(3));
    first = first.empty() ? boxFiles() : first;
    EXPECT_THAT(boxFiles(), UnorderedElementsAreArray(first));
  }
  EXPECT_THAT(scalarsIn(run()).at("a"), SizeIs(3));
}

TEST_F(KillProofTest, ALaterWriterIsProtectedByTheBoxOfAnEarlierOne) {
  killedChild([&] {
    FaultyFileSystem disk;
    for (int round = 0; round < 3; ++round) {
      SummaryWriter writer(logs_.string() + "/first");
      std::thread([&] { writer.addScalar("b", 1, round); }).join();
      writer.addScalar("a", 1, round);
    }
    SummaryWriter writer(run());
    disk.stall();
    writer.addScalar("a", 2, 2);
    std::thread([&] { writer.addScalar("b", 3, 3); }).join();
    raise(SIGKILL);
  });
  EXPECT_EQ(recovered().values, 2U);
  EXPECT_THAT(scalarsIn(run()).at("a"), ElementsAre(Pair(2, 2.0F)));
  EXPECT_THAT(scalarsIn(run()).at("b"), ElementsAre(Pair(3, 3.0F)));
  EXPECT_THAT(scalarsIn(logs_.string() + "/first").at("a"), SizeIs(3));
}

TEST_F(KillProofTest, ABoxThatSomebodyHasRemovedIsReplaced) {
  { SummaryWriter(run()).addScalar("a", 1, 1); }
  for (const std::string& name : boxFiles()) {
    std::filesystem::remove(boxes_.folder() + "/" + name);
  }
  SummaryWriter writer(run());
  EXPECT_THAT(boxFiles(), SizeIs(3));
}

TEST_F(KillProofTest, NothingIsLeftOfAProcessThatEndedWell) {
  const auto writesTwice = [&] {
    { SummaryWriter(run()).addScalar("a", 1, 1); }
    SummaryWriter(run()).addScalar("a", 1, 2);
  };
  EXPECT_EQ(runInChild(writesTwice), 0);
  EXPECT_THAT(boxFiles(), IsEmpty());
}

TEST_F(KillProofTest, NothingIsLeftOfAWriterThatOutlivesMain) {
  EXPECT_EQ(runInChild([&] {
              // Destroyed after what the library does at exit, which the first writer registers.
              static std::optional<SummaryWriter> writer;
              writer.emplace(run());
            }),
            0);
  EXPECT_THAT(boxFiles(), IsEmpty());
}

TEST_F(KillProofTest, TheNextWriterRemovesTheBoxOfAProcessThatEndedByItself) {
  killedChild([&] {
    { SummaryWriter(run()).addScalar("a", 1, 1); }
    raise(SIGKILL);  // as _exit(): no handler of the process's end runs
  });
  EXPECT_THAT(boxFiles(), SizeIs(3));
  const SummaryWriter writer(logs_.string() + "/another");
  EXPECT_THAT(boxFiles(), SizeIs(3)) << "its own";
  EXPECT_THAT(recoverRuns({run()}).processes, IsEmpty());
  EXPECT_THAT(scalarsIn(run()).at("a"), SizeIs(1));
}

TEST_F(KillProofTest, ThreadsThatOutliveAWriterAreProtectedInTheNext) {
  killedChild([&] {
    FaultyFileSystem disk;
    { SummaryWriter(logs_.string() + "/first").addScalar("a", 1, 1); }
    SummaryWriter writer(run());
    disk.stall();
    writer.addScalar("a", 2, 2);
    raise(SIGKILL);
  });
  EXPECT_EQ(recovered().values, 1U);
  EXPECT_THAT(scalarsIn(run()).at("a"), ElementsAre(Pair(2, 2.0F)));
}

TEST_F(KillProofTest, RingsOfEndedThreadsAreUsedAgain) {
  killedChild([&] {
    WriterOptions options;
    options.flushPeriod = std::chrono::hours(1);
    SummaryWriter writer(run(), options);
    for (std::int64_t step = 0; step < 20; ++step) {
      std::thread([&] { writer.addScalar("a", 1, step); }).join();
    }
    raise(SIGKILL);
  });
  EXPECT_LE(recovered().values, 20U);
  EXPECT_THAT(scalarsIn(run()).at("a"), SizeIs(20));
}

TEST_F(KillProofTest, WhatBelongsToADeletedRunIsDropped) {
  std::filesystem::create_directories(run());
  killedChild([&] {
    WriterOptions options;
    options.onError = [](const Status&) {};
    SummaryWriter writer(run(), options);
    ASSERT_TRUE(writer.flush().ok());
    for (std::int64_t step = 0; step < 20'000; ++step) {
      writer.addScalar("a", 1, step);
    }
    std::filesystem::remove_all(run());  // every write now fails or makes a new file
    raise(SIGKILL);
  });
  const RecoveryReport::Process process = recovered();
  EXPECT_THAT(process.problems, SizeIs(1));
  EXPECT_THAT(process.problems.front(), HasSubstr("does not exist any more"));
  EXPECT_FALSE(std::filesystem::exists(run()));
  EXPECT_THAT(boxFiles(), IsEmpty()) << "its own writer would start anew, too";
}

TEST_F(KillProofTest, AProcessThatLivesIsLeftAlone) {
  SummaryWriter writer(run());
  writer.addScalar("a", 1, 1);
  EXPECT_THAT(recoverRuns({run()}).processes, IsEmpty());
  const pid_t child = fork();
  if (child == 0) {
    _exit(recoverRuns({run()}).processes.empty() ? 0 : 1);
  }
  int status = 0;
  waitpid(child, &status, 0);
  EXPECT_EQ(status, 0);
}

TEST_F(KillProofTest, WithoutAFolderLoggingGoesOnAsWithoutABox) {
  setenv("STEPTAPE_BLACK_BOX", "off", 1);
  {
    SummaryWriter writer(run());
    writer.addScalar("a", 1, 1);
    EXPECT_THAT(boxFiles(), IsEmpty());
  }
  EXPECT_THAT(scalarsIn(run()).at("a"), SizeIs(1));
}

TEST_F(KillProofTest, WhatAFullDiskRefusedIsWrittenOnceThereIsRoom) {
  killedChild([&] {
    FaultyFileSystem disk;
    WriterOptions options;
    options.onError = [](const Status&) {};
    SummaryWriter writer(run(), options);
    writer.addScalar("a", 1, 0);
    if (!writer.flush().ok()) {
      _exit(1);
    }
    disk.breakWrites(ENOSPC);
    for (std::int64_t step = 1; step < 20'000; ++step) {
      writer.addScalar("a", 1, step);
    }
    while (writer.stats().scalars < 20'000 || writer.stats().retries == 0) {
      std::this_thread::yield();
    }
    raise(SIGKILL);
  });
  EXPECT_THAT(scalarsIn(run()).at("a"), SizeIs(1));
  EXPECT_EQ(recovered().values, 19'999U);
  const auto points = scalarsIn(run()).at("a");
  ASSERT_THAT(points, SizeIs(20'000));
  for (std::size_t i = 0; i < points.size(); ++i) {
    ASSERT_EQ(points[i].first, static_cast<std::int64_t>(i));
  }
}

TEST_F(KillProofTest, ALimitOfFileSizesTurnsProtectionOffAndEndsNoProcess) {
  std::vector<std::string> errors;
  {
    const test::SmallDisk small(100'000);  // a ring is larger
    WriterOptions options;
    options.onError = [&](const Status& status) { errors.push_back(status.message()); };
    SummaryWriter writer(run(), options);
    std::thread([&] { writer.addScalar("a", 1, 1); }).join();
    ASSERT_TRUE(writer.flush().ok());
  }
  ASSERT_THAT(errors, SizeIs(1));
  EXPECT_THAT(errors.front(), HasSubstr("File too large"));
  EXPECT_THAT(scalarsIn(run()).at("a"), SizeIs(1));
}

TEST_F(KillProofTest, WhatCannotBeWrittenIsKeptForAnotherTry) {
  killedWriter([](SummaryWriter& writer) { writer.addScalar("a", 1, 1); });
  {
    FaultyFileSystem disk;
    disk.breakWrites(EROFS);
    const RecoveryReport::Process process = recovered();
    EXPECT_TRUE(process.isKept);
    EXPECT_EQ(process.values, 0U);
    EXPECT_THAT(process.problems, ElementsAre(HasSubstr("Read-only file system")));
  }
  EXPECT_EQ(recovered().values, 1U);
  EXPECT_THAT(scalarsIn(run()).at("a"), SizeIs(1));
}

TEST_F(KillProofTest, AFileThatWasChangedSinceIsLeftAloneAndTheRestGoesToAnother) {
  killedWriter([](SummaryWriter& writer) { writer.addScalar("a", 1, 1); });
  const std::string file = eventFilesIn(run()).at(0);
  std::filesystem::resize_file(file, std::filesystem::file_size(file) - 1);
  const RecoveryReport::Process process = recovered();
  EXPECT_EQ(process.values, 1U);
  EXPECT_THAT(process.files, SizeIs(1));
  EXPECT_NE(process.files.front(), file);
  EXPECT_THAT(eventFilesIn(run()), ElementsAre(file, process.files.front()));
}

TEST_F(KillProofTest, AFolderThatRefusesIsReportedOnceAndLoggingGoesOn) {
  setenv("STEPTAPE_BLACK_BOX", (boxes_.folder() + "/missing").c_str(), 1);
  std::vector<std::string> errors;
  {
    WriterOptions options;
    options.onError = [&](const Status& status) { errors.push_back(status.message()); };
    SummaryWriter writer(run(), options);
    for (std::int64_t step = 0; step < 10; ++step) {
      writer.addScalar("a", 1, step);
      ASSERT_TRUE(writer.flush().ok());
    }
  }
  ASSERT_THAT(errors, SizeIs(1));
  EXPECT_THAT(errors.front(), HasSubstr("may now lose the scalars of the last second"));
  EXPECT_THAT(scalarsIn(run()).at("a"), SizeIs(10));
}

TEST_F(KillProofTest, DamageIsReportedOrWithoutEffect) {
  killedChild([&] {
    WriterOptions options;
    options.flushPeriod = std::chrono::hours(1);
    SummaryWriter writer(run(), options);
    for (std::int64_t step = 0; step < 20; ++step) {
      writer.addScalar("a", 1, step);
      writer.addScalar("b", 2, step);
    }
    while (writer.stats().scalars < 30) {
      std::this_thread::yield();
    }
    writer.addScalar("a", 1, 20);
    raise(SIGKILL);
  });
  const BoxName name = listBoxes(boxes_.folder()).at(0);
  detail::log::DeadProcess::Files files;
  ASSERT_TRUE(readBoxFile(name, "names", 1 << 20, &files.names).ok());
  ASSERT_TRUE(readBoxFile(name, "log", 1 << 20, &files.log).ok());
  ASSERT_TRUE(readBoxFile(name, "rings", 1 << 20, &files.rings).ok());
  const auto sizeOf = [](const detail::log::DeadProcess& process) {
    std::size_t bytes = process.entries.size();
    for (const auto& [id, stream] : process.streams) {
      bytes += stream.bytes.size();
    }
    return bytes;
  };
  const detail::log::DeadProcess whole = detail::log::DeadProcess::decode(files, name.number);
  EXPECT_THAT(whole.problems, IsEmpty());
  EXPECT_GT(sizeOf(whole), 0U);
  for (std::string detail::log::DeadProcess::Files::*const part :
       {&detail::log::DeadProcess::Files::names, &detail::log::DeadProcess::Files::log}) {
    for (std::size_t i = 0; i < (files.*part).size(); ++i) {
      if (i >= sizeof(detail::process::BoxHeader) && i < detail::process::BoxHeader::kBytes) {
        continue;  // nothing is there
      }
      detail::log::DeadProcess::Files damaged = files;
      (damaged.*part)[i] = static_cast<char>((damaged.*part)[i] ^ 4);
      const detail::log::DeadProcess process =
          detail::log::DeadProcess::decode(std::move(damaged), name.number);
      EXPECT_TRUE(!process.problems.empty() || sizeOf(process) == sizeOf(whole)) << "byte " << i;
      damaged = files;
      (damaged.*part).resize(i);
      const detail::log::DeadProcess shorter =
          detail::log::DeadProcess::decode(std::move(damaged), name.number);
      EXPECT_LE(shorter.logBytes, whole.logBytes);
    }
  }
  for (std::size_t word = 0; word < 40; ++word) {
    for (const std::uint64_t value :
         {~std::uint64_t{0}, std::uint64_t{1} << 40, std::uint64_t{5}}) {
      detail::log::DeadProcess::Files damaged = files;
      std::memcpy(damaged.rings.data() + detail::process::BoxHeader::kBytes + 8 * word, &value, 8);
      const detail::log::DeadProcess process =
          detail::log::DeadProcess::decode(std::move(damaged), name.number);
      EXPECT_LE(process.entries.size(), detail::log::ScalarRing::kWords);
    }
  }
}

TEST_F(KillProofTest, AfterABootOnlyTheLogIsTrusted) {
  killedChild([&] {
    WriterOptions options;
    options.flushPeriod = std::chrono::hours(1);
    SummaryWriter writer(run(), options);
    for (std::int64_t step = 0; step < 3; ++step) {
      writer.addScalar("a", 1, step);
    }
    while (writer.stats().scalars < 2) {
      std::this_thread::yield();
    }
    raise(SIGKILL);
  });
  // What a box looks like on a disk after the machine was booted.
  const BoxName name = listBoxes(boxes_.folder()).at(0);
  std::string id;
  ASSERT_TRUE(readBoxFile(name, "id", 1 << 20, &id).ok());
  detail::process::BoxHeader header;
  ASSERT_TRUE(decodeBoxHeader(id, "id", &header).ok());
  header.boot[0] = header.boot[0] == 'a' ? 'b' : 'a';
  const std::string changed = encodeBoxHeader(header, "id");
  ASSERT_TRUE(detail::process::continueBoxFile(name, "id", 0, changed).ok());
  const RecoveryReport::Process process = recovered();
  EXPECT_LE(process.values, 3U);
  EXPECT_THAT(process.problems, IsEmpty());
  EXPECT_THAT(boxFiles(), IsEmpty());
}

/// Logs from several threads, or as fast as one can, until the process is killed.
void logUntilKilled(const std::string& run, Taken* taken, int kind) {
  WriterOptions options;
  options.flushPeriod = std::chrono::milliseconds(kind % 2 == 0 ? 5 : 1000);
  options.maxFileBytes = kind % 3 == 0 ? 20'000 : 0;
  options.onError = [](const Status&) {};
  SummaryWriter writer(run, options);
  std::vector<std::thread> threads;
  const bool isAlone = kind % 5 < 2;
  for (std::size_t t = 0; t < (isAlone ? 1 : kThreads); ++t) {
    threads.emplace_back([&writer, taken, t, kind] {
      const std::string tag = "thread" + std::to_string(t);
      const bool isFast = kind % 4 == 0 || t == 0;
      for (std::int64_t step = 0;; ++step) {
        if (t % 2 == 0) {
          writer.addScalar(tag, static_cast<float>(step % 1000), step);
        } else {
          auto batch = writer.atStep(step);
          batch.add(tag, static_cast<double>(step % 1000));
          batch.add(tag + "/b", static_cast<double>(step % 1000));
        }
        taken->calls[t].store(step + 1, std::memory_order_release);
        taken->ready.store(true, std::memory_order_release);
        if (!isFast) {
          std::this_thread::sleep_for(std::chrono::microseconds(50));
        }
      }
    });
  }
  for (std::int64_t step = 0;; ++step) {
    if (!isAlone) {
      writer.addText("text", "between the scalars", step);
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(3));
  }
}

TEST_F(KillProofTest, NothingTakenIsLostOrComesTwiceWhenProcessesAreKilledAtRandomMoments) {
  const int kills = test::takesEveryCase() ? 300 : 30;
  std::mt19937 random(20'261'125);
  std::uint64_t values = 0;
  for (int i = 0; i < kills; ++i) {
    for (auto& calls : taken_->calls) {
      calls = 0;
    }
    std::uniform_int_distribution<int> delay(0, 30'000);
    killedChild([&] { logUntilKilled(run(), taken_, i); },
                std::chrono::microseconds(delay(random)));
    // Sometimes the next one is killed as well, at any point of its recovery.
    for (int tries = i % 3; tries > 0; --tries) {
      const pid_t child = fork();
      if (child == 0) {
        recoverRuns({run()});
        _exit(0);
      }
      std::this_thread::sleep_for(std::chrono::microseconds(delay(random) / 20));
      kill(child, SIGKILL);
      waitpid(child, nullptr, 0);
    }
    recoverRuns({run()});
    ASSERT_THAT(boxFiles(), IsEmpty());
    const Curves curves = scalarsIn(run());
    for (std::size_t t = 0; t < kThreads; ++t) {
      const std::int64_t taken = taken_->calls[t];
      const std::string name = "thread" + std::to_string(t);
      for (const std::string& tag : {name, name + "/b"}) {
        if (taken == 0 || (tag != name && t % 2 == 0)) {
          continue;
        }
        const auto& points = curves.at(tag);
        ASSERT_GE(points.size(), static_cast<std::size_t>(taken)) << "kill " << i << ", " << tag;
        ASSERT_LE(points.size(), static_cast<std::size_t>(taken) + 1) << "kill " << i;
        values += points.size();
        for (std::size_t p = 0; p < points.size(); ++p) {
          ASSERT_EQ(points[p].first, static_cast<std::int64_t>(p)) << "kill " << i << ", " << tag;
          ASSERT_EQ(points[p].second, static_cast<float>(p % 1000)) << "kill " << i;
        }
      }
    }
    std::filesystem::remove_all(run());
  }
  RecordProperty("values", std::to_string(values));
  std::printf("%d kills, %llu values\n", kills, static_cast<unsigned long long>(values));
}

}  // namespace
}  // namespace steptape
