// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <random>
#include <string>
#include <vector>

#include "steptape/log/event_file_reader.h"
#include "steptape/log/file_check.h"
#include "steptape/log/run_reader.h"

#include "events/framing/record_bytes.h"
#include "log/reader/log_dir_fixture.h"
#include "support/small_disk.h"

#include <gmock/gmock.h>

namespace steptape {
namespace {

namespace fs = std::filesystem;

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::StartsWith;
using ::testing::UnorderedElementsAre;

class FileRepair : public LogDirFixture {
 protected:
  std::vector<std::string> names() const {
    std::vector<std::string> names;
    for (const auto& entry : fs::directory_iterator(root_)) {
      names.push_back(entry.path().filename().string());
    }
    return names;
  }
  /// Repairs `bytes` and returns the result.
  std::string repaired(const std::string& bytes, RepairReport* report) const {
    RepairOptions options;
    options.overwrite = true;
    const Status status =
        repairEventFile(writeBytes("damaged", bytes), path("repaired"), options, report);
    EXPECT_TRUE(status.ok()) << status.message();
    return contentOf("repaired");
  }
  static std::string points(std::int64_t from, std::int64_t to) {
    std::vector<event::Event> events;
    for (std::int64_t step = from; step < to; ++step) {
      events.push_back(simpleScalar("loss", 1, step));
    }
    return framed(events);
  }
  static event::Event atWallTime(double wallTime, std::int64_t step) {
    event::Event event = simpleScalar("loss", 1, step);
    event.wallTime = wallTime;
    return event;
  }
  std::vector<double> wallTimesOf(const std::string& name) const {
    EventFileReader reader(path(name));
    std::vector<double> wallTimes;
    for (event::Event event; reader.next(&event) == ReadOutcome::kRecord;) {
      wallTimes.push_back(event.wallTime);
    }
    EXPECT_TRUE(reader.lastError().ok()) << reader.lastError().message();
    return wallTimes;
  }
};

TEST_F(FileRepair, CopiesAGoodFile) {
  const std::string bytes = points(0, 3);
  RepairReport report;
  EXPECT_EQ(repaired(bytes, &report), bytes);
  EXPECT_TRUE(report.isUnchanged());
  EXPECT_EQ(report.recordsKept, 3u);
  EXPECT_EQ(report.bytesKept, bytes.size());
  EXPECT_EQ(report.bytesLeftOut, 0u);
}

TEST_F(FileRepair, LeavesDamageOut) {
  const std::string before = points(0, 2);
  std::string damaged = points(2, 3);
  damaged.back() = static_cast<char>(~damaged.back());
  RepairReport report;
  EXPECT_EQ(repaired(before + damaged + points(3, 5), &report), before + points(3, 5));
  EXPECT_EQ(report.recordsKept, 4u);
  EXPECT_EQ(report.bytesLeftOut, damaged.size());
  ASSERT_EQ(report.steps.size(), 1u);
  EXPECT_EQ(report.steps[0].kind, RepairStep::Kind::kLeftOut);
  EXPECT_EQ(report.steps[0].offset, before.size());
  EXPECT_EQ(report.steps[0].bytes, damaged.size());
  EXPECT_THAT(
      report.steps[0].why,
      ::testing::MatchesRegex("data checksum mismatch: got 0x[0-9a-f]+; expected 0x[0-9a-f]+"));
}

TEST_F(FileRepair, LeavesATornTailOut) {
  const std::string bytes = points(0, 3);
  RepairReport report;
  EXPECT_EQ(repaired(bytes.substr(0, bytes.size() - 1), &report), points(0, 2));
  EXPECT_EQ(report.bytesKept + report.bytesLeftOut, bytes.size() - 1);
}

TEST_F(FileRepair, LeavesOutRecordsThatAreNotEvents) {
  const std::string record = recordOf("\x10");  // a step without its number
  const std::string illFormed = framed({simpleScalar("\xff", 1, 1)});
  RepairReport report;
  EXPECT_EQ(repaired(points(0, 1) + record + illFormed + points(1, 2), &report), points(0, 2));
  ASSERT_EQ(report.steps.size(), 2u);
  EXPECT_EQ(report.steps[0].why, "record: got 1 other bytes; expected a tensorflow.Event message");
  EXPECT_EQ(report.steps[1].why, "text that is not UTF-8");
  EXPECT_EQ(report.bytesLeftOut, record.size() + illFormed.size());
}

TEST_F(FileRepair, GivesAnEventTheTimeOfThePreviousOne) {
  const std::string before = framed({atWallTime(10, 0), atWallTime(11, 1)});
  const std::string bytes =
      before + framed({atWallTime(std::nan(""), 2), atWallTime(HUGE_VAL, 3), atWallTime(12, 4)});
  RepairReport report;
  const std::string result = repaired(bytes, &report);
  EXPECT_EQ(result.substr(0, before.size()), before);
  EXPECT_THAT(wallTimesOf("repaired"), ElementsAre(10, 11, 11, 11, 12));
  EXPECT_EQ(report.recordsKept, 5u);
  EXPECT_EQ(report.bytesLeftOut, 0u);
  ASSERT_EQ(report.steps.size(), 2u);
  EXPECT_EQ(report.steps[0].kind, RepairStep::Kind::kTimeSet);
  EXPECT_EQ(report.steps[0].offset, before.size());
  EXPECT_EQ(report.steps[0].why, "wall time nan set to 11.000000");
}

TEST_F(FileRepair, GivesTheFirstEventsTheTimeOfTheFirstThatHasOne) {
  RepairReport report;
  repaired(framed({atWallTime(std::nan(""), 0), atWallTime(std::nan(""), 1), atWallTime(12, 2)}),
           &report);
  EXPECT_THAT(wallTimesOf("repaired"), ElementsAre(12, 12, 12));
  repaired(framed({atWallTime(std::nan(""), 0)}), &report);
  EXPECT_THAT(wallTimesOf("repaired"), ElementsAre(0));
}

TEST_F(FileRepair, KeepsEveryIntactRecordOfAFlippedFile) {
  const std::string bytes = points(1, 51);
  const std::size_t recordBytes = points(1, 2).size();
  ASSERT_EQ(bytes.size(), 50 * recordBytes) << "all records are equally long";
  std::mt19937 random(1);
  for (int i = 0; i < 300; ++i) {
    const std::size_t at = random() % bytes.size();
    std::string flipped = bytes;
    flipped[at] = static_cast<char>(flipped[at] ^ (1 << (random() % 8)));
    std::string wanted = bytes;
    wanted.erase(at / recordBytes * recordBytes, recordBytes);
    RepairReport report;
    ASSERT_EQ(repaired(flipped, &report), wanted) << "flipped at " << at;
    ASSERT_EQ(report.bytesKept + report.bytesLeftOut, bytes.size());
  }
}

TEST_F(FileRepair, RefusesAFileWithoutAnIntactRecord) {
  const std::string input = writeBytes("picture.png", "\x89PNG\r\n\x1a\nand so on");
  for (const bool inPlace : {false, true}) {
    RepairReport report;
    const Status status = inPlace ? repairEventFileInPlace(input, {}, &report)
                                  : repairEventFile(input, path("repaired"), {}, &report);
    ASSERT_FALSE(status.ok());
    EXPECT_EQ(status.code(), ErrorCode::kDataLoss);
    EXPECT_THAT(status.message(),
                AllOf(StartsWith("cannot repair "),
                      EndsWith("picture.png: got no intact record; expected an event file")));
    EXPECT_EQ(report.bytesLeftOut, 17u);
  }
  EXPECT_THAT(names(), ElementsAre("picture.png"));
}

TEST_F(FileRepair, CountsStepsBeyondTheLimit) {
  RepairOptions options;
  options.maxSteps = 1;
  RepairReport report;
  const std::string input =
      writeBytes("damaged", "x" + points(0, 1) + "x" + points(1, 2) + "x" + points(2, 3));
  ASSERT_TRUE(repairEventFile(input, path("repaired"), options, &report).ok());
  EXPECT_EQ(report.steps.size(), 1u);
  EXPECT_EQ(report.moreSteps, 2u);
  EXPECT_EQ(contentOf("repaired"), points(0, 3));
}

TEST_F(FileRepair, RepairsMoreThanItWritesAtOnce) {
  const std::string big = framed({eventAt(1, event::GraphDef{std::string(3'000'000, 'g')})});
  RepairReport report;
  EXPECT_EQ(repaired(big + "damage" + points(0, 1000) + big, &report), big + points(0, 1000) + big);
}

TEST_F(FileRepair, RefusesAnExistingOutput) {
  const std::string input = writeBytes("damaged", points(0, 1));
  writeBytes("repaired", "precious");
  RepairReport report;
  const Status status = repairEventFile(input, path("repaired"), {}, &report);
  ASSERT_FALSE(status.ok());
  EXPECT_EQ(status.code(), ErrorCode::kFailedPrecondition);
  EXPECT_EQ(status.message(), "cannot write " + path("repaired") + ": the file exists");
  EXPECT_EQ(contentOf("repaired"), "precious");
  EXPECT_THAT(names(), UnorderedElementsAre("damaged", "repaired"));
}

TEST_F(FileRepair, RefusesTheInputAsOutput) {
  const std::string input = writeBytes("damaged", "x" + points(0, 1));
  fs::create_symlink("damaged", path("link"));
  RepairOptions options;
  options.overwrite = true;
  RepairReport report;
  for (const char* output : {"damaged", "./damaged", "link"}) {
    try {
      static_cast<void>(repairEventFile(input, path(output), options, &report));
      FAIL() << "overwrote its input as " << output;
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ErrorCode::kInvalidArgument);
      EXPECT_THAT(error.what(), HasSubstr(" as the output; expected another file"));
    }
  }
  EXPECT_EQ(contentOf("damaged"), "x" + points(0, 1));
}

TEST_F(FileRepair, NamesTheFileThatItCannotReadOrWrite) {
  RepairReport report;
  const Status absent = repairEventFile(path("absent"), path("repaired"), {}, &report);
  ASSERT_FALSE(absent.ok());
  EXPECT_EQ(absent.message(), "cannot read " + path("absent") + ": No such file or directory");
  const std::string input = writeBytes("damaged", points(0, 1));
  const Status nowhere = repairEventFile(input, path("no/where"), {}, &report);
  ASSERT_FALSE(nowhere.ok());
  EXPECT_EQ(nowhere.message(), "cannot write " + path("no/where") + ": No such file or directory");
  EXPECT_THAT(names(), ElementsAre("damaged"));
}

TEST_F(FileRepair, RemovesItsTemporaryFileOnAFullDisk) {
  const std::string input = writeBytes("damaged", points(0, 1000));
  RepairReport report;
  Status status;
  {
    const test::SmallDisk disk(1000);
    status = repairEventFile(input, path("repaired"), {}, &report);
  }
  ASSERT_FALSE(status.ok());
  EXPECT_EQ(status.code(), ErrorCode::kIoError);
  EXPECT_EQ(status.message(), "cannot write " + path("repaired") + ": File too large");
  EXPECT_THAT(names(), ElementsAre("damaged"));
}

TEST_F(FileRepair, KeepsPermissions) {
  const std::string input = writeBytes("damaged", "x" + points(0, 1));
  fs::permissions(input, fs::perms(0640));
  RepairReport report;
  ASSERT_TRUE(repairEventFile(input, path("repaired"), {}, &report).ok());
  EXPECT_EQ(fs::status(path("repaired")).permissions(), fs::perms(0640));
}

TEST_F(FileRepair, InPlaceKeepsTheOriginalUnderANameThatNoReaderTakes) {
  const std::string name = "events.out.tfevents.1.host";
  const std::string input = writeBytes(name, points(0, 1) + "damage" + points(1, 2));
  RepairReport report;
  ASSERT_TRUE(repairEventFileInPlace(input, {}, &report).ok());
  EXPECT_EQ(contentOf(name), points(0, 2));
  EXPECT_EQ(report.original,
            fs::canonical(root_).string() + "/events.out.tf-events.1.host.damaged");
  EXPECT_EQ(contentOf("events.out.tf-events.1.host.damaged"),
            points(0, 1) + "damage" + points(1, 2));
  EXPECT_THAT(listEventFiles(root_), ElementsAre(input));
}

TEST_F(FileRepair, InPlaceKeepsEveryOriginal) {
  const std::string input = writeBytes("tfevents", "x" + points(0, 1));
  RepairReport report;
  ASSERT_TRUE(repairEventFileInPlace(input, {}, &report).ok());
  writeBytes("tfevents", "y" + points(0, 1));
  ASSERT_TRUE(repairEventFileInPlace(input, {}, &report).ok());
  EXPECT_THAT(names(),
              UnorderedElementsAre("tfevents", "tf-events.damaged", "tf-events.damaged-1"));
  EXPECT_EQ(contentOf("tf-events.damaged"), "x" + points(0, 1));
  EXPECT_EQ(contentOf("tf-events.damaged-1"), "y" + points(0, 1));
}

TEST_F(FileRepair, InPlaceLeavesAGoodFileAlone) {
  const std::string input = writeBytes("tfevents", points(0, 2));
  const auto before = fs::last_write_time(input);
  RepairReport report;
  ASSERT_TRUE(repairEventFileInPlace(input, {}, &report).ok());
  EXPECT_TRUE(report.isUnchanged());
  EXPECT_THAT(report.original, IsEmpty());
  EXPECT_EQ(fs::last_write_time(input), before);
  EXPECT_THAT(names(), ElementsAre("tfevents"));
}

TEST_F(FileRepair, InPlaceRepairsWhatALinkLeadsTo) {
  writeBytes("data/tfevents", "x" + points(0, 1));
  fs::create_directory(path("run"));
  fs::create_symlink("../data/tfevents", path("run/tfevents"));
  RepairReport report;
  ASSERT_TRUE(repairEventFileInPlace(path("run/tfevents"), {}, &report).ok());
  EXPECT_TRUE(fs::is_symlink(path("run/tfevents")));
  EXPECT_EQ(contentOf("data/tfevents"), points(0, 1));
  EXPECT_EQ(contentOf("data/tf-events.damaged"), "x" + points(0, 1));
}

TEST_F(FileRepair, InPlaceRefusesAFileThatGrows) {
  const std::string bytes = "x" + points(0, 100'000);
  const std::string input = writeBytes("tfevents", bytes);
  RepairOptions options;
  bool hasGrown = false;
  options.onProgress = [&](std::uint64_t) {
    if (!std::exchange(hasGrown, true)) {
      std::ofstream(input, std::ios::binary | std::ios::app) << "still writing";
    }
  };
  RepairReport report;
  const Status status = repairEventFileInPlace(input, options, &report);
  ASSERT_TRUE(hasGrown);
  ASSERT_FALSE(status.ok());
  EXPECT_EQ(status.code(), ErrorCode::kFailedPrecondition);
  EXPECT_EQ(status.message(),
            "cannot repair " + input +
                " in place: the file grew during the repair; end its writer first");
  EXPECT_EQ(contentOf("tfevents"), bytes + "still writing");
  EXPECT_THAT(names(), ElementsAre("tfevents"));
}

}  // namespace
}  // namespace steptape
