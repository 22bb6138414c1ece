// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <string>
#include <utility>

#include "steptape/base/export.h"

#include "ranks/communicator/poll_pause.h"
#include "ranks/engine/collective_queue.h"
#include "ranks/engine/stall_notes.h"

namespace steptape::detail::ranks {

/// The time limits of a wait, and the listener.
struct StallLimits {
  std::chrono::milliseconds timeout;
  std::chrono::milliseconds warnAfter;  // 0: never
  std::function<void(const std::string&)> warn;
};

/// Runs the collectives of one group over its transport.
struct Engine {
  explicit Engine(const std::shared_ptr<Transport>& toUse)
      : transport(toUse), queue(toUse), notes(toUse) {}

  std::shared_ptr<Transport> transport;
  CollectiveQueue queue;
  StallNotes notes;
};

/// Starts a collective whose arguments have been checked: Communicator::start().
STEPTAPE_EXPORT std::unique_ptr<PendingCollective> startOn(const std::shared_ptr<Engine>& engine,
                                                           const CollectiveCall& call,
                                                           StallLimits limits);

}  // namespace steptape::detail::ranks
