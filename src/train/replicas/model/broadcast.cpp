// SPDX-License-Identifier: Apache-2.0
#include <string>
#include <vector>

#include "steptape/base/error.h"
#include "steptape/train/parameters.h"

#include "base/crc32c.h"
#include "train/replicas/model/optimizer_archive.h"
#include "train/replicas/model/rank_outcome.h"
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
  const std::vector<detail::NamedTensor> tensors = detail::parametersAndBuffers(module);
  detail::schemaOf(tensors).checkSameOnAllRanks(world, "broadcastParameters");
  detail::broadcastTensors(tensors, world, root);
}

void broadcastOptimizerState(torch::optim::Optimizer& optimizer, Communicator& world, int root) {
  constexpr const char* kWho = "broadcastOptimizerState";
  detail::schemaOf(optimizer).checkSameOnAllRanks(world, kWho, "optimizer");
  const bool isRoot = world.rank() == root;
  std::string state;
  std::string failure = detail::failureOf([&] {
    if (isRoot) {
      state = detail::optimizerToBytes(optimizer);
    }
  });
  detail::throwIfAnyRankFailed(failure, world, ErrorCode::kInvalidArgument, kWho);
  state = world.broadcastObject(state, root);
  failure = detail::failureOf([&] {
    if (!isRoot) {
      detail::optimizerFromBytes(optimizer, state);
    }
  });
  detail::throwIfAnyRankFailed(failure, world, ErrorCode::kInvalidArgument, kWho);
}

void checkParametersAreEqual(const torch::nn::Module& module, Communicator& world) {
  Crc32c checksum;
  for (const at::Tensor& parameter : module.parameters()) {
    const at::Tensor dense = parameter.detach().cpu().contiguous();
    checksum = extend(checksum, bytesOf(dense));
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
