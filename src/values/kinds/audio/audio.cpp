// SPDX-License-Identifier: Apache-2.0
#include "values/kinds/audio/audio.h"

#include <cmath>
#include <cstring>
#include <limits>
#include <type_traits>
#include <utility>

#include "steptape/events/plugin_content.h"

#include "values/kinds/audio/wav_header.h"
#include "values/kinds/reject.h"
#include "values/kinds/tensor/strided.h"
#include "values/kinds/tensor/visit_elements.h"

namespace steptape::detail::values {
namespace {

/// The strides of audio, whatever the order of its dimensions.
struct Layout {
  Dimension frames{1, 0};
  Dimension channels{1, 0};
};

template <typename T>
constexpr bool kIsFloatSample = std::is_floating_point_v<T> || std::is_same_v<T, base::Float16> ||
                                std::is_same_v<T, base::BFloat16>;
/// Integer types with an agreed scale.
template <typename T>
constexpr bool kIsPcm = std::is_same_v<T, std::int16_t> || std::is_same_v<T, std::int32_t> ||
                        std::is_same_v<T, std::uint8_t>;

void checkType(const TensorView& samples) {
  visitElements(samples, [&](const auto* data) {
    using T = std::remove_const_t<std::remove_pointer_t<decltype(data)>>;
    if constexpr (!kIsFloatSample<T> && !kIsPcm<T>) {
      base::reject("element type " + std::string(dtypeName(samples.dtype())),
                   "a floating-point type (-1 to 1), int16, int32 or uint8");
    }
  });
}

Layout layoutOf(const TensorView& samples, const std::string& format) {
  if (format != "LC" && format != "CL") {
    base::reject("dataFormat = " + base::quoted(format), "\"LC\" or \"CL\"");
  }
  if (samples.rank() != 1 && samples.rank() != 2) {
    base::reject("shape " + samples.shapeString(),
                 "(frames) or " +
                     std::string(format == "LC" ? "(frames, channels)" : "(channels, frames)") +
                     " for dataFormat " + base::quoted(format));
  }
  if (samples.numel() == 0) {
    base::reject("shape " + samples.shapeString(), "at least one sample");
  }
  const auto dimension = [&](std::size_t i) {
    return Dimension{samples.shape()[i], samples.strides()[i]};
  };
  if (samples.rank() == 1) {
    return {dimension(0), {1, 0}};
  }
  return format == "LC" ? Layout{dimension(0), dimension(1)} : Layout{dimension(1), dimension(0)};
}

std::int64_t sampleBytes(AudioEncoding encoding) {
  return encoding == AudioEncoding::kPcm16 ? 2 : 4;
}

/// Returns the layout, after checking that every number fits its field in the WAV header.
Layout checkedLayout(const TensorView& samples, const AudioOptions& options) {
  constexpr std::int64_t kMaxFrameBytes = std::numeric_limits<std::uint16_t>::max();
  constexpr std::int64_t kMaxSecondBytes = std::numeric_limits<std::uint32_t>::max();
  checkType(samples);
  const Layout layout = layoutOf(samples, options.dataFormat);
  const std::int64_t bytes = sampleBytes(options.encoding);
  const std::int64_t channels = layout.channels.size;
  if (channels > kMaxFrameBytes / bytes) {
    base::reject(std::to_string(channels) + " channels in shape " + samples.shapeString() +
                     " with dataFormat " + base::quoted(options.dataFormat),
                 "at most " + std::to_string(kMaxFrameBytes / bytes));
  }
  if (options.sampleRate <= 0 || options.sampleRate > kMaxSecondBytes / (channels * bytes)) {
    base::reject("sampleRate = " + std::to_string(options.sampleRate),
                 "1 to " + std::to_string(kMaxSecondBytes / (channels * bytes)) + " for " +
                     std::to_string(channels) + " channels");
  }
  constexpr std::int64_t kMaxBytes = kMaxPayload - kMaxWavHeader;
  if (samples.numel() > kMaxBytes / bytes) {
    base::reject(
        std::to_string(samples.numel()) + " samples in shape " + samples.shapeString(),
        "at most " + std::to_string(kMaxBytes / bytes) + ", since a record is below 2 GiB");
  }
  return layout;
}

/// Converts to samples of 16 bits.
struct Pcm16 {
  std::uint64_t clipped = 0;

