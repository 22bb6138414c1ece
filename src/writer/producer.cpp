// SPDX-License-Identifier: Apache-2.0
#include "writer/producer.h"

#include <memory>
#include <utility>

#include "writer/backend.h"

namespace steptape {

__thread Producer* Producer::ofThread_ = nullptr;

/// Gives a thread's ring up when the thread ends.
struct ProducerOfThread {
  std::shared_ptr<Producer> producer;
  bool ended = false;

  ~ProducerOfThread() {
    ended = true;
    Producer::ofThread_ = nullptr;
    if (producer) {
      producer->ended.store(true, std::memory_order_release);
    }
  }
};

Producer& Producer::create() {
  static thread_local ProducerOfThread owner;
  if (owner.ended) {
    // The destructor of another thread-local object logs. What is first used now is destroyed
    // later.
    static thread_local ProducerOfThread late;
    return own(&late);
  }
  return own(&owner);
}

Producer& Producer::own(ProducerOfThread* owner) {
  auto producer = std::make_shared<Producer>();
  Backend::instance().addProducer(producer);
  ofThread_ = producer.get();
  owner->producer = std::move(producer);
  return *ofThread_;
}

}  // namespace steptape
