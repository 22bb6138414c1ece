// SPDX-License-Identifier: Apache-2.0
#include "values/kinds/audio/audio.h"

#include <cstring>
#include <limits>

#include "base/unhex.h"
#include "support/expect_error.h"
#include "values/kinds/special_values.h"

namespace steptape {
namespace {

using test::expectInvalidArgument;

template <typename Sample>
std::vector<Sample> samplesOf(const detail::values::WavFile& file, std::size_t headerBytes) {
  std::vector<Sample> samples((file.bytes.size() - headerBytes) / sizeof(Sample));
  std::memcpy(samples.data(), file.bytes.data() + headerBytes, samples.size() * sizeof(Sample));
  return samples;
}

/// Returns the samples of a file of one or two channels and 16 bits.
std::vector<std::int16_t> pcmOf(const detail::values::WavFile& file) {
  return samplesOf<std::int16_t>(file, 44);
}

/// Returns the samples of a file of one or two channels in binary32.
std::vector<float> floatsOf(const detail::values::WavFile& file) {
  return samplesOf<float>(file, 58);
}

using Pcm = std::vector<std::int16_t>;

AudioOptions floatOptions() {
  AudioOptions options;
  options.encoding = AudioEncoding::kFloat32;
  return options;
}

// Python 3.11's wave module wrote these bytes for the same frames.
TEST(EncodeWav, WritesTheBytesOfPythonForStereo) {
  const std::vector<std::int16_t> samples = {1, 2, 3, 4, -5, 32767};
  EXPECT_EQ(detail::values::encodeWav(TensorView(samples.data(), {3, 2})).bytes,
            unhex("524946463000000057415645 666d7420100000000100020044ac000010b1020004001000"
                  "646174610c000000 010002000300 0400fbffff7f"));
}

// libsndfile 1.2.2 wrote these bytes (WAVEX, PCM_16), with two differences: it writes the length in
// frames for integers, too, which only other encodings need, and it assigns the channels to three
// loudspeakers.
TEST(EncodeWav, WritesTheExtensibleFormForMoreThanTwoChannels) {
  const std::vector<std::int16_t> samples = {1, 2, 3, 4, 5, 6};
  AudioOptions options;
  options.sampleRate = 8000;
  EXPECT_EQ(detail::values::encodeWav(TensorView(samples.data(), {2, 3}), options).bytes,
            unhex("524946464800000057415645 666d742028000000feff0300401f000080bb000006001000"
                  "1600 1000 00000000 0100000000001000800000aa00389b71"
                  "646174610c000000 010002000300 040005000600"));
}

// libsndfile 1.2.2 (FLOAT), with the two bytes after the format that only PCM may omit.
TEST(EncodeWav, WritesTheLengthInFramesOfFloats) {
  const std::vector<float> samples = {0.5F, -2.0F};
  AudioOptions options = floatOptions();
  options.sampleRate = 8000;
  EXPECT_EQ(detail::values::encodeWav(samples, options).bytes,
            unhex("524946463a00000057415645 666d7420120000000300 0100401f0000007d000004002000 0000"
                  "6661637404000000 02000000 6461746108000000 0000003f 000000c0"));
}

TEST(EncodeWav, WritesTheFormatOfFloatsInTheExtensibleFormToo) {
  const std::vector<float> samples = {1, 2, 3};
  AudioOptions options = floatOptions();
  options.sampleRate = 8000;
  EXPECT_EQ(detail::values::encodeWav(TensorView(samples.data(), {1, 3}), options).bytes,
            unhex("524946465400000057415645 666d742028000000feff0300401f0000007701000c002000"
                  "1600 2000 00000000 0300000000001000800000aa00389b71"
                  "6661637404000000 01000000 646174610c000000 0000803f 00000040 00004040"));
}

TEST(EncodeWav, RoundsFloatsToTheNearestSample) {
  const std::vector<float> samples = {0, 0.25F, -0.25F, 0.5F, -0.5F, 1, -1};
  const detail::values::WavFile file = detail::values::encodeWav(samples);
  // 0.25 * 32767 = 8191.75
  EXPECT_EQ(pcmOf(file), (Pcm{0, 8192, -8192, 16384, -16384, 32767, -32767}));
  EXPECT_EQ(file.clipped, 0U);
}

TEST(EncodeWav, ClipsAndCountsSamplesOutOfRange) {
  const std::vector<float> samples = {1.0001F, -7, kInfinity, -kInfinity, kNan, 1};
  const detail::values::WavFile file = detail::values::encodeWav(samples);
  EXPECT_EQ(pcmOf(file), (Pcm{32767, -32767, 32767, -32767, 0, 32767}));
  EXPECT_EQ(file.clipped, 5U);
}

TEST(EncodeWav, KeepsLoudFloatsAndClipsNonFiniteSamples) {
  const std::vector<double> samples = {2.5, -0.1, double{kNan}, 1e300, -double{kInfinity}};
  const detail::values::WavFile file = detail::values::encodeWav(samples, floatOptions());
  EXPECT_EQ(floatsOf(file), (std::vector<float>{2.5F, -0.1F, 0, 1, -1}));
  EXPECT_EQ(file.clipped, 3U);
}

TEST(EncodeWav, TakesHalfPrecision) {
  const std::uint16_t halves[] = {0x3800, 0xBC00};  // 0.5 and -1
  EXPECT_EQ(pcmOf(detail::values::encodeWav(TensorView(halves, DType::kFloat16, {2}, {}))),
            (Pcm{16384, -32767}));
  const std::uint16_t brains[] = {0x3F00, 0xBF80};  // 0.5 and -1
  EXPECT_EQ(pcmOf(detail::values::encodeWav(TensorView(brains, DType::kBFloat16, {2}, {}))),
            (Pcm{16384, -32767}));
}

TEST(EncodeWav, GivesIntegersTheirFullRange) {
  const std::vector<std::int16_t> shorts = {-32768, -1, 0, 32767};
  EXPECT_EQ(pcmOf(detail::values::encodeWav(shorts)), shorts);
  EXPECT_EQ(floatsOf(detail::values::encodeWav(shorts, floatOptions())),
            (std::vector<float>{-1, -1.0F / 32768, 0, 32767.0F / 32768}));
  const std::vector<std::int32_t> ints = {INT32_MIN, -1, 65535, INT32_MAX};
  EXPECT_EQ(pcmOf(detail::values::encodeWav(ints)), (Pcm{-32768, -1, 0, 32767}));
  EXPECT_EQ(floatsOf(detail::values::encodeWav(ints, floatOptions()))[0], -1.0F);
  const std::vector<std::uint8_t> bytes = {0, 127, 128, 255};
  EXPECT_EQ(pcmOf(detail::values::encodeWav(bytes)), (Pcm{-32768, -256, 0, 32512}));
  EXPECT_EQ(floatsOf(detail::values::encodeWav(bytes, floatOptions())),
            (std::vector<float>{-1, -1.0F / 128, 0, 127.0F / 128}));
}

TEST(EncodeWav, TakesChannelsGivenFirst) {
  const std::vector<std::int16_t> samples = {1, 2, 3, 4, 5, 6};
  AudioOptions options;
  options.dataFormat = "CL";
  EXPECT_EQ(pcmOf(detail::values::encodeWav(TensorView(samples.data(), {2, 3}), options)),
            (Pcm{1, 4, 2, 5, 3, 6}));
}

TEST(EncodeWav, TakesOneDimensionInEitherFormat) {
  const std::vector<std::int16_t> samples = {1, 2, 3};
  AudioOptions options;
  options.dataFormat = "CL";
  EXPECT_EQ(detail::values::encodeWav(samples, options).bytes,
            detail::values::encodeWav(samples).bytes);
}

TEST(EncodeWav, TakesStridedSamples) {
  const std::vector<std::int16_t> samples = {1, 2, 3, 4, 5, 6, 7, 8};
  EXPECT_EQ(pcmOf(detail::values::encodeWav(TensorView(samples.data() + 6, {2, 2}, {-4, 1}))),
            (Pcm{7, 8, 3, 4}));
}

TEST(CheckAudio, RejectsAnUnknownFormat) {
  for (const char* format : {"", "L", "lc", "NLC"}) {
    AudioOptions options;
    options.dataFormat = format;
    expectInvalidArgument(
        [&] { detail::values::checkAudio(std::vector<float>(2), options); },
        "got dataFormat = \"" + options.dataFormat + "\"; expected \"LC\" or \"CL\"");
  }
}

TEST(CheckAudio, RejectsAShapeOfAnotherRank) {
  const std::vector<float> samples(8);
  expectInvalidArgument(
      [&] {
        detail::values::checkAudio(TensorView(samples.data(), {2, 2, 2}));
      },
      "got shape (2, 2, 2); expected (frames) or (frames, channels) for dataFormat \"LC\"");
  expectInvalidArgument(
      [&] { detail::values::checkAudio(TensorView(samples.data(), {})); },
      "got shape (); expected (frames) or (frames, channels) for dataFormat \"LC\"");
}

TEST(CheckAudio, RejectsAudioWithoutSamples) {
  expectInvalidArgument([] { detail::values::checkAudio(std::vector<float>()); },
                        "got shape (0); expected at least one sample");
}

TEST(CheckAudio, RejectsIntegersOfUnknownScale) {
  expectInvalidArgument(
      [] { detail::values::checkAudio(std::vector<std::int64_t>(2)); },
      "got element type int64; expected a floating-point type (-1 to 1), int16, int32 or uint8");
}

TEST(CheckAudio, RejectsAnInvalidSampleRate) {
  for (const std::int32_t rate : {0, -44100}) {
    AudioOptions options;
    options.sampleRate = rate;
    expectInvalidArgument(
        [&] { detail::values::checkAudio(std::vector<float>(2), options); },
        "got sampleRate = " + std::to_string(rate) + "; expected 1 to 2147483647 for 1 channels");
  }
}

TEST(CheckAudio, RejectsMoreBytesASecondThanTheHeaderHolds) {
  // One repeated element: a sound that needs no memory until it is copied.
  const float silence = 0;
  AudioOptions options = floatOptions();
  options.sampleRate = 192000;
  expectInvalidArgument(
      [&] {
        detail::values::checkAudio(TensorView(&silence, {2, 16000}, {0, 0}), options);
      },
      "got sampleRate = 192000; expected 1 to 67108 for 16000 channels");
}

TEST(CheckAudio, RejectsASoundWithItsDimensionsSwapped) {
  const float silence = 0;
  expectInvalidArgument(
      [&] {
        detail::values::checkAudio(TensorView(&silence, {2, 44100}, {0, 0}));
      },
      "got 44100 channels in shape (2, 44100) with dataFormat \"LC\"; expected at most 32767");
}

TEST(CheckAudio, RejectsWhatNoRecordHolds) {
  const float silence = 0;
  expectInvalidArgument(
      [&] { detail::values::checkAudio(TensorView(&silence, {INT64_C(1) << 30}, {0})); },
      "got 1073741824 samples in shape (1073741824); expected at most "
      "1073217496, since a record is below 2 GiB");
}

TEST(AudioValue, IsAMessageWithTheRateFramesAndChannelsOfTheFile) {
  const std::vector<float> samples(12);
  for (const AudioEncoding encoding : {AudioEncoding::kPcm16, AudioEncoding::kFloat32}) {
    for (const std::int64_t channels : {1, 2, 3}) {
      AudioOptions options;
      options.sampleRate = 8000;
      options.encoding = encoding;
      const detail::values::WavFile file =
          detail::values::encodeWav(TensorView(samples.data(), {12 / channels, channels}), options);
      const event::Value value = detail::values::audioValue("tone", file.bytes);
      const auto& audio = std::get<event::SummaryAudio>(value.data);
      EXPECT_EQ(audio.encoded, file.bytes);
      EXPECT_EQ(audio.contentType, "audio/wav");
      EXPECT_EQ(audio.sampleRate, 8000);
      EXPECT_EQ(audio.numChannels, channels);
      EXPECT_EQ(audio.lengthFrames, 12 / channels);
      // Without it, the fast data server would serve application/octet-stream.
      EXPECT_EQ(value.metadata->pluginContent, "\x10\x0b");
      EXPECT_EQ(value.metadata->dataClass, event::DataClass::kBlobSequence);
    }
  }
}

TEST(AudioValue, ClaimsNothingOfAFileThatItDoesNotKnow) {
  const std::string wav = detail::values::encodeWav(std::vector<float>(3)).bytes;
  for (const std::string& bytes :
       {std::string(), std::string("wav bytes"), wav.substr(0, 12), wav.substr(0, 30)}) {
    const event::Value value = detail::values::audioValue("tone", bytes);
    const auto& audio = std::get<event::SummaryAudio>(value.data);
    EXPECT_EQ(audio.encoded, bytes);
    EXPECT_EQ(audio.sampleRate, 0) << bytes.size();
    EXPECT_EQ(audio.numChannels, 0) << bytes.size();
    EXPECT_EQ(audio.lengthFrames, 0) << bytes.size();
  }
}

TEST(AudioValue, IsOneBlobOfTheAudioPluginAsATensor) {
  event::SummaryMetadata metadata;
  metadata.displayName = "Tone";
  metadata.description = "440 Hz";
  const event::Value value =
      detail::values::audioValue("tone", "wav bytes", metadata, ValueForm::kTensor);
  EXPECT_EQ(value.tag, "tone");
  const auto& tensor = std::get<event::Tensor>(value.data);
  EXPECT_EQ(tensor.type, event::TensorType::kString);
  EXPECT_EQ(tensor.shape, std::vector<std::int64_t>{1});
  EXPECT_EQ(tensor.strings, std::vector<std::string>{"wav bytes"});
  EXPECT_EQ(value.metadata->pluginName, "audio");
  EXPECT_EQ(value.metadata->pluginContent, "\x10\x0b");
  EXPECT_EQ(value.metadata->dataClass, event::DataClass::kBlobSequence);
  EXPECT_EQ(value.metadata->displayName, "Tone");
  EXPECT_EQ(value.metadata->description, "440 Hz");
}

}  // namespace
}  // namespace steptape
