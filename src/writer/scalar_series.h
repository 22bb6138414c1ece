// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <limits>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "steptape/event/plugin_data.h"
#include "steptape/event/scalar_event_encoder.h"

namespace steptape {

class EventStream;

/// One scalar tag of one run directory.
struct ScalarSeries {
  ScalarSeries(std::uint32_t seriesId, EventStream* seriesStream, std::string seriesTag,
               std::string displayName, std::string description, ValueForm form)
      : id(seriesId),
        stream(seriesStream),
        tag(std::move(seriesTag)),
        metadata{kScalarsPlugin, "", std::move(displayName), std::move(description),
                 DataClass::kScalar},
        bytes(tag, metadata, form) {}

  const std::uint32_t id;  ///< Unique in the process, never used again; 0 is no series.
  EventStream* const stream;
  const std::string tag;
  const SummaryMetadata metadata;
  const ScalarValueTemplate bytes;

  // The backend's notes, in EventStream's serial numbers.
  std::uint64_t describedInFile = 0;  ///< The last file that holds this tag's metadata.
  std::uint64_t lastEvent = 0;        ///< The last Event that holds a value of this tag.
  std::int64_t lastStep = kNoStep;    ///< Of the value that came last.
  float lastValue = 0;                ///< The value that came last.
  std::uint64_t resumes = 0;          ///< EventStream's count when a step back was last looked at.

  static constexpr std::int64_t kNoStep = std::numeric_limits<std::int64_t>::min();
};

/// All series of the process by their ids, as the backend knows them; null once forgotten.
using SeriesTable = std::vector<std::unique_ptr<ScalarSeries>>;

}  // namespace steptape
