// SPDX-License-Identifier: Apache-2.0
// Fuzzes tensors of any layout as sounds.
#include <array>
#include <string>

#include "steptape/base/status.h"

#include "base/little_endian.h"
#include "fuzz/fuzz_input.h"
#include "fuzz/fuzz_tensor.h"
#include "values/kinds/audio/audio.h"

namespace steptape {
namespace {

/// Returns the data of a RIFF file's chunk; ends the process if a chunk extends beyond the file.
std::string chunkOf(const std::string& riff, const std::string& name) {
  std::size_t at = 12;
  while (at + 8 <= riff.size()) {
    const std::size_t bytes = detail::base::loadLittleEndian32(&riff[at + 4]);
    require(bytes <= riff.size() - at - 8, "a chunk ends within the file");
    if (riff.compare(at, 4, name) == 0) {
      return riff.substr(at + 8, bytes);
    }
    at += 8 + bytes + bytes % 2;
  }
  require(false, "a WAV file has a format and data");
  return "";
}

void checkWav(const detail::values::WavFile& wav, const TensorView& samples,
              const AudioOptions& options) {
  const std::string& riff = wav.bytes;
  require(riff.substr(0, 4) == "RIFF" && riff.substr(8, 4) == "WAVE", "a WAV file says so");
  require(detail::base::loadLittleEndian32(&riff[4]) + std::size_t{8} == riff.size(),
          "the RIFF chunk is the file");
  const auto numel = static_cast<std::uint64_t>(samples.numel());
  const std::size_t sampleBytes = options.encoding == AudioEncoding::kPcm16 ? 2 : 4;
  require(chunkOf(riff, "data").size() == numel * sampleBytes, "every sample is in the file");
  require(wav.clipped <= numel, "a sample clips once");
  const std::string format = chunkOf(riff, "fmt ");
  require(detail::base::loadLittleEndian32(&format[4]) ==
              static_cast<std::uint32_t>(options.sampleRate),
          "the sample rate is in the file");
}

void encode(FuzzInput* input) {
  constexpr std::array kFormats{"LC", "CL", "L", "", "CC", "LCL"};
  AudioOptions options;
  options.dataFormat = kFormats[input->below(kFormats.size())];
  options.encoding = input->below(2) == 0 ? AudioEncoding::kPcm16 : AudioEncoding::kFloat32;
  options.sampleRate = static_cast<std::int32_t>(input->integer());
  try {
    FuzzTensor tensor(input);
    const TensorView samples = tensor.view(input);
    checkWav(detail::values::encodeWav(samples, options), samples, options);
    detail::values::checkAudio(samples, options);
  } catch (const Error&) {
    // Most tensors are not sounds.
  }
}

}  // namespace
}  // namespace steptape

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  steptape::FuzzInput input(data, size);
  steptape::encode(&input);
  return 0;
}
