// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "steptape/base/status.h"
#include "steptape/events/event.h"
#include "steptape/events/record_reader.h"
#include "steptape/log/file_check.h"

#include "base/replacement_file.h"
#include "events/framing/record_buffer.h"
#include "log/check/lost_metadata.h"
#include "log/check/record_walk.h"
#include "log/reader/read_progress.h"

namespace steptape::detail::log {

/// Copies the intact records of an event file to another; see repairEventFile().
///
/// @threads Not thread-safe: one thread at a time.
class IntactCopy {
 public:
  /// REQUIRES: arguments passed by pointer or reference are open and outlive this object.
  /// @param relatives Event files that may contain the metadata of this file's tags.
  IntactCopy(const ByteSource& source, std::vector<std::string> relatives,
             base::ReplacementFile* output, const RepairOptions& options, RepairReport* report)
      : source_(&source),
        lostMetadata_(std::move(relatives)),
        output_(output),
        options_(&options),
        report_(report),
        progress_(options.onProgress, kProgressBytes) {}

  Status run();

 private:
  static constexpr std::uint64_t kProgressBytes = 4 << 20;

  void takeRecord(const RecordWalk& walk);
  bool isScalarsOfKnownTags(std::string_view payload) const;
  void takeEvent(const event::Event& event, const RecordWalk& walk);
  events::MetadataByTag restoredMetadata(const event::Event& event, const RecordWalk& walk);
  double replacementTime();
  void keep(std::string_view payload, const RecordWalk& walk);
  void leaveOut(const RecordWalk& walk, const std::string& why);
  void addStep(RepairStep::Kind kind, const RecordWalk& walk, std::string tag, std::string why);
  Status flush();

  const ByteSource* source_;
  LostMetadata lostMetadata_;
  base::ReplacementFile* output_;
  const RepairOptions* options_;
  RepairReport* report_;
  events::RecordBuffer pending_;
  std::set<std::string, std::less<>> tags_;  // of the copied records
  std::optional<double> latestWallTime_;
  ReadProgress progress_;
};

}  // namespace steptape::detail::log
