// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <numeric>
#include <string>
#include <utility>
#include <vector>

#include "steptape/ranks/communicator.h"

#include "ranks/communicator/collective_call.h"
#include "train/replicas/gradients/gradient_exchange.h"

#include <gtest/gtest.h>
#include <torch/torch.h>

namespace steptape::test {

using World = std::shared_ptr<Communicator>;
using Slots = std::vector<detail::train::GradientSlot>;

inline at::Tensor numbers(at::IntArrayRef shape, double seed) {
  std::int64_t count = 1;
  for (const std::int64_t size : shape) {
    count *= size;
  }
  return at::sin(at::arange(count, at::kDouble) * 0.7 + seed).view(shape);
}

inline detail::train::GradientSlot slot(const std::string& name, at::IntArrayRef shape, double seed,
                                        at::ScalarType type = at::kFloat) {
  return {name, numbers(shape, seed).to(type).set_requires_grad(true), 0, 0, {}};
}

/// Two layers, the later one registered first.
struct Net {
  Slots slots = {slot("second.weight", {2, 5}, 1), slot("second.bias", {2}, 2),
                 slot("first.weight", {5, 3}, 3), slot("first.bias", {5}, 4)};

  at::Tensor hidden(const at::Tensor& x) const {
    return at::tanh(at::linear(x, slots[2].parameter, slots[3].parameter));
  }
  at::Tensor loss(const at::Tensor& hidden) const {
    return at::linear(hidden, slots[0].parameter, slots[1].parameter).pow(2).mean();
  }
  void backward(const at::Tensor& x) const { loss(hidden(x)).backward(); }
};

/// Returns four samples, different for each rank and step.
inline at::Tensor samplesOf(int rank, int step = 0) {
  return numbers({4, 3}, rank * 7 + step).to(at::kFloat);
}

/// Averages the gradients of slots by messages, like GradientSync.
class Exchange {
 public:
  Exchange(Slots& slots, const World& world, const GradientSyncOptions& options = {})
      : slots_(slots),
        scale_(1.0 / world->size()),
        messages_(detail::train::makeMessageExchange(slots, world, options)) {}

  void operator()() {
    if (!isLaidOut_) {
      std::vector<std::size_t> all(slots_.size());
      std::iota(all.begin(), all.end(), std::size_t{0});
      std::string why;
      messages_->layOut(all, why);
      isLaidOut_ = true;
    }
    messages_->collect(scale_);
    messages_->distribute();
    messages_->setOverlapping(true);
    for (std::size_t slot = 0; slot < slots_.size(); ++slot) {
      if (messages_->stateOf(slot) == detail::train::GradientState::kNone) {
        slots_[slot].parameter.mutable_grad().reset();
      } else {
        detail::train::showAsGradient(slots_[slot]);
      }
    }
  }

  detail::train::GradientExchange& messages() { return *messages_; }

 private:
  Slots& slots_;
  double scale_;
  bool isLaidOut_ = false;
  std::unique_ptr<detail::train::GradientExchange> messages_;
};

inline void zeroGradients(const Slots& slots) {
  for (const detail::train::GradientSlot& slot : slots) {
    slot.parameter.mutable_grad().reset();
  }
}

inline void expectClose(const at::Tensor& got, const at::Tensor& wanted, double tolerance) {
  EXPECT_TRUE(at::allclose(got.to(at::kDouble), wanted.to(at::kDouble), 0, tolerance))
      << "got\n"
      << got << "\nwanted\n"
      << wanted;
}

/// Expects the same bits on every rank.
inline void expectSameOnAllRanks(const at::Tensor& tensor, Communicator& world) {
  const at::Tensor flat = tensor.detach().contiguous();
  const std::vector<std::string> all =
      world.allgather({static_cast<const char*>(flat.data_ptr()), flat.nbytes()});
  for (std::size_t rank = 1; rank < all.size(); ++rank) {
    EXPECT_EQ(all[rank], all[0]) << "rank " << rank;
  }
}

inline void expectSameOnAllRanks(const Slots& slots, Communicator& world) {
  for (const detail::train::GradientSlot& slot : slots) {
    expectSameOnAllRanks(slot.parameter.grad(), world);
  }
}

/// Forwards everything to another communicator and records the names of collectives, including
/// those of its groups.
class NamingCommunicator final : public Communicator {
 public:
  /// Names of the collectives that this rank has started.
  class Names {
   public:
    void add(const std::string& name) {
      const std::lock_guard<std::mutex> lock(mutex_);
      names_ += name + "; ";
    }
    void clear() {
      const std::lock_guard<std::mutex> lock(mutex_);
      names_.clear();
    }
    bool contain(const std::string& part) const {
      const std::lock_guard<std::mutex> lock(mutex_);
      return names_.find(part) != std::string::npos;
    }

   private:
    mutable std::mutex mutex_;
    std::string names_;
  };

  NamingCommunicator(World inner, bool worksOnAnyThread,
                     std::shared_ptr<Names> names = std::make_shared<Names>())
      : inner_(std::move(inner)), worksOnAnyThread_(worksOnAnyThread), names_(std::move(names)) {}

  int rank() const override { return inner_->rank(); }
  int size() const override { return inner_->size(); }
  bool worksOnAnyThread() const override { return worksOnAnyThread_; }
  World split(int color, int key) override {
    World group = inner_->split(color, key);
    return group ? std::make_shared<NamingCommunicator>(group, worksOnAnyThread_, names_) : nullptr;
  }

  Names& names() const { return *names_; }

 protected:
  std::unique_ptr<detail::ranks::PendingCollective> start(
      const detail::ranks::CollectiveCall& call) override {
    names_->add(call.name);
    return startOn(*inner_, call);
  }

 private:
  World inner_;
  bool worksOnAnyThread_;
  std::shared_ptr<Names> names_;
};

}  // namespace steptape::test
