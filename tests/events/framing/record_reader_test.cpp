// SPDX-License-Identifier: Apache-2.0
#include "steptape/events/record_reader.h"

#include <algorithm>
#include <cstring>
#include <string>
#include <vector>

#include "events/framing/golden_records.h"
#include "events/framing/record_bytes.h"
#include "events/framing/record_format.h"

#include <gmock/gmock.h>

namespace steptape {
namespace {

using ::testing::HasSubstr;

/// Returns at most a few bytes per read, and fails on request.
class AwkwardByteSource final : public ByteSource {
 public:
  AwkwardByteSource(std::string bytes, std::size_t pieceBytes)
      : bytes_(std::move(bytes)), pieceBytes_(pieceBytes) {}

  Status read(std::uint64_t offset, char* data, std::size_t size, std::size_t* got) const override {
    *got = 0;
    if (fails) {
      return Status(ErrorCode::kIoError, "the disk is gone");
    }
    return bytes_.read(offset, data, std::min(size, pieceBytes_), got);
  }
  const std::string& name() const override { return bytes_.name(); }

  bool fails = false;

 private:
  MemoryByteSource bytes_;
  std::size_t pieceBytes_;
};

class RecordReaderTest : public ::testing::Test {
 protected:
  void write(std::string_view payload) { writeRaw(recordOf(payload)); }
  void writeRaw(std::string_view bytes) { source_.append(bytes); }

  /// Returns the next payload, or "<truncated>", "<corrupt>", "<I/O error>".
  std::string read() { return readFrom(reader_); }
  std::string message() const { return reader_.lastError().message(); }

  static std::string readFrom(RecordReader& reader) {
    std::string_view payload;
    switch (reader.next(&payload)) {
      case ReadOutcome::kRecord:
        return std::string(payload);
      case ReadOutcome::kTruncated:
        return "<truncated>";
      case ReadOutcome::kCorrupt:
        return "<corrupt>";
      case ReadOutcome::kIoError:
        return "<I/O error>";
    }
    return "<no outcome>";
  }

