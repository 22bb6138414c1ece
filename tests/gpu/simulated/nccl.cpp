// SPDX-License-Identifier: Apache-2.0
// The functions of NCCL that Steptape uses, for ranks that are threads of one process.

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "gpu/simulated/simulated_gpu.h"

#include <ATen/ATen.h>
#include <c10/core/impl/VirtualGuardImpl.h>

namespace steptape::simulated_gpu {
namespace {

/// One sum of all ranks.
struct Sum {
  std::vector<at::Tensor> parts;
  int arrived = 0;
};

struct Group {
  std::mutex mutex;
  std::condition_variable changed;
  int joined = 0;
  int ranks = 0;
  std::set<int> aborted;             // ranks, each by itself, as in NCCL
  std::map<std::int64_t, Sum> sums;  // by number
};

struct Comm {
  std::shared_ptr<Group> group;
  int rank;
  std::int64_t sums = 0;
};

struct UniqueId {
  char bytes[128];
};

std::atomic<std::int64_t> started{0};
std::atomic<int> asyncError{0};
std::atomic<int> initError{0};
std::atomic<bool> sharesGpus{false};

std::shared_ptr<Group> groupOf(const UniqueId& id, int ranks) {
  static auto& mutex = *new std::mutex;
  static auto& groups = *new std::map<std::string, std::shared_ptr<Group>>;
  const std::lock_guard<std::mutex> lock(mutex);
  std::shared_ptr<Group>& group = groups[id.bytes];
  if (!group) {
    group = std::make_shared<Group>();
    group->ranks = ranks;
  }
  return group;
}

at::ScalarType typeOf(int type) {
  switch (type) {
    case 6:
      return at::kHalf;
    case 7:
      return at::kFloat;
    case 8:
      return at::kDouble;
    case 9:
      return at::kBFloat16;
    default:
      return at::kByte;
  }
}

void delay() {
  std::this_thread::sleep_for(std::chrono::milliseconds(3));
}

void sum(Group& group, int rank, std::int64_t number, const at::Tensor& mine) {
  delay();
  std::unique_lock<std::mutex> lock(group.mutex);
  Sum& sum = group.sums[number];
  sum.parts.resize(static_cast<std::size_t>(group.ranks));
  sum.parts[static_cast<std::size_t>(rank)] = mine.clone();
  ++sum.arrived;
  group.changed.notify_all();
  group.changed.wait(lock,
                     [&] { return group.aborted.count(rank) > 0 || sum.arrived >= group.ranks; });
  if (group.aborted.count(rank) > 0) {
    return;
  }
  at::Tensor total = sum.parts.front().clone();
  for (int other = 1; other < group.ranks; ++other) {
    total.add_(sum.parts[static_cast<std::size_t>(other)]);
  }
  if (++sum.arrived == 2 * group.ranks) {
    group.sums.erase(number);
  }
  lock.unlock();
  delay();
  at::Tensor(mine).copy_(total);
}

}  // namespace

std::int64_t ncclSums() {
  return started;
}
void ncclReportsError(int error) {
  asyncError = error;
}
void ncclFailsToStart(int error) {
  initError = error;
}
void ranksShareGpus(bool whether) {
  sharesGpus = whether;
}

extern "C" {

int ncclGetVersion(int* version) {
  *version = 22105;
  return 0;
}

const char* ncclGetErrorString(int result) {
  return result == 6 ? "remote process exited" : "unhandled system error";
}

int ncclGetUniqueId(UniqueId* id) {
  static std::atomic<int> next{0};
  std::snprintf(id->bytes, sizeof id->bytes, "group %d", ++next);
  return 0;
}

int ncclCommInitRank(void** comm, int ranks, UniqueId id, int rank) {
  if (initError != 0) {
    return initError;
  }
  const std::shared_ptr<Group> group = groupOf(id, ranks);
  std::unique_lock<std::mutex> lock(group->mutex);
  ++group->joined;
  group->changed.notify_all();
  group->changed.wait(lock, [&] { return group->joined == ranks; });
  *comm = new Comm{group, rank};
  return 0;
}

int ncclCommDestroy(void* comm) {
  delete static_cast<Comm*>(comm);
  return 0;
}

int ncclCommAbort(void* comm) {
  const auto& aborted = *static_cast<Comm*>(comm);
  Group& group = *aborted.group;
  {
    const std::lock_guard<std::mutex> lock(group.mutex);
    group.aborted.insert(aborted.rank);
    group.changed.notify_all();
  }
  delete static_cast<Comm*>(comm);
  return 0;
}

int ncclCommGetAsyncError(void* /*comm*/, int* result) {
  *result = asyncError;
  return 0;
}

int ncclAllReduce(const void* from, void* /*to*/, std::size_t count, int type, int /*op*/,
                  void* handle, void* stream) {
  auto& comm = *static_cast<Comm*>(handle);
  ++started;
  const at::Tensor mine =
      at::from_blob(kernelView(from), {static_cast<std::int64_t>(count)}, typeOf(type));
  enqueue(stream, [group = comm.group, rank = comm.rank, number = comm.sums++, mine] {
    sum(*group, rank, number, mine);
  });
  return 0;
}

int cudaGetDevice(int* device) {
  *device = c10::impl::VirtualGuardImpl(kType).getDevice().index();
  return 0;
}

int cudaDeviceGetPCIBusId(char* id, int length, int device) {
  std::snprintf(id, static_cast<std::size_t>(length), "0000:%02x:00.0", sharesGpus ? 0 : device);
  return 0;
}

int cudaStreamCreateWithPriority(void** stream, unsigned /*flags*/, int /*priority*/) {
  *stream = makeStream(c10::impl::VirtualGuardImpl(kType).getDevice());
  return 0;
}

}  // extern "C"

}  // namespace steptape::simulated_gpu
