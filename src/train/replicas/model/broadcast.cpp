// SPDX-License-Identifier: Apache-2.0
#include <string>
#include <vector>

#include "steptape/base/status.h"
#include "steptape/train/parameters.h"

#include "base/crc32c.h"
#include "train/replicas/model/optimizer_archive.h"
#include "train/replicas/model/rank_failures.h"
#include "train/replicas/model/tensor_broadcast.h"

#include <torch/nn/module.h>
#include <torch/optim/optimizer.h>

namespace steptape {
namespace {

std::string_view bytesOf(const at::Tensor& tensor) {
  return {static_cast<const char*>(tensor.data_ptr()), tensor.nbytes()};
}

}  // namespace

void broadcastParameters(torch::nn::Module& module, Communicator& world, int root) {
  const std::vector<detail::train::NamedTensor> tensors =
      detail::train::parametersAndBuffers(module);
  detail::train::schemaOf(tensors).checkSameOnAllRanks(world, "broadcastParameters");
  detail::train::broadcastTensors(tensors, world, root);
}

void broadcastOptimizerState(torch::optim::Optimizer& optimizer, Communicator& world, int root) {
  constexpr const char* kWho = "broadcastOptimizerState";
  detail::train::schemaOf(optimizer).checkSameOnAllRanks(world, kWho, "optimizer");
  const bool isRoot = world.rank() == root;
  std::string state;
  std::string failure = detail::train::failureOf([&] {
    if (isRoot) {
      state = detail::train::optimizerToBytes(optimizer);
    }
  });
  detail::train::throwIfAnyRankFailed(failure, world, ErrorCode::kInvalidArgument, kWho);
  state = world.broadcastObject(state, root);
  failure = detail::train::failureOf([&] {
    if (!isRoot) {
      detail::train::optimizerFromBytes(optimizer, state);
    }
  });
  detail::train::throwIfAnyRankFailed(failure, world, ErrorCode::kInvalidArgument, kWho);
}

void checkParametersAreEqual(const torch::nn::Module& module, Communicator& world) {
  detail::base::Crc32c checksum;
  for (const at::Tensor& parameter : module.parameters()) {
    const at::Tensor dense = parameter.detach().cpu().contiguous();
    checksum = detail::base::extend(checksum, bytesOf(dense));
  }
  const std::vector<std::string> checksums = world.allgather(checksum.toString());
  std::string differing;
  for (std::size_t rank = 1; rank < checksums.size(); ++rank) {
    if (checksums[rank] != checksums.front()) {
      differing += (differing.empty() ? "rank " : ", rank ") + std::to_string(rank) + " (" +
                   checksums[rank] + ")";
    }
  }
  if (!differing.empty()) {
    throw Error(ErrorCode::kRankMismatch,
                "the parameters differ between ranks: got the checksums of " + differing +
                    "; expected that of rank 0, " + checksums.front());
  }
}

}  // namespace steptape
