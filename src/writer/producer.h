// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>

#include "writer/scalar_ring.h"
#include "writer/tag_cache.h"

namespace steptape::detail {

/// A thread that logs: its ring to the backend, and its tag cache.
struct Producer {
  ScalarRing ring;
  TagCache tags;

  /// The ring's head when a wait for room ran out: no call waits again until the head has moved.
  std::uint64_t stalledAt = ~std::uint64_t{0};

  /// Set when the thread has ended: the backend frees the producer once the ring is empty.
  std::atomic<bool> ended{false};

  /// Returns the calling thread's producer; null before keep().
  static Producer* known() { return ofThread_; }

  /// Makes `producer` the calling thread's, until the thread ends. REQUIRES: known() is null
  static Producer& keep(std::shared_ptr<Producer> producer);

  /// Leaves the calling thread's ring, in a child made by fork(): it holds data of the parent.
  static void abandon() { ofThread_ = nullptr; }

 private:
  // __thread instead of thread_local: it cannot have a constructor, so reading it needs no check.
  // initial-exec saves a call in shared builds; eight bytes fit into the space that every process
  // reserves for it.
  [[gnu::tls_model("initial-exec")]] static __thread Producer* ofThread_;
  friend struct ProducerOfThread;
};

}  // namespace steptape::detail
