// SPDX-License-Identifier: Apache-2.0
// The graph of a model, on ranks that are processes.
#include <string>
#include <variant>
#include <vector>

#include "steptape/ranks/mpi_communicator.h"
#include <steptape/torch.h>

#include "log/writer/run_contents.h"
#include "train/loop/training_fixture.h"

namespace steptape::test {
namespace {

/// Counts how often it runs.
struct CountingNet : torch::nn::Module {
  CountingNet() : fc(register_module("fc", torch::nn::Linear(4, 2))) {}
  torch::Tensor forward(const torch::Tensor& x) {
    ++runs;
    return fc->forward(x);
  }
  torch::nn::Linear fc;
  int runs = 0;
};

class RankGraph : public ::testing::Test {
 protected:
  /// Every rank adds the graph of its model. @return how often that ran the model.
  int addGraph(RankPolicy policy) {
    DistributedWriterOptions options;
    options.rankPolicy = policy;
    DistributedWriter writer(logDir_, world_, options);
    const auto net = std::make_shared<CountingNet>();
    writer.addGraph(net, torch::ones({1, 4}));
    writer.close().throwIfError();
    world_->barrier();
    return net->runs;
  }

  static int graphsIn(const std::string& directory) {
    int graphs = 0;
    for (const event::Event& event : eventsIn(directory)) {
      graphs += std::holds_alternative<event::GraphDef>(event.what) ? 1 : 0;
    }
    return graphs;
  }

  World world_ = std::make_shared<MpiCommunicator>(MPI_COMM_WORLD);
  testing::TempDir dir_;
  std::string logDir_ = world_->broadcastObject(dir_.string() + "/run", 0);
};

TEST_F(RankGraph, IsTracedAndWrittenByTheRootAlone) {
  const int runs = addGraph(RankPolicy::kRootOnly);
  EXPECT_EQ(runs > 0, world_->isRoot());
  if (world_->isRoot()) {
    EXPECT_EQ(graphsIn(logDir_), 1);
  }
  world_->barrier();
}

TEST_F(RankGraph, IsWrittenByEveryRankThatHasARunOfItsOwn) {
  EXPECT_GT(addGraph(RankPolicy::kPerRank), 0);
  EXPECT_EQ(graphsIn(logDir_ + "/" + rankRunName(world_->rank())), 1);
  world_->barrier();
}

TEST_F(RankGraph, MayBeAddedByTheRootAlone) {
  DistributedWriter writer(logDir_, world_);
  if (world_->isRoot()) {  // Not collective: nobody waits for the others.
    writer.addGraph(std::make_shared<CountingNet>(), torch::ones({1, 4}));
    writer.close().throwIfError();
    EXPECT_EQ(graphsIn(logDir_), 1);
  }
  world_->barrier();
}

}  // namespace
}  // namespace steptape::test
