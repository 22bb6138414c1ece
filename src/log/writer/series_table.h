// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "steptape/events/event.h"

#include "log/writer/event_stream.h"
#include "log/writer/last_scalar.h"
#include "log/writer/scalar_series.h"

namespace steptape::detail::log {

/// A scalar series, with the stream that writes its points.
struct RegisteredSeries {
  RegisteredSeries(EventStream* itsStream, std::string tag, std::string displayName,
                   std::string description, ValueForm itsForm)
      : stream(itsStream),
        form(itsForm),
        series(std::move(tag), std::move(displayName), std::move(description), itsForm) {}

  /// Calls EventStream::addScalar(); only for the backend.
  void add(float value, std::int64_t step, double wallTime, bool exact) noexcept {
    last.add(value, step, wallTime);
    stream->addScalar(&series, value, step, wallTime, exact);
  }

  EventStream* const stream;
  const ValueForm form;
  ScalarSeries series;
  LastScalar last;
};

/// All series of the process by number, as in the rings' entries. A number is never reused; 0 is
/// not a series, and null is a series whose writer no longer exists.
using SeriesTable = std::vector<std::unique_ptr<RegisteredSeries>>;

}  // namespace steptape::detail::log
