// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "steptape/base/export.h"
#include "steptape/event/event.h"
#include "steptape/summary/tensor_view.h"
#include "steptape/summary/value_options.h"

namespace steptape {

/// A sound as a file, and what could not be kept of it.
struct WavFile {
  std::string bytes;
  std::uint64_t clipped = 0;  ///< Samples that were out of range, or NaN.
};

/// Checks what can be known without the samples.
///
/// @throws Error(kInvalidArgument) naming a shape, element type, data format or sample rate that
///         encodeWav() does not take, or a file that would not fit into a record of less than 2
///         GiB.
/// @threads Thread-safe.
/// @cost   Reads no element.
STEPTAPE_EXPORT void checkAudio(const TensorView& samples, const AudioOptions& options = {});

/// Writes a sound to a WAV file.
///
/// Up to two channels make the plain form that every player reads; more make a
/// WAVE_FORMAT_EXTENSIBLE file whose channels are assigned to no loudspeakers.
///
/// @param options The sample rate, data format and encoding are used.
/// @shape   (frames), (frames, channels), or (channels, frames) with `dataFormat` "CL"; neither
///          dimension empty; any strides.
/// @units   Floating point: -1..1. With kPcm16 clamped, times 32767 and rounded; what was out of
///          range is counted as clipped. With kFloat32 kept in binary32, louder samples too. In
///          both NaN becomes 0, and an infinity -1 or 1, and is counted. Integers have their full
///          range and clip never: int16, int32 (kPcm16 keeps the upper half), and uint8 whose
///          silence is 128, as in 8-bit WAV files. Other integers have no agreed scale.
/// @throws  Error(kInvalidArgument) as checkAudio().
/// @threads Thread-safe.
/// @cost    One pass and one allocation, about 3 ns a sample.
/// @source  Multimedia Programming Interface and Data Specifications 1.0, IBM and Microsoft, 1991
///          (RIFF, WAVE); WAVEFORMATEXTENSIBLE,
///          https://learn.microsoft.com/windows/win32/api/mmreg/ns-mmreg-waveformatextensible
STEPTAPE_EXPORT WavFile encodeWav(const TensorView& samples, const AudioOptions& options = {});

/// Makes the value that TensorBoard's audio page plays.
///
/// @param wav      A WAV file.
/// @param metadata Display name and description; plugin, content and data class are set here. They
///                 go with the first value in either form: without them the fast data server calls
///                 the file `application/octet-stream`.
/// @shape   kCompatible: a SummaryAudio, whose rate, channels and frames are those of the file,
///          and 0 where it is no WAV file. kTensor: a tensor of rank 1, DT_STRING, one element:
///          with TensorFlow's second column for labels the slow loader counts each label as a clip
///          and answers with an error.
/// @threads Thread-safe.
/// @source  tensorboard/plugins/audio/metadata.py; docs/event_file_format.md.
STEPTAPE_EXPORT event::Value audioValue(std::string tag, std::string wav,
                                        event::SummaryMetadata metadata = {},
                                        ValueForm form = ValueForm::kCompatible);

}  // namespace steptape
