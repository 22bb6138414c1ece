// SPDX-License-Identifier: Apache-2.0
#include "server/store/log_store.h"

#include <algorithm>
#include <filesystem>
#include <string>
#include <sys/stat.h>
#include <unistd.h>

#include "server/store/log_store_fixture.h"

namespace steptape::detail::server {
namespace {

namespace fs = std::filesystem;

class LogStoreTest : public LogStoreFixture {
 protected:
  static std::size_t openDescriptors() {
    const fs::directory_iterator all("/proc/self/fd");
    return static_cast<std::size_t>(std::distance(begin(all), end(all)));
  }
};

TEST_F(LogStoreTest, ShowsTheRunsOfADirectory) {
  writePoint(kFirst, 1, 0.5F);
  writePoint("a/b/" + std::string(kFirst), 2, 0.25F);
  const LogStore store(options());
  expectRuns(store, {".", "a/b"});
  expectPoints(store, ".", {{1, 0.5F}});
  expectPoints(store, "a/b", {{2, 0.25F}});
  EXPECT_EQ(store.location(), root_);
}

TEST_F(LogStoreTest, ShowsWhatAWriterAppends) {
  writePoint("a/events.out.tfevents.1", 1, 1);
  const LogStore store(options());
  expectPoints(store, "a", {{1, 1}});
  for (std::int64_t step = 2; step < 6; ++step) {
    appendPoint("a/events.out.tfevents.1", step, 1);
    expectSoon("a point",
               [&] { return pointsOf(store, "a", "x").size() == static_cast<std::size_t>(step); });
  }
}

TEST_F(LogStoreTest, ShowsARecordOnceItIsWhole) {
  writePoint("a/events.out.tfevents.1", 1, 1);
  const LogStore store(options());
  expectPoints(store, "a", {{1, 1}});
  const std::string record = framed({simpleScalar("x", 2, 2)});
  append("a/events.out.tfevents.1", record.substr(0, 9));
  append("a/events.out.tfevents.1", record.substr(9));
  expectPoints(store, "a", {{1, 1}, {2, 2}});
}

TEST_F(LogStoreTest, ShowsANewRun) {
  const LogStore store(options());
  writePoint("a/b/c/events.out.tfevents.1", 1, 1);
  expectPoints(store, "a/b/c", {{1, 1}});
  appendPoint("a/b/c/events.out.tfevents.1", 2, 2);
  expectPoints(store, "a/b/c", {{1, 1}, {2, 2}});
}

TEST_F(LogStoreTest, ShowsANewFileOfARun) {
  writePoint("a/events.out.tfevents.1", 1, 1);
  const LogStore store(options());
  expectPoints(store, "a", {{1, 1}});
  writePoint("a/events.out.tfevents.2", 2, 2);
  expectPoints(store, "a", {{1, 1}, {2, 2}});
  appendPoint("a/events.out.tfevents.2", 3, 3);
  expectPoints(store, "a", {{1, 1}, {2, 2}, {3, 3}});
}

TEST_F(LogStoreTest, ShowsAFileThatIsReplaced) {
  writePoint("a/events.out.tfevents.1", 1, 1);
  const LogStore store(options());
  expectPoints(store, "a", {{1, 1}});
  writeEvents("new", {version(), simpleScalar("x", 7, 1), simpleScalar("x", 8, 2)});
  fs::rename(path("new"), path("a/events.out.tfevents.1"));
  expectPoints(store, "a", {{1, 7}, {2, 8}});
}

TEST_F(LogStoreTest, ShowsAFileThatIsTruncatedAndWrittenAgain) {
  writeEvents("a/events.out.tfevents.1",
              {version(), simpleScalar("x", 1, 1), simpleScalar("x", 2, 2)});
  const LogStore store(options());
  expectPoints(store, "a", {{1, 1}, {2, 2}});
  writePoint("a/events.out.tfevents.1", 5, 5);
  expectPoints(store, "a", {{5, 5}});
}

TEST_F(LogStoreTest, ForgetsARunThatIsDeleted) {
  writePoint("a/events.out.tfevents.1", 1, 1);
  writePoint("b/events.out.tfevents.1", 1, 1);
  const LogStore store(options());
  expectRuns(store, {"a", "b"});
  fs::remove_all(path("a"));
  expectRuns(store, {"b"});
}

TEST_F(LogStoreTest, ShowsARunThatIsDeletedAndMadeAgain) {
  writePoint("a/events.out.tfevents.1", 1, 1);
  const LogStore store(options());
  expectPoints(store, "a", {{1, 1}});
  fs::remove_all(path("a"));
  writePoint("a/events.out.tfevents.1", 3, 3);
  expectPoints(store, "a", {{3, 3}});
  appendPoint("a/events.out.tfevents.1", 4, 4);
  expectPoints(store, "a", {{3, 3}, {4, 4}});
}

TEST_F(LogStoreTest, FollowsARunThatIsRenamedAndTheNextOneOfItsName) {
  writePoint("a/sub/events.out.tfevents.1", 1, 1);
  const LogStore store(options());
  expectPoints(store, "a/sub", {{1, 1}});
  fs::rename(path("a"), path("b"));
  writePoint("a/sub/events.out.tfevents.1", 5, 5);
  expectRuns(store, {"a/sub", "b/sub"});
  expectPoints(store, "a/sub", {{5, 5}});
  appendPoint("a/sub/events.out.tfevents.1", 6, 6);
  appendPoint("b/sub/events.out.tfevents.1", 2, 2);
  expectPoints(store, "a/sub", {{5, 5}, {6, 6}});
  expectPoints(store, "b/sub", {{1, 1}, {2, 2}});
}

TEST_F(LogStoreTest, WaitsForADirectoryThatDoesNotExist) {
  const LogStore store(optionsOf({{"", path("later")}}));
  expectReport("cannot read " + path("later"));
  EXPECT_TRUE(runsOf(store).empty());
  writePoint("later/a/events.out.tfevents.1", 1, 1);
  expectPoints(store, "a", {{1, 1}});
  EXPECT_EQ(reports_.count("cannot read"), 1U);
}

TEST_F(LogStoreTest, ShowsADirectoryThatIsDeletedAndMadeAgain) {
  writePoint("logs/a/events.out.tfevents.1", 1, 1);
  const LogStore store(optionsOf({{"", path("logs")}}));
  expectRuns(store, {"a"});
  fs::remove_all(path("logs"));
  expectRuns(store, {});
  writePoint("logs/b/events.out.tfevents.1", 2, 2);
  expectPoints(store, "b", {{2, 2}});
}

TEST_F(LogStoreTest, FollowsASingleFile) {
  writePoint(kFirst, 1, 1);
  writePoint(kSecond, 9, 9);
  const LogStore store(optionsOf({{"", path(kFirst)}}));
  expectRuns(store, {"."});
  expectPoints(store, ".", {{1, 1}});
  appendPoint(kFirst, 2, 2);
  expectPoints(store, ".", {{1, 1}, {2, 2}});
}

TEST_F(LogStoreTest, NamesTheRunsOfSeveralDirectories) {
  writePoint("one/events.out.tfevents.1", 1, 1);
  writePoint("one/a/events.out.tfevents.1", 2, 2);
  writePoint("two/a/events.out.tfevents.1", 3, 3);
  const LogStore store(optionsOf({{"first", path("one")}, {"", path("two")}}));
  expectRuns(store, {"a", "first", "first/a"});
  expectPoints(store, "first", {{1, 1}});
  expectPoints(store, "first/a", {{2, 2}});
  expectPoints(store, "a", {{3, 3}});
  EXPECT_EQ(store.location(), "first:" + path("one") + "," + path("two"));
}

TEST_F(LogStoreTest, ShowsTheFirstOfTwoRunsOfOneName) {
  writePoint("one/a/events.out.tfevents.1", 1, 1);
  writePoint("two/a/events.out.tfevents.1", 2, 2);
  const LogStore store(optionsOf({{"", path("one")}, {"", path("two")}}));
  expectReport("two runs are named a: " + path("two/a") + " is left out");
  expectPoints(store, "a", {{1, 1}});
  fs::remove_all(path("one/a"));
  expectPoints(store, "a", {{2, 2}});
}

TEST_F(LogStoreTest, ReportsADirectoryThatCannotBeReadOnce) {
  if (::geteuid() == 0) {
    GTEST_SKIP() << "root reads every directory";
  }
  writePoint("a/events.out.tfevents.1", 1, 1);
  writePoint("b/events.out.tfevents.1", 1, 1);
  ASSERT_EQ(::chmod(path("b").c_str(), 0), 0);
  {
    const LogStore store(options());
    expectReport("cannot read " + path("b"));
    expectRuns(store, {"a"});
    writePoint("c/events.out.tfevents.1", 1, 1);
    expectRuns(store, {"a", "c"});
    EXPECT_EQ(reports_.count("cannot read"), 1U);
  }
  ASSERT_EQ(::chmod(path("b").c_str(), 0700), 0);
}

TEST_F(LogStoreTest, ReadsEverythingOnce) {
  writePoint("a/events.out.tfevents.1", 1, 1);
  LogStoreOptions once = options();
  once.once = true;
  const LogStore store(once);
  expectPoints(store, "a", {{1, 1}});
  appendPoint("a/events.out.tfevents.1", 2, 2);
  writePoint("b/events.out.tfevents.1", 1, 1);
  const LogStore other(options());
  expectRuns(other, {"a", "b"});
  expectPoints(other, "a", {{1, 1}, {2, 2}});
  EXPECT_EQ(runsOf(store), Names{"a"});
  EXPECT_EQ(pointsOf(store, "a", "x").size(), 1U);
}

TEST_F(LogStoreTest, ShowsEveryIntactRecordOfADamagedFile) {
  const std::string damaged = framed({simpleScalar("x", 2, 2)});
  std::string bytes = framed({version(), simpleScalar("x", 1, 1)});
  bytes += damaged.substr(0, damaged.size() - 1) + static_cast<char>(~damaged.back());
  bytes += framed({simpleScalar("x", 3, 3)}) + std::string(100, '\xFF');
  writeBytes("a/events.out.tfevents.1", bytes + framed({simpleScalar("x", 4, 4)}));
  const LogStore store(options());
  expectPoints(store, "a", {{1, 1}, {3, 3}, {4, 4}});
}

TEST_F(LogStoreTest, KeepsFewFilesOpen) {
  constexpr int kRuns = 200;
  for (int run = 0; run < kRuns; ++run) {
    writePoint("run" + std::to_string(run) + "/events.out.tfevents.1", 1, 1);
  }
  const std::size_t before = openDescriptors();
  std::size_t most = 0;
  const LogStore store(options());
  const auto all = [&] {
    most = std::max(most, openDescriptors());
    const std::shared_ptr<const LogStore::Runs> runs = store.runs();
    return runs->size() == kRuns && std::all_of(runs->begin(), runs->end(), [](const auto& run) {
             return scalarsOf(*run.second, "x").size() == 1;
           });
  };
  expectSoon("200 runs", all);
  EXPECT_LE(most, before + 20);
}

TEST_F(LogStoreTest, NamesRunsInUtf8) {
  writePoint("a\xFF/events.out.tfevents.1", 1, 1);
  const LogStore store(options());
  expectPoints(store, "a\xEF\xBF\xBD", {{1, 1}});
}

}  // namespace
}  // namespace steptape::detail::server
