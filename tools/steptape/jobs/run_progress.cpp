// SPDX-License-Identifier: Apache-2.0
#include "tools/steptape/jobs/run_progress.h"

#include <algorithm>
#include <charconv>
#include <string_view>
#include <sys/stat.h>
#include <variant>
#include <vector>

#include "steptape/base/status.h"
#include "steptape/log/event_file_reader.h"
#include "steptape/log/run_reader.h"

#include "base/directory_entries.h"
#include "base/text.h"

namespace steptape::tools {
namespace {

/// The step of `checkpoint_<step>.pt`; nothing for another name.
std::optional<std::int64_t> stepOfCheckpoint(std::string_view name) {
  constexpr std::string_view kPrefix = "checkpoint_";
  constexpr std::string_view kSuffix = ".pt";
  std::int64_t step = 0;
  if (!detail::base::startsWith(name, kPrefix) || !detail::base::endsWith(name, kSuffix)) {
    return std::nullopt;
  }
  const char* const end = name.data() + name.size() - kSuffix.size();
  const auto [last, error] = std::from_chars(name.data() + kPrefix.size(), end, step);
  return error == std::errc() && last == end ? std::optional(step) : std::nullopt;
}

/// Replaces `*most` by `step` if that is larger.
/// @return whether it is.
bool raise(std::optional<std::int64_t>* most, std::optional<std::int64_t> step) {
  // An empty optional is less than every number.
  if (*most < step) {
    *most = step;
    return true;
  }
  return false;
}

/// Returns the largest step of a value in the file. Skips damage, which a killed job leaves.
std::optional<std::int64_t> lastStepIn(const std::string& path) {
  std::optional<std::int64_t> last;
  try {
    EventFileReader reader(path);
    event::Event event;
    for (;;) {
      ReadOutcome outcome = reader.next(&event);
      if (outcome == ReadOutcome::kRecord) {
        if (std::holds_alternative<event::Summary>(event.what)) {
          raise(&last, event.step);
        }
        continue;
      }
      if (outcome != ReadOutcome::kCorrupt || reader.skipDamage() != ReadOutcome::kRecord) {
        return last;
      }
    }
  } catch (const Error&) {
    return last;  // It is gone.
  }
}

std::vector<RunFiles> runsIn(const std::string& directory) {
  try {
    return listRuns(directory);
  } catch (const Error&) {
    return {};  // It is not there yet.
  }
}

}  // namespace

RunProgress::RunProgress(std::string directory)
    : directory_(std::move(directory)),
      seen_(eventFiles()),
      checkpoint_(newestCheckpoint(directory_)) {}

std::optional<bool> RunProgress::update() {
  Files files = eventFiles();
  bool madeProgress = false;
  for (const auto& [path, state] : files) {
    const auto before = seen_.find(path);
    if (before == seen_.end() || before->second != state) {
      madeProgress = raise(&lastStep_, lastStepIn(path)) || madeProgress;
    }
  }
  seen_ = std::move(files);
  madeProgress = raise(&checkpoint_, newestCheckpoint(directory_)) || madeProgress;
  return lastStep_ || checkpoint_ ? std::optional(madeProgress) : std::nullopt;
}

RunProgress::Files RunProgress::eventFiles() const {
  Files files;
  for (const RunFiles& run : runsIn(directory_)) {
    for (const std::string& path : run.files) {
      struct stat status {};
      if (::stat(path.c_str(), &status) == 0) {
        files[path] = {static_cast<std::uint64_t>(status.st_size),
                       status.st_mtim.tv_sec * 1'000'000'000 + status.st_mtim.tv_nsec};
      }
    }
  }
  return files;
}

std::optional<std::int64_t> newestCheckpoint(const std::string& directory) {
  std::optional<std::int64_t> newest;
  std::vector<detail::base::DirectoryEntry> entries;
  static_cast<void>(detail::base::listDirectory(directory, &entries));  // It may not be there yet.
  for (const detail::base::DirectoryEntry& entry : entries) {
    // Links could lead round in circles.
    raise(&newest, entry.isDirectory && !entry.isLink
                       ? newestCheckpoint(directory + '/' + entry.name)
                       : stepOfCheckpoint(entry.name));
  }
  return newest;
}

}  // namespace steptape::tools
