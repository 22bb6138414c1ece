// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>

#include "steptape/events/event.h"

#include "log/writer/run_context.h"
#include "log/writer/scalar_series.h"

namespace steptape::detail::log {

/// What has been written of the tags of a run directory, to report values that TensorBoard will not
/// show because of earlier ones: once for each tag, through the run's reporter.
///
/// @threads Not thread-safe: one thread at a time.
class TagNotes {
 public:
  /// @param context, directory Outlive this object.
  TagNotes(RunContext* context, const std::string& directory)
      : context_(context), directory_(directory) {}

  /// Notes the values of an event that is written next.
  void noteValues(const event::Event& event);
  /// Notes that scalars of a series are written under the tag. Their steps are the caller's matter.
  void noteScalars(const std::string& tag);
  /// Notes a scalar of a series whose step is not above the last one.
  // Not inlined: it must not take registers from the loop over scalars.
  [[gnu::noinline]] void noteOldStep(ScalarSeries* series, float value, std::int64_t step);
  /// Notes that readers discard points: steps may be smaller again.
  void noteResume();

  /// Reports how often steps have decreased, at the end of a file.
  void reportStepsBack();

 private:
  /// What has been written of a tag.
  struct TagNote {
    std::string kind;         // by which TensorBoard takes all values of the tag
    bool isReported = false;  // a value that does not fit the kind
    std::optional<std::int64_t> lastStep = std::nullopt;  // of values other than scalar series
  };

  TagNote* noteKind(const std::string& tag, std::string_view kind);
  void noteForm(const event::Value& value, TagNote* note);
  void noteStep(const std::string& tag, std::int64_t step, TagNote* note);
  void noteStepBack(const std::string& tag, std::int64_t last, std::int64_t step);
  void noteRepeatedStep(const std::string& tag, std::int64_t step);
  void report(const std::string& where, const std::string& problem);

  RunContext* const context_;
  const std::string& directory_;
  std::uint64_t resumes_ = 0;
  std::unordered_map<std::string, TagNote> tags_;
  std::map<std::string, std::uint64_t> stepsBack_;  // number of decreasing steps, by tag
  std::unordered_set<std::string> stepsRepeated_;   // tags
};

}  // namespace steptape::detail::log
