// SPDX-License-Identifier: Apache-2.0
// The cost of reading event files, compared with the minimum and with a reader as others build it.
//
//   reading_benchmark                          4,000,000 scalars, and 1 GiB of large tensors
//   reading_benchmark PATH [THREADS]           reads all runs below PATH, prints seconds and points
//   reading_benchmark --peak [FILE [THREADS]]  reads FILE and each value that is not a scalar, or
//                                              nothing; prints its peak memory in bytes, and values
//   reading_benchmark --write FILE [SCALARS]
//   reading_benchmark --write-images FILE      2 GiB of images
//
// All but the first are for benchmarks/reading.py, server_load.py and image_memory.py.
#include <array>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <fstream>
#include <memory>
#include <string>
#include <string_view>
#include <unistd.h>
#include <unordered_map>
#include <vector>

#include "steptape/events/record_reader.h"
#include "steptape/log/log_dir.h"
#include "steptape/log/run_reader.h"
#include "steptape/ranks/testing.h"
#include "steptape/wire/event.pb.h"

#include "event_file.h"
#include "events/framing/record_format.h"
#include "harness.h"
#include "table_crc.h"

namespace {

using benchmark::Costs;
using benchmark::imageEvent;
using benchmark::kTensorBytes;
using benchmark::scalarEvent;
using benchmark::tensorEvent;
using benchmark::Variant;
using benchmark::writeEvents;

constexpr std::int64_t kScalars = 4'000'000;
constexpr std::int64_t kTensors = 2048;
constexpr std::int64_t kImages = 3600;  // 2 GiB
constexpr int kRounds = 11;
constexpr double kNanos = 1e9;

steptape::RunReaderOptions withThreads(int threads) {
  steptape::RunReaderOptions options;
  options.threads = threads;
  return options;
}

std::size_t pointsIn(const steptape::RunReader& run) {
  std::size_t points = 0;
  for (const auto& [tag, series] : run.tags()) {
    points += series.size();
  }
  return points;
}

steptape::RunReader readRun(const std::string& path, int threads) {
  steptape::RunReader run({".", "", {path}}, withThreads(threads));
  run.update();
  return run;
}

/// Reads the values that are only in the files, one after the other.
std::size_t readValues(const steptape::RunReader& run) {
  std::size_t values = 0;
  for (const auto& [tag, series] : run.tags()) {
    for (const steptape::ValueLocation& location : series.values) {
      steptape::event::Value value;
      if (!run.value(location, &value).ok()) {
        std::abort();
      }
      benchmark::keep(value);
      ++values;
    }
  }
  return values;
}

std::size_t recordsIn(const std::string& path) {
  steptape::RecordReader reader(std::make_unique<steptape::FileByteSource>(path));
  std::size_t records = 0;
  for (std::string_view payload; reader.next(&payload) == steptape::ReadOutcome::kRecord;) {
    ++records;
  }
  return records;
}

/// Only the system calls.
std::size_t bytesIn(const std::string& path) {
  const int file = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  std::vector<char> buffer(1 << 20);
  std::size_t bytes = 0;
  for (ssize_t got; (got = ::read(file, buffer.data(), buffer.size())) > 0;) {
    bytes += static_cast<std::size_t>(got);
  }
  ::close(file);
  return bytes;
}

struct Point {
  double wallTime;
  std::int64_t step;
  float value;
};
using PointsByTag = std::unordered_map<std::string, std::vector<Point>>;

/// Reads like TensorBoard's data server: a buffered file, a vector per record, checksums from a
/// table, a message that owns its data, points by tag.
PointsByTag readByMessages(const std::string& path) {
  static const benchmark::TableCrc kCrc;
  PointsByTag series;
  std::ifstream file(path, std::ios::binary);
  for (std::array<char, steptape::detail::events::kHeaderBytes> header;
       file.read(header.data(), steptape::detail::events::kHeaderBytes);) {
    std::uint64_t length;
    std::uint32_t crc;
    std::memcpy(&length, header.data(), sizeof length);
    std::memcpy(&crc, header.data() + sizeof length, sizeof crc);
    if (crc != kCrc.masked({header.data(), sizeof length})) {
      std::abort();
    }
    std::vector<char> payload(length);
    file.read(payload.data(), static_cast<std::streamsize>(length));
    file.read(reinterpret_cast<char*>(&crc), sizeof crc);
    if (crc != kCrc.masked({payload.data(), payload.size()})) {
      std::abort();
    }
    steptape::wire::Event event;
    event.ParseFromArray(payload.data(), static_cast<int>(payload.size()));
    for (const auto& value : event.summary().value()) {
      series[value.tag()].push_back({event.wall_time(), event.step(), value.simple_value()});
    }
  }
  return series;
}

/// Returns the cost of `read()`: CPU time in nanoseconds per point, and wall time. Excludes freeing
/// its result.
template <typename Read>
Variant cpuOf(const std::string& name, double points, const Read& read) {
  return {name, [=] {
            const double begin = benchmark::cpuSeconds();
            const auto result = read();
            const double end = benchmark::cpuSeconds();
            benchmark::keep(&result);
            return (end - begin) / points * kNanos;
          }};
}
template <typename Read>
Variant wallOf(const std::string& name, double points, const Read& read) {
  return {name, [=] {
            const double begin = benchmark::nowNanos();
            const auto result = read();
            const double end = benchmark::nowNanos();
            benchmark::keep(&result);
            return (end - begin) / points;
          }};
}

std::vector<Costs> compare(const std::vector<Variant>& variants, const char* unit) {
  std::vector<Costs> costs = benchmark::takeTurns(variants, kRounds);
  for (std::size_t i = 0; i < variants.size(); ++i) {
    benchmark::printCosts(variants[i].name, costs[i], unit);
  }
  return costs;
}

void readScalars(const std::string& path) {
  const auto points = static_cast<double>(kScalars);
  benchmark::printTitle("4,000,000 scalars, one simple_value an event; processor time");
  std::vector<Costs> costs =
      compare({cpuOf("read(2) alone", points, [&] { return bytesIn(path); }),
               cpuOf("records and their checksums alone", points, [&] { return recordsIn(path); }),
               cpuOf("RunReader", points, [&] { return readRun(path, 1); }),
               cpuOf("RunReader again", points, [&] { return readRun(path, 1); }),
               cpuOf("owned messages, checksums from a table", points,
                     [&] { return readByMessages(path); })},
              "ns a scalar");
  benchmark::printControl("RunReader / RunReader again", benchmark::ratio(costs[2], costs[3]), 0.1);
  benchmark::printAtLeast("owned messages / RunReader", benchmark::ratio(costs[4], costs[2]), 10);

  benchmark::printTitle("The same on two threads; wall clock");
  costs = compare({wallOf("one thread", points, [&] { return readRun(path, 1); }),
                   wallOf("one thread again", points, [&] { return readRun(path, 1); }),
                   wallOf("two threads", points, [&] { return readRun(path, 2); })},
                  "ns a scalar");
  benchmark::printControl("one thread / one thread again", benchmark::ratio(costs[0], costs[1]),
                          0.1);
  benchmark::printAtLeast("one thread / two threads", benchmark::ratio(costs[0], costs[2]), 1.7);
}

void readTensors(const std::string& path) {
  const double mebibytes = static_cast<double>(kTensors * kTensorBytes) / (1 << 20);
  benchmark::printTitle("1 GiB of tensors of 512 KiB; processor time");
  const std::vector<Costs> costs =
      compare({cpuOf("read(2) alone", mebibytes, [&] { return bytesIn(path); }),
               cpuOf("RunReader", mebibytes, [&] { return readRun(path, 1); }),
               cpuOf("RunReader again", mebibytes, [&] { return readRun(path, 1); })},
              "ns a MiB");
  benchmark::printControl("RunReader / RunReader again", benchmark::ratio(costs[1], costs[2]), 0.1);
  benchmark::printAtLeast("read(2) / RunReader", benchmark::ratio(costs[0], costs[1]), 0.7);
}

int readOnce(const std::string& path, int threads) {
  const double begin = benchmark::nowNanos();
  steptape::LogDir log(path, withThreads(threads));
  log.update();
  const double seconds = (benchmark::nowNanos() - begin) / kNanos;
  std::size_t points = 0;
  for (const auto& [name, run] : log.runs()) {
    points += pointsIn(run);
  }
  std::printf("%.6f %zu\n", seconds, points);
  std::fflush(stdout);  // readers of this line do not wait until the memory is freed
  return 0;
}

/// @return the peak memory of this process so far, in bytes. getrusage() would include that of the
///         program that started it.
long peakMemory() {
  std::ifstream status("/proc/self/status");
  for (std::string line; std::getline(status, line);) {
    long kibibytes;
    if (std::sscanf(line.c_str(), "VmHWM: %ld kB", &kibibytes) == 1) {
      return kibibytes * 1024;
    }
  }
  std::abort();
}

int printPeak(const char* path, int threads) {
  std::size_t values = 0;
  if (path != nullptr) {
    steptape::RunReader run({".", "", {path}}, withThreads(threads));
    run.update();
    values = readValues(run);
  }
  std::printf("%ld %zu\n", peakMemory(), values);
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  const std::string_view mode = argc > 1 ? argv[1] : "";
  const auto numberAt = [&](int i, std::int64_t other) {
    return argc > i ? std::atoll(argv[i]) : other;
  };
  if (mode == "--write" && argc > 2) {
    writeEvents(argv[2], numberAt(3, kScalars), scalarEvent);
    return 0;
  }
  if (mode == "--write-images" && argc > 2) {
    writeEvents(argv[2], kImages, imageEvent);
    return 0;
  }
  if (mode == "--peak") {
    return printPeak(argc > 2 ? argv[2] : nullptr, static_cast<int>(numberAt(3, 1)));
  }
  if (!mode.empty()) {
    return readOnce(argv[1], static_cast<int>(numberAt(2, 1)));
  }
  const steptape::testing::TempDir directory;
  const std::string scalars = directory.string() + "/scalars.tfevents";
  writeEvents(scalars, kScalars, scalarEvent);
  readScalars(scalars);
  std::remove(scalars.c_str());
  const std::string tensors = directory.string() + "/tensors.tfevents";
  writeEvents(tensors, kTensors, tensorEvent);
  readTensors(tensors);
}
