// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "steptape/events/event.h"

#include "events/messages/scalar_event_view.h"
#include "log/reader/read_progress.h"
#include "log/reader/restart_rule.h"
#include "log/reader/run_events.h"
#include "log/reader/run_file.h"
#include "log/reader/step_cuts.h"
#include "log/reader/tag_index.h"

namespace steptape::detail::log {

/// Extracts the scalars of an event.
///
/// @param event Its wall time and step are set.
/// @return false if it has anything else; the results are then unspecified.
bool takeScalars(std::string_view payload, RunValue* event,
                 std::vector<events::ScalarView>* scalars);

/// A tag of a run that is being scanned.
struct ScannedTag {
  std::string tag;
  std::uint32_t number = kNone;  ///< Index into RunScan::tags(); kNone if no file had the tag.
  bool isScalar = false;         ///< Whether its first plugin is "scalars".
  bool isGraph = false;
  bool isNumbers = true;  ///< Whether all its values are numbers.
  StepCuts stepsBack;
  ScannedTag* successor = nullptr;  ///< See TagIndex.

  static constexpr std::uint32_t kNone = ~std::uint32_t{0};
};

/// The first pass of RunEvents: collects the restarts and metadata that affect earlier values.
///
/// @threads Not thread-safe: one thread at a time.
class RunScan {
 public:
  explicit RunScan(PurgePolicy purge) : rule_(purge) {}

  /// Reads a file of the run. REQUIRES: called for all files in order.
  void scan(const std::string& path, ReadProgress* progress);

  /// Ends the scan after all files. If damage may have removed metadata, numbers of a tag without
  /// metadata are scalars, as in RunReader.
  void finish();

  const std::vector<RunTag>& tags() const { return tags_; }

  /// REQUIRES: all files were scanned.
  ScannedTag* find(std::string_view tag) { return table_.find(tag); }

  /// Returns whether a value is kept after all restarts and decreasing steps. A tag that no file
  /// had was written later, and its values are omitted. REQUIRES: all files were scanned, and
  /// positions ascend from call to call.
  bool keeps(ScannedTag* tag, EventPosition position, std::int64_t step) {
    if (tag->isGraph || tag->number == ScannedTag::kNone) {
      return tag->isGraph;
    }
    return !restarts_.drops(position, step) && !tag->stepsBack.drops(position, step);
  }

  /// Returns the position up to which each file was read.
  const std::vector<std::uint64_t>& ends() const { return ends_; }
  /// Moves the damage of the files out of this object; a hostile file may have much.
  std::vector<Damage> takeDamage() { return std::exchange(damage_, {}); }

 private:
  void scanRecords(RunFile* file, std::uint32_t number, ReadProgress* progress);
  bool scanScalars(std::string_view payload, EventPosition position);
  void scanEvent(event::Event event, EventPosition position);
  void scanValue(const event::Value& value, EventPosition position, std::int64_t step);
  ScannedTag* meet(std::string_view tag);
  bool lacksPlugin(const ScannedTag& tag) const {
    return tags_[tag.number].metadata.pluginName.empty();
  }
  void setMetadata(ScannedTag* tag, event::SummaryMetadata metadata);
  void noteStep(ScannedTag* tag, EventPosition position, std::int64_t step);

  RestartRule rule_;
  std::vector<RunTag> tags_;
  TagIndex<ScannedTag> table_;
  StepCuts restarts_;
  std::int64_t latestStep_ = -1;
  bool hasPassedDamage_ = false;
  std::vector<std::uint64_t> ends_;
  std::vector<Damage> damage_;
  std::vector<events::ScalarView> scalars_;  // of the current event
};

}  // namespace steptape::detail::log
