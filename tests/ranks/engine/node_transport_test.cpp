// SPDX-License-Identifier: Apache-2.0
#include "ranks/engine/node_transport.h"

#include <memory>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "steptape/ranks/testing.h"

#include "ranks/communicator/collective_contract.h"
#include "ranks/engine/engine_communicator.h"

#include <gtest/gtest.h>

namespace steptape {
namespace {

/// A rank that is a thread, and whose collectives run over a NodeTransport. What is not a
/// collective is left to the communicator that it is made of.
class NodeCommunicator final : public detail::ranks::EngineCommunicator {
 public:
  static std::shared_ptr<NodeCommunicator> make(std::shared_ptr<Communicator> threads) {
    auto memory =
        threads->allocateNodeMemory(detail::ranks::NodeTransport::bytesFor(threads->size()));
    std::vector<detail::ranks::GroupMap::Place> places(static_cast<std::size_t>(threads->size()),
                                                       {0, threads->nodeName()});
    auto made = std::make_shared<NodeCommunicator>(
        threads,
        std::make_shared<detail::ranks::NodeTransport>(
            std::move(memory), detail::ranks::GroupMap(std::move(places), threads->rank())));
    made->setTimeout(threads->timeout());
    return made;
  }

  NodeCommunicator(std::shared_ptr<Communicator> threads,
                   const std::shared_ptr<detail::ranks::NodeTransport>& transport)
      : EngineCommunicator(transport), threads_(std::move(threads)) {}

  std::shared_ptr<Communicator> split(int color, int key) override {
    const std::shared_ptr<Communicator> part = threads_->split(color, key);
    if (!part) {
      return nullptr;
    }
    auto made = make(part);
    shareSettings(*made);
    return made;
  }

  std::shared_ptr<NodeMemory> allocateNodeMemory(std::size_t bytes, std::string* why) override {
    auto memory = threads_->allocateNodeMemory(bytes, why);
    if (memory) {
      shareSettings(*memory);
    }
    return memory;
  }

 private:
  std::shared_ptr<Communicator> threads_;
};

using ContractOnNodeMemory = ::testing::TestWithParam<std::tuple<test::ContractCase, int>>;

TEST_P(ContractOnNodeMemory, Holds) {
  const test::ContractCase& contract = std::get<0>(GetParam());
  testing::runRanksShared(std::get<1>(GetParam()),
                          [&](const std::shared_ptr<Communicator>& threads) {
                            contract.check(*NodeCommunicator::make(threads));
                          });
}

INSTANTIATE_TEST_SUITE_P(
    Communicator, ContractOnNodeMemory,
    ::testing::Combine(::testing::ValuesIn(test::collectiveContract()),
                       ::testing::Values(1, 2, 3, 5)),
    [](const ::testing::TestParamInfo<ContractOnNodeMemory::ParamType>& tested) {
      return std::get<0>(tested.param).name + std::string("On") +
             std::to_string(std::get<1>(tested.param));
    });

}  // namespace
}  // namespace steptape
