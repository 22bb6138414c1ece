// SPDX-License-Identifier: Apache-2.0
#include "steptape/distributed/communicator.h"

#include <array>
#include <unistd.h>

#include "steptape/base/error.h"

namespace steptape {
namespace {

std::string hostName() {
  std::array<char, 256> name{};
  // POSIX leaves a name that was cut without its terminator; the last byte stays ours.
  if (gethostname(name.data(), name.size() - 1) != 0) {
    return "unknown";
  }
  return name.data();
}

}  // namespace

Communicator::Communicator() : nodeName_(hostName()) {}
Communicator::~Communicator() = default;

int Communicator::rank() const {
  return 0;
}
int Communicator::size() const {
  return 1;
}
int Communicator::localRank() const {
  return 0;
}
int Communicator::localSize() const {
  return 1;
}
const std::string& Communicator::nodeName() const {
  return nodeName_;
}

void Communicator::allreduce(Span<float> /*data*/, ReduceOp /*op*/) {}
void Communicator::allreduce(Span<double> /*data*/, ReduceOp /*op*/) {}
void Communicator::allreduce(Span<MetricMoments> /*data*/) {}

void Communicator::broadcast(void* /*data*/, std::size_t /*bytes*/, int root) {
  checkRoot(root);
}

std::vector<std::string> Communicator::allgather(std::string_view bytes) {
  return {std::string(bytes)};
}

void Communicator::barrier() {}

void Communicator::checkRoot(int root) const {
  if (root < 0 || root >= size()) {
    throw Error(ErrorCode::kInvalidArgument, "broadcast: root " + std::to_string(root) +
                                                 " is not a rank: want 0 to " +
                                                 std::to_string(size() - 1));
  }
}

}  // namespace steptape
