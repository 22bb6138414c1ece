// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string>
#include <utility>

#include "steptape/ranks/communicator.h"

namespace steptape::test {

/// Forwards everything to another communicator and counts the collectives. A group of one rank has
/// none.
class CountingCommunicator final : public Communicator {
 public:
  explicit CountingCommunicator(std::shared_ptr<Communicator> inner) : inner_(std::move(inner)) {}

  int rank() const override { return inner_->rank(); }
  int size() const override { return inner_->size(); }
  const std::string& nodeName() const override { return inner_->nodeName(); }

  int collectives() const { return collectives_; }

 protected:
  std::unique_ptr<detail::ranks::PendingCollective> start(
      const detail::ranks::CollectiveCall& call) override {
    ++collectives_;
    return startOn(*inner_, call);
  }

 private:
  std::shared_ptr<Communicator> inner_;
  int collectives_ = 0;
};

}  // namespace steptape::test
