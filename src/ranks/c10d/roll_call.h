// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "ranks/c10d/key_store.h"

namespace steptape::c10d::detail {

/// Finds out which ranks have ended: those that wait, or have lost a connection as well, answer a
/// roll call in the store.
///
/// @threads Not thread-safe: one thread at a time.
class RollCall {
 public:
  RollCall(std::shared_ptr<KeyStore> keys, int rank)
      : keys_(std::move(keys)), rank_(std::to_string(rank)) {}

  /// Calls the roll, and returns those of `others` that do not answer.
  /// @throws Error if the store has ended as well.
  std::vector<int> silentOf(const std::vector<int>& others);
  /// Answers a roll call, for a rank that waits. Looks for one now and then.
  void answerIfCalled();

 private:
  void answer() { keys_->set("roll/" + rank_, ""); }
  std::vector<int> ranksWithout(const std::string& prefix, std::vector<int> ranks);

  const std::shared_ptr<KeyStore> keys_;
  const std::string rank_;
  std::chrono::steady_clock::time_point nextLook_;
  bool hasAnswered_ = false;
};

}  // namespace steptape::c10d::detail
