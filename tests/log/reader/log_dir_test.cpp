// SPDX-License-Identifier: Apache-2.0
#include "steptape/log/log_dir.h"

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <map>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "log/reader/run_fixture.h"

#include <gmock/gmock.h>

namespace steptape {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::Pair;
using ::testing::SizeIs;

constexpr int kThreads = 3;

class LogDirTest : public RunFixture {
 protected:
  static std::vector<std::string> names(const LogDir& log) {
    std::vector<std::string> names;
    for (const auto& [name, run] : log.runs()) {
      names.push_back(name);
    }
    return names;
  }
  /// Returns the points of all runs, by the run's name.
  static std::map<std::string, Points> losses(const LogDir& log) {
    std::map<std::string, Points> losses;
    for (const auto& [name, run] : log.runs()) {
      losses[name] = points(run, "loss");
    }
    return losses;
  }

  std::string writePoint(const std::string& file, float value, std::int64_t step) const {
    return writeEvents(file, {simpleScalar("loss", value, step)});
  }
  void appendPoint(const std::string& file, float value, std::int64_t step) const {
    append(file, framed({simpleScalar("loss", value, step)}));
  }

  /// Writes runs of many sizes, one so large that several threads read it, and one damaged.
  void writeManyRuns() const {
    const std::string bytes = framed({simpleScalar("loss", 1, 0), simpleScalar("loss", 2, 1)});
    std::string large;
    while (large.size() < (20 << 20)) {
      large += bytes;
    }
    writeBytes("large/" + std::string(kFirst), large);
    std::string file;
    for (int i = 0; i < 40; ++i) {
      file += bytes;
      writeBytes("run_" + std::to_string(i) + "/" + kFirst, file);
    }
    file[5] ^= 1;
    writeBytes(std::string("damaged/") + kFirst, file);
  }
  static RunReaderOptions onThreads(int threads) {
    RunReaderOptions options;
    options.threads = threads;
    return options;
  }
};

TEST_F(LogDirTest, ReadsAllRuns) {
  const std::uint64_t bytes =
      std::filesystem::file_size(writePoint("events.out.tfevents.1", 1, 1)) +
      std::filesystem::file_size(writePoint("a/events.out.tfevents.1", 2, 2)) +
      std::filesystem::file_size(writePoint("b/deep/events.out.tfevents.1", 3, 3));
  LogDir log(root_);
  EXPECT_THAT(log.runs(), IsEmpty());
  EXPECT_EQ(log.update(), bytes);
  EXPECT_THAT(losses(log),
              ElementsAre(Pair(".", ElementsAre(Pair(1, 1))), Pair("a", ElementsAre(Pair(2, 2))),
                          Pair("b/deep", ElementsAre(Pair(3, 3)))));
  EXPECT_EQ(log.runs().at("b/deep").directory(), path("b/deep"));
}

TEST_F(LogDirTest, ReadsNewPointsOfKnownRuns) {
  writePoint("a/events.out.tfevents.1", 1, 1);
  writePoint("b/events.out.tfevents.1", 2, 2);
  LogDir log(root_);
  log.update();
  EXPECT_EQ(log.update(), 0u);

  appendPoint("a/events.out.tfevents.1", 3, 3);
  writePoint("b/events.out.tfevents.2", 4, 4);
  EXPECT_EQ(log.update(), 2 * framed({simpleScalar("loss", 3, 3)}).size());
  EXPECT_THAT(losses(log), ElementsAre(Pair("a", ElementsAre(Pair(1, 1), Pair(3, 3))),
                                       Pair("b", ElementsAre(Pair(2, 2), Pair(4, 4)))));
  EXPECT_EQ(log.runs().at("a").tags().at("loss").firstNewScalar, 1u);
}

TEST_F(LogDirTest, FindsRunsThatAppearAndKeepsReferencesToOthers) {
  writePoint("m/events.out.tfevents.1", 1, 1);
  LogDir log(root_);
  log.update();
  const RunReader& known = log.runs().at("m");
  for (const char* name : {"a", "z", "m/below"}) {
    writePoint(std::string(name) + "/events.out.tfevents.1", 2, 2);
  }
  log.update();
  EXPECT_THAT(names(log), ElementsAre("a", "m", "m/below", "z"));
  EXPECT_EQ(&log.runs().at("m"), &known);
  EXPECT_THAT(points(known, "loss"), ElementsAre(Pair(1, 1)));
}

TEST_F(LogDirTest, ListsARunFromItsFirstEventFileOn) {
  writeBytes("a/notes.txt", "");
  LogDir log(root_);
  log.update();
  EXPECT_THAT(log.runs(), IsEmpty());
  EXPECT_TRUE(log.lastError().ok());
  writeBytes("a/events.out.tfevents.1", "");
  EXPECT_EQ(log.update(), 0u);
  EXPECT_THAT(losses(log), ElementsAre(Pair("a", IsEmpty())));
}

TEST_F(LogDirTest, AcceptsADirectoryThatDoesNotExistYet) {
  LogDir log(path("runs"));
  EXPECT_TRUE(log.lastError().ok());
  EXPECT_EQ(log.update(), 0u);
  EXPECT_EQ(log.lastError().code(), ErrorCode::kIoError);
  EXPECT_EQ(log.lastError().message(),
            "cannot read " + path("runs") + ": No such file or directory");
  writePoint("runs/a/events.out.tfevents.1", 1, 1);
  log.update();
  EXPECT_TRUE(log.lastError().ok()) << log.lastError().message();
  EXPECT_THAT(losses(log), ElementsAre(Pair("a", ElementsAre(Pair(1, 1)))));
}

TEST_F(LogDirTest, KeepsTheRunsOfARemovedDirectoryAndContinuesWhenItReappears) {
  const std::string file = writePoint("runs/a/events.out.tfevents.1", 1, 1);
  LogDir log(path("runs"));
  log.update();
  std::filesystem::rename(path("runs"), path("elsewhere"));
  EXPECT_EQ(log.update(), 0u);
  EXPECT_FALSE(log.lastError().ok());
  EXPECT_THAT(losses(log), ElementsAre(Pair("a", ElementsAre(Pair(1, 1)))));
  ASSERT_THAT(log.runs().at("a").damage(), SizeIs(1));
  EXPECT_EQ(log.runs().at("a").damage()[0].status.message(),
            "cannot open " + file + ": No such file or directory");

  std::filesystem::rename(path("elsewhere"), path("runs"));
  appendPoint("runs/a/events.out.tfevents.1", 2, 2);
  log.update();
  EXPECT_TRUE(log.lastError().ok());
  EXPECT_THAT(losses(log), ElementsAre(Pair("a", ElementsAre(Pair(1, 1), Pair(2, 2)))));
  EXPECT_THAT(log.runs().at("a").damage(), IsEmpty());
}

TEST_F(LogDirTest, FollowsOneFileAlone) {
  const std::string file = writePoint("events.out.tfevents.1", 1, 1);
  LogDir log(file);
  log.update();
  EXPECT_THAT(losses(log), ElementsAre(Pair(".", ElementsAre(Pair(1, 1)))));
  appendPoint("events.out.tfevents.1", 2, 2);
  writePoint("events.out.tfevents.2", 3, 3);
  log.update();
  EXPECT_THAT(losses(log), ElementsAre(Pair(".", ElementsAre(Pair(1, 1), Pair(2, 2)))));
}

TEST_F(LogDirTest, KeepsRunsApartWhenALinkMovesOn) {
  writePoint("run_1/events.out.tfevents.1", 1, 1);
  std::filesystem::create_directory_symlink(path("run_1"), path("latest"));
  LogDir log(root_);
  log.update();
  writePoint("run_2/events.out.tfevents.2", 2, 2);
  std::filesystem::remove(path("latest"));
  std::filesystem::create_directory_symlink(path("run_2"), path("latest"));
  log.update();
  EXPECT_THAT(losses(log), ElementsAre(Pair("run_1", ElementsAre(Pair(1, 1))),
                                       Pair("run_2", ElementsAre(Pair(2, 2)))));
}

TEST_F(LogDirTest, ReadsOnlyRunsThatAreWanted) {
  writePoint("a/events.out.tfevents.1", 1, 1);
  writePoint("b/events.out.tfevents.1", 2, 2);
  std::string wanted = "b";
  LogDir log(root_, {}, [&](const RunFiles& run) { return run.name == wanted; });
  EXPECT_EQ(log.update(), framed({simpleScalar("loss", 2, 2)}).size());
  EXPECT_THAT(names(log), ElementsAre("b"));
  wanted = "a";
  log.update();
  EXPECT_THAT(names(log), ElementsAre("a", "b"));
}

TEST_F(LogDirTest, ReadsEachRunWithItsOptions) {
  writeEvents("a/events.out.tfevents.1",
              {version(), simpleScalar("loss", 1, 1), simpleScalar("loss", 2, 2), start(1)});
  LogDir purged(root_);
  purged.update();
  EXPECT_THAT(losses(purged), ElementsAre(Pair("a", IsEmpty())));
  LogDir raw(root_, purging(PurgePolicy::kNone));
  raw.update();
  EXPECT_THAT(losses(raw), ElementsAre(Pair("a", SizeIs(2))));
}

TEST_F(LogDirTest, RejectsInvalidOptions) {
  try {
    LogDir log(root_, onThreads(0));
    FAIL() << "took 0 threads";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::kInvalidArgument);
    EXPECT_STREQ(error.what(), "RunReaderOptions::threads: got 0; expected at least 1");
  }
}

