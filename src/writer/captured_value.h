// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>

#include "steptape/event/event.h"

namespace steptape {

class WriterCore;

/// A histogram, image, text, ... as its caller captured it; encoded by the backend.
struct CapturedValue {
  WriterCore* core = nullptr;
  std::int64_t step = 0;
  std::optional<double> wallTime;  ///< The caller's; else the slot's ticks say when.
  std::size_t bytes = 0;           ///< What it holds in memory, for WriterOptions::queueBytes.
  std::function<Value()> encode;   ///< The slow part, run once on the backend.
};

}  // namespace steptape
