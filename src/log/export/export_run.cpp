// SPDX-License-Identifier: Apache-2.0
#include "log/export/export_run.h"

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <system_error>
#include <utility>

#include "steptape/events/plugin_content.h"

#include "base/text.h"
#include "base/utf8.h"
#include "log/export/curve_names.h"
#include "log/reader/event_values.h"

namespace steptape::detail::log {
namespace {

bool isInRange(std::int64_t step, const ExportOptions& options) {
  return (!options.fromStep || step >= *options.fromStep) &&
         (!options.toStep || step <= *options.toStep);
}

std::vector<bool> wantedTags(const std::vector<RunTag>& tags, const ExportOptions& options) {
  std::vector<bool> wanted(tags.size(), true);
  if (options.wantsTag) {
    for (std::size_t i = 0; i < tags.size(); ++i) {
      wanted[i] = options.wantsTag(tags[i].name);
    }
  }
  return wanted;
}

/// Makes names valid UTF-8. Names that differ only in their invalid bytes stay different.
std::vector<std::string> shownNames(std::vector<CurveName> curves,
                                    std::vector<std::string>* notes) {
  bool isEachValid = true;
  for (CurveName& curve : curves) {
    if (!base::isValidUtf8(curve.name)) {
      curve.name = base::replaceInvalidUtf8(curve.name);
      isEachValid = false;
    }
  }
  if (!isEachValid) {
    makeDistinct(&curves, notes);
  }
  std::vector<std::string> names;
  names.reserve(curves.size());
  for (CurveName& curve : curves) {
    names.push_back(std::move(curve.name));
  }
  return names;
}

std::vector<std::string> shownDirectories(const std::vector<RunFiles>& runs,
                                          std::vector<std::string>* notes) {
  std::vector<CurveName> names;
  for (const RunFiles& run : runs) {
    names.push_back({run.directory, run.directory, ""});
  }
  return shownNames(std::move(names), notes);
}

std::vector<std::string> shownTags(const std::string& directory, const std::vector<RunTag>& tags,
                                   std::vector<std::string>* notes) {
  std::vector<CurveName> names;
  for (const RunTag& tag : tags) {
    names.push_back({tag.name, directory, tag.name});
  }
  return shownNames(std::move(names), notes);
}

/// Counts what a format of scalars does not have as it is: numbers of other plugins, integers that
/// it rounds, and other values under the tag of a scalar.
class Losses {
 public:
  explicit Losses(const ExportedRun& run) : run_(run), counts_(run.tags.size()) {}

  void addTaken(const RunValue& value) {
    Counts& counts = counts_[value.tag];
    counts.hasScalars = true;
    if (value.number != nullptr && isRounded(*value.number)) {
      ++counts.rounded;
    }
  }
  void addLeftOut(const RunValue& value) {
    Counts& counts = counts_[value.tag];
    ++(numberOf(*value.data) ? counts.numbers : counts.others);
  }

  void appendNotes(std::vector<std::string>* notes) const {
    for (std::uint32_t tag = 0; tag < counts_.size(); ++tag) {
      const Counts& counts = counts_[tag];
      const std::string& plugin = run_.tags[tag].metadata.pluginName;
      if (counts.numbers > 0) {
        notes->push_back(
            noteOf(tag, counts.numbers,
                   "left out: got numbers of the plugin \"" + plugin + "\"; expected \"scalars\""));
      }
      if (counts.others > 0 && (counts.hasScalars || plugin == event::kScalarsPlugin)) {
        notes->push_back(noteOf(tag, counts.others, "left out: got no numbers"));
      }
      if (counts.rounded > 0) {
        notes->push_back(
            noteOf(tag, counts.rounded, "rounded: got integers that no double equals"));
      }
    }
  }

 private:
  struct Counts {
    bool hasScalars = false;
    std::uint64_t rounded = 0;
    // Those left out:
    std::uint64_t numbers = 0;
    std::uint64_t others = 0;
  };

  std::string noteOf(std::uint32_t tag, std::uint64_t count, const std::string& what) const {
    return base::counted(count, "value") + " of the tag \"" + run_.tagNames[tag] + "\" in " +
           run_.directory + " " + what + "; the format jsonl has all values";
  }

  const ExportedRun& run_;
  std::vector<Counts> counts_;  // by tag
};

}  // namespace

ExportResult exportRuns(const std::vector<RunFiles>& runs, const ExportOptions& options,
                        ExportFormat* format) {
  ExportResult result;
  std::uint64_t bytesBefore = 0;
  const std::vector<std::string> directories = shownDirectories(runs, &result.notes);
  for (std::size_t i = 0; i < runs.size(); ++i) {
    const RunFiles& run = runs[i];
    RunEventsOptions eventsOptions;
    eventsOptions.purge = options.purge;
    if (options.onProgress) {
      eventsOptions.onProgress = [&](std::uint64_t bytes) {
        options.onProgress(bytesBefore + bytes);
      };
    }
    RunEvents events(run, eventsOptions);
    const std::vector<bool> wanted = wantedTags(events.tags(), options);
    const ExportedRun exported{run, events.tags(), directories[i],
                               shownTags(directories[i], events.tags(), &result.notes)};
    Losses losses(exported);
    const bool isExact = format->isExact();
    format->beginRun(exported);
    RunValue value;
    while (events.next(&value)) {
      if (!isInRange(value.step, options) || !wanted[value.tag]) {
        continue;
      }
      if (!format->take(value)) {
        if (format->isOfNumbers()) {
          losses.addLeftOut(value);
        }
        continue;
      }
      ++result.values;
      if (!isExact && format->isOfNumbers()) {
        losses.addTaken(value);
      }
    }
    losses.appendNotes(&result.notes);
    result.damage.insert(result.damage.end(), events.damage().begin(), events.damage().end());
    bytesBefore += 2 * totalBytes(run);
    if (options.onProgress) {
      options.onProgress(bytesBefore);
    }
  }
  return result;
}

std::string temporaryPrefix(const ExportOptions& options) {
  if (!options.temporaryPrefix.empty()) {
    return options.temporaryPrefix;
  }
  std::error_code error;
  const std::filesystem::path directory = std::filesystem::temp_directory_path(error);
  return (error ? std::filesystem::path(".") : directory) / "steptape_export_";
}

}  // namespace steptape::detail::log
