// SPDX-License-Identifier: Apache-2.0
#include "ranks/nccl/nccl_group.h"

#include <deque>
#include <map>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include "steptape/base/status.h"

#include "base/mutex.h"
#include "base/running_time.h"
#include "base/sigpipe_blocked.h"
#include "ranks/nccl/nccl_library.h"

namespace steptape::detail::ranks {
namespace {

using Clock = std::chrono::steady_clock;

constexpr std::chrono::milliseconds kLookEvery{50};

/// What a rank tells the others before the group is made.
struct Hello {
  std::string problem;
  std::string gpu;  // with the node; empty: unknown

  std::string text() const { return problem + '\0' + gpu; }
  static Hello from(std::string_view text) {
    const std::size_t end = text.find('\0');
    return {std::string(text.substr(0, end)), std::string(text.substr(end + 1))};
  }
};

/// Returns why the ranks cannot form a group; empty if they can.
std::string problemOf(const std::vector<std::string>& hellos) {
  std::map<std::string, std::size_t> rankOf;
  for (std::size_t rank = 0; rank < hellos.size(); ++rank) {
    const Hello hello = Hello::from(hellos[rank]);
    if (!hello.problem.empty()) {
      return "rank " + std::to_string(rank) + ": " + hello.problem;
    }
    if (hello.gpu.empty()) {
      continue;
    }
    const auto [other, isNew] = rankOf.emplace(hello.gpu, rank);
    if (!isNew) {
      return "ranks " + std::to_string(other->second) + " and " + std::to_string(rank) +
             " use the same GPU, which NCCL does not allow";
    }
  }
  return {};
}

}  // namespace

struct NcclGroup::State {
  struct Operation {
    std::string name;
    std::function<bool()> hasEnded;
    base::RunningTime oldest;  // since it is the oldest one
  };

  std::shared_ptr<const NcclLibrary> nccl;
  NcclLibrary::Stream stream = nullptr;
  std::chrono::milliseconds timeout{};
  int rank = 0;

  mutable base::Mutex mutex;
  NcclLibrary::Comm comm STEPTAPE_GUARDED_BY(mutex) = nullptr;  // null: aborted
  std::string abortedBecause STEPTAPE_GUARDED_BY(mutex);
  std::deque<Operation> operations STEPTAPE_GUARDED_BY(mutex);

  void abort(const std::string& why) STEPTAPE_REQUIRES(mutex) {
    if (comm != nullptr) {
      nccl->commAbort(std::exchange(comm, nullptr));
      abortedBecause = why;
      operations.clear();
    }
  }

  void requireUsable() const STEPTAPE_REQUIRES(mutex) {
    if (comm == nullptr) {
      throw Error(ErrorCode::kDeadlineExceeded,
                  "rank " + std::to_string(rank) + ": NCCL's group was aborted: " + abortedBecause);
    }
  }

  void dropEnded() STEPTAPE_REQUIRES(mutex) {
    while (!operations.empty() && operations.front().hasEnded()) {
      operations.pop_front();
      if (!operations.empty()) {
        operations.front().oldest.restart();
      }
    }
  }

  bool isBusy() const {
    const base::MutexLock lock(mutex);
    return !operations.empty();
  }

