// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "steptape/event/event.h"
#include "steptape/reader/run_events.h"

#include "event/scalar_event_view.h"
#include "reader/step_cuts.h"
#include "reader/tag_numbers.h"

namespace steptape::detail {

/// Takes the scalars of an event apart.
///
/// @param event Its wall time and step are set.
/// @return false if it is something else; all is then unspecified.
bool takeScalars(std::string_view payload, RunValue* event, std::vector<ScalarView>* scalars);

/// What can be known of a value only from what lies behind it: the first pass of RunEvents.
///
/// @threads Not thread-safe: one thread at a time.
class RunScan {
 public:
  /// Until a file says its version it is taken for an old one.
  explicit RunScan(PurgePolicy purge) : purge_(purge), watchesSteps_(purge != PurgePolicy::kNone) {}

  /// Reads a file of the run. REQUIRES: called for all files in their order.
  /// @param progress Is called now and then, with the offset of a record.
  void scan(const std::string& path, const std::function<void(std::uint64_t)>& progress);

  const std::vector<RunTag>& tags() const { return tags_; }
  std::uint32_t tagNumber(std::string_view tag) { return numbers_.find(tag); }

  /// Whether numbers under the tag are scalars. REQUIRES: all files were scanned.
  bool isScalar(std::uint32_t tag) const { return states_[tag].isScalar; }

  /// Whether a value is left after all restarts and steps back.
  /// REQUIRES: all files were scanned, and positions ascend from call to call.
  bool keeps(std::uint32_t tag, EventPosition position, std::int64_t step) {
    TagState& state = states_[tag];
    return state.isGraph ||
           !(restarts_.drops(position, step) || state.stepsBack.drops(position, step));
  }

  /// How far each file was read.
  const std::vector<std::uint64_t>& ends() const { return ends_; }
  const std::vector<Damage>& damage() const { return damage_; }

 private:
  struct TagState {
    bool isScalar = false;
    bool isGraph = false;
    StepCuts stepsBack;
  };

  bool scanScalars(std::string_view payload, EventPosition position);
  void scanEvent(Event event, EventPosition position);
  void scanValue(const Value& value, EventPosition position, std::int64_t step);
  void restart(EventPosition position, std::int64_t step);
  std::uint32_t meet(std::string_view tag);
  bool lacksPlugin(std::uint32_t tag) const { return tags_[tag].metadata.pluginName.empty(); }
  void setMetadata(std::uint32_t tag, SummaryMetadata metadata);
  void noteStep(std::uint32_t tag, EventPosition position, std::int64_t step);

  PurgePolicy purge_;
  std::vector<RunTag> tags_;
  TagNumbers numbers_;
  StepCuts restarts_;
  std::vector<TagState> states_;  // by tag
  bool hasStarted_ = false;
  bool watchesSteps_;
  bool knowsVersion_ = false;
  std::int64_t latestStep_ = -1;
  std::vector<std::uint64_t> ends_;
  std::vector<Damage> damage_;
  std::vector<ScalarView> scalars_;  // of the event that is being read
};

}  // namespace steptape::detail
