// SPDX-License-Identifier: Apache-2.0
//
// Several threads read a file like one thread, whatever is at the boundaries of chunks.
#include <cstdint>
#include <map>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "steptape/log/run_reader.h"

#include "log/reader/run_fixture.h"

#include <gmock/gmock.h>

namespace steptape {
namespace {

using ::testing::SizeIs;

constexpr int kThreads = 3;
constexpr std::size_t kFileBytes = 12 << 20;  // several chunks of 1 MiB, some for each thread

/// The content of a reader in a form that compares and prints.
struct Contents {
  using Location = std::tuple<std::uint64_t, std::int64_t, std::uint32_t, double>;
  std::map<std::string,
           std::tuple<Column<double>, Column<std::int64_t>, Column<double>, std::vector<Location>>>
      tags;
  std::vector<std::pair<std::uint64_t, std::uint64_t>> damage;

  friend bool operator==(const Contents& a, const Contents& b) {
    return a.tags == b.tags && a.damage == b.damage;
  }
};

class ThreadsTest : public RunFixture {
 protected:
  /// Returns a file of about `bytes` with two curves.
  static std::string scalars(std::size_t bytes, std::int64_t firstStep = 0) {
    std::string file = framed({version("brain.Event:2")});
    for (std::int64_t step = firstStep; file.size() < bytes; ++step) {
      file += framed({tensorScalar("new", static_cast<float>(step % 100), step, step == firstStep),
                      simpleScalar("compatible", static_cast<float>(step % 7), step)});
    }
    return file;
  }

  static event::Event textOf(std::string text) { return textAt(0, "text", std::move(text)); }

  Contents contents(int threads, PurgePolicy purge = PurgePolicy::kRestarts) const {
    RunReaderOptions options = purging(purge);
    options.threads = threads;
    const RunReader run = read(options);
    Contents result;
    for (const auto& [tag, series] : run.tags()) {
      std::vector<Contents::Location> values;
      for (const ValueLocation& value : series.values) {
        values.emplace_back(value.offset, value.step, value.index, value.wallTime);
      }
      result.tags[tag] = {series.scalars.wallTimes, series.scalars.steps, series.scalars.values,
                          std::move(values)};
      for (const TagSeries& other : series.others) {
        for (const ValueLocation& value : other.values) {
          std::get<3>(result.tags[tag + " of " + other.metadata.pluginName])
              .emplace_back(value.offset, value.step, value.index, value.wallTime);
        }
      }
    }
    for (const Damage& damage : run.damage()) {
      result.damage.emplace_back(damage.offset, damage.bytes);
    }
    return result;
  }

  /// Expects the same result from one thread and from several.
  void expectSame(const std::string& file) const {
    append(kFirst, file);
    const Contents one = contents(1);
    const Contents several = contents(kThreads);
    EXPECT_FALSE(one.tags.empty());
    EXPECT_TRUE(one == several);
  }
};

TEST_F(ThreadsTest, GiveTheSameColumns) {
  expectSame(scalars(kFileBytes));
}

TEST_F(ThreadsTest, ReadTheSameIfTheFirstMetadataIsInTheMiddle) {
  std::string file = scalars(kFileBytes / 2);
  for (std::int64_t step = 0; file.size() < kFileBytes; ++step) {
    file += framed({tensorScalar("late", 1, step, step == 0)});
  }
  expectSame(file);
}

TEST_F(ThreadsTest, ReadTheSameIfATagChangesItsPlugin) {
  // The plugin of the first metadata counts, which later chunks do not see.
  event::Event first = tensorScalar("tag", 1, 0);
  std::get<event::Summary>(first.what).values[0].metadata->pluginName = "mine";
  std::string file = framed({version(), first});
  for (std::int64_t step = 0; file.size() < kFileBytes; ++step) {
    file += framed({tensorScalar("tag", 2, step, step % 1000 == 0), simpleScalar("tag", 3, step)});
  }
  expectSame(file);
}

TEST_F(ThreadsTest, GiveTheSameIfTagsHaveSeveralKindsOfValues) {
  // Some chunks begin with a kind that is not the first one of the tag.
  std::string file = scalars(2 << 20);
  for (std::int64_t step = 0; file.size() < kFileBytes; ++step) {
    file += framed(
        {simpleScalar("late", 1, step),
         eventAt(step, event::Summary{{{"compatible", event::SummaryHistogram(), std::nullopt}}}),
         eventAt(step, event::Summary{{{"late", event::SummaryImage(), std::nullopt}}}),
         textAt(step, "late", "text", step % 3 == 0), textAt(step, "new", "text")});
    if (step % 10'000 == 0) {
      file += framed({textAt(step, "first of " + std::to_string(step), "text")});
    }
  }
  expectSame(file);
}

TEST_F(ThreadsTest, GiveTheSameAroundARestart) {
  expectSame(scalars(kFileBytes / 2) + framed({start(1000)}) + scalars(kFileBytes / 2, 1000));
}

TEST_F(ThreadsTest, ReadTheSameIfAVersionWithoutRestartsBegins) {
  expectSame(scalars(kFileBytes / 2) + framed({version("brain.Event:1")}) +
             framed({simpleScalar("compatible", 1, 10), tensorScalar("new", 1, 20)}) +
             scalars(kFileBytes / 2, 30).substr(framed({version()}).size()));
}

TEST_F(ThreadsTest, GiveTheSameAroundDamageOfAnyKind) {
  std::string file = scalars(kFileBytes);
  for (std::size_t at = 600'000; at < file.size(); at += 1'234'567) {
    file[at] = static_cast<char>(file[at] ^ 0x10);
  }
  // Holes at the boundaries of chunks, for chunks that start after the first 512 KiB, and
  // elsewhere.
  for (std::size_t at = 512 << 10; at + 4096 < file.size(); at += 512 << 10) {
    std::fill_n(file.begin() + static_cast<std::ptrdiff_t>(at - 2048), 4096, '\0');
  }
  file.insert(7 << 20, "not a record");
  file.resize(file.size() - 3);
  expectSame(file);
}

TEST_F(ThreadsTest, TakeNoRecordOutOfAValueThatHoldsAnEventFile) {
  // Chunks start inside these values, and find valid records there.
  std::string file = scalars(1 << 20);
  const std::string inner = scalars(5 << 20, 1'000'000);
  file += framed({textOf(inner), textOf(inner)});
  file += scalars(1 << 20);
  append(kFirst, file);
  const Contents several = contents(kThreads);
  EXPECT_TRUE(several == contents(1));
  EXPECT_THAT(std::get<3>(several.tags.at("text")), SizeIs(2));
  for (const std::int64_t step : std::get<1>(several.tags.at("new"))) {
    ASSERT_LT(step, 1'000'000);
  }
}

TEST_F(ThreadsTest, GiveTheSameForRecordsLongerThanAChunk) {
  std::string file = scalars(1 << 20);
  for (int i = 0; i < 4; ++i) {
    file += framed({textOf(std::string(3'000'000, 'x')), tensorScalar("new", 1, i, false)});
  }
  expectSame(file);
}

TEST_F(ThreadsTest, FollowAFileThatGrowsByALot) {
  append(kFirst, scalars(kFileBytes));
  RunReaderOptions options;
  options.threads = kThreads;
  RunReader run = read(options);
  const std::size_t before = run.tags().at("new").size();
  append(kFirst, scalars(kFileBytes));
  run.update();
  EXPECT_EQ(run.tags().at("new").size(), 2 * before);
  EXPECT_EQ(run.update(), 0U);
}

}  // namespace
}  // namespace steptape