  MemoryByteSource source_{"", "run/events"};
  RecordReader reader_{&source_};
};

TEST_F(RecordReaderTest, FindsNothingInAnEmptyFile) {
  EXPECT_EQ(read(), "<truncated>");
  EXPECT_TRUE(reader_.lastError().ok());
  EXPECT_EQ(reader_.offset(), 0u);
}

TEST_F(RecordReaderTest, ReadsWhatTensorFlowWrote) {
  writeRaw(goldenVersionRecord());
  EXPECT_EQ(read(), goldenVersionPayload());
  EXPECT_EQ(read(), "<truncated>");
}

TEST_F(RecordReaderTest, ReadsRecordsInOrder) {
  write("one");
  write("");
  write("three");
  EXPECT_EQ(read(), "one");
  EXPECT_EQ(read(), "");
  EXPECT_EQ(read(), "three");
  EXPECT_EQ(read(), "<truncated>");
}

TEST_F(RecordReaderTest, CountsTheBytesOfWholeRecords) {
  write("one");
  write("three");
  read();
  EXPECT_EQ(reader_.offset(), detail::events::kFramingBytes + 3);
  read();
  EXPECT_EQ(reader_.offset(), 2 * detail::events::kFramingBytes + 8);
}

TEST_F(RecordReaderTest, ReadsRecordsLongerThanItsBuffer) {
  const std::string big(1'000'000, 'b');
  write("small");
  write(big);
  write("after");
  EXPECT_EQ(read(), "small");
  EXPECT_EQ(read(), big);
  EXPECT_EQ(read(), "after");
}

TEST_F(RecordReaderTest, ReadsManyRecordsAcrossItsBuffer) {
  for (int i = 0; i < 10'000; ++i) {
    write(std::to_string(i));
  }
  for (int i = 0; i < 10'000; ++i) {
    ASSERT_EQ(read(), std::to_string(i));
  }
  EXPECT_EQ(read(), "<truncated>");
}

TEST_F(RecordReaderTest, ContinuesAfterTheFileGrew) {
  write("one");
  EXPECT_EQ(read(), "one");
  EXPECT_EQ(read(), "<truncated>");
  write("two");
  EXPECT_EQ(read(), "two");
}

TEST_F(RecordReaderTest, WaitsForTheRestOfARecordCutAtAnyByte) {
  const std::string bytes = recordOf("first") + recordOf("second");
  for (std::size_t cut = 0; cut < bytes.size(); ++cut) {
    MemoryByteSource source(bytes.substr(0, cut));
    RecordReader reader(&source);
    std::vector<std::string> payloads;
    const auto readAll = [&] {
      for (std::string got = readFrom(reader); got != "<truncated>"; got = readFrom(reader)) {
        payloads.push_back(got);
      }
    };
    readAll();
    EXPECT_EQ(payloads.size(), cut < recordOf("first").size() ? 0u : 1u) << "cut at " << cut;
    const bool isBetweenRecords = cut == 0 || cut == recordOf("first").size();
    EXPECT_EQ(reader.lastError().ok(), isBetweenRecords) << "cut at " << cut;

    source.append(std::string_view(bytes).substr(cut));
    readAll();
    ASSERT_EQ(payloads, (std::vector<std::string>{"first", "second"})) << "cut at " << cut;
  }
}

TEST_F(RecordReaderTest, ReportsTheBytesThatATruncatedRecordLacks) {
  write("one");
  writeRaw(recordOf("second").substr(0, detail::events::kHeaderBytes + 2));
  read();
  EXPECT_EQ(read(), "<truncated>");
  EXPECT_EQ(reader_.lastError().code(), ErrorCode::kDataLoss);
  EXPECT_EQ(message(), "record cut short: got 14 bytes; expected 22 at offset 19 of run/events");
}

TEST_F(RecordReaderTest, DetectsEveryFlippedBit) {
  const std::string bytes = goldenVersionRecord();
  for (std::size_t bit = 0; bit < 8 * bytes.size(); ++bit) {
    std::string damaged = bytes;
    damaged[bit / 8] = static_cast<char>(damaged[bit / 8] ^ (1 << (bit % 8)));
    const MemoryByteSource source(damaged);
    RecordReader reader(&source);
    ASSERT_EQ(readFrom(reader), "<corrupt>") << "bit " << bit;
  }
}

TEST_F(RecordReaderTest, ReportsWhereALengthIsDamaged) {
  writeRaw(goldenVersionRecord());
  std::string damaged = goldenVersionRecord();
  damaged[8] = '\0';
  writeRaw(damaged);
  read();
  EXPECT_EQ(read(), "<corrupt>");
  EXPECT_EQ(reader_.lastError().code(), ErrorCode::kDataLoss);
  EXPECT_EQ(
      message(),
      "length checksum mismatch: got 0x224b7f00; expected 0x224b7fa3 at offset 40 of run/events");
}

TEST_F(RecordReaderTest, ChecksALengthThatItHasSeenBefore) {
  write("first");
  write("other");
  std::string damaged = recordOf("third");
  damaged[8] = static_cast<char>(damaged[8] ^ 1);
  writeRaw(damaged);
  EXPECT_EQ(read(), "first");
  EXPECT_EQ(read(), "other");
  EXPECT_EQ(read(), "<corrupt>");
  EXPECT_THAT(message(), HasSubstr("length checksum mismatch"));
}

TEST_F(RecordReaderTest, RejectsALengthWithTheChecksumOfAnother) {
  write("first");
  std::string damaged = recordOf("seventh");
  const std::string seen = recordOf("first");
  damaged.replace(8, 4, seen, 8, 4);
  writeRaw(damaged);
  EXPECT_EQ(read(), "first");
  EXPECT_EQ(read(), "<corrupt>");
}

TEST_F(RecordReaderTest, ReportsWhereDataIsDamaged) {
  std::string damaged = goldenVersionRecord();
  damaged.back() = '\0';
  writeRaw(damaged);
  EXPECT_EQ(read(), "<corrupt>");
  EXPECT_EQ(
      message(),
      "data checksum mismatch: got 0x00364b12; expected 0xab364b12 at offset 0 of run/events");
}

TEST_F(RecordReaderTest, DoesNotTakeABlockOfZerosForRecords) {
  writeRaw(std::string(4096, '\0'));
  EXPECT_EQ(read(), "<corrupt>");
  EXPECT_THAT(message(), HasSubstr("length checksum mismatch: got 0x00000000"));
}

TEST_F(RecordReaderTest, StaysCorruptWhateverFollows) {
  writeRaw(std::string(detail::events::kHeaderBytes, 'x'));
  EXPECT_EQ(read(), "<corrupt>");
  const std::string first = message();
  write("a good record");
  EXPECT_EQ(read(), "<corrupt>");
  EXPECT_EQ(message(), first);
}

TEST_F(RecordReaderTest, RefusesALengthThatNoMessageHas) {
  writeRaw(headerOf(detail::events::kMaxPayloadBytes + 1));
  EXPECT_EQ(read(), "<corrupt>");
  EXPECT_EQ(message(),
            "record too long: got 2147483648 bytes; expected at most 2147483647 at offset 0 of "
            "run/events");
}

/// Records the longest read, for which the reader's buffer had room.
class MeasuringByteSource final : public ByteSource {
 public:
  explicit MeasuringByteSource(std::string bytes) : bytes_(std::move(bytes)) {}
  Status read(std::uint64_t offset, char* data, std::size_t size, std::size_t* got) const override {
    longestRead = std::max(longestRead, size);
    return bytes_.read(offset, data, size, got);
  }
  const std::string& name() const override { return bytes_.name(); }

