// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <deque>
#include <list>
#include <memory>
#include <string>
#include <vector>

#include "steptape/comm/communicator.h"

#include "base/mutex.h"

namespace steptape::detail {

/// Brings to the root what each rank finds in a window, beside the training.
///
/// A rank's own thread makes it, and is ready at a moment of its own. For that no rank waits:
/// after each step the ranks ask each other how many windows are ready everywhere, and when some
/// are, these travel.
///
///     after step n       begins an allreduce: how many are ready?
///     after step n + 1   ends it, which has had a step's time, and begins an exchange of those
///     after step n + 2   ends that: the root has them
///
/// Every rank begins and ends the same operations after the same steps, in the job's own order. So
/// a rank that ends by an exception, and waits for what it has begun, waits for nothing that the
/// others would not begin before they miss it.
///
/// @threads provide() on any thread; the others on the communicator's.
class RankExchange {
 public:
  /// What all ranks found in a window.
  struct Window {
    std::int64_t step;
    std::vector<std::string> byRank;  ///< As given to provide().
  };

  explicit RankExchange(std::shared_ptr<Communicator> ranks);

  /// Announces a window, for which provide() will be called. In the same steps on all ranks.
  void expect(std::int64_t step);
  /// Gives what this rank found in the earliest window for which that was not called yet. Needs no
  /// memory: expect() has made the place.
  /// REQUIRES: expect() was called for that window.
  void provide(std::string found) noexcept;

  /// Advances the exchange, after each step. Collective; does nothing while no window is missing.
  ///
  /// @return what has arrived since the last call, in order; empty on other ranks than the root.
  /// @throws as a collective.
  std::vector<Window> advance();
  /// Returns once every window has arrived. Collective. REQUIRES: provide() was called for all.
  std::vector<Window> finish();

 private:
  enum class Phase : std::uint8_t { kIdle, kAsking, kSending };

  void ask();
  void send(std::size_t windows);
  std::vector<Window> takeArrived();
  CollectiveOptions named() const;

  const std::shared_ptr<Communicator> ranks_;
  std::deque<std::int64_t> expected_;  // steps of the windows that have not come
  Phase phase_ = Phase::kIdle;
  std::array<std::int64_t, 1> ready_{};  // travels while asking: how many windows are
  std::vector<std::string> toRank_;      // travel while sending
  std::vector<std::string> fromRank_;

  Mutex mutex_;
  std::list<std::string> missing_ STEPTAPE_GUARDED_BY(mutex_);  // places for what is to be provided
  std::list<std::string> provided_ STEPTAPE_GUARDED_BY(mutex_);  // and not sent

  CollectiveHandle underWay_;  // last: its end waits, while the memory above is still its
};

}  // namespace steptape::detail
