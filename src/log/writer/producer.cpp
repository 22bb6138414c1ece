// SPDX-License-Identifier: Apache-2.0
#include "log/writer/producer.h"

#include <utility>

#include "process/blackbox/thread_state.h"

namespace steptape::detail::log {

__thread Producer* Producer::ofThread_ __attribute__((tls_model("initial-exec"))) = nullptr;

/// Gives a thread's ring up when the thread ends.
struct ProducerOfThread {
  std::shared_ptr<OwnedProducer> producer;
  bool ended = false;

  ~ProducerOfThread() {
    ended = true;
    Producer::ofThread_ = nullptr;
    if (producer) {
      producer->ended.store(true, std::memory_order_release);
    }
  }
};

Producer& Producer::keep(std::shared_ptr<OwnedProducer> owned) {
  static thread_local ProducerOfThread first;
  ProducerOfThread* owner = &first;
  if (first.ended) {
    // The destructor of another thread-local object logs. Objects constructed now are destroyed
    // later.
    static thread_local ProducerOfThread late;
    owner = &late;
  }
  process::joinState();
  ofThread_ = owned->get();
  owner->producer = std::move(owned);
  return *ofThread_;
}

}  // namespace steptape::detail::log
