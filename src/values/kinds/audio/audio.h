// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "steptape/base/export.h"
#include "steptape/events/event.h"
#include "steptape/values/tensor_view.h"
#include "steptape/values/value_options.h"

namespace steptape::detail::values {

/// An encoded sound.
struct WavFile {
  std::string bytes;
  std::uint64_t clipped = 0;  ///< Samples that were out of range or NaN.
};

/// Checks everything that does not depend on the samples' values.
///
/// @throws Error(kInvalidArgument) for a shape, element type, data format or sample rate that
///         encodeWav() does not accept, or for a file that would not fit into a record of less than
///         2 GiB.
/// @threads Thread-safe.
/// @cost   Reads no element.
STEPTAPE_EXPORT void checkAudio(const TensorView& samples, const AudioOptions& options = {});

/// Encodes a sound as a WAV file.
///
/// Up to two channels use the plain form, which every player reads. More channels use
/// WAVE_FORMAT_EXTENSIBLE, without assigning channels to loudspeakers.
///
/// @param options Uses the sample rate, data format and encoding.
/// @shape   (frames), (frames, channels), or (channels, frames) with `dataFormat` "CL"; no
///          dimension may be empty; any strides.
/// @units   Floating point: -1..1. kPcm16 clamps, multiplies by 32767 and rounds; values out of
///          range count as clipped. kFloat32 keeps binary32 values, including louder ones. In both,
///          NaN becomes 0, an infinity becomes -1 or 1, and both count as clipped. Integers use
///          their full range and never clip: int16, int32 (kPcm16 keeps the upper half), and uint8
///          with silence at 128, as in 8-bit WAV files. Other integer types have no agreed scale.
/// @throws  Error(kInvalidArgument) as checkAudio().
/// @threads Thread-safe.
/// @cost    One pass and one allocation, about 3 ns per sample.
/// @source  Multimedia Programming Interface and Data Specifications 1.0, IBM and Microsoft, 1991
///          (RIFF, WAVE); WAVEFORMATEXTENSIBLE,
///          https://learn.microsoft.com/windows/win32/api/mmreg/ns-mmreg-waveformatextensible
STEPTAPE_EXPORT WavFile encodeWav(const TensorView& samples, const AudioOptions& options = {});

/// Makes the value that TensorBoard's audio page plays.
///
/// @param wav      A WAV file.
/// @param metadata Display name and description; this function sets plugin, content and data class.
///                 The first value in either form has metadata: without it, the fast data server
///                 serves the file as `application/octet-stream`.
/// @shape   kCompatible: a SummaryAudio with the rate, channels and frames of the file; 0 if it is
///          not a WAV file. kTensor: a rank-1 DT_STRING tensor of one element. It has no second
///          column for labels, as TensorFlow has, because the slow loader counts each label as a
///          clip and responds with an error.
/// @threads Thread-safe.
/// @source  tensorboard/plugins/audio/metadata.py; docs/event_file_format.md.
STEPTAPE_EXPORT event::Value audioValue(std::string tag, std::string wav,
                                        event::SummaryMetadata metadata = {},
                                        ValueForm form = ValueForm::kCompatible);

}  // namespace steptape::detail::values
