// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

namespace steptape::detail::log {

/// The position of an event in its run: the number of its file, and its offset in the file.
using EventPosition = std::pair<std::uint32_t, std::uint64_t>;

/// Positions at which a program restarted from an earlier step. A cut discards the events before it
/// that have its step or a later one. One pass over a run collects the cuts, a second pass applies
/// them.
///
/// @threads Not thread-safe: one thread at a time.
/// @cost    At most 24 bytes of memory per cut. Both calls take constant time on average.
class StepCuts {
 public:
  /// Adds a cut. REQUIRES: positions ascend from call to call.
  void add(EventPosition position, std::int64_t step) {
    // A later cut at an earlier step discards everything that these cuts would.
    while (!cuts_.empty() && cuts_.back().step >= step) {
      cuts_.pop_back();
    }
    cuts_.push_back({position, step});
  }

  /// Returns whether the event at `position` is discarded. REQUIRES: positions ascend from call to
  /// call, and all cuts were added.
  bool drops(EventPosition position, std::int64_t step) {
    while (next_ < cuts_.size() && cuts_[next_].position <= position) {
      ++next_;
    }
    // Of the later cuts, the next one has the smallest step.
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

}  // namespace steptape::detail::log
