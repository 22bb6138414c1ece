// SPDX-License-Identifier: Apache-2.0
#include <utility>
#include <vector>

#include "steptape/ranks/testing.h"

#include "ranks/communicator/agreed_node_memory.h"
#include "ranks/communicator/collective_call.h"
#include "ranks/communicator/group_map.h"
#include "ranks/communicator/group_split.h"
#include "ranks/communicator/private_node_memory.h"
#include "ranks/testing/thread_collective.h"
#include "ranks/testing/thread_group.h"

namespace steptape::testing {
namespace {

/// The memory that the first arriving rank of a node has allocated for all.
struct SharedBlock {
  std::shared_ptr<NodeMemory> memory;
  std::string failure;  // why there is no memory
};

/// A block of the process that the ranks of one node share.
class ThreadNodeMemory final : public NodeMemory {
 public:
  ThreadNodeMemory(std::shared_ptr<NodeMemory> block, std::shared_ptr<ThreadGroup> group,
                   std::shared_ptr<const detail::ranks::GroupMap> map)
      : NodeMemory(block->data(), block->size()),
        block_(std::move(block)),
        group_(std::move(group)),
        map_(std::move(map)) {}

  void checkPeers() const override { group_->checkPresent(*map_, map_->ranksOfNode()); }
  std::string nameOfLocalRank(int localRank) const override { return map_->nameOfLocal(localRank); }

 private:
  std::shared_ptr<NodeMemory> block_;
  std::shared_ptr<ThreadGroup> group_;
  std::shared_ptr<const detail::ranks::GroupMap> map_;
};

}  // namespace

ThreadCommunicator::ThreadCommunicator(std::shared_ptr<ThreadGroup> group,
                                       std::shared_ptr<const detail::ranks::GroupMap> map)
    : group_(std::move(group)), map_(std::move(map)) {
  setJobRanks(group_->worldRanks());
}
ThreadCommunicator::~ThreadCommunicator() = default;

int ThreadCommunicator::rank() const {
  return map_->rank();
}
int ThreadCommunicator::size() const {
  return map_->size();
}
int ThreadCommunicator::localRank() const {
  return map_->localRank();
}
int ThreadCommunicator::localSize() const {
  return map_->localSize();
}
int ThreadCommunicator::crossRank() const {
  return map_->crossRank();
}
int ThreadCommunicator::crossSize() const {
  return map_->crossSize();
}
const std::string& ThreadCommunicator::nodeName() const {
  return map_->nodeName();
}

std::string ThreadCommunicator::nextKey(const std::string& what) {
  return what + " of object " + std::to_string(shared_++);
}

std::shared_ptr<Communicator> ThreadCommunicator::split(int color, int key) {
  const std::vector<int> ranks = detail::ranks::ranksOfColor(*this, color, key);
  const std::string sharedKey = nextKey("color " + std::to_string(color));
  if (ranks.empty()) {
    return nullptr;
  }
  const std::shared_ptr<void> shared =
      group_->share(sharedKey, static_cast<int>(ranks.size()), [&] {
        std::vector<int> worldRanks;
        worldRanks.reserve(ranks.size());
        for (const int member : ranks) {
          worldRanks.push_back(group_->worldRank(member));
        }
        return std::make_shared<ThreadGroup>(group_->job(), std::move(worldRanks));
      });
  auto part = std::make_shared<ThreadCommunicator>(
      std::static_pointer_cast<ThreadGroup>(shared),
      std::make_shared<const detail::ranks::GroupMap>(map_->part(ranks)));
  shareSettings(*part);
  return part;
}

std::shared_ptr<NodeMemory> ThreadCommunicator::allocateNodeMemory(std::size_t bytes,
                                                                   std::string* why) {
  detail::ranks::agreeOnBytes(*this, *map_, bytes);
  const std::string key = nextKey("node " + std::to_string(crossRank()));
  const auto shared = std::static_pointer_cast<SharedBlock>(group_->share(key, localSize(), [&] {
    auto made = std::make_shared<SharedBlock>();
    made->memory = detail::ranks::PrivateNodeMemory::tryMake(bytes, made->failure);
    return made;
  }));
  if (!detail::ranks::agreeOnSuccess(*this, *map_, shared->failure, why)) {
    return nullptr;
  }
  const auto memory = std::make_shared<ThreadNodeMemory>(shared->memory, group_, map_);
  shareSettings(*memory);
  return memory;
}

std::unique_ptr<detail::ranks::PendingCollective> ThreadCommunicator::start(
    const detail::ranks::CollectiveCall& call) {
  ThreadCollective::Stall stall{timeout(), stallWarningAfter(),
                                [this](const std::string& text) { warnOfStall(text); }};
  return std::make_unique<ThreadCollective>(group_, map_, call, std::move(stall));
}

}  // namespace steptape::testing
