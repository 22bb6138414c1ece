// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <vector>

#include "base/mutex.h"

namespace steptape::testing {

/// What all groups of one runRanks() have in common.
struct ThreadJob {
  explicit ThreadJob(int size)
      : hasLeft(static_cast<std::size_t>(size), 0),
        wasLeftAlone(static_cast<std::size_t>(size), 0) {}

  Mutex mutex;
  CondVar changed;  // A meeting has ended, a rank has left or a group was given up.
  std::vector<char> hasLeft STEPTAPE_GUARDED_BY(mutex);
  /// Ranks of which a collective failed because another rank left or did not come.
  std::vector<char> wasLeftAlone STEPTAPE_GUARDED_BY(mutex);
};

}  // namespace steptape::testing
