// SPDX-License-Identifier: Apache-2.0
#include "event_file.h"

#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <random>
#include <utility>

#include "steptape/events/plugin_content.h"

#include "events/framing/record_buffer.h"
#include "events/messages/event_codec.h"

namespace benchmark {
namespace {

constexpr int kScalarTags = 10;
constexpr int kImageTags = 4;
constexpr std::size_t kWriteBytes = 1 << 20;

/// Returns bytes that compress as badly as those of an image.
std::string noise(std::size_t bytes) {
  std::mt19937_64 random(1);
  std::string noise;
  noise.reserve(bytes + sizeof(std::uint64_t));
  while (noise.size() < bytes) {
    const std::uint64_t word = random();
    noise.append(reinterpret_cast<const char*>(&word), sizeof word);
  }
  noise.resize(bytes);
  return noise;
}

}  // namespace

void writeEvents(const std::string& path, std::int64_t events,
                 const std::function<steptape::event::Event(std::int64_t)>& make) {
  std::ofstream file(path, std::ios::binary);
  steptape::detail::events::RecordBuffer records;
  const auto write = [&] {
    file.write(records.bytes().data(), static_cast<std::streamsize>(records.bytes().size()));
    records.clear();
  };
  steptape::event::Event version;
  version.what = steptape::event::FileVersion{"brain.Event:2"};
  steptape::detail::events::encodeEvent(version, records.beginRecord());
  records.endRecord();
  for (std::int64_t i = 0; i < events; ++i) {
    steptape::detail::events::encodeEvent(make(i), records.beginRecord());
    records.endRecord();
    if (records.bytes().size() > kWriteBytes) {
      write();
    }
  }
  write();
  file.close();
  if (!file) {
    std::perror(path.c_str());
    std::exit(1);
  }
}

steptape::event::Event scalarEvent(std::int64_t i) {
  steptape::event::Value value;
  value.tag = "curve/10" + std::to_string(i % kScalarTags);
  value.data = static_cast<float>(i);
  steptape::event::Event event;
  event.wallTime = 1.7e9 + 0.001 * static_cast<double>(i);
  event.step = i / kScalarTags;
  event.what = steptape::event::Summary{{std::move(value)}};
  return event;
}

steptape::event::Event tensorEvent(std::int64_t i) {
  steptape::event::Tensor tensor;
  tensor.type = steptape::event::TensorType::kUInt8;
  tensor.shape = {static_cast<std::int64_t>(kTensorBytes)};
  tensor.content.assign(kTensorBytes, static_cast<char>(i));
  steptape::event::SummaryMetadata metadata;
  metadata.pluginName = "tensor";
  steptape::event::Event event;
  event.step = i;
  event.what = steptape::event::Summary{{{"large", std::move(tensor), std::move(metadata)}}};
  return event;
}

steptape::event::Event imageEvent(std::int64_t i) {
  static const std::string kPixels = noise(1'000'000);
  // 257 and 801 have no common divisor, so all sizes occur.
  const std::size_t bytes = 200'000 + static_cast<std::size_t>(i * 257 % 801) * 1000;
  steptape::event::Tensor tensor;
  tensor.type = steptape::event::TensorType::kString;
  tensor.shape = {3};
  tensor.strings = {"640", "480", "\x89PNG\r\n\x1a\n" + kPixels.substr(0, bytes)};
  steptape::event::SummaryMetadata metadata;
  metadata.pluginName = steptape::event::kImagesPlugin;
  metadata.dataClass = steptape::event::DataClass::kBlobSequence;
  steptape::event::Event event;
  event.wallTime = 1.7e9 + static_cast<double>(i);
  event.step = i / kImageTags;
  event.what = steptape::event::Summary{
      {{"sample/" + std::to_string(i % kImageTags), std::move(tensor), std::move(metadata)}}};
  return event;
}

}  // namespace benchmark
