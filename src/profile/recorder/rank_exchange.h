// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <deque>
#include <list>
#include <memory>
#include <string>
#include <vector>

#include "steptape/ranks/communicator.h"

#include "base/mutex.h"

namespace steptape::detail::profile {

/// Gathers each rank's results for a window on the root while training continues.
///
/// A rank computes its results on a separate thread, at its own time. No rank waits for another:
/// after each step, the ranks determine how many windows are ready on all ranks, and exchange
/// these.
///
///     after step n       starts an allreduce: how many are ready?
///     after step n + 1   ends it, after the time of one step, and starts to exchange these windows
///     after step n + 2   ends the exchange: the root has them
///
/// Every rank starts and ends the same operations after the same steps, in the job's order. If a
/// rank ends with an exception and waits for its operations, the other ranks start all of them
/// before they would notice its absence.
///
/// @threads provide() on any thread; the others on the communicator's.
class RankExchange {
 public:
  /// The results of all ranks for a window.
  struct Window {
    std::int64_t step;
    std::vector<std::string> byRank;  ///< As given to provide().
  };

  explicit RankExchange(std::shared_ptr<Communicator> ranks);

  /// Announces a window, for which provide() will be called. All ranks call it in the same steps.
  void expect(std::int64_t step);
  /// Provides this rank's results for the earliest window that has none. Needs no memory, because
  /// expect() has allocated it. REQUIRES: expect() was called for that window.
  void provide(std::string found) noexcept;

  /// Advances the exchange. Call it after each step. Collective; does nothing while no window is
  /// missing.
  ///
  /// @return the windows that have arrived since the last call, in order; empty on ranks other than
  ///         the root.
  /// @throws as a collective.
  std::vector<Window> advance();
  /// Returns once every window has arrived. Collective. REQUIRES: provide() was called for all
  /// windows.
  std::vector<Window> finish();

 private:
  enum class Phase : std::uint8_t { kIdle, kAsking, kSending };

  void ask();
  void send(std::size_t windows);
  std::vector<Window> takeArrived();
  CollectiveOptions named() const;

  const std::shared_ptr<Communicator> ranks_;
  std::deque<std::int64_t> expected_;  // steps of windows that have not arrived
  Phase phase_ = Phase::kIdle;
  std::array<std::int64_t, 1> ready_{};  // message: number of ready windows
  std::string own_;                      // message: the windows of this rank
  std::vector<std::string> fromRank_;

  base::Mutex mutex_;
  std::list<std::string> missing_ STEPTAPE_GUARDED_BY(mutex_);   // allocated for provide()
  std::list<std::string> provided_ STEPTAPE_GUARDED_BY(mutex_);  // and not sent

  CollectiveHandle underWay_;  // last: its destructor waits while the memory above exists
};

}  // namespace steptape::detail::profile