  mutable std::size_t longestRead = 0;

 private:
  MemoryByteSource bytes_;
};

TEST_F(RecordReaderTest, AllocatesForTheBytesThatCameNotForTheLengthThatWasSaid) {
  const MeasuringByteSource source(headerOf(detail::events::kMaxPayloadBytes) +
                                   std::string(1000, 'x'));
  RecordReader reader(&source);
  EXPECT_EQ(readFrom(reader), "<truncated>");
  EXPECT_LE(source.longestRead, 1024u * 1024);
}

TEST_F(RecordReaderTest, PutsAwkwardPiecesTogether) {
  const std::string bytes =
      recordOf("one") + goldenVersionRecord() + recordOf(std::string(500, 'x'));
  for (std::size_t pieceBytes = 1; pieceBytes < 50; ++pieceBytes) {
    const AwkwardByteSource source(bytes, pieceBytes);
    RecordReader reader(&source);
    ASSERT_EQ(readFrom(reader), "one") << pieceBytes;
    ASSERT_EQ(readFrom(reader), goldenVersionPayload()) << pieceBytes;
    ASSERT_EQ(readFrom(reader), std::string(500, 'x')) << pieceBytes;
    ASSERT_EQ(readFrom(reader), "<truncated>") << pieceBytes;
  }
}

TEST_F(RecordReaderTest, ReportsAnIoErrorAndContinuesAfterIt) {
  AwkwardByteSource source(recordOf("one") + recordOf("two"), 10);
  RecordReader reader(&source);
  EXPECT_EQ(readFrom(reader), "one");
  source.fails = true;
  EXPECT_EQ(readFrom(reader), "<I/O error>");
  EXPECT_EQ(reader.lastError().message(), "the disk is gone");
  source.fails = false;
  EXPECT_EQ(readFrom(reader), "two");
  EXPECT_TRUE(reader.lastError().ok());
}

TEST_F(RecordReaderTest, CanOwnItsSource) {
  RecordReader reader(std::make_unique<MemoryByteSource>(goldenVersionRecord()));
  EXPECT_EQ(readFrom(reader), goldenVersionPayload());
}

}  // namespace
}  // namespace steptape
