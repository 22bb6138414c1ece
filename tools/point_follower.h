// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "steptape/reader/run_reader.h"

#include "tools/name_filter.h"

namespace steptape::tools {

/// A scalar of some run.
struct NewPoint {
  double wallTime;
  const std::string* run;  ///< Its directory, the follower's.
  std::string tag;
  std::int64_t step;
  double value;
};

/// Follows the scalars of one run while it is written.
///
/// Not thread-safe: one thread at a time.
class PointFollower {
 public:
  PointFollower(RunFiles run, NamePattern tag);

  /// Reads on, and appends each point that was not there before, tag by tag.
  /// @return whether a restart has dropped points since the last call.
  bool update(std::vector<NewPoint>* points);

  const RunReader& run() const { return run_; }

 private:
  /// The last point that was handed out.
  struct Seen {
    std::size_t count = 0;
    double wallTime = 0;
    std::int64_t step = 0;
  };
  static bool isStillThere(const ScalarColumns& scalars, const Seen& seen);

  RunReader run_;
  std::string directory_;
  NamePattern tag_;
  std::map<std::string, Seen> seenByTag_;
};

}  // namespace steptape::tools
