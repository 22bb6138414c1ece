// SPDX-License-Identifier: Apache-2.0
//
// The maximum memory for reading. Each run is read in a separate process, whose peak the operating
// system measures: that includes every kind of allocation.
#include <functional>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "events/framing/record_bytes.h"
#include "events/messages/wire_bytes.h"
#include "log/reader/run_fixture.h"

namespace steptape {
namespace {

constexpr std::int64_t kMiB = std::int64_t{1} << 20;

// Allowed memory for any file: buffers, and the maximum that decodeEvent() allows.
constexpr std::int64_t kConstant = 160 * kMiB;

/// Returns the peak memory of a process that runs `work`.
std::int64_t peakOf(const std::function<void()>& work) {
  const pid_t child = ::fork();
  if (child == 0) {
    work();
    ::_exit(0);
  }
  int status = 0;
  rusage usage{};
  EXPECT_EQ(::wait4(child, &status, 0, &usage), child);
  EXPECT_EQ(status, 0);
  return std::int64_t{usage.ru_maxrss} * 1024;
}

class ReaderMemory : public RunFixture {
 protected:
  /// Writes a file in a separate process, so that this one stays small.
  void writeInChild(const std::function<std::string()>& makeBytes) const {
    peakOf([&] { writeBytes(kFirst, makeBytes()); });
  }
  std::int64_t fileBytes() const {
    return static_cast<std::int64_t>(std::filesystem::file_size(path(kFirst)));
  }
  /// Returns the memory for reading the run, beyond that of any process.
  std::int64_t peak(int threads = 1) const {
    const std::int64_t idle = peakOf([] {});
    return peakOf([&] {
             RunReaderOptions options = complete();
             options.threads = threads;
             RunReader run = readerOf(options);
             run.update();
             run.update();
           }) -
           idle;
  }
};

TEST_F(ReaderMemory, MeasuresThePeakOfAChildProcess) {
  const std::int64_t idle = peakOf([] {});
  const std::int64_t large = peakOf([] {
    std::vector<char> bytes(static_cast<std::size_t>(64 * kMiB), 'x');
    ASSERT_EQ(bytes[bytes.size() / 2], 'x');
  });
  EXPECT_GE(large - idle, 60 * kMiB);
  EXPECT_LE(large - idle, 80 * kMiB);
}

TEST_F(ReaderMemory, OfOneLargeImageIsAtMostTwiceTheFile) {
  writeInChild([] {
    event::SummaryImage image;
    image.encoded.assign(static_cast<std::size_t>(200 * kMiB), 'x');
    return framed({eventAt(1, event::Summary{{{"image", std::move(image), std::nullopt}}})});
  });
  EXPECT_LE(peak(), 2 * fileBytes() + 16 * kMiB);
}

TEST_F(ReaderMemory, OfManyImagesIsSmall) {
  writeInChild([] {
    event::SummaryImage image;
    image.encoded.assign(static_cast<std::size_t>(kMiB), 'x');
    const std::string one = framed({eventAt(1, event::Summary{{{"image", image, std::nullopt}}})});
    std::string bytes;
    for (int i = 0; i < 200; ++i) {
      bytes += one;
    }
    return bytes;
  });
  EXPECT_LE(peak(), 32 * kMiB);
  EXPECT_LE(peak(2), 48 * kMiB);
}

TEST_F(ReaderMemory, OfScalarsIsAtMostTwiceTheFile) {
  writeInChild([] {
    std::string bytes;
    for (int step = 0; step < 1'000'000; ++step) {
      bytes += framed({simpleScalar("loss", 1, step)});
    }
    return bytes;
  });
  EXPECT_LE(peak(), 2 * fileBytes() + 16 * kMiB);
}

TEST_F(ReaderMemory, OfGarbageIsSmall) {
  writeInChild([] { return std::string(static_cast<std::size_t>(200 * kMiB), '\0'); });
  EXPECT_LE(peak(), 32 * kMiB);
  EXPECT_LE(peak(2), 48 * kMiB);
}

TEST_F(ReaderMemory, OfAFalseLengthIsAtMostTwiceTheFile) {
  writeInChild([] {
    return headerOf(detail::events::kMaxPayloadBytes) +
           std::string(static_cast<std::size_t>(100 * kMiB), 'x') +
           framed({simpleScalar("loss", 1, 1)});
  });
  EXPECT_LE(peak(), 2 * fileBytes() + 16 * kMiB);
}

TEST_F(ReaderMemory, OfMillionsOfEmptyPartsIsAConstant) {
  for (const std::uint32_t field : {1U, 2U, 3U}) {
    writeInChild([field] {
      std::string values;
      for (std::int64_t i = 0; i < 8 * kMiB; ++i) {
        values += std::string{static_cast<char>(field << 3 | 2), '\0'};
      }
      // An event's values, or a tensor's dimensions or unknown fields.
      return recordOf(bytesField(
          5, field == 1
                 ? values
                 : bytesField(1, bytesField(1, "t") + bytesField(8, bytesField(2, values)))));
    });
    EXPECT_LE(peak(), 2 * fileBytes() + kConstant) << field;
  }
}

}  // namespace
}  // namespace steptape
