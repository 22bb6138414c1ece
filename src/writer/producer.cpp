// SPDX-License-Identifier: Apache-2.0
#include "writer/producer.h"

#include <memory>
#include <utility>

#include "writer/backend.h"

namespace steptape {

__thread Producer* Producer::ofThread = nullptr;

/// Gives a thread's ring up when the thread ends. A call made later still, by another thread-local
/// object's destructor, gets a ring of its own that is given up at once.
struct ProducerOfThread {
  std::shared_ptr<Producer> producer;
  bool ending = false;

  ~ProducerOfThread() {
    ending = true;
    Producer::ofThread = nullptr;
    if (producer) {
      producer->ended.store(true, std::memory_order_release);
    }
  }
};

Producer& Producer::create() {
  static thread_local ProducerOfThread owner;
  auto producer = std::make_shared<Producer>();
  Producer& created = *producer;
  if (!owner.ending) {
    owner.producer = producer;
    ofThread = &created;
  }
  Backend::instance().addProducer(std::move(producer));
  return created;
}

}  // namespace steptape
