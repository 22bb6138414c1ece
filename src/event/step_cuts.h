// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

namespace steptape::detail {

/// The position of an event in its run: the number of its file, and the offset there.
using EventPosition = std::pair<std::uint32_t, std::uint64_t>;

/// Places from which on a program wrote steps anew: each drops what lies before it and has its step
/// or a later one. Collected in one pass over a run and asked in a second.
///
/// @threads Not thread-safe: one thread at a time.
/// @cost    24 bytes of memory a cut at most. Both calls take constant time on average.
class StepCuts {
 public:
  /// REQUIRES: positions ascend from call to call.
  void add(EventPosition position, std::int64_t step) {
    // A later cut at an earlier step drops all that these would.
    while (!cuts_.empty() && cuts_.back().step >= step) {
      cuts_.pop_back();
    }
    cuts_.push_back({position, step});
  }

  /// Whether what lies at `position` is dropped.
  /// REQUIRES: positions ascend from call to call, and all cuts were added.
  bool drops(EventPosition position, std::int64_t step) {
    while (next_ < cuts_.size() && cuts_[next_].position <= position) {
      ++next_;
    }
    // Of the later ones, the next one has the smallest step.
    return next_ < cuts_.size() && step >= cuts_[next_].step;
  }

 private:
  struct Cut {
    EventPosition position;
    std::int64_t step;
  };
  std::vector<Cut> cuts_;  // positions and steps ascend
  std::size_t next_ = 0;
};

}  // namespace steptape::detail
