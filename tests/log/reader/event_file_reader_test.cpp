// SPDX-License-Identifier: Apache-2.0
#include "steptape/log/event_file_reader.h"

#include <memory>
#include <string>

#include "events/framing/record_bytes.h"
#include "log/reader/log_dir_fixture.h"

#include <gmock/gmock.h>

namespace steptape {
namespace {

using ::testing::HasSubstr;

const std::string kNoEvent = recordOf("\x10");  // a step without its number

class EventFileReaderTest : public LogDirFixture {
 protected:
  static std::unique_ptr<EventFileReader> readerOf(std::string bytes) {
    return std::make_unique<EventFileReader>(
        std::make_unique<MemoryByteSource>(std::move(bytes), "run/events"));
  }
};

TEST_F(EventFileReaderTest, ReadsEventsInOrder) {
  const std::string file =
      writeEvents("events", {simpleScalar("loss", 1, 5), simpleScalar("loss", 2, 6)});
  EventFileReader reader(file);
  event::Event event;
  ASSERT_EQ(reader.next(&event), ReadOutcome::kRecord);
  EXPECT_EQ(event.step, 5);
  ASSERT_EQ(reader.next(&event), ReadOutcome::kRecord);
  EXPECT_EQ(event.step, 6);
  EXPECT_EQ(reader.next(&event), ReadOutcome::kTruncated);
  EXPECT_TRUE(reader.lastError().ok());
}

TEST_F(EventFileReaderTest, FollowsAFileThatGrows) {
  const std::string bytes = framed({simpleScalar("loss", 1, 5)});
  const std::string file = writeBytes("events", bytes.substr(0, 20));
  EventFileReader reader(file);
  event::Event event;
  EXPECT_EQ(reader.next(&event), ReadOutcome::kTruncated);
  EXPECT_THAT(reader.lastError().message(), HasSubstr("record cut short"));
  writeBytes("events", bytes);
  ASSERT_EQ(reader.next(&event), ReadOutcome::kRecord);
  EXPECT_EQ(event.step, 5);
}

TEST_F(EventFileReaderTest, StopsAtARecordThatIsNotAnEvent) {
  const std::string good = framed({simpleScalar("loss", 1, 5)});
  auto reader = readerOf(good + kNoEvent + good);
  event::Event event;
  ASSERT_EQ(reader->next(&event), ReadOutcome::kRecord);
  EXPECT_EQ(reader->next(&event), ReadOutcome::kCorrupt);
  EXPECT_EQ(reader->lastError().message(),
            "record: got 1 other bytes; expected a tensorflow.Event message at offset " +
                std::to_string(good.size()) + " of run/events");
  EXPECT_EQ(reader->offset(), good.size());
  EXPECT_EQ(reader->next(&event), ReadOutcome::kCorrupt);
}

TEST_F(EventFileReaderTest, StopsAtADamagedRecord) {
  std::string bytes = framed({simpleScalar("loss", 1, 5)});
  bytes.back() = static_cast<char>(~bytes.back());
  auto reader = readerOf(bytes);
  event::Event event;
  EXPECT_EQ(reader->next(&event), ReadOutcome::kCorrupt);
  EXPECT_THAT(reader->lastError().message(), HasSubstr("data checksum mismatch"));
  EXPECT_EQ(reader->offset(), 0u);
}

TEST_F(EventFileReaderTest, ContinuesAfterSkippedDamage) {
  std::string damaged = framed({simpleScalar("loss", 2, 6)});
  damaged.back() = static_cast<char>(~damaged.back());
  const std::string good = framed({simpleScalar("loss", 1, 5)});
  auto reader = readerOf(damaged + good + kNoEvent + good);
  event::Event event;
  for (int i = 0; i < 2; ++i) {
    ASSERT_EQ(reader->next(&event), ReadOutcome::kCorrupt);
    ASSERT_EQ(reader->skipDamage(), ReadOutcome::kRecord);
    ASSERT_EQ(reader->next(&event), ReadOutcome::kRecord);
    EXPECT_EQ(event.step, 5);
  }
  EXPECT_EQ(reader->next(&event), ReadOutcome::kTruncated);
}

TEST_F(EventFileReaderTest, ContinuesTheSearchWhenTheFileGrew) {
  const std::string damage = "not a record at all";
  const std::string file = writeBytes("events", damage);
  EventFileReader reader(file);
  event::Event event;
  ASSERT_EQ(reader.next(&event), ReadOutcome::kCorrupt);
  ASSERT_EQ(reader.skipDamage(), ReadOutcome::kTruncated);
  writeBytes("events", damage + framed({simpleScalar("loss", 1, 5)}));
  ASSERT_EQ(reader.skipDamage(), ReadOutcome::kRecord);
  ASSERT_EQ(reader.next(&event), ReadOutcome::kRecord);
  EXPECT_EQ(event.step, 5);
}

TEST_F(EventFileReaderTest, NamesAMissingFile) {
  try {
    EventFileReader reader(path("absent"));
    FAIL() << "opened a file that is not there";
  } catch (const Error& error) {
    EXPECT_EQ(error.what(), "cannot open " + path("absent") + ": No such file or directory");
  }
}

}  // namespace
}  // namespace steptape