  static std::int16_t sample(std::int16_t value) { return value; }
  static std::int16_t sample(std::int32_t value) { return static_cast<std::int16_t>(value >> 16); }
  static std::int16_t sample(std::uint8_t value) {
    return static_cast<std::int16_t>((value - 128) * 256);
  }
  std::int16_t sample(double value) {
    constexpr double kScale = 32767;
    // Written so that NaN fails the comparison.
    if (!(std::abs(value) <= 1)) {
      ++clipped;
      value = std::isnan(value) ? 0 : std::copysign(1, value);
    }
    return static_cast<std::int16_t>(value * kScale + (value < 0 ? -0.5 : 0.5));
  }
};

/// Converts to binary32 samples.
struct Float32 {
  std::uint64_t clipped = 0;

  static float sample(std::int16_t value) { return static_cast<float>(value) * 0x1p-15F; }
  static float sample(std::int32_t value) { return static_cast<float>(value) * 0x1p-31F; }
  static float sample(std::uint8_t value) { return static_cast<float>(value - 128) * 0x1p-7F; }
  float sample(double value) {
    const auto narrow = static_cast<float>(value);
    if (std::isfinite(narrow)) {
      return narrow;
    }
    ++clipped;
    return std::isnan(narrow) ? 0.0F : std::copysign(1.0F, narrow);
  }
};

/// Writes the samples to `to`, frame by frame.
/// @return the number of clipped samples.
template <typename Quantizer>
std::uint64_t writeSamples(const TensorView& samples, const Layout& layout, char* to) {
  Quantizer quantizer;
  const auto write = [&to](auto sample) {
    std::memcpy(to, &sample, sizeof(sample));
    to += sizeof(sample);
  };
  visitElements(samples, [&](const auto* data) {
    using T = std::remove_const_t<std::remove_pointer_t<decltype(data)>>;
    for (std::int64_t i = 0; i < layout.frames.size; ++i) {
      const T* const frame = data + i * layout.frames.stride;
      for (std::int64_t c = 0; c < layout.channels.size; ++c) {
        const T element = frame[c * layout.channels.stride];
        if constexpr (kIsPcm<T>) {
          write(quantizer.sample(element));
        } else if constexpr (kIsFloatSample<T>) {
          write(quantizer.sample(base::widen<double>(element)));
        }
      }
    }
  });
  return quantizer.clipped;
}

}  // namespace

void checkAudio(const TensorView& samples, const AudioOptions& options) {
  checkedLayout(samples, options);
}

WavFile encodeWav(const TensorView& samples, const AudioOptions& options) {
  const Layout layout = checkedLayout(samples, options);
  const bool isFloat = options.encoding == AudioEncoding::kFloat32;
  const std::int64_t bytes = sampleBytes(options.encoding);
  const WavFormat format{static_cast<std::uint32_t>(layout.channels.size),
                         static_cast<std::uint32_t>(options.sampleRate),
                         static_cast<std::uint32_t>(bytes), isFloat};
  WavFile file;
  file.bytes = wavHeader(format, static_cast<std::uint32_t>(layout.frames.size));
  const std::size_t headerBytes = file.bytes.size();
  file.bytes.resize(headerBytes + static_cast<std::size_t>(samples.numel() * bytes));
  char* const to = file.bytes.data() + headerBytes;
  file.clipped = isFloat ? writeSamples<Float32>(samples, layout, to)
                         : writeSamples<Pcm16>(samples, layout, to);
  return file;
}

event::Value audioValue(std::string tag, std::string wav, event::SummaryMetadata metadata,
                        ValueForm form) {
  metadata.pluginName = event::kAudioPlugin;
  metadata.pluginContent = event::audioPluginContent();
  metadata.dataClass = event::DataClass::kBlobSequence;
  if (form == ValueForm::kCompatible) {
    const WavLength length = wavLength(wav);
    event::SummaryAudio audio;
    audio.sampleRate = static_cast<float>(length.sampleRate);
    audio.numChannels = length.channels;
    audio.lengthFrames = length.frames;
    audio.encoded = std::move(wav);
    audio.contentType = "audio/wav";
    return {std::move(tag), std::move(audio), std::move(metadata)};
  }
  event::Tensor tensor;
  tensor.type = event::TensorType::kString;
  tensor.shape = {1};
  tensor.strings.push_back(std::move(wav));
  return {std::move(tag), std::move(tensor), std::move(metadata)};
}

}  // namespace steptape::detail::values
