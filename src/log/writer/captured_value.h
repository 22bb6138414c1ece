// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>

#include "steptape/base/status.h"

#include "log/writer/run_streams.h"
#include "log/writer/series_table.h"

namespace steptape::detail::log {

/// A histogram, image, text, … as captured by a call; the backend encodes it.
struct CapturedValue {
  enum class Order {
    kLate,     ///< After later scalars, because encoding may take long.
    kInPlace,  ///< Before later scalars.
    kBarrier,  ///< Before later scalars, and after all values captured earlier.
  };

  /// Time and step of the call, and the stream of the run's main directory.
  struct Place {
    EventStream* stream;
    const SeriesTable* allSeries;
    std::int64_t step;
    double wallTime;
    bool exact;   ///< The caller gave the wall time.
    bool* again;  ///< `work` sets it to be called again: long work must not let rings fill up.

    /// Returns null for 0, which is not a series.
    RegisteredSeries* seriesOf(std::uint32_t id) const { return (*allSeries)[id]; }
  };

  RunStreams* run = nullptr;
  std::int64_t step = 0;
  std::optional<double> wallTime;  ///< Given by the caller; else derived from ticks.
  std::size_t bytes = 0;           ///< Its memory, for WriterOptions::queueBytes.
  std::size_t scalars = 0;         ///< Number of scalars; 0: a single value of another kind.
  Order order = Order::kLate;
  /// The slow part, which runs on the backend: once, unless it succeeds and sets `again`.
  std::function<Status(const Place&)> work;

  /// Returns the number of values that count as lost with it, in addition to `scalars`.
  std::size_t values() const { return scalars == 0 ? 1 : 0; }
};

}  // namespace steptape::detail::log
