// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>

namespace steptape::tools {

/// How far a run has come, as its files show: event files and checkpoints in and below its
/// directory.
class RunProgress {
 public:
  /// Notes which files are there; reads none. The directory may appear later.
  explicit RunProgress(std::string directory);

  /// Reads the event files that have changed since the last call, and looks for checkpoints.
  ///
  /// @return whether the run came further than ever since construction; nothing if it has neither
  ///         logged steps nor checkpoints.
  std::optional<bool> update();

 private:
  /// Size and modification time of each event file.
  using Files = std::map<std::string, std::pair<std::uint64_t, std::int64_t>>;

  Files eventFiles() const;

  std::string directory_;
  Files seen_;
  std::optional<std::int64_t> lastStep_;
  std::optional<std::int64_t> checkpoint_;
};

/// Returns the step of the newest file `checkpoint_<step>.pt` in or below a directory.
std::optional<std::int64_t> newestCheckpoint(const std::string& directory);

}  // namespace steptape::tools
