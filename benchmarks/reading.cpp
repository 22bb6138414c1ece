// SPDX-License-Identifier: Apache-2.0
// What reading event files costs, beside what it must cost and beside a reader as others build it.
//
//   reading_benchmark               files of 4,000,000 scalars and of 1 GiB of large tensors
//   reading_benchmark FILE [N]      reads FILE on N threads once, prints seconds and points
//   reading_benchmark --write FILE  writes the 4,000,000 scalars, for benchmarks/reading.py
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

#include "steptape/event/event_codec.h"
#include "steptape/reader/run_reader.h"
#include "steptape/record/record_buffer.h"
#include "steptape/record/record_format.h"
#include "steptape/record/record_reader.h"
#include "steptape/testing/temp_dir.h"
#include "steptape/wire/event.pb.h"

#include "harness.h"
#include "table_crc.h"

namespace {

using benchmark::Costs;
using benchmark::Variant;

constexpr std::int64_t kScalars = 4'000'000;
constexpr int kTags = 10;
constexpr std::int64_t kTensors = 2048;
constexpr std::size_t kTensorBytes = 512 << 10;
constexpr int kRounds = 11;
constexpr double kNanos = 1e9;

/// Writes `events` events to `path`, the i-th made by `make`.
template <typename Make>
void writeEvents(const std::string& path, std::int64_t events, const Make& make) {
  std::ofstream file(path, std::ios::binary);
  steptape::RecordBuffer records;
  const auto write = [&] {
    file.write(records.bytes().data(), static_cast<std::streamsize>(records.bytes().size()));
    records.clear();
  };
  steptape::Event version;
  version.what = steptape::FileVersion{"brain.Event:2"};
  steptape::encodeEvent(version, records.beginRecord());
  records.endRecord();
  for (std::int64_t i = 0; i < events; ++i) {
    steptape::encodeEvent(make(i), records.beginRecord());
    records.endRecord();
    if (records.bytes().size() > (1 << 20)) {
      write();
    }
  }
  write();
}

/// One `simple_value` an event, as torch.utils.tensorboard and tensorboardX write scalars.
steptape::Event scalarEvent(std::int64_t i) {
  steptape::Value value;
  value.tag = "curve/10" + std::to_string(i % kTags);
  value.data = static_cast<float>(i);
  steptape::Event event;
  event.wallTime = 1.7e9 + 0.001 * static_cast<double>(i);
  event.step = i / kTags;
  event.what = steptape::Summary{{std::move(value)}};
  return event;
}

steptape::Event tensorEvent(std::int64_t i) {
  steptape::Tensor tensor;
  tensor.type = steptape::TensorType::kUInt8;
  tensor.shape = {static_cast<std::int64_t>(kTensorBytes)};
  tensor.content.assign(kTensorBytes, static_cast<char>(i));
  steptape::SummaryMetadata metadata;
  metadata.pluginName = "tensor";
  steptape::Event event;
  event.step = i;
  event.what = steptape::Summary{{{"large", std::move(tensor), std::move(metadata)}}};
  return event;
}

std::size_t pointsIn(const std::string& path, int threads) {
  steptape::RunReaderOptions options;
  options.threads = threads;
  steptape::RunReader reader({".", "", {path}}, options);
  reader.update();
  std::size_t points = 0;
  for (const auto& [tag, series] : reader.tags()) {
    points += series.size();
  }
  return points;
}

std::size_t recordsIn(const std::string& path) {
  steptape::RecordReader reader(std::make_unique<steptape::FileByteSource>(path));
  std::size_t records = 0;
  for (std::string_view payload; reader.next(&payload) == steptape::ReadOutcome::kRecord;) {
    ++records;
  }
  return records;
}

/// The system calls alone.
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

/// A reader as TensorBoard's data server is built: a buffered file, a vector a record, checksums
/// from a table, a message that owns what it holds, points by tag.
std::size_t pointsByMessages(const std::string& path) {
  struct Point {
    double wallTime;
    std::int64_t step;
    float value;
  };
  static const benchmark::TableCrc kCrc;
  std::unordered_map<std::string, std::vector<Point>> series;
  std::ifstream file(path, std::ios::binary);
  std::size_t points = 0;
  for (std::array<char, steptape::kHeaderBytes> header;
       file.read(header.data(), steptape::kHeaderBytes);) {
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
      ++points;
    }
  }
  return points;
}

/// What `read()` costs in nanoseconds of processor time a point, and of the wall clock.
template <typename Read>
Variant cpuOf(const std::string& name, double points, const Read& read) {
  return {name, [=] {
            const double begin = benchmark::cpuSeconds();
            benchmark::keep(read());
            return (benchmark::cpuSeconds() - begin) / points * kNanos;
          }};
}
template <typename Read>
Variant wallOf(const std::string& name, double points, const Read& read) {
  return {name, [=] {
            const double begin = benchmark::nowNanos();
            benchmark::keep(read());
            return (benchmark::nowNanos() - begin) / points;
          }};
}

std::vector<Costs> compare(const std::vector<Variant>& variants, const char* unit) {
  const std::vector<Costs> costs = benchmark::rotate(variants, kRounds);
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
               cpuOf("RunReader", points, [&] { return pointsIn(path, 1); }),
               cpuOf("RunReader again", points, [&] { return pointsIn(path, 1); }),
               cpuOf("owned messages, checksums from a table", points,
                     [&] { return pointsByMessages(path); })},
              "ns a scalar");
  benchmark::printControl("RunReader / RunReader again", benchmark::ratio(costs[2], costs[3]), 0.1);
  benchmark::printAtLeast("owned messages / RunReader", benchmark::ratio(costs[4], costs[2]), 10);

  benchmark::printTitle("The same on two threads; wall clock");
  costs = compare({wallOf("one thread", points, [&] { return pointsIn(path, 1); }),
                   wallOf("one thread again", points, [&] { return pointsIn(path, 1); }),
                   wallOf("two threads", points, [&] { return pointsIn(path, 2); })},
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
               cpuOf("RunReader", mebibytes, [&] { return pointsIn(path, 1); }),
               cpuOf("RunReader again", mebibytes, [&] { return pointsIn(path, 1); })},
              "ns a MiB");
  benchmark::printControl("RunReader / RunReader again", benchmark::ratio(costs[1], costs[2]), 0.1);
  benchmark::printAtLeast("read(2) / RunReader", benchmark::ratio(costs[0], costs[1]), 0.7);
}

int readOnce(const std::string& path, int threads) {
  const double begin = benchmark::nowNanos();
  const std::size_t points = pointsIn(path, threads);
  std::printf("%.6f %zu\n", (benchmark::nowNanos() - begin) / kNanos, points);
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc > 2 && std::string_view(argv[1]) == "--write") {
    writeEvents(argv[2], kScalars, scalarEvent);
    return 0;
  }
  if (argc > 1) {
    return readOnce(argv[1], argc > 2 ? std::atoi(argv[2]) : 1);
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
