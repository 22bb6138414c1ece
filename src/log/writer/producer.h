// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <utility>

#include "log/writer/scalar_ring.h"
#include "log/writer/tag_cache.h"

namespace steptape::detail::log {

/// What a thread that logs works on: its ring to the backend, and its tag cache.
///
/// It lies in memory that outlives the process if there is some. The ring comes first, where
/// whoever reads that memory finds it; the rest means nothing to others.
struct Producer {
  explicit Producer(std::uint64_t start = 0) : ring(start) {}

  ScalarRing ring;
  TagCache tags;

  /// ScalarRing::safe() when a wait for room ran out: no call waits again until it has moved.
  std::uint64_t stalledAt = ~std::uint64_t{0};

  /// Returns the calling thread's producer; null before keep().
  static Producer* known() { return ofThread_; }

  /// Makes `owned` the calling thread's, until the thread ends. REQUIRES: known() is null
  static Producer& keep(std::shared_ptr<class OwnedProducer> owned);

  /// Leaves the calling thread's ring, in a child made by fork(): it holds data of the parent.
  static void abandon() { ofThread_ = nullptr; }

 private:
  // __thread instead of thread_local: it cannot have a constructor, so reading it needs no check.
  // initial-exec saves a call in shared builds; eight bytes fit into the space that every process
  // reserves for it.
  static __thread Producer* ofThread_ __attribute__((tls_model("initial-exec")));
  friend struct ProducerOfThread;
};

/// A producer with what its owners, the thread and the backend, know of it.
class OwnedProducer {
 public:
  using Memory = std::unique_ptr<Producer, std::function<void(Producer*)>>;

  /// @param slot The number of its place in the black box, if it lies there.
  explicit OwnedProducer(Memory producer, std::optional<std::uint32_t> slot = std::nullopt)
      : producer_(std::move(producer)), slot_(slot) {}

  Producer* get() const { return producer_.get(); }
  ScalarRing& ring() const { return producer_->ring; }
  const std::optional<std::uint32_t>& slot() const { return slot_; }

  /// Set when the thread has ended: the backend frees the producer once the ring is empty. Not in
  /// the producer itself, because a child made by fork() does not have that memory.
  std::atomic<bool> ended{false};

 private:
  const Memory producer_;
  const std::optional<std::uint32_t> slot_;
};

}  // namespace steptape::detail::log
