// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <vector>

#include "base/mutex.h"

namespace steptape::testing {

/// State that all groups of one runRanks() share.
struct ThreadJob {
  explicit ThreadJob(int size)
      : hasLeft(static_cast<std::size_t>(size), 0),
        wasLeftAlone(static_cast<std::size_t>(size), 0) {}

  detail::base::Mutex mutex;
  detail::base::CondVar changed;  // a meeting has ended, a rank has left or a group was given up
  std::vector<char> hasLeft STEPTAPE_GUARDED_BY(mutex);
  /// Ranks whose collective failed because another rank left or did not arrive.
  std::vector<char> wasLeftAlone STEPTAPE_GUARDED_BY(mutex);
};

}  // namespace steptape::testing
