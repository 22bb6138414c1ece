// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "steptape/events/event.h"

#include "events/messages/scalar_event_view.h"
#include "log/check/finding_list.h"
#include "log/check/value_form.h"
#include "log/check/value_outcome.h"

namespace steptape::detail::log {

/// Checks the values of a run, tag by tag, in the order in which the readers read them.
///
/// @threads Not thread-safe: one thread at a time.
/// @cost    One map entry per tag.
class TagCheck {
 public:
  /// REQUIRES: `report` and `findings` are not null and outlive this object.
  TagCheck(CheckReport* report, FindingList* findings) : report_(report), findings_(findings) {}

  /// Sets the name of the run, which the fast data server uses in the addresses of images.
  void setRunName(std::string_view name);

  /// Begins the next file of the run.
  void beginFile() { ++file_; }

  /// Sets whether the file's version has restart events. Without one, the Python loader regards a
  /// decreasing step as a restart.
  void setHasRestarts(bool hasRestarts) { hasRestarts_ = hasRestarts; }
  bool hasRestarts() const { return hasRestarts_; }

  /// @param payload The event in wire format.
  void takeSummary(const event::Summary& summary, std::string_view payload, std::int64_t step,
                   const FindingPlace& place);

  /// Like takeSummary(), but much faster, for an event of scalars of known tags only.
  /// @return false for any other event; nothing is then checked.
  bool takeScalars(const events::ScalarEventView& event, const FindingPlace& place);

  /// Takes a graph, or what running it took.
  void takeGraph(const std::string& tag, const FindingPlace& place) { takeBlobName(tag, place); }

  /// Returns whether there is a value at `step` or later that no restart has discarded.
  bool hasStepFrom(std::int64_t step) const;

  /// Applies a restart, which discards earlier points at `step` and later.
  /// @param isIgnored Whether the Python loader does not apply it, such as the run's first.
  void takeRestart(std::int64_t step, bool isIgnored, const FindingPlace& place);

  /// Reports tags that no page shows. REQUIRES: all files were taken.
  void finish();

 private:
  struct TagState {
    TagKind kind;
    PythonKind pythonKind;
    bool hasData = false;
    bool isScalar = false;                 ///< For both readers.
    std::optional<std::int64_t> lastStep;  ///< Of points that no restart has discarded.
    std::optional<double> lastNumber;      ///< For a scalar.
    bool hasOthersAtStep = false;          ///< Other numbers at lastStep.
    std::vector<std::int64_t> blobSteps;   ///< For images and audio, in the Python loader; sorted.
    std::optional<ClipCounts> clips;       ///< For audio: of the first value.
  };

  void takeValue(const event::Value& value, const events::ValueFacts& facts, std::int64_t step,
                 const FindingPlace& place);
  void takeEmptyTag(const event::Value& value, const events::ValueFacts& facts,
                    const TagState& state, const FindingPlace& place);
  void takeClips(const std::string& tag, const event::Value& value, TagState* state,
                 const FindingPlace& place);
  void takeBlobName(const std::string& tag, const FindingPlace& place);
  static bool isSettled(const TagState& state);
  void settle(const std::string& tag, TagState* state, const FindingPlace& place);
  void reportRepeat(const std::string& tag, std::int64_t step, const FindingPlace& place);
  void takePoint(const std::string& tag, std::int64_t step, std::optional<double> number,
                 TagState* state, const FindingPlace& place);
  void takeLayout(const event::Value& value, const FindingPlace& place);
  void takeExperiment(const event::Value& value, const FindingPlace& place);

  CheckReport* report_;
  FindingList* findings_;
  std::map<std::string, TagState, std::less<>> tags_;
  std::map<std::string, FindingPlace> unsettled_;  // first values of tags that may not be shown
  std::map<std::string, FindingPlace> emptied_;    // restarts after which a tag has no images
  std::set<std::pair<std::string, std::string>> charts_;  // of the last layout, by category
  std::optional<std::int64_t> lastStep_;                  // of any summary
  bool hasRestarts_ = false;
  bool isRunNameEscaped_ = false;
  std::uint32_t file_ = 0;
  std::vector<events::ValueFacts> facts_;  // of the current event
};

}  // namespace steptape::detail::log
