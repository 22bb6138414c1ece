// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>

#include "steptape/base/status.h"

namespace steptape {

class EventStream;
class WriterCore;

/// A histogram, image, text, ... as its caller captured it; encoded by the backend.
struct CapturedValue {
  /// When and at which step the value was logged, and the stream of the run's main directory.
  struct Place {
    EventStream* stream;
    std::int64_t step;
    double wallTime;
    bool exact;  ///< The wall time is the caller's own.
  };

  WriterCore* core = nullptr;
  std::int64_t step = 0;
  std::optional<double> wallTime;  ///< The caller's; else the slot's ticks say when.
  std::size_t bytes = 0;           ///< What it holds in memory, for WriterOptions::queueBytes.
  /// Whether it must not be overtaken by later scalars; others are encoded after them.
  bool inOrder = false;
  /// The slow part, run once on the backend.
  std::function<Status(const Place&)> run;
};

}  // namespace steptape
