// SPDX-License-Identifier: Apache-2.0
//
// RunReader on runs that change: growing, new, removed and replaced files.
#include <filesystem>
#include <fstream>
#include <limits>
#include <string>
#include <sys/resource.h>

#include "log/reader/run_fixture.h"

namespace steptape {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Pair;
using ::testing::SizeIs;

class FollowTest : public RunFixture {};

/// Returns the bytes that this process has read from files and pipes.
std::uint64_t bytesReadSoFar() {
  std::ifstream io("/proc/self/io");
  std::string name;
  std::uint64_t bytes = 0;
  io >> name >> bytes;
  EXPECT_EQ(name, "rchar:");
  return bytes;
}

TEST_F(FollowTest, ReadsWhatWasAppended) {
  writeEvents(kFirst, {simpleScalar("loss", 1, 1)});
  RunReader run = read();
  const std::string more = framed({simpleScalar("loss", 2, 2)});
  append(kFirst, more);
  EXPECT_EQ(run.update(), more.size());
  EXPECT_THAT(points(run, "loss"), ElementsAre(Pair(1, 1), Pair(2, 2)));
}

TEST_F(FollowTest, ReadsNothingTwiceHoweverLongTheFile) {
  std::vector<event::Event> events;
  for (int step = 0; step < 20'000; ++step) {
    events.push_back(simpleScalar("loss", 1, step));
  }
  const std::string file = writeEvents(kFirst, events);
  RunReader run = read();
  ASSERT_GT(std::filesystem::file_size(file), 800'000u);

  const std::string more = framed({simpleScalar("loss", 2, 20'000)});
  append(kFirst, more);
  const std::uint64_t itself = bytesReadSoFar();
  const std::uint64_t before = bytesReadSoFar();
  EXPECT_EQ(run.update(), more.size());
  const std::uint64_t counting = before - itself;
  const std::uint64_t compared = 2 * 128;  // whether it is the same file
  EXPECT_LE(bytesReadSoFar() - before, more.size() + compared + 2 * counting);
}

TEST_F(FollowTest, ReadsNoByteOfAFileThatDidNotGrow) {
  writeEvents(kFirst, {simpleScalar("loss", 1, 1)});
  RunReader run = read();
  const std::uint64_t itself = bytesReadSoFar();
  const std::uint64_t before = bytesReadSoFar();
  EXPECT_EQ(run.update(), 0u);
  EXPECT_LE(bytesReadSoFar() - before, 2 * (before - itself));
}

TEST_F(FollowTest, WaitsForTheRestOfARecordAndContinues) {
  const std::string bytes = framed({simpleScalar("loss", 1, 1)});
  const std::string next = framed({simpleScalar("loss", 2, 2)});
  writeBytes(kFirst, bytes + next.substr(0, 20));
  RunReader run = readerOf();
  EXPECT_EQ(run.update(), bytes.size());
  EXPECT_THAT(points(run, "loss"), ElementsAre(Pair(1, 1)));
  EXPECT_THAT(run.damage(), ElementsAre(IsDamage(bytes.size(), 20, "record cut short")));
  EXPECT_EQ(run.damage()[0].outcome, ReadOutcome::kTruncated);

  append(kFirst, next.substr(20));
  EXPECT_EQ(run.update(), next.size());
  EXPECT_THAT(points(run, "loss"), ElementsAre(Pair(1, 1), Pair(2, 2)));
  EXPECT_THAT(run.damage(), IsEmpty());
}

TEST_F(FollowTest, ReadsAFileThatIsWrittenByteByByte) {
  const std::string bytes =
      framed({simpleScalar("loss", 1, 1), textAt(1, "note", "text"), simpleScalar("loss", 2, 2)});
  writeBytes(kFirst, "");
  RunReader run = readerOf();
  std::uint64_t read = 0;
  for (const char byte : bytes) {
    append(kFirst, {&byte, 1});
    read += run.update();
  }
  EXPECT_EQ(read, bytes.size());
  EXPECT_THAT(points(run, "loss"), ElementsAre(Pair(1, 1), Pair(2, 2)));
  EXPECT_THAT(steps(run, "note"), ElementsAre(1));
  EXPECT_THAT(run.damage(), IsEmpty());
}

TEST_F(FollowTest, FindsFilesThatAreNew) {
  writeEvents(kFirst, {simpleScalar("loss", 1, 1)});
  RunReader run = read();
  const std::string file = writeEvents(kSecond, {simpleScalar("loss", 2, 2)});
  EXPECT_GT(run.update(), 0u);
  EXPECT_EQ(run.files().back(), file);
  EXPECT_THAT(points(run, "loss"), ElementsAre(Pair(1, 1), Pair(2, 2)));
}

TEST_F(FollowTest, IgnoresNewFilesIfTheRunIsOneFile) {
  const std::string file = writeEvents(kFirst, {simpleScalar("loss", 1, 1)});
  RunReader run({".", root_, {file}, false});
  run.update();
  writeEvents(kSecond, {simpleScalar("loss", 2, 2)});
  EXPECT_EQ(run.update(), 0u);
  EXPECT_THAT(points(run, "loss"), ElementsAre(Pair(1, 1)));
}

TEST_F(FollowTest, ReadsMoreFilesThanAProcessMayOpen) {
  rlimit limit{};
  ASSERT_EQ(::getrlimit(RLIMIT_NOFILE, &limit), 0);
  rlimit low = limit;
  low.rlim_cur = 64;
  ASSERT_EQ(::setrlimit(RLIMIT_NOFILE, &low), 0);
  constexpr int kFiles = 3000;
  for (int i = 0; i < kFiles; ++i) {
    writeEvents("events.out.tfevents." + std::to_string(10'000 + i), {simpleScalar("loss", 1, i)});
  }
  RunReader run = readerOf();
  run.update();
  EXPECT_EQ(run.update(), 0u);
  ASSERT_EQ(::setrlimit(RLIMIT_NOFILE, &limit), 0);
  EXPECT_THAT(points(run, "loss"), SizeIs(kFiles));
  EXPECT_THAT(run.damage(), IsEmpty());
}

TEST_F(FollowTest, KeepsThePointsOfAFileThatWasRemoved) {
  const std::string file =
      writeEvents(kFirst, {simpleScalar("loss", 1, 1), textAt(1, "note", "x")});
  writeEvents(kSecond, {simpleScalar("loss", 2, 2)});
  RunReader run = read();
  std::filesystem::remove(file);
  EXPECT_EQ(run.update(), 0u);
  EXPECT_THAT(points(run, "loss"), ElementsAre(Pair(1, 1), Pair(2, 2)));
  ASSERT_THAT(run.damage(), SizeIs(1));
  EXPECT_EQ(run.damage()[0].outcome, ReadOutcome::kIoError);
  EXPECT_EQ(run.damage()[0].status.message(),
            "cannot open " + file + ": No such file or directory");

  event::Value value;
  const Status status = run.value(run.tags().at("note").values.at(0), &value);
  EXPECT_EQ(status.code(), ErrorCode::kIoError);
  EXPECT_EQ(status.message(), "cannot open " + file + ": No such file or directory");
}

TEST_F(FollowTest, ReadsAFileAgainThatWasTruncated) {
  const std::string file = writeEvents(kFirst, {simpleScalar("loss", 1, 1)});
  RunReader run = read();
  EXPECT_THAT(run.replacedFiles(), IsEmpty());
  const std::string other = framed({simpleScalar("loss", 2, 5), simpleScalar("loss", 2, 6)});
  writeBytes(kFirst, other.substr(0, 5));
  run.update();
  EXPECT_THAT(run.replacedFiles(), ElementsAre(file));
  EXPECT_THAT(points(run, "loss"), IsEmpty());
  writeBytes(kFirst, other);
  run.update();
  EXPECT_THAT(run.replacedFiles(), IsEmpty());
  EXPECT_THAT(points(run, "loss"), ElementsAre(Pair(5, 2), Pair(6, 2)));
  EXPECT_THAT(run.damage(), IsEmpty());
}

TEST_F(FollowTest, ReadsAFileAgainThatWasReplacedWhateverItsSize) {
  const std::vector<event::Event> old = {version(), simpleScalar("loss", 1, 1),
                                         simpleScalar("loss", 1, 2)};
  for (const int count : {1, 2, 3}) {
    for (const bool isSameFile : {true, false}) {
      writeEvents(kFirst, old);
      RunReader run = read();
      std::vector<event::Event> events = {version()};
      for (int i = 0; i < count; ++i) {
        events.push_back(simpleScalar("loss", 7, 10 + i));
      }
      if (isSameFile && count == 2) {
        continue;  // the same inode and size, and at this speed often the same time
      }
      if (isSameFile) {
        writeEvents(kFirst, events);
      } else {
        std::filesystem::rename(writeEvents("new", events), path(kFirst));
      }
      run.update();
      EXPECT_THAT(run.replacedFiles(), ElementsAre(path(kFirst))) << count;
      ASSERT_THAT(points(run, "loss"), SizeIs(count));
      EXPECT_THAT(points(run, "loss")[0], Pair(10, 7));
      EXPECT_EQ(run.tags().at("loss").firstNewScalar, 0U);
    }
  }
}

TEST_F(FollowTest, ContinuesInAnotherFileOfTheSameContentAndMore) {
  const std::string bytes = framed({version(), simpleScalar("loss", 1, 1)});
  const std::string more = framed({simpleScalar("loss", 2, 2)});
  writeBytes(kFirst, bytes);
  RunReader run = read();
  std::filesystem::rename(writeBytes("copy", bytes + more), path(kFirst));
  EXPECT_EQ(run.update(), more.size());
  EXPECT_THAT(run.replacedFiles(), IsEmpty());
  EXPECT_EQ(run.tags().at("loss").firstNewScalar, 1U);
}

TEST_F(FollowTest, ReadsFilesAgainWhoseDirectoryWasMadeAnew) {
  writeEvents("run/events.out.tfevents.1",
              {simpleScalar("loss", 1, 1), simpleScalar("loss", 1, 2)});
  RunReader run({"run", path("run"), {}, true});
  run.update();
  std::filesystem::remove_all(path("run"));
  run.update();
  EXPECT_THAT(points(run, "loss"), SizeIs(2));
  writeEvents("run/events.out.tfevents.1",
              {simpleScalar("loss", 3, 0), simpleScalar("loss", 3, 1), simpleScalar("loss", 3, 2)});
  run.update();
  EXPECT_THAT(run.replacedFiles(), ElementsAre(path("run/events.out.tfevents.1")));
  EXPECT_THAT(points(run, "loss"), ElementsAre(Pair(0, 3), Pair(1, 3), Pair(2, 3)));
  EXPECT_THAT(run.damage(), IsEmpty());
}

TEST_F(FollowTest, GivesNoPointTwiceOfTheFilesBeforeAReplacedOne) {
  writeEvents(kFirst, {version(), simpleScalar("loss", 1, 1), simpleScalar("loss", 1, 2)});
  writeEvents(kSecond, {version(), start(2), simpleScalar("loss", 2, 2)});
  RunReader run = read();
  EXPECT_THAT(points(run, "loss"), ElementsAre(Pair(1, 1), Pair(2, 2)));
  append(kFirst, framed({simpleScalar("lr", 1, 1)}));
  writeEvents(kSecond, {version(), simpleScalar("loss", 3, 3), simpleScalar("loss", 3, 4)});
  run.update();
  EXPECT_THAT(run.replacedFiles(), ElementsAre(path(kSecond)));
  EXPECT_THAT(points(run, "loss"), ElementsAre(Pair(1, 1), Pair(2, 1), Pair(3, 3), Pair(4, 3)));
  EXPECT_EQ(run.tags().at("loss").firstNewScalar, 2U);
  EXPECT_EQ(run.tags().at("lr").firstNewScalar, 0U);
}

TEST_F(FollowTest, ContinuesWhenAnUnreadableFileReappears) {
  const std::string file = path(kFirst);
  RunReader run({".", root_, {file}, false});
  run.update();
  ASSERT_THAT(run.damage(), SizeIs(1));
  EXPECT_EQ(run.damage()[0].outcome, ReadOutcome::kIoError);
  writeEvents(kFirst, {simpleScalar("loss", 1, 1)});
  run.update();
  EXPECT_THAT(run.damage(), IsEmpty());
  EXPECT_THAT(points(run, "loss"), ElementsAre(Pair(1, 1)));
}

TEST_F(FollowTest, ReportsAValueThatHasMoved) {
  const std::string text = framed({textAt(1, "note", "one")});
  const std::string file = writeBytes(kFirst, text);
  const RunReader run = read();
  event::Value value;
  const auto message = [&] {
    return run.value(run.tags().at("note").values.at(0), &value).message();
  };
  writeBytes(kFirst, std::string(text.size(), 'x'));
  EXPECT_THAT(message(), HasSubstr("length checksum mismatch"));
  const std::string changed = "the file has changed: got no value 0 at offset 0 of " + file +
                              "; expected the value that was read there";
  writeBytes(kFirst, "");
  EXPECT_EQ(message(), changed);
  writeBytes(kFirst, text.substr(0, text.size() - 1));
  EXPECT_EQ(message(), changed);
  writeBytes(kFirst, framed({textAt(2, "note", "two")}));
  EXPECT_EQ(message(), changed);
  // A different time, a shorter and a longer record, and no record with that value.
  event::Event later = textAt(1, "note", "one");
  later.wallTime += 1;
  for (const event::Event& other : {later, textAt(1, "note", "on"), textAt(1, "note", "ones"),
                                    eventAt(1, event::GraphDef{"graph"})}) {
    writeBytes(kFirst, framed({other}));
    EXPECT_EQ(message(), changed);
  }
  writeBytes(kFirst, text);
  EXPECT_EQ(message(), "");
}

TEST_F(FollowTest, DetectsAReplacedFileOfEqualSizeAndTime) {
  event::Event event = textAt(1, "note", "one");
  std::get<event::Summary>(event.what)
      .values.push_back(std::get<event::Summary>(textAt(1, "other", "two").what).values.at(0));
  writeEvents(kFirst, {event});
  const RunReader run = read();
  const std::size_t size = framed({event}).size();
  // One value instead of two, with the same total length.
  std::string text = "one";
  while (framed({textAt(1, "note", text)}).size() < size) {
    text += 'x';
  }
  ASSERT_EQ(framed({textAt(1, "note", text)}).size(), size);
  writeEvents("another", {textAt(1, "note", text)});
  std::filesystem::rename(path("another"), path(kFirst));
  event::Value value;
  const Status status = run.value(run.tags().at("other").values.at(0), &value);
  EXPECT_EQ(status.code(), ErrorCode::kDataLoss);
  EXPECT_EQ(status.message(), "the file has changed: got no value 1 at offset 0 of " +
                                  path(kFirst) + "; expected the value that was read there");
}

TEST_F(FollowTest, ReadsBackAValueWithANonFiniteTime) {
  event::Event event = textAt(1, "note", "one");
  event.wallTime = std::numeric_limits<double>::quiet_NaN();
  writeEvents(kFirst, {event});
  const RunReader run = read();
  event::Value value;
  EXPECT_EQ(run.value(run.tags().at("note").values.at(0), &value).message(), "");
}

TEST_F(FollowTest, ReadsNoMoreOfAFileThanTheRecordOfTheValue) {
  const event::Event event = textAt(1, "note", "one");
  append(kFirst, framed({textAt(0, "note", std::string(100'000, 'x')), event}));
  append(kFirst, framed({textAt(2, "note", std::string(100'000, 'x'))}));
  const RunReader run = read();
  event::Value value;
  const std::uint64_t itself = bytesReadSoFar();
  const std::uint64_t before = bytesReadSoFar();
  ASSERT_TRUE(run.value(run.tags().at("note").values.at(1), &value).ok());
  const std::uint64_t counting = before - itself;
  EXPECT_LE(bytesReadSoFar() - before, framed({event}).size() + 2 * counting);
}

TEST_F(FollowTest, ContinuesTheSearchWhenTheFileGrew) {
  const std::string good = framed({simpleScalar("loss", 1, 1)});
  const std::string more = framed({simpleScalar("loss", 2, 2)});
  writeBytes(kFirst, good + std::string(1000, 'x'));
  RunReader run = read();
  EXPECT_THAT(run.damage(), ElementsAre(IsDamage(good.size(), 1000, "length checksum mismatch")));

  append(kFirst, "more damage" + more.substr(0, 30));
  run.update();
  EXPECT_THAT(run.damage(), ElementsAre(IsDamage(good.size(), 1041, "length checksum mismatch")));

  append(kFirst, more.substr(30));
  run.update();
  EXPECT_THAT(run.damage(), ElementsAre(IsDamage(good.size(), 1011, "length checksum mismatch")));
  EXPECT_THAT(points(run, "loss"), ElementsAre(Pair(1, 1), Pair(2, 2)));
}

}  // namespace
}  // namespace steptape
