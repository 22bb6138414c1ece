// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "steptape/log/log_dir.h"

#include "tools/steptape/runs/name_filter.h"

namespace steptape::tools {

/// A scalar of some run. The names are valid until the follower's next update().
struct NewPoint {
  double wallTime;
  const std::string* run;  ///< Directory of the run, or its URL.
  const std::string* tag;
  std::int64_t step;
  double value;
  bool mayBeRounded;  ///< See tools::mayBeRounded().
};

/// The new content of the files.
struct RunNews {
  std::vector<NewPoint> points;        ///< In the order of their times.
  std::vector<std::string> restarted;  ///< Directories of runs in which restarts discarded points.
  std::vector<std::string> replaced;   ///< Files read from their start again.
  std::vector<Damage> damage;          ///< Except in files that are still being written.
  /// For each tag of a run, once: that its points are rounded.
  std::vector<std::string> rounded;
};

/// Follows the scalars of all runs at and below some paths, including runs that appear later.
///
/// Not thread-safe: one thread at a time.
class PointFollower {
 public:
  /// @param paths A path below another one is followed once.
  PointFollower(const std::vector<std::string>& paths, NameFilter filter);

  /// Reads the data written since the last update.
  ///
  /// @param mostPoints Returns at most this many new points, the last ones.
  RunNews update(std::size_t mostPoints = std::numeric_limits<std::size_t>::max());

  bool hasRuns() const;

 private:
  void addNews(const RunReader& run, std::size_t mostPoints, RunNews* news);
  void noteRounded(RunNews* news);
  void forgetDamage(const std::string& file);
  void addDamage(const std::vector<Damage>& all, RunNews* news);

  NameFilter filter_;
  std::vector<LogDir> logs_;
  std::map<const RunReader*, std::string> names_;           // of runs, as they are shown
  std::map<const RunReader*, std::size_t> points_;          // of each run, at its last update
  std::set<std::pair<std::string, std::uint64_t>> damage_;  // already reported: path and offset
  std::set<std::string> rounded_;                           // as damage_: the names of tags
};

}  // namespace steptape::tools
