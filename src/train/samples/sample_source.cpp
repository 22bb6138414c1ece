// SPDX-License-Identifier: Apache-2.0
#include "steptape/train/samples.h"

namespace steptape {
namespace {

constexpr std::uint64_t kGoldenRatio = 0x9e3779b97f4a7c15;

std::uint64_t mixed(std::uint64_t bits) {
  bits = (bits ^ (bits >> 30)) * 0xbf58476d1ce4e5b9;
  bits = (bits ^ (bits >> 27)) * 0x94d049bb133111eb;
  return bits ^ (bits >> 31);
}

}  // namespace

SampleRandom::SampleRandom(std::uint64_t seed, std::int64_t epoch, std::int64_t sample)
    : state_(seed) {
  // Each number goes through the mixer, so that neighboring samples have unrelated sequences.
  for (const std::int64_t number : {epoch, sample}) {
    state_ = mixed(state_ + kGoldenRatio) + static_cast<std::uint64_t>(number);
  }
  state_ = mixed(state_ + kGoldenRatio);
}

std::uint64_t SampleRandom::bits() {
  state_ += kGoldenRatio;
  return mixed(state_);
}

double SampleRandom::uniform(double low, double high) {
  constexpr double kUnit = 1.0 / (std::uint64_t{1} << 53);  // A double holds 53 bits.
  return low + (high - low) * (static_cast<double>(bits() >> 11) * kUnit);
}

std::int64_t SampleRandom::below(std::int64_t bound) {
  // The remainder favors some numbers by less than bound / 2^64.
  return static_cast<std::int64_t>(bits() % static_cast<std::uint64_t>(bound));
}

SampleSource::~SampleSource() = default;

}  // namespace steptape
