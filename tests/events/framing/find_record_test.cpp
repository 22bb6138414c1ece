// SPDX-License-Identifier: Apache-2.0
//
// Continuing after damage: RecordReader::findRecord().
#include <algorithm>
#include <cstring>
#include <random>
#include <string>
#include <vector>

#include "steptape/events/record_reader.h"

#include "events/framing/record_bytes.h"
#include "events/framing/record_format.h"

#include <gmock/gmock.h>

namespace steptape {
namespace {

using ::testing::ElementsAre;

struct Found {
  std::vector<std::string> payloads;
  std::vector<std::pair<std::uint64_t, std::uint64_t>> gaps;  // offset and size
};

/// Returns all complete records of `bytes`, and the gaps between them.
Found readAll(const std::string& bytes) {
  const MemoryByteSource source(bytes);
  RecordReader reader(&source);
  Found found;
  std::string_view payload;
  for (;;) {
    const ReadOutcome outcome = reader.next(&payload);
    if (outcome == ReadOutcome::kRecord) {
      found.payloads.emplace_back(payload);
      continue;
    }
    const std::uint64_t damaged = reader.offset();
    if (damaged == bytes.size() || reader.findRecord(damaged + 1) != ReadOutcome::kRecord) {
      if (damaged != bytes.size()) {
        found.gaps.emplace_back(damaged, bytes.size() - damaged);
      }
      return found;
    }
    found.gaps.emplace_back(damaged, reader.offset() - damaged);
  }
}

TEST(FindRecord, FindsTheRecordAfterADamagedLength) {
  std::string bytes = recordOf("one") + recordOf("two") + recordOf("three");
  bytes[recordOf("one").size()] ^= 1;
  const Found found = readAll(bytes);
  EXPECT_THAT(found.payloads, ElementsAre("one", "three"));
  EXPECT_THAT(found.gaps, ElementsAre(std::pair(recordOf("one").size(), recordOf("two").size())));
}

TEST(FindRecord, FindsTheRecordAfterDamagedData) {
  std::string bytes = recordOf("one") + recordOf("two") + recordOf("three");
  bytes[recordOf("one").size() + detail::events::kHeaderBytes] ^= 1;
  EXPECT_THAT(readAll(bytes).payloads, ElementsAre("one", "three"));
}

TEST(FindRecord, FindsTheRecordAfterAHoleOfZeros) {
  std::string bytes;
  for (int i = 0; i < 1000; ++i) {
    bytes += recordOf("record " + std::to_string(i));
  }
  std::fill_n(bytes.begin() + 8192, 4096, '\0');
  const Found found = readAll(bytes);
  // Records of 25 and 26 bytes: the hole covers 157 or 158 complete ones and those at its ends.
  EXPECT_GE(found.payloads.size(), 1000u - 160);
  EXPECT_EQ(found.payloads.back(), "record 999");
  ASSERT_EQ(found.gaps.size(), 1u);
}

TEST(FindRecord, FindsARecordThatFollowsOneCutShort) {
  // The result of a program that appends to a file whose writer was killed.
  const std::string bytes =
      recordOf("one") + recordOf(std::string(100, 'x')).substr(0, 50) + recordOf("two");
  const Found found = readAll(bytes);
  EXPECT_THAT(found.payloads, ElementsAre("one", "two"));
  EXPECT_THAT(found.gaps, ElementsAre(std::pair(recordOf("one").size(), std::size_t{50})));
}

TEST(FindRecord, FindsTheRecordAfterAWrongLength) {
  const std::string bytes =
      recordOf("one") + headerOf(1 << 30) + recordOf("two") + recordOf("three");
  EXPECT_THAT(readAll(bytes).payloads, ElementsAre("one", "two", "three"));
}

TEST(FindRecord, IsAtTheRecordItselfIfSearchBeginsThere) {
  const MemoryByteSource source(recordOf("one"));
  RecordReader reader(&source);
  EXPECT_EQ(reader.findRecord(0), ReadOutcome::kRecord);
  EXPECT_EQ(reader.offset(), 0u);
}

TEST(FindRecord, ContinuesTheSearchWhenTheFileHasGrown) {
  MemoryByteSource source("damage without a record");
  RecordReader reader(&source);
  EXPECT_EQ(reader.findRecord(0), ReadOutcome::kTruncated);
  // The last bytes may be the start of a header.
  EXPECT_EQ(reader.offset(),
            std::strlen("damage without a record") - (detail::events::kHeaderBytes - 1));
  source.append(recordOf("one"));
  EXPECT_EQ(reader.findRecord(reader.offset()), ReadOutcome::kRecord);
  std::string_view payload;
  EXPECT_EQ(reader.next(&payload), ReadOutcome::kRecord);
  EXPECT_EQ(payload, "one");
}

TEST(FindRecord, WaitsForAnIncompleteRecord) {
  const std::string record = recordOf(std::string(500, 'x'));
  MemoryByteSource source("damage" + record.substr(0, 300));
  RecordReader reader(&source);
  EXPECT_EQ(reader.findRecord(0), ReadOutcome::kTruncated);
  EXPECT_EQ(reader.offset(), 6u);
  source.append(record.substr(300));
  EXPECT_EQ(reader.findRecord(reader.offset()), ReadOutcome::kRecord);
  EXPECT_EQ(reader.offset(), 6u);
}

TEST(FindRecord, ReturnsEveryRecordThatNoFlippedBitTouched) {
  std::string bytes;
  std::vector<std::string> payloads;
  for (int i = 0; i < 20; ++i) {
    payloads.push_back(std::string(static_cast<std::size_t>(i), 'x') + std::to_string(i));
    bytes += recordOf(payloads.back());
  }
  for (std::size_t bit = 0; bit < 8 * bytes.size(); ++bit) {
    std::string damaged = bytes;
    damaged[bit / 8] = static_cast<char>(damaged[bit / 8] ^ (1 << (bit % 8)));
    const Found found = readAll(damaged);
    ASSERT_EQ(found.payloads.size(), payloads.size() - 1) << "bit " << bit;
    ASSERT_TRUE(std::includes(payloads.begin(), payloads.end(), found.payloads.begin(),
                              found.payloads.end(),
                              [&](const auto& a, const auto& b) { return a.size() < b.size(); }))
        << "bit " << bit;
    ASSERT_EQ(found.gaps.size(), 1u) << "bit " << bit;
  }
}

/// Counts the bytes that are read.
class CountingByteSource final : public ByteSource {
 public:
  explicit CountingByteSource(std::string bytes) : bytes_(std::move(bytes)) {}
  Status read(std::uint64_t offset, char* data, std::size_t size, std::size_t* got) const override {
    const Status status = bytes_.read(offset, data, size, got);
    bytesRead += *got;
    return status;
  }
  const std::string& name() const override { return bytes_.name(); }

