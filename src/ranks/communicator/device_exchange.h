// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <vector>

#include "steptape/ranks/collective.h"

namespace steptape::detail::ranks {

/// Moves GPU memory between the ranks of a group, by a transport that reads and writes it.
///
/// Nothing compares what ranks call: they must start the same exchanges, of equal sizes, in the
/// same order.
///
/// @threads Not thread-safe: one thread at a time, the communicator's.
class DeviceExchange {
 public:
  struct Part {
    void* data = nullptr;
    std::size_t bytes = 0;
  };

  DeviceExchange() = default;
  DeviceExchange(const DeviceExchange&) = delete;
  DeviceExchange& operator=(const DeviceExchange&) = delete;
  virtual ~DeviceExchange() = default;

  /// Sends `sent[r]` to rank r and receives `received[r]` from it; this rank's are ignored.
  /// The GPU must have finished its work on the memory, and must not use it until the end.
  ///
  /// @param name For errors.
  virtual std::unique_ptr<PendingCollective> start(const std::string& name,
                                                   const std::vector<Part>& sent,
                                                   const std::vector<Part>& received) = 0;
};

}  // namespace steptape::detail::ranks
