// SPDX-License-Identifier: Apache-2.0
#include "steptape/trainer/broadcast.h"

#include <sstream>
#include <string>
#include <vector>

#include "steptape/base/error.h"
#include "steptape/record/crc32c.h"

#include "trainer/broadcast_string.h"
#include "trainer/optimizer_archive.h"
#include "trainer/tensor_schema.h"

#include <torch/nn/module.h>

namespace steptape {
namespace {

struct NamedTensor {
  std::string name;
  at::Tensor tensor;
};

std::vector<NamedTensor> parametersAndBuffers(const torch::nn::Module& module) {
  std::vector<NamedTensor> tensors;
  for (const auto& items : {module.named_parameters(), module.named_buffers()}) {
    for (const auto& item : items) {
      tensors.push_back({item.key(), item.value().detach()});
    }
  }
  return tensors;
}

std::string_view bytesOf(const at::Tensor& tensor) {
  return {static_cast<const char*>(tensor.data_ptr()), tensor.nbytes()};
}

}  // namespace

void broadcastParameters(torch::nn::Module& module, Communicator& world, int root) {
  const std::vector<NamedTensor> tensors = parametersAndBuffers(module);
  detail::TensorSchema schema;
  for (const auto& [name, tensor] : tensors) {
    schema.add(name, tensor);
  }
  schema.checkSameOnAllRanks(world, "broadcastParameters");
  for (const auto& [name, tensor] : tensors) {
    const at::Tensor dense = tensor.cpu().contiguous();
    world.broadcast(dense.data_ptr(), dense.nbytes(), root);
    if (!dense.is_same(tensor)) {
      at::Tensor(tensor).copy_(dense);
    }
  }
}

void broadcastOptimizerState(torch::optim::Optimizer& optimizer, Communicator& world, int root) {
  std::string state;
  if (world.rank() == root) {
    torch::serialize::OutputArchive archive;
    detail::saveOptimizer(optimizer, archive);
    std::ostringstream stream;
    archive.save_to(stream);
    state = stream.str();
  }
  detail::broadcastString(state, world, root);
  if (world.rank() != root) {
    std::istringstream stream(state);
    torch::serialize::InputArchive archive;
    archive.load_from(stream);
    detail::loadOptimizer(optimizer, archive);
  }
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
                    ", wanted that of rank 0, " + checksums.front());
  }
}

}  // namespace steptape
