// SPDX-License-Identifier: Apache-2.0
// Fuzzes runs of damaged files: reading them in two steps, or by several threads, gives the same as
// one step.
#include <cstring>
#include <fstream>
#include <string>
#include <string_view>
#include <vector>

#include "steptape/events/plugin_content.h"
#include "steptape/log/run_reader.h"
#include "steptape/ranks/testing.h"

#include "events/messages/event_codec.h"
#include "events/messages/scalar_agreement.h"
#include "fuzz/fuzz_file.h"

namespace steptape {
namespace {

/// Returns a value of the tag "a", "b" or "c"; each tag has values of one plugin.
event::Value takeValue(FuzzInput* input) {
  constexpr const char* kPlugins[] = {event::kScalarsPlugin, event::kImagesPlugin,
                                      event::kTextPlugin};
  const std::size_t tag = input->below(3);
  event::Value value;
  value.tag = std::string(1, static_cast<char>('a' + tag));
  if (tag == 0 && input->below(2) == 0) {
    value.data = static_cast<float>(input->byte());
    return value;
  }
  value.metadata.emplace();
  value.metadata->pluginName = kPlugins[input->below(4) == 0 ? input->below(3) : tag];
  value.metadata->displayName = std::string(input->below(2), 'd');
  event::Tensor tensor;
  tensor.type = event::TensorType::kFloat;
  if (input->below(4) == 0) {
    tensor.shape = {static_cast<std::int64_t>(input->below(3))};
  }
  const float number = static_cast<float>(input->byte());
  for (std::int64_t n = tensor.shape.empty() ? 1 : tensor.shape[0]; n > 0; --n) {
    tensor.content.append(reinterpret_cast<const char*>(&number), sizeof number);
  }
  value.data = tensor;
  return value;
}

event::Event::What takeWhat(FuzzInput* input) {
  switch (input->below(8)) {
    case 0:
      return event::SessionLog{static_cast<event::SessionLog::Status>(input->below(4)), "", ""};
    case 1:
      return event::FileVersion{input->below(2) == 0 ? "brain.Event:1" : "brain.Event:2"};
    case 2:
      return event::GraphDef{std::string(1, static_cast<char>(input->byte()))};
    default: {
      event::Summary summary;
      for (std::size_t values = input->below(4); values > 0; --values) {
        summary.values.push_back(takeValue(input));
      }
      return summary;
    }
  }
}

/// Returns an event, or a few bytes that are not an event.
std::string takePayload(FuzzInput* input) {
  if (input->below(8) == 0) {
    return input->text();
  }
  event::Event event;
  event.wallTime = 1;
  event.step = std::int64_t{input->byte()} - 128;
  event.what = takeWhat(input);
  std::string payload;
  detail::events::encodeEvent(event, &payload);
  return payload;
}

bool isSameLocation(const ValueLocation& a, const ValueLocation& b) {
  return hasSameBits(a.wallTime, b.wallTime) && a.step == b.step && a.offset == b.offset &&
         a.bytes == b.bytes && a.file == b.file && a.index == b.index;
}

template <typename List, typename IsSame>
bool isSameList(const List& a, const List& b, IsSame isSame) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(), isSame);
}

bool isSameSeries(const TagSeries& a, const TagSeries& b) {
  return isSameMetadata(a.metadata, b.metadata) && a.scalars.steps == b.scalars.steps &&
         isSameList(a.scalars.wallTimes, b.scalars.wallTimes, hasSameBits<double>) &&
         isSameList(a.scalars.values, b.scalars.values, hasSameBits<double>) &&
         isSameList(a.values, b.values, isSameLocation) &&
         isSameList(a.others, b.others, isSameSeries);
}

void requireSame(const RunReader& a, const RunReader& b, const char* promise) {
  require(std::equal(a.tags().begin(), a.tags().end(), b.tags().begin(), b.tags().end(),
                     [](const auto& one, const auto& other) {
                       return one.first == other.first && isSameSeries(one.second, other.second);
                     }),
          promise);
  require(isSameList(a.damage(), b.damage(),
                     [](const Damage& one, const Damage& other) {
                       return one.path == other.path && one.offset == other.offset &&
                              one.bytes == other.bytes && one.outcome == other.outcome;
                     }),
          promise);
}

void checkValues(const RunReader& run, const std::string& tag, const TagSeries& series) {
  for (const ValueLocation& location : series.values) {
    event::Value value;
    require(run.value(location, &value).ok(), "a value is where its location says");
    require(value.tag == tag || !series.metadata.pluginName.compare(0, 5, kGraphsPlugin, 5),
            "a value has its tag");
  }
}

void checkRun(RunReader* run, std::string_view lastFile) {
  require(run->update() == 0, "a second update() finds nothing");
  for (const auto& [tag, series] : run->tags()) {
    require(series.scalars.wallTimes.size() == series.scalars.steps.size() &&
                series.scalars.values.size() == series.scalars.steps.size(),
            "columns have one length");
    checkValues(*run, tag, series);
    for (const TagSeries& other : series.others) {
      require(other.scalars.size() == 0 && other.others.empty(), "a further kind has values only");
      checkValues(*run, tag, other);
    }
  }
  std::uint64_t end = 0;
  for (const Damage& damage : run->damage()) {
    require(!damage.status.ok(), "damage says why");
    if (damage.path == run->files().back()) {
      require(damage.offset >= end, "gaps do not overlap");
      end = damage.offset + damage.bytes;
      require(end <= lastFile.size(), "gaps lie in the file");
    }
  }
}

void writeFile(const std::string& path, std::string_view bytes) {
  std::ofstream out(path, std::ios::binary);
  out.write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
}

void readRun(FuzzInput* input) {
  static const testing::TempDir kDir;
  const std::string first = kDir.string() + "/events.out.tfevents.1";
  const std::string last = kDir.string() + "/events.out.tfevents.2";
  RunReaderOptions options;
  options.purge = static_cast<PurgePolicy>(input->below(3));
  options.expectGrowth = input->below(2) == 0;
  options.sampling.otherMaxPoints = input->below(4);
  const std::size_t cut = static_cast<std::size_t>(input->below(256)) * 4;
  const std::string firstBytes = takeFile(input, takePayload).bytes;
  const std::string bytes = takeFile(input, takePayload).bytes;
  const RunFiles files{".", kDir.string(), {first, last}, false};

  writeFile(first, firstBytes);
  writeFile(last, bytes);
  RunReader whole(files, options);
  require(whole.update() <= firstBytes.size() + bytes.size(), "no more is read than is there");
  checkRun(&whole, bytes);

  RunReaderOptions threaded = options;
  threaded.threads = 2;
  RunReader byThreads(files, threaded);
  byThreads.update();
  requireSame(byThreads, whole, "threads change nothing");

  // A reader that may not wait for the rest of a record regards the following bytes as damage.
  if (options.expectGrowth) {
    writeFile(last, bytes.substr(0, std::min(cut, bytes.size())));
    RunReader growing(files, options);
    growing.update();
    writeFile(last, bytes);
    growing.update();
    requireSame(growing, whole, "a file that grows gives what the whole file gives");
  }
}

}  // namespace
}  // namespace steptape

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  steptape::FuzzInput input(data, size);
  steptape::readRun(&input);
  return 0;
}
