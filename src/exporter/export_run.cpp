// SPDX-License-Identifier: Apache-2.0
#include "exporter/export_run.h"

#include <filesystem>
#include <system_error>

namespace steptape::detail {
namespace {

std::vector<bool> wantedTags(const std::vector<RunTag>& tags, const ExportOptions& options) {
  std::vector<bool> wanted(tags.size(), true);
  if (options.wantsTag) {
    for (std::size_t i = 0; i < tags.size(); ++i) {
      wanted[i] = options.wantsTag(tags[i].name);
    }
  }
  return wanted;
}

}  // namespace

ExportResult exportRuns(const std::vector<RunFiles>& runs, const ExportOptions& options,
                        ExportFormat* format) {
  ExportResult result;
  std::uint64_t bytesBefore = 0;
  for (const RunFiles& run : runs) {
    RunEventsOptions eventsOptions;
    eventsOptions.purge = options.purge;
    if (options.onProgress) {
      eventsOptions.onProgress = [&](std::uint64_t bytes) {
        options.onProgress(bytesBefore + bytes);
      };
    }
    RunEvents events(run, eventsOptions);
    const std::vector<bool> wanted = wantedTags(events.tags(), options);
    format->beginRun(run, events.tags());
    RunValue value;
    while (events.next(&value)) {
      if (value.step >= options.fromStep && value.step <= options.toStep && wanted[value.tag] &&
          format->take(value)) {
        ++result.values;
      }
    }
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

}  // namespace steptape::detail
