// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

namespace steptape::detail::train {

/// How fast ranks train.
struct Throughput {
  double samplesPerSecond = 0;
  double tokensPerSecond = 0;     ///< 0: TrainerOptions::tokensPerSample is not set.
  double teraflopsPerSecond = 0;  ///< 0: not counted, or no operator that counts.
};

/// "25974 samples/s", or "25974 tokens/s" if the samples have tokens.
std::string rateText(const Throughput& speed);

}  // namespace steptape::detail::train
