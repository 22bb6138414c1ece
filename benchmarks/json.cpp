// SPDX-License-Identifier: Apache-2.0
//
// Measures the cost of a line of JSON: exportJsonl() and exportJson() of a file of scalars, from
// the file to the last line, with all checksums and both passes, compared with one pass with this
// library's RecordReader and Protocol Buffers' MessageToJsonString().
//
//   build/release/bin/json_benchmark
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "steptape/events/record_reader.h"
#include "steptape/log/export.h"
#include "steptape/ranks/testing.h"

#include "events/framing/record_buffer.h"
#include "events/messages/event_codec.h"
#include "harness.h"
#include "log/reader/run_events.h"
#include "peer_event.pb.h"

#include <google/protobuf/util/json_util.h>

namespace {

constexpr int kRounds = 21;
constexpr int kEvents = 1'000'000;
constexpr int kPeerEvents = 20'000;
constexpr int kTags = 10;

std::string tagOf(int event) {
  return "train/metric" + std::to_string(event % kTags);
}
float valueOf(int event) {
  return 1.0F / static_cast<float>(event + 1);
}
double wallTimeOf(int event) {
  return 1.7e9 + event * 0.0312345;
}

/// One `simple_value` per event, as most writers do: the most expensive form per scalar.
void writeEvents(const std::string& path) {
  steptape::detail::events::RecordBuffer records;
  for (int i = 0; i < kEvents; ++i) {
    steptape::event::Value value{tagOf(i), valueOf(i), std::nullopt};
    steptape::event::Event event{wallTimeOf(i), i / kTags, steptape::event::Summary{{value}}, ""};
    steptape::detail::events::encodeEvent(event, records.beginRecord());
    records.endRecord();
  }
  const std::string bytes = records.take();
  std::FILE* const file = std::fopen(path.c_str(), "wb");
  if (file == nullptr || std::fwrite(bytes.data(), 1, bytes.size(), file) != bytes.size() ||
      std::fclose(file) != 0) {
    std::perror(path.c_str());
    std::exit(1);
  }
}

using Export = steptape::ExportResult (*)(const std::vector<steptape::RunFiles>&,
                                          const steptape::ExportOptions&,
                                          const steptape::ExportSink&);

double exportNanos(Export exportRuns, const std::string& path) {
  std::size_t bytes = 0;
  const double start = benchmark::cpuSeconds();
  const steptape::ExportResult result = exportRuns(
      steptape::listRuns(path), {}, [&](std::string_view text) { bytes += text.size(); });
  const double seconds = benchmark::cpuSeconds() - start;
  benchmark::keep(bytes);
  return seconds * 1e9 / static_cast<double>(result.values);
}

/// Reads and parses each event, and optionally prints it by Protocol Buffers, in a plain loop over
/// the file.
double peerNanos(const std::string& path, bool prints) {
  steptape::RecordReader records(std::make_unique<steptape::FileByteSource>(path));
  std::string_view payload;
  steptape::benchmark::PeerEvent event;
  std::string json;
  const double start = benchmark::cpuSeconds();
  for (int i = 0; i < kPeerEvents && records.next(&payload) == steptape::ReadOutcome::kRecord;
       ++i) {
    event.ParseFromArray(payload.data(), static_cast<int>(payload.size()));
    if (prints) {
      json.clear();
      static_cast<void>(google::protobuf::util::MessageToJsonString(event, &json));
    }
    benchmark::keep(json);
  }
  return (benchmark::cpuSeconds() - start) * 1e9 / kPeerEvents;
}

/// Reads the file like exportJsonl(), without printing.
double readNanos(const std::string& path) {
  std::uint64_t values = 0;
  const double start = benchmark::cpuSeconds();
  steptape::detail::log::RunEvents events(steptape::listRuns(path).front());
  steptape::detail::log::RunValue value;
  while (events.next(&value)) {
    benchmark::keep(value);
    ++values;
  }
  return (benchmark::cpuSeconds() - start) * 1e9 / static_cast<double>(values);
}

benchmark::Costs difference(benchmark::Costs costs, const benchmark::Costs& without) {
  for (std::size_t i = 0; i < costs.size(); ++i) {
    costs[i] -= without[i];
  }
  return costs;
}

}  // namespace

int main() {
  steptape::testing::TempDir dir;
  const std::string path = dir.string() + "/events.out.tfevents.1";
  writeEvents(path);
  const std::vector<benchmark::Variant> variants = {
      {"read, ParseFromArray(), MessageToJsonString()", [&] { return peerNanos(path, true); }},
      {"the same again (A/A)", [&] { return peerNanos(path, true); }},
      {"read, ParseFromArray()", [&] { return peerNanos(path, false); }},
      {"exportJsonl()", [&] { return exportNanos(steptape::exportJsonl, path); }},
      {"exportJson()", [&] { return exportNanos(steptape::exportJson, path); }},
      {"RunEvents", [&] { return readNanos(path); }}};
  const auto costs = benchmark::takeTurns(variants, kRounds);
  benchmark::printTitle("An event with one scalar as JSON, nanoseconds of CPU time");
  for (std::size_t i = 0; i < variants.size(); ++i) {
    benchmark::printCosts(variants[i].name, costs[i], "ns");
  }
  benchmark::printControl("protobuf / protobuf again", benchmark::ratio(costs[0], costs[1]), 0.1);
  benchmark::printAtLeast(
      "event to line: protobuf / exportJsonl(), both without reading",
      benchmark::ratio(difference(costs[0], costs[2]), difference(costs[3], costs[5])), 40);
  benchmark::printAtLeast("file to lines: protobuf / exportJsonl()",
                          benchmark::ratio(costs[0], costs[3]), 30);
  benchmark::printAtLeast("file to lines: protobuf / exportJson()",
                          benchmark::ratio(costs[0], costs[4]), 20);
  return 0;
}
