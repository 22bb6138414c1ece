// SPDX-License-Identifier: Apache-2.0
//
// Files whose bytes are cut off, flipped or zeroed: every intact record is read, with its step and
// value, and the gaps between them are reported by offset and size.
#include <algorithm>
#include <filesystem>
#include <fstream>
#include <random>

#include "steptape/log/event_file_reader.h"

#include "log/reader/damaged_file.h"
#include "log/reader/run_contents.h"
#include "log/reader/run_fixture.h"

namespace steptape {
namespace {

constexpr std::int64_t kRecords = STEPTAPE_DAMAGED_RECORDS;
constexpr std::size_t kPage = 4096;

const KnownFile& knownFile() {
  static const KnownFile kFile = makeKnownFile(kRecords);
  return kFile;
}

/// The first bytes of another source, without a copy.
class Prefix final : public ByteSource {
 public:
  Prefix(const ByteSource* bytes, std::uint64_t size) : bytes_(bytes), size_(size) {}
  Status read(std::uint64_t offset, char* data, std::size_t size, std::size_t* got) const override {
    const std::uint64_t left = size_ - std::min(offset, size_);
    return bytes_->read(offset, data, std::min<std::uint64_t>(size, left), got);
  }
  const std::string& name() const override { return bytes_->name(); }

 private:
  const ByteSource* bytes_;
  std::uint64_t size_;
};

TEST(TruncatedRecords, AreReadUpToTheCutAtEveryByteOfTheFile) {
  const KnownFile& file = knownFile();
  const MemoryByteSource bytes(file.bytes);
  std::size_t whole = 0;
  for (std::uint64_t cut = 0; cut <= file.bytes.size(); ++cut) {
    while (whole < file.records.size() &&
           file.records[whole].first + file.records[whole].second <= cut) {
      ++whole;
    }
    const Prefix source(&bytes, cut);
    const WholeRecords read = readWholeRecords(source);
    ASSERT_TRUE(read.records.size() == whole &&
                std::equal(read.records.begin(), read.records.end(), file.records.begin()))
        << "cut at " << cut;
    const std::uint64_t end =
        whole == 0 ? 0 : file.records[whole - 1].first + file.records[whole - 1].second;
    ASSERT_EQ(read.stops, end == cut ? std::vector<std::uint64_t>() : std::vector{end})
        << "cut at " << cut;
  }
}

TEST(TruncatedEventFile, ReturnsTheEventsBeforeTheCut) {
  const KnownFile& file = knownFile();
  for (std::size_t cut = 0; cut <= file.bytes.size(); cut += 997) {
    EventFileReader reader(std::make_unique<MemoryByteSource>(file.bytes.substr(0, cut)));
    event::Event event;
    std::int64_t step = 0;
    while (reader.next(&event) == ReadOutcome::kRecord) {
      ASSERT_EQ(event.step, step++) << "cut at " << cut;
    }
    const Extent& next = file.records[static_cast<std::size_t>(std::min(step, kRecords - 1))];
    EXPECT_EQ(reader.offset(), step == kRecords ? file.bytes.size() : next.first);
    EXPECT_LT(cut - reader.offset(), next.second) << "cut at " << cut;
  }
}

class DamagedRun : public RunFixture {
 protected:
  void SetUp() override {
    RunFixture::SetUp();
    file_ = path(kFirst);
  }

  void write(const std::string& bytes) { writeBytes(kFirst, bytes); }
  /// Overwrites a part of the file, which is faster than writing all of it.
  void patch(std::size_t offset, std::string_view bytes) {
    std::fstream out(file_, std::ios::binary | std::ios::in | std::ios::out);
    out.seekp(static_cast<std::streamoff>(offset));
    out << bytes;
    ASSERT_TRUE(out.good());
  }

  /// Reads the run and expects the points of exactly the `intact` records, and `gaps` between them.
  static void expectReads(const RunReader& run, const Extents& intact, const KnownFile& file,
                          std::uint64_t size) {
    std::vector<bool> isRead(file.records.size());
    std::size_t points = 0;
    for (const auto& [tag, series] : run.tags()) {
      for (std::size_t i = 0; i < series.scalars.size(); ++i) {
        const std::int64_t step = series.scalars.steps[i];
        ASSERT_TRUE(step >= 0 && step < static_cast<std::int64_t>(file.records.size())) << step;
        ASSERT_EQ(series.scalars.values[i], KnownFile::valueAt(step)) << step;
        ASSERT_EQ(series.scalars.wallTimes[i], 1.7e9 + static_cast<double>(step));
        ASSERT_EQ(tag.size(), static_cast<std::size_t>(1 + step % 7)) << step;
        isRead[static_cast<std::size_t>(step)] = true;
        ++points;
      }
    }
    ASSERT_EQ(points, intact.size());
    for (const Extent& record : intact) {
      const auto at = std::lower_bound(file.records.begin(), file.records.end(), record);
      ASSERT_TRUE(isRead[static_cast<std::size_t>(at - file.records.begin())]) << record.first;
    }
    Extents gaps;
    for (const Damage& damage : run.damage()) {
      ASSERT_FALSE(damage.status.ok());
      gaps.emplace_back(damage.offset, damage.bytes);
    }
    ASSERT_EQ(gaps, gapsBetween(intact, size));
  }

