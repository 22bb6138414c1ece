// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>

#include "steptape/base/status.h"

#include "writer/run.h"
#include "writer/series_table.h"

namespace steptape::detail {

/// A histogram, image, text, ... as its caller captured it; encoded by the backend.
struct CapturedValue {
  enum class Order {
    kLate,     ///< After later scalars, because encoding may take long.
    kInPlace,  ///< Before later scalars.
    kBarrier,  ///< Before later scalars, and after all values captured earlier.
  };

  /// When and at which step the value was logged, and the stream of the run's main directory.
  struct Place {
    EventStream* stream;
    const SeriesTable* allSeries;
    std::int64_t step;
    double wallTime;
    bool exact;   ///< The wall time is the caller's own.
    bool* again;  ///< Set by `work` for more of the same later: rings must not wait for long work.

    /// Null for 0, which is no series.
    RegisteredSeries* seriesOf(std::uint32_t id) const { return (*allSeries)[id].get(); }
  };

  Run* run = nullptr;
  std::int64_t step = 0;
  std::optional<double> wallTime;  ///< The caller's; else the slot's ticks say when.
  std::size_t bytes = 0;           ///< Its memory, for WriterOptions::queueBytes.
  std::size_t scalars = 0;         ///< How many it stands for; 0: it is one value of another kind.
  Order order = Order::kLate;
  /// The slow part, run on the backend, once unless it says otherwise and succeeds.
  std::function<Status(const Place&)> work;

  /// The number of values that are counted if it is lost, in addition to `scalars`.
  std::size_t values() const { return scalars == 0 ? 1 : 0; }
};

}  // namespace steptape::detail
