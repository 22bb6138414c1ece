// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>

#include "steptape/event/event.h"

#include "checker/finding_list.h"
#include "checker/value_form.h"
#include "event/scalar_event_view.h"

namespace steptape::detail {

/// Judges the values of a run, tag by tag, in the order in which the readers take them.
///
/// @threads Not thread-safe: one thread at a time.
/// @cost    A map entry for each tag.
class TagCheck {
 public:
  /// REQUIRES: `report` and `findings` are not null and outlive this.
  TagCheck(CheckReport* report, FindingList* findings) : report_(report), findings_(findings) {}

  /// Takes a file's version. Without one, the Python loader takes a step that goes back for a
  /// restart.
  void setHasRestarts(bool hasRestarts) { hasRestarts_ = hasRestarts; }

  void takeSummary(const event::Summary& summary, std::int64_t step, const FindingPlace& place);

  /// As takeSummary(), much faster, for an event that is nothing but scalars of known tags.
  /// @return false if it is another one; nothing is then taken.
  bool takeScalars(const ScalarEventView& event, const FindingPlace& place);

  /// Whether there is a value at `step` or later that no restart has dropped.
  bool hasStepFrom(std::int64_t step) const;

  /// Takes a restart, which is meant to drop what was written at `step` and later.
  void takeRestart(std::int64_t step);

 private:
  struct TagState {
    TagKind kind;
    std::optional<std::int64_t> lastStep;  ///< Of what no restart has dropped.
    std::optional<double> lastNumber;      ///< Of a scalar.
  };

  void takeValue(const event::Value& value, std::int64_t step, const FindingPlace& place);
  void takePoint(const std::string& tag, std::int64_t step, std::optional<double> number,
                 TagState* state, const FindingPlace& place);
  void checkStep(const std::string& tag, std::int64_t step, const TagState& state,
                 const FindingPlace& place);
  void takeLayout(const event::Value& value, const FindingPlace& place);
  void takeExperiment(const event::Value& value, const FindingPlace& place);

  CheckReport* report_;
  FindingList* findings_;
  std::map<std::string, TagState, std::less<>> tags_;
  std::set<std::pair<std::string, std::string>> charts_;  // of the last layout, by category
  std::optional<std::int64_t> lastStep_;                  // of any summary
  bool hasRestarts_ = false;
};

}  // namespace steptape::detail