TEST_F(LogDirTest, ReadsTheSameOnSeveralThreads) {
  writeManyRuns();
  LogDir one(root_);
  const std::uint64_t bytes = one.update();
  LogDir several(root_, onThreads(kThreads));
  EXPECT_EQ(several.update(), bytes);
  EXPECT_THAT(several.runs(), SizeIs(42));
  EXPECT_TRUE(losses(several) == losses(one));
  EXPECT_THAT(several.runs().at("damaged").damage(), SizeIs(1));

  // All runs but one are known by now.
  appendPoint("run_7/events.out.tfevents.1", 5, 5);
  writePoint("new/events.out.tfevents.1", 6, 6);
  EXPECT_EQ(several.update(), one.update());
  EXPECT_TRUE(losses(several) == losses(one));
}

TEST_F(LogDirTest, ReportsTheProgressOfAllRunsOnTheCallersThread) {
  writeManyRuns();
  std::vector<std::uint64_t> reported;
  RunReaderOptions options = onThreads(kThreads);
  options.onProgress = [&, caller = std::this_thread::get_id()](std::uint64_t bytes) {
    EXPECT_EQ(std::this_thread::get_id(), caller);
    reported.push_back(bytes);
    // Lets the other threads read their part.
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  };
  LogDir log(root_, options);
  const std::uint64_t bytes = log.update();
  ASSERT_FALSE(reported.empty());
  EXPECT_LT(reported.front(), bytes);
  EXPECT_EQ(reported.back(), bytes);
  for (std::size_t i = 1; i < reported.size(); ++i) {
    EXPECT_LT(reported[i - 1], reported[i]);
  }

  reported.clear();
  log.update();
  EXPECT_THAT(reported, IsEmpty());
  const std::string more = framed({simpleScalar("loss", 5, 5)});
  append("large/events.out.tfevents.1", more);
  log.update();
  EXPECT_THAT(reported, ElementsAre(more.size()));
}

