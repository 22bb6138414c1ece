// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

namespace steptape::detail {

/// Counts passes of backward(), which add up until the ranks exchange.
class PassCounter {
 public:
  explicit PassCounter(std::int64_t passesPerExchange) : passesPerExchange_(passesPerExchange) {}

  /// Ends a pass. @return whether the ranks exchange after it.
  bool end() {
    if (noSyncDepth_ > 0 || ++passes_ < passesPerExchange_) {
      return false;
    }
    passes_ = 0;
    return true;
  }

  /// Whether the ranks will exchange after the pass that comes next.
  bool isLast() const { return noSyncDepth_ == 0 && passes_ + 1 == passesPerExchange_; }

  void enterNoSync() { ++noSyncDepth_; }
  void leaveNoSync() { --noSyncDepth_; }

 private:
  std::int64_t passesPerExchange_;
  std::int64_t passes_ = 0;
  int noSyncDepth_ = 0;
};

}  // namespace steptape::detail
