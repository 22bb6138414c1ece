// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>

#include "steptape/base/status.h"

namespace steptape {

class EventStream;
struct ScalarSeries;
class WriterCore;

/// A histogram, image, text, ... as its caller captured it; encoded by the backend.
struct CapturedValue {
  enum class Order {
    kLate,     ///< After the scalars that lie behind it, since it may take its time.
    kInPlace,  ///< Before the scalars that lie behind it.
    kBarrier,  ///< Also behind all values that were captured before it.
  };

  /// When and at which step the value was logged, and the stream of the run's main directory.
  struct Place {
    EventStream* stream;
    ScalarSeries* series;  ///< Of CapturedValue::series; null if none was named.
    std::int64_t step;
    double wallTime;
    bool exact;   ///< The wall time is the caller's own.
    bool* again;  ///< Set by `run` for more of the same later: rings must not wait for long work.
  };

  WriterCore* core = nullptr;
  std::int64_t step = 0;
  std::optional<double> wallTime;  ///< The caller's; else the slot's ticks say when.
  std::size_t bytes = 0;           ///< What it holds in memory, for WriterOptions::queueBytes.
  std::uint32_t series = 0;        ///< The scalar series that `run` adds to, if any.
  Order order = Order::kLate;
  /// The slow part, run on the backend, once unless it says otherwise and succeeds.
  std::function<Status(const Place&)> run;
};

}  // namespace steptape