TEST_F(LogDirTest, EndsAnUpdateWhenOnProgressThrowsAndReadsTheRestInTheNext) {
  writeManyRuns();
  LogDir whole(root_);
  whole.update();
  for (const int threads : {1, kThreads}) {
    bool isCanceled = true;
    RunReaderOptions options = onThreads(threads);
    options.onProgress = [&](std::uint64_t /*bytes*/) {
      if (isCanceled) {
        throw std::runtime_error("canceled");
      }
    };
    LogDir log(root_, options);
    EXPECT_THROW(log.update(), std::runtime_error);
    isCanceled = false;
    EXPECT_GT(log.update(), 0U);
    EXPECT_EQ(losses(log), losses(whole));
  }
}

TEST_F(LogDirTest, WorksAfterAMove) {
  writePoint("a/events.out.tfevents.1", 1, 1);
  std::uint64_t reported = 0;
  RunReaderOptions options;
  options.onProgress = [&](std::uint64_t bytes) { reported = bytes; };
  LogDir first(root_, options);
  first.update();
  LogDir log(std::move(first));
  reported = 0;
  appendPoint("a/events.out.tfevents.1", 2, 2);
  EXPECT_EQ(log.update(), reported);
  EXPECT_THAT(losses(log), ElementsAre(Pair("a", ElementsAre(Pair(1, 1), Pair(2, 2)))));
}

}  // namespace
}  // namespace steptape