  /// Expects RunEvents to return the same as RunReader.
  void expectStreams(const RunReader& run) const {
    ASSERT_TRUE(contentsOf(run) == streamedContents(listRuns(root_).at(0), PurgePolicy::kRestarts));
  }

  std::string file_;
};

constexpr std::size_t kCutClasses = 4;

/// The cuts of one residue class; all in one test would take minutes under a sanitizer.
class DamagedRunByCut : public DamagedRun, public ::testing::WithParamInterface<std::size_t> {};

INSTANTIATE_TEST_SUITE_P(Cuts, DamagedRunByCut, ::testing::Range<std::size_t>(0, kCutClasses));

TEST_P(DamagedRunByCut, IsReadUpToTheCutAtEveryByteOfTheFile) {
  const KnownFile& file = knownFile();
  write(file.bytes);
  std::size_t whole = file.records.size();
  std::uint64_t end = file.bytes.size();
  for (std::size_t gone = GetParam(); gone < file.bytes.size(); gone += kCutClasses) {
    const std::size_t cut = file.bytes.size() - gone;
    std::filesystem::resize_file(file_, cut);
    while (end > cut) {
      end = file.records[--whole].first;
    }
    const RunReader run = read();
    std::size_t points = 0;
    for (const auto& [tag, series] : run.tags()) {
      points += series.scalars.size();
    }
    ASSERT_EQ(points, whole) << "cut at " << cut;
    ASSERT_EQ(run.damage().size(), end == cut ? 0U : 1U) << "cut at " << cut;
    if (end < cut) {
      ASSERT_EQ(Extent(run.damage()[0].offset, run.damage()[0].bytes), Extent(end, cut - end));
      ASSERT_EQ(run.damage()[0].outcome, ReadOutcome::kTruncated);
    }
  }
}

TEST_F(DamagedRun, IsFollowedFromEveryByteOfTheFileToTheNext) {
  const KnownFile& file = knownFile();
  write("");
  std::ofstream out(file_, std::ios::binary);
  RunReader run = readerOf();
  std::size_t whole = 0;
  std::uint64_t points = 0;
  for (std::size_t size = 1; size <= file.bytes.size(); ++size) {
    out.put(file.bytes[size - 1]).flush();
    points += run.update() > 0 ? 1 : 0;
    if (whole < file.records.size() &&
        file.records[whole].first + file.records[whole].second == size) {
      ++whole;
      ASSERT_THAT(run.damage(), ::testing::IsEmpty()) << size << " bytes";
    } else {
      ASSERT_EQ(run.damage().size(), 1U) << size << " bytes";
      ASSERT_EQ(run.damage()[0].offset, file.records[whole].first);
    }
    ASSERT_EQ(points, whole) << size << " bytes";
  }
  expectReads(run, file.records, file, file.bytes.size());
}

TEST_F(DamagedRun, IsReadUpToTheCut) {
  const KnownFile& file = knownFile();
  write(file.bytes);
  for (std::size_t cut = file.bytes.size(); cut > 13; cut -= 13) {
    std::filesystem::resize_file(file_, cut);
    const RunReader run = read();
    const Extents intact = intactRecords(file, file.bytes.substr(0, cut));
    ASSERT_NO_FATAL_FAILURE(expectReads(run, intact, file, cut)) << "cut at " << cut;
    ASSERT_NO_FATAL_FAILURE(expectStreams(run)) << "cut at " << cut;
    ASSERT_LE(run.damage().size(), 1u);
    ASSERT_TRUE(run.damage().empty() || run.damage()[0].outcome == ReadOutcome::kTruncated);
  }
}

TEST_F(DamagedRun, LosesOnlyTheRecordInWhichABitFlips) {
  const KnownFile& file = knownFile();
  write(file.bytes);
  std::mt19937 random(1);
  for (int i = 0; i < 10'000; ++i) {
    const std::size_t bit = random() % (8 * file.bytes.size());
    const auto flipped = static_cast<char>(file.bytes[bit / 8] ^ (1 << bit % 8));
    patch(bit / 8, {&flipped, 1});
    const RunReader run = read(complete());
    ASSERT_NO_FATAL_FAILURE(expectStreams(run)) << "bit " << bit;
    patch(bit / 8, {&file.bytes[bit / 8], 1});

    Extents intact = file.records;
    const auto hit = std::upper_bound(intact.begin(), intact.end(), Extent(bit / 8, ~0ULL)) - 1;
    intact.erase(hit);
    ASSERT_NO_FATAL_FAILURE(expectReads(run, intact, file, file.bytes.size())) << "bit " << bit;
  }
}

TEST_F(DamagedRun, LosesOnlyTheRecordsThatAZeroedPageTouches) {
  const KnownFile& file = knownFile();
  write(file.bytes);
  for (std::size_t page = 0; page < file.bytes.size(); page += kPage) {
    std::string damaged = file.bytes;
    const std::size_t size = std::min(kPage, damaged.size() - page);
    damaged.replace(page, size, size, '\0');
    patch(page, std::string(size, '\0'));
    const RunReader run = read(complete());
    ASSERT_NO_FATAL_FAILURE(expectStreams(run)) << "page at " << page;
    patch(page, std::string_view(file.bytes).substr(page, size));
    ASSERT_NO_FATAL_FAILURE(expectReads(run, intactRecords(file, damaged), file, damaged.size()))
        << "page at " << page;
  }
}

TEST_F(DamagedRun, ReadsEveryIntactRecordDespiteAThousandZeroedPages) {
  // Long enough for several threads to read it.
  const KnownFile file = makeKnownFile(300'000);
  std::string damaged = file.bytes;
  std::vector<std::size_t> pages(damaged.size() / kPage);
  ASSERT_GT(pages.size(), 2000u);
  for (std::size_t i = 0; i < pages.size(); ++i) {
    pages[i] = i * kPage;
  }
  std::shuffle(pages.begin(), pages.end(), std::mt19937(2));
  for (std::size_t i = 0; i < 1000; ++i) {
    damaged.replace(pages[i], kPage, kPage, '\0');
  }
  write(damaged);
  const Extents intact = intactRecords(file, damaged);
  EXPECT_GT(intact.size(), 50'000u);
  for (const int threads : {1, 3}) {
    RunReaderOptions options = complete();
    options.threads = threads;
    const RunReader run = read(options);
    ASSERT_NO_FATAL_FAILURE(expectReads(run, intact, file, damaged.size())) << threads;
    ASSERT_NO_FATAL_FAILURE(expectStreams(run)) << threads;
  }
}

TEST_F(DamagedRun, ReadsEveryIntactRecordDespiteManyFlippedBits) {
  const KnownFile file = makeKnownFile(20'000);
  std::string damaged = file.bytes;
  std::mt19937 random(3);
  for (int i = 0; i < 5'000; ++i) {
    const std::size_t bit = random() % (8 * damaged.size());
    damaged[bit / 8] = static_cast<char>(damaged[bit / 8] ^ (1 << bit % 8));
  }
  write(damaged);
  const RunReader run = read(complete());
  expectReads(run, intactRecords(file, damaged), file, damaged.size());
  expectStreams(run);
}

TEST_F(DamagedRun, ReadsEveryIntactRecordDespiteLostOrAddedBytes) {
  const KnownFile& file = knownFile();
  std::mt19937 random(4);
  for (int i = 0; i < 300; ++i) {
    const std::size_t at = random() % file.bytes.size();
    const std::size_t size = 1 + random() % 200;
    const auto hit =
        std::upper_bound(file.records.begin(), file.records.end(), Extent(at, ~0ULL)) - 1;
    if (i % 2 == 0) {
      write(file.bytes.substr(0, at) + file.bytes.substr(std::min(at + size, file.bytes.size())));
    } else {
      write(file.bytes.substr(0, at) + std::string(size, 'x') + file.bytes.substr(at));
    }
    const RunReader run = read(complete());
    std::size_t points = 0;
    for (const auto& [tag, series] : run.tags()) {
      points += series.scalars.size();
    }
    const auto lost =
        static_cast<std::size_t>(std::count_if(hit, file.records.end(), [&](const Extent& record) {
          return i % 2 == 0 ? record.first < at + size
                            : record.first <= at && at != record.first &&
                                  at < record.first + record.second;
        }));
    ASSERT_EQ(points, file.records.size() - lost) << at << " " << size;
    ASSERT_LE(run.damage().size(), 1u);
    ASSERT_NO_FATAL_FAILURE(expectStreams(run)) << at << " " << size;
  }
}

}  // namespace
}  // namespace steptape