  Clock::time_point look() {
    const base::MutexLock lock(mutex);
    dropEnded();
    if (comm == nullptr || operations.empty()) {
      return Clock::now() + kLookEvery;
    }
    const std::string where = " in the sum of " + operations.front().name;
    int result = NcclLibrary::kSuccess;
    nccl->commGetAsyncError(comm, &result);
    if (NcclLibrary::failed(result)) {
      abort(nccl->reportOf(result) + where);
    } else if (operations.front().oldest.look() > timeout) {
      abort("the GPUs of other ranks did not come within " + std::to_string(timeout.count()) +
            " ms" + where);
    }
    return Clock::now() + kLookEvery;
  }
};

std::unique_ptr<NcclGroup> NcclGroup::make(Communicator& world, const std::string& library,
                                           std::chrono::milliseconds timeout, std::string& why) {
  Hello mine;
  const std::shared_ptr<const NcclLibrary> nccl = NcclLibrary::load(library, mine.problem);
  NcclLibrary::UniqueId id{};
  NcclLibrary::Stream stream = nullptr;
  if (nccl) {
    stream = nccl->streamOfCurrentGpu();
    if (stream == nullptr) {
      mine.problem = "the runtime of CUDA makes no stream";
    }
    const std::string gpu = nccl->currentGpu();
    mine.gpu = gpu.empty() ? "" : world.nodeName() + " " + gpu;
    if (world.rank() == 0) {
      const int result = nccl->getUniqueId(&id);
      if (result != NcclLibrary::kSuccess) {
        mine.problem = nccl->reportOf(result);
      }
    }
  }
  CollectiveOptions options;
  options.name = "GPUs of NCCL's group";
  why = problemOf(world.allgather(mine.text(), options));
  if (!why.empty()) {
    return nullptr;
  }
  options.name = "id of NCCL's group";
  world.broadcast(id.bytes.data(), id.bytes.size(), 0, options);
  NcclLibrary::Comm comm = nullptr;
  const int result = [&] {
    const base::SigpipeBlocked inThreadsOfNccl;
    return nccl->commInitRank(&comm, world.size(), id, world.rank());
  }();
  mine.problem = result == NcclLibrary::kSuccess ? "" : nccl->reportOf(result);
  options.name = "start of NCCL's group";
  why = problemOf(world.allgather(Hello{mine.problem, ""}.text(), options));
  if (!why.empty()) {
    if (comm != nullptr) {
      nccl->commAbort(comm);
    }
    return nullptr;
  }
  auto state = std::make_shared<State>();
  state->nccl = nccl;
  state->stream = stream;
  state->timeout = timeout;
  state->rank = world.rank();
  {
    const base::MutexLock lock(state->mutex);
    state->comm = comm;
  }
  return std::unique_ptr<NcclGroup>(new NcclGroup(std::move(state)));
}

NcclGroup::NcclGroup(std::shared_ptr<State> state) : state_(std::move(state)) {}

NcclGroup::~NcclGroup() {
  while (state_->isBusy()) {
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
    state_->look();
  }
  thread_.reset();
  const base::MutexLock lock(state_->mutex);
  if (state_->comm != nullptr) {
    state_->nccl->commDestroy(std::exchange(state_->comm, nullptr));
  }
}

void* NcclGroup::stream() const {
  return state_->stream;
}

void NcclGroup::sum(const std::string& name, void* data, std::size_t count, DType type) {
  const base::MutexLock lock(state_->mutex);
  state_->requireUsable();
  const int result = state_->nccl->allReduce(data, data, count, ncclType(type).value(),
                                             NcclLibrary::kSum, state_->comm, state_->stream);
  if (NcclLibrary::failed(result)) {
    const std::string why = state_->nccl->reportOf(result) + " for the sum of " + name;
    state_->abort(why);
    throw Error(ErrorCode::kIoError, "rank " + std::to_string(state_->rank) + ": " + why);
  }
}

void NcclGroup::watch(const std::string& name, std::function<bool()> hasEnded) {
  {
    const base::MutexLock lock(state_->mutex);
    state_->dropEnded();
    state_->operations.push_back({name, std::move(hasEnded), base::RunningTime()});
    state_->operations.back().oldest.restart();
  }
  if (!thread_) {
    thread_ = std::make_unique<base::LoopThread>("steptape-nccl",
                                                 [state = state_] { return state->look(); });
  }
}

void NcclGroup::abort(const std::string& why) noexcept {
  const base::MutexLock lock(state_->mutex);
  state_->abort(why);
}

void NcclGroup::requireUsable() const {
  const base::MutexLock lock(state_->mutex);
  state_->requireUsable();
}

}  // namespace steptape::detail::ranks
