// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "steptape/event/event.h"

#include "writer/event_stream.h"
#include "writer/scalar_series.h"

namespace steptape::detail {

/// A scalar series, and the stream that its points go to.
struct RegisteredSeries {
  RegisteredSeries(EventStream* itsStream, std::string tag, std::string displayName,
                   std::string description, ValueForm form)
      : stream(itsStream),
        series(std::move(tag), std::move(displayName), std::move(description), form) {}

  /// As EventStream::addScalar(); the backend only.
  void add(float value, std::int64_t step, double wallTime, bool exact) noexcept {
    stream->addScalar(&series, value, step, wallTime, exact);
  }

  EventStream* const stream;
  ScalarSeries series;
};

/// All series of the process, each at the number that a ring's entries give it. A number is never
/// used again; 0 is no series, and null is one whose writer is gone.
using SeriesTable = std::vector<std::unique_ptr<RegisteredSeries>>;

}  // namespace steptape::detail