  mutable std::uint64_t bytesRead = 0;

 private:
  MemoryByteSource bytes_;
};

TEST(FindRecord, ReadsEachByteOnce) {
  std::mt19937 random(1);
  std::string noise(3 << 20, '\0');
  std::generate(noise.begin(), noise.end(), [&] { return static_cast<char>(random()); });
  const CountingByteSource source(noise + recordOf("one"));
  RecordReader reader(&source);
  EXPECT_EQ(reader.findRecord(0), ReadOutcome::kRecord);
  EXPECT_EQ(reader.offset(), noise.size());
  EXPECT_LE(source.bytesRead, noise.size() + recordOf("one").size());
}

TEST(FindRecord, StopsAfterTooManyFalseLongRecords) {
  // Checking all of them would take 5000 times 64 MiB.
  std::string bytes;
  for (int i = 0; i < 5000; ++i) {
    bytes += headerOf(64 << 20);
  }
  bytes.resize(bytes.size() + (65 << 20), 'x');
  const MemoryByteSource source(bytes + recordOf("one"));
  RecordReader reader(&source);
  EXPECT_EQ(reader.findRecord(0), ReadOutcome::kRecord);
  EXPECT_EQ(reader.offset(), bytes.size());
}

TEST(FindRecord, FindsALongRecordRightAfterTheDamage) {
  const std::string record = recordOf(std::string(80 << 20, 'x'));
  const MemoryByteSource source(headerOf(70 << 20) + record);
  RecordReader reader(&source);
  EXPECT_EQ(reader.findRecord(0), ReadOutcome::kRecord);
  EXPECT_EQ(reader.offset(), detail::events::kHeaderBytes);
}

}  // namespace
}  // namespace steptape
