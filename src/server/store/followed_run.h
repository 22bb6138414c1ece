// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "steptape/log/run_reader.h"

#include "log/reader/run_follower.h"
#include "server/store/served_run.h"

namespace steptape::detail::server {

/// Returns the path of a directory without links; the given one if it cannot be found.
std::string canonicalOf(const std::string& directory);

/// A run that is followed.
///
/// @threads Not thread-safe: one thread at a time.
struct FollowedRun {
  FollowedRun(std::string servedName, RunFiles files, const RunReaderOptions& options);

  /// Follows, and lets the tail go if the files have grown: they hold a part of it now.
  void update();
  /// Returns how far a file of the run was read; 0 for one that is not known.
  std::uint64_t bytesReadOf(const std::string& file) const;
  /// Returns what pages see, which is another object after files were replaced.
  std::shared_ptr<ServedRun> served() const {
    return std::static_pointer_cast<ServedRun>(follower.sink());
  }

  std::string name;
  std::string directory;
  std::string canonical;  ///< Without links.
  std::int64_t written;   ///< When its newest file was, in nanoseconds.
  log::RunFollower follower;
  bool isDirty = true;
  bool hasTail = false;
  bool isTailOnly = false;  ///< Its program has made no event file yet.
};

}  // namespace steptape::detail::server
