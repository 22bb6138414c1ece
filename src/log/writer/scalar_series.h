// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cmath>
#include <cstdint>
#include <limits>
#include <string>
#include <utility>

#include "steptape/events/plugin_content.h"

#include "events/messages/scalar_event_encoder.h"

namespace steptape::detail::log {

/// One scalar tag of one run directory.
struct ScalarSeries {
  ScalarSeries(std::string seriesTag, std::string displayName, std::string description,
               ValueForm form)
      : tag(std::move(seriesTag)),
        metadata{event::kScalarsPlugin, "", std::move(displayName), std::move(description),
                 event::DataClass::kScalar},
        bytes(tag, metadata, form) {}

  const std::string tag;
  const event::SummaryMetadata metadata;
  const events::ScalarValueTemplate bytes;

  // State of the EventStream that writes the series, in the stream's serial numbers.
  std::uint64_t describedInFile = 0;  ///< The last file that holds this tag's metadata.
  std::uint64_t lastEvent = 0;        ///< The last Event that holds a value of this tag.
  std::int64_t lastStep = kNoStep;    ///< Step of the last value.
  float lastValue = 0;                ///< The most recent value.
  std::uint64_t resumes = 0;          ///< TagNotes' count at the last check for a step back.

  static constexpr std::int64_t kNoStep = std::numeric_limits<std::int64_t>::min();
};

/// Returns whether two points have one value: NaN is like NaN.
inline bool isSameValue(float a, float b) {
  return a == b || (std::isnan(a) && std::isnan(b));
}

}  // namespace steptape::detail::log
