// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

namespace steptape::detail::train {

/// Counts passes of backward(), whose gradients add up until the ranks exchange them.
class PassCounter {
 public:
  explicit PassCounter(std::int64_t passesPerExchange) : passesPerExchange_(passesPerExchange) {}

  /// Ends a pass.
  /// @return whether the ranks exchange after it.
  bool end() {
    if (noSyncDepth_ > 0 || ++passes_ < passesPerExchange_) {
      return false;
    }
    passes_ = 0;
    return true;
  }

  /// Returns whether the ranks will exchange after the next pass.
  bool isLast() const { return noSyncDepth_ == 0 && passes_ + 1 == passesPerExchange_; }

  void enterNoSync() { ++noSyncDepth_; }
  void leaveNoSync() { --noSyncDepth_; }

 private:
  std::int64_t passesPerExchange_;
  std::int64_t passes_ = 0;
  int noSyncDepth_ = 0;
};

}  // namespace steptape::detail::train
