// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "ranks/engine/transport.h"

namespace steptape::detail::ranks {

/// What the operations of a transport are for. Those of one lane run in the order in which they
/// began; no lane waits for another one.
enum LaneNumber : std::size_t { kComparisonLane, kReportLane, kDataLane, kLanes };

/// The operations of a transport that have not ended, by lane.
///
/// @threads Not thread-safe: one thread at a time.
template <typename Operation>
class OperationLanes {
 public:
  /// Adds an operation after the others of its lane.
  /// @return its number, for hasEnded().
  Transfer add(LaneNumber number, Operation operation) {
    Lane& lane = lanes_[number];
    lane.operations.push_back(std::move(operation));
    return ++lane.started * kLanes + number;
  }

  static std::size_t laneOf(Transfer transfer) { return transfer % kLanes; }
  bool hasEnded(Transfer transfer) const {
    return lanes_[laneOf(transfer)].ended >= transfer / kLanes;
  }

  /// Returns the operation that the lane is at; null if none has begun.
  Operation* current(std::size_t number) {
    Lane& lane = lanes_[number];
    return lane.first < lane.operations.size() ? &lane.operations[lane.first] : nullptr;
  }
  /// Ends this operation. REQUIRES: there is one
  void endCurrent(std::size_t number) {
    Lane& lane = lanes_[number];
    ++lane.ended;
    if (++lane.first == lane.operations.size()) {
      lane.operations.clear();
      lane.first = 0;
    }
  }
  /// Returns how many operations of the lane have ended.
  std::uint64_t ended(std::size_t number) const { return lanes_[number].ended; }

 private:
  struct Lane {
    std::vector<Operation> operations;
    std::size_t first = 0;  // operations before it have ended
    std::uint64_t started = 0;
    std::uint64_t ended = 0;
  };

  std::array<Lane, kLanes> lanes_;
};

}  // namespace steptape::detail::ranks
