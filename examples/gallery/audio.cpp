// SPDX-License-Identifier: Apache-2.0
#include <cmath>
#include <vector>

#include "gallery.h"
#include "turn.h"

namespace {

constexpr int kSampleRate = 22'050;

/// Fades a sound in and out, so that it does not click.
double loudness(int frame, int frames) {
  return 0.5 * std::sin(kTurn / 2 * frame / frames);
}

}  // namespace

void logSounds(steptape::SummaryWriter& writer) {
  constexpr int kFrames = 2 * kSampleRate;
  std::vector<float> chirp;   // (frames)
  std::vector<float> stereo;  // (frames, channels)
  for (int frame = 0; frame < kFrames; ++frame) {
    const double seconds = static_cast<double>(frame) / kSampleRate;
    // The frequency rises from 200 to 1400 Hz; the phase is the integral of the frequency.
    const double phase = 200 * seconds + 300 * seconds * seconds;
    chirp.push_back(static_cast<float>(loudness(frame, kFrames) * std::sin(kTurn * phase)));
    // A fifth, with one tone on each channel.
    for (const double frequency : {220.0, 330.0}) {
      stereo.push_back(
          static_cast<float>(loudness(frame, kFrames) * std::sin(kTurn * frequency * seconds)));
    }
  }
  writer.addAudio("chirp", chirp, 0, {.sampleRate = kSampleRate});
  writer.addAudio("fifth", {stereo.data(), {kFrames, 2}}, 0,
                  {.description = "left 220 Hz, right 330 Hz", .sampleRate = kSampleRate});
}
