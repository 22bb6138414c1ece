// SPDX-License-Identifier: Apache-2.0
//
// Makes single allocations of a reader fail, one after the other, on any thread: update() throws or
// copes, and reads everything the next time. A separate program, because it replaces operator new.
#include <cstdint>
#include <new>
#include <optional>

#include "steptape/log/log_dir.h"
#include "steptape/log/run_reader.h"

#include "log/reader/run_fixture.h"
#include "support/allocations.h"
#include "support/sweep.h"

#include <gmock/gmock.h>

namespace steptape {
namespace {

/// A summary of a reader's data of a run.
struct Summed {
  std::size_t tags = 0;
  std::size_t points = 0;
  double values = 0;

  void add(const RunReader& run) {
    tags += run.tags().size();
    for (const auto& [tag, series] : run.tags()) {
      points += series.scalars.size() + series.values.size();
      for (const double value : series.scalars.values) {
        values += value;
      }
    }
  }
  friend bool operator==(const Summed& a, const Summed& b) {
    return a.tags == b.tags && a.points == b.points && a.values == b.values;
  }
};

Summed sumOf(const RunReader& run) {
  Summed sum;
  sum.add(run);
  return sum;
}
Summed sumOf(const LogDir& runs) {
  Summed sum;
  for (const auto& [name, run] : runs.runs()) {
    sum.add(run);
  }
  return sum;
}

class ReaderOutOfMemory : public RunFixture {
 protected:
  static std::string eventsOf(std::int64_t steps) {
    detail::events::RecordBuffer records;
    const auto append = [&](const event::Event& event) {
      detail::events::encodeEvent(event, records.beginRecord());
      records.endRecord();
    };
    append(version("brain.Event:2"));
    for (std::int64_t step = 0; step < steps; ++step) {
      append(tensorScalar("loss", static_cast<float>(step % 100), step, step == 0));
      append(simpleScalar("a tag whose name is long/accuracy", 1, step));
      if (step % 1000 == 0) {
        append(textAt(step, "text", "some words that are not short"));
      }
    }
    return records.take();
  }

  /// `make()` returns a reader. For one in `oneIn` allocations, it and the next ones, `count`
  /// together, fail.
  template <typename Make>
  void expectTheSame(const Make& make, std::uint64_t oneIn, std::uint64_t count = 1) {
    Summed expected;
    {
      auto reader = make();
      reader.update();
      expected = sumOf(reader);
      ASSERT_GT(expected.points, 0U);
    }
    test::sweep(oneIn, [&](std::uint64_t n) {
      FailingAllocations failing(n, count);
      try {
        auto reader = make();
        const bool isRead = attempt([&] { reader.update(); });
        const bool hasFailed = failing.stop() > 0;
        if (!isRead) {
          reader.update();
        }
        EXPECT_EQ(sumOf(reader), expected);
        return hasFailed;
      } catch (const std::bad_alloc&) {
        return true;  // there was no reader
      }
    });
  }
};

TEST_F(ReaderOutOfMemory, ReadsARunTheNextTime) {
  writeBytes("events.out.tfevents.1", eventsOf(50));
  writeBytes("events.out.tfevents.2", eventsOf(50));
  expectTheSame([&] { return readerOf(); }, 4);
  expectTheSame([&] { return readerOf(); }, 12, 20);
}

TEST_F(ReaderOutOfMemory, ReadsALargeRunOnSeveralThreadsTheNextTime) {
  writeBytes("events.out.tfevents.1", eventsOf(130'000));
  RunReaderOptions options;
  options.threads = 3;
  expectTheSame([&] { return readerOf(options); }, 68);
}

TEST_F(ReaderOutOfMemory, ReadsTheRunsOfADirectoryOnSeveralThreadsTheNextTime) {
  for (const char* name : {"a", "b", "c/d"}) {
    writeBytes(std::string(name) + "/events.out.tfevents.1", eventsOf(50));
  }
  RunReaderOptions options;
  options.threads = 3;
  expectTheSame([&] { return LogDir(root_, options); }, 4);
  expectTheSame([&] { return LogDir(root_, options); }, 12, 20);
}

}  // namespace
}  // namespace steptape
