// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "steptape/distributed/communicator.h"

namespace steptape::test {

/// Hands everything on to another communicator and counts the collectives.
class CountingCommunicator final : public Communicator {
 public:
  explicit CountingCommunicator(std::shared_ptr<Communicator> inner) : inner_(std::move(inner)) {}

  int rank() const override { return inner_->rank(); }
  int size() const override { return inner_->size(); }
  const std::string& nodeName() const override { return inner_->nodeName(); }

  void allreduce(Span<float> data, ReduceOp op) override {
    ++collectives_;
    inner_->allreduce(data, op);
  }
  void allreduce(Span<double> data, ReduceOp op) override {
    ++collectives_;
    inner_->allreduce(data, op);
  }
  void allreduce(Span<MetricMoments> data) override {
    ++collectives_;
    inner_->allreduce(data);
  }
  void broadcast(void* data, std::size_t bytes, int root) override {
    ++collectives_;
    inner_->broadcast(data, bytes, root);
  }
  std::vector<std::string> allgather(std::string_view bytes) override {
    ++collectives_;
    return inner_->allgather(bytes);
  }
  void barrier() override {
    ++collectives_;
    inner_->barrier();
  }

  int collectives() const { return collectives_; }

 private:
  std::shared_ptr<Communicator> inner_;
  int collectives_ = 0;
};

}  // namespace steptape::test
