// SPDX-License-Identifier: Apache-2.0
#include "ranks/c10d/c10d_communicator.h"

#include <utility>

#include "steptape/base/status.h"

#include "ranks/c10d/gloo_transport.h"
#include "ranks/c10d/store_transport.h"
#include "ranks/communicator/group_split.h"
#include "ranks/communicator/posix_node_memory.h"
#include "ranks/engine/node_transport.h"
#include "ranks/engine/stuck.h"

namespace steptape::c10d::detail {
namespace {

using steptape::detail::ranks::EngineCommunicator;
using steptape::detail::ranks::GroupMap;
using steptape::detail::ranks::NodeTransport;
using steptape::detail::ranks::PosixNodeMemory;
using steptape::detail::ranks::Transport;

/// How a group moves its data.
struct Medium {
  std::shared_ptr<Transport> transport;
  std::string name;
};

Medium chooseMedium(const JobStore& job, const std::shared_ptr<KeyStore>& keys,
                    const std::string& prefix, const GroupMap& map,
                    std::chrono::milliseconds timeout) {
  auto byStore =
      std::make_shared<StoreTransport>(std::make_shared<PrefixedStore>(keys, "setup/"), map);
  if (map.size() == 1) {
    return {byStore, "one rank"};
  }
  std::string why;
  if (job.options.useNodeMemory) {
    std::shared_ptr<NodeMemory> memory = NodeTransport::tryMakeMemory(byStore, timeout, &why);
    if (memory) {
      return {std::make_shared<NodeTransport>(std::move(memory), map), "shared memory"};
    }
  }
  if (!hasGloo()) {
    throw Error(ErrorCode::kFailedPrecondition,
                "a group of " + std::to_string(map.size()) + " ranks on " +
                    std::to_string(map.crossSize()) +
                    " nodes needs gloo, and this Steptape was built without its headers "
                    "(apt-get install libgloo-dev)" +
                    (why.empty() ? "" : "; " + why));
  }
  GlooSetup gloo;
  gloo.tcp = job.tcp;
  gloo.keys = keys;
  gloo.prefix = prefix;
  gloo.networkInterfaces = job.options.c10d.networkInterfaces;
  gloo.timeout = timeout;
  EngineCommunicator setup(byStore);
  setup.setTimeout(timeout);
  gloo.presence =
      PosixNodeMemory::tryMake(setup, map, 1, nullptr, &steptape::detail::ranks::markStuck);
  return {makeGlooTransport(gloo, map), why.empty() ? "gloo" : "gloo, since " + why};
}

}  // namespace

std::shared_ptr<C10dCommunicator> C10dCommunicator::make(
    const JobStore& job, const std::shared_ptr<KeyStore>& keys, const std::string& prefix,
    const GroupMap& map, std::vector<int> jobRanks, std::chrono::milliseconds timeout) {
  Medium medium = chooseMedium(job, keys, prefix, map, timeout);
  auto made = std::make_shared<C10dCommunicator>(job, keys, prefix, std::move(jobRanks),
                                                 medium.transport, std::move(medium.name));
  made->setTimeout(timeout);
  return made;
}

C10dCommunicator::C10dCommunicator(JobStore job, std::shared_ptr<KeyStore> keys, std::string prefix,
                                   std::vector<int> jobRanks,
                                   const std::shared_ptr<Transport>& transport, std::string medium)
    : EngineCommunicator(transport),
      job_(std::move(job)),
      keys_(std::move(keys)),
      prefix_(std::move(prefix)),
      jobRanks_(std::move(jobRanks)),
      medium_(std::move(medium)) {
  setJobRanks(jobRanks_);
}

std::shared_ptr<Communicator> C10dCommunicator::split(int color, int key) {
  const std::vector<int> ranks = steptape::detail::ranks::ranksOfColor(*this, color, key);
  const std::string name = "split " + std::to_string(++splits_) + "." + std::to_string(color) + "/";
  if (ranks.empty()) {
    return nullptr;
  }
  std::vector<int> jobRanks;
  jobRanks.reserve(ranks.size());
  for (const int rank : ranks) {
    jobRanks.push_back(jobRanks_[static_cast<std::size_t>(rank)]);
  }
  auto part = make(job_, std::make_shared<PrefixedStore>(keys_, name), prefix_ + name,
                   map().part(ranks), std::move(jobRanks), timeout());
  shareSettings(*part);
  return part;
}

std::shared_ptr<NodeMemory> C10dCommunicator::allocateNodeMemory(std::size_t bytes,
                                                                 std::string* why) {
  std::shared_ptr<NodeMemory> memory =
      size() == 1
          ? Communicator::allocateNodeMemory(bytes, why)
          : PosixNodeMemory::tryMake(*this, map(), bytes, why, &steptape::detail::ranks::markStuck);
  if (memory) {
    shareSettings(*memory);
  }
  return memory;
}

}  // namespace steptape::c10d::detail
