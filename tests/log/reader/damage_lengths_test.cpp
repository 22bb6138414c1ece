// SPDX-License-Identifier: Apache-2.0
//
// False lengths with valid checksums.

#include "events/framing/record_bytes.h"
#include "log/reader/damaged_file.h"
#include "log/reader/run_contents.h"
#include "log/reader/run_fixture.h"

namespace steptape {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Pair;
using ::testing::SizeIs;

class LyingLength : public RunFixture {
 protected:
  const std::string one_ = framed({simpleScalar("loss", 1, 1)});
  const std::string two_ = framed({simpleScalar("loss", 2, 2)});
  const std::string three_ = framed({simpleScalar("loss", 3, 3)});
};

TEST_F(LyingLength, LosesOnlyItsOwnRecord) {
  const std::uint64_t honest = two_.size() - detail::events::kFramingBytes;
  for (const std::uint64_t length :
       {std::uint64_t{0}, std::uint64_t{1}, honest - 1, honest + 1, honest + three_.size(),
        honest + detail::events::kFramingBytes + three_.size(), std::uint64_t{100'000},
        detail::events::kMaxPayloadBytes, detail::events::kMaxPayloadBytes + 1,
        std::uint64_t{1} << 63, ~std::uint64_t{0}, ~std::uint64_t{0} - 15}) {
    std::string lying = two_;
    lying.replace(0, detail::events::kHeaderBytes, headerOf(length));
    writeBytes(kFirst, one_ + lying + three_);
    const RunReader run = read(complete());
    EXPECT_THAT(points(run, "loss"), ElementsAre(Pair(1, 1), Pair(3, 3))) << length;
    EXPECT_THAT(run.damage(), ElementsAre(IsDamage(one_.size(), two_.size(), ""))) << length;
    EXPECT_EQ(contentsOf(run), streamedContents(listRuns(root_).at(0), PurgePolicy::kRestarts));
  }
}

TEST_F(LyingLength, IsWaitedForWhileTheFileMayGrow) {
  writeBytes(kFirst, one_ + headerOf(100'000) + two_ + three_);
  RunReader run = read();
  EXPECT_THAT(points(run, "loss"), ElementsAre(Pair(1, 1)));
  ASSERT_THAT(run.damage(), SizeIs(1));
  EXPECT_EQ(run.damage()[0].outcome, ReadOutcome::kTruncated);
  EXPECT_THAT(run.damage()[0].status.message(),
              AllOf(HasSubstr("record cut short: got"), HasSubstr("expected 100016")));

  // With this much data, the length turns out to be false.
  append(kFirst, std::string(100'000, 'x'));
  run.update();
  EXPECT_THAT(points(run, "loss"), ElementsAre(Pair(1, 1), Pair(2, 2), Pair(3, 3)));
}

TEST_F(LyingLength, IsReportedWithItsValue) {
  writeBytes(kFirst, one_ + headerOf(detail::events::kMaxPayloadBytes + 1) + two_);
  EXPECT_THAT(read().damage(),
              ElementsAre(IsDamage(one_.size(), detail::events::kHeaderBytes,
                                   "record too long: got 2147483648 bytes; expected at most "
                                   "2147483647 at offset " +
                                       std::to_string(one_.size()) + " of " + path(kFirst))));
}

TEST_F(LyingLength, ManyOfThemKeepNoRecordFromBeingFound) {
  std::string bytes = one_;
  for (int i = 0; i < 1000; ++i) {
    bytes += headerOf(detail::events::kMaxPayloadBytes - static_cast<std::uint64_t>(i));
  }
  writeBytes(kFirst, bytes + two_ + three_);
  const RunReader run = read(complete());
  EXPECT_THAT(points(run, "loss"), ElementsAre(Pair(1, 1), Pair(2, 2), Pair(3, 3)));
  EXPECT_THAT(run.damage(), SizeIs(1));
}

TEST_F(LyingLength, OfEveryRecordInAFileLeavesNothingAndEnds) {
  KnownFile file = makeKnownFile(2000);
  for (std::size_t i = 0; i < file.records.size(); ++i) {
    file.bytes.replace(file.records[i].first, detail::events::kHeaderBytes,
                       headerOf(detail::events::kMaxPayloadBytes - i));
  }
  writeBytes(kFirst, file.bytes);
  const RunReader run = read(complete());
  EXPECT_THAT(run.tags(), IsEmpty());
  EXPECT_THAT(run.damage(), ElementsAre(IsDamage(0, file.bytes.size(), "record cut short")));
}

TEST_F(LyingLength, AfterTheFirstRecordOfALargeFileReservesNoMemory) {
  // The start of a large file shows its density: here, one point in 50 bytes.
  std::string many;
  for (int step = 0; step < 200'000; ++step) {
    many += framed({simpleScalar("loss", 1, step)});
  }
  writeBytes(kFirst, many);
  writeBytes(kSecond, framed({simpleScalar("loss", 1, 200'000)}) +
                          headerOf(detail::events::kMaxPayloadBytes) +
                          std::string(std::size_t{64} << 20, 'x'));
  const RunReader run = read();
  EXPECT_THAT(points(run, "loss"), SizeIs(200'001));
  EXPECT_LE(run.tags().at("loss").scalars.steps.capacity(), std::size_t{4} << 20);
}

TEST_F(LyingLength, OfARecordCutShortIsFollowedByRecordsOfAnotherWriter) {
  // A program was killed while it wrote a large record, and another one continued in the same file.
  const std::string large = framed({textAt(1, "note", std::string(5000, 'x'))});
  writeBytes(kFirst, one_ + large.substr(0, 2000) + two_ + three_);
  const RunReader run = read(complete());
  EXPECT_THAT(points(run, "loss"), ElementsAre(Pair(1, 1), Pair(2, 2), Pair(3, 3)));
  EXPECT_THAT(run.damage(), ElementsAre(IsDamage(one_.size(), 2000, "record cut short")));
}

}  // namespace
}  // namespace steptape
