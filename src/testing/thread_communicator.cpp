// SPDX-License-Identifier: Apache-2.0
#include "steptape/testing/thread_communicator.h"

#include <algorithm>
#include <cstring>
#include <exception>
#include <thread>
#include <utility>

#include "steptape/base/error.h"

#include "testing/thread_group.h"

namespace steptape::testing {
namespace {

using Part = ThreadGroup::Part;

template <typename T>
void combine(T& into, T value, ReduceOp op) {
  switch (op) {
    case ReduceOp::kSum:
    case ReduceOp::kAverage:
      into += value;
      break;
    case ReduceOp::kMin:
      into = std::min(into, value);
      break;
    case ReduceOp::kMax:
      into = std::max(into, value);
      break;
  }
}

/// "allreduce of 12 float": what all ranks must have in common.
std::string describe(const char* operation, std::size_t count, const char* unit) {
  return std::string(operation) + " of " + std::to_string(count) + " " + unit;
}

const char* opName(ReduceOp op) {
  switch (op) {
    case ReduceOp::kSum:
      return "allreduce(sum)";
    case ReduceOp::kAverage:
      return "allreduce(average)";
    case ReduceOp::kMin:
      return "allreduce(min)";
    case ReduceOp::kMax:
      return "allreduce(max)";
  }
  return "allreduce";
}

/// Combines all ranks' elements with `merge`, in the order of the ranks, into `data`.
template <typename T, typename Merge>
void allreduceWith(ThreadGroup& group, int rank, Span<T> data, const std::string& operation,
                   std::chrono::milliseconds timeout, const Merge& merge) {
  std::vector<T> result;
  group.meet(rank, {operation, data.data(), data.size() * sizeof(T)}, timeout,
             [&](const std::vector<Part>& parts) {
               const auto* first = static_cast<const T*>(parts.front().data);
               result.assign(first, first + data.size());
               for (std::size_t other = 1; other < parts.size(); ++other) {
                 const auto* values = static_cast<const T*>(parts[other].data);
                 for (std::size_t i = 0; i < data.size(); ++i) {
                   merge(result[i], values[i]);
                 }
               }
             });
  std::copy(result.begin(), result.end(), data.begin());
}

template <typename T>
void allreduceNumbers(ThreadGroup& group, int rank, Span<T> data, ReduceOp op, const char* type,
                      std::chrono::milliseconds timeout) {
  allreduceWith(group, rank, data, describe(opName(op), data.size(), type), timeout,
                [op](T& into, T value) { combine(into, value, op); });
  if (op == ReduceOp::kAverage) {
    for (T& value : data) {
      value /= static_cast<T>(group.size());
    }
  }
}

}  // namespace

ThreadCommunicator::ThreadCommunicator(std::shared_ptr<ThreadGroup> group, int rank)
    : group_(std::move(group)), rank_(rank) {}
ThreadCommunicator::~ThreadCommunicator() = default;

int ThreadCommunicator::size() const {
  return group_->size();
}

void ThreadCommunicator::allreduce(Span<float> data, ReduceOp op) {
  allreduceNumbers(*group_, rank_, data, op, "float", timeout());
}

void ThreadCommunicator::allreduce(Span<double> data, ReduceOp op) {
  allreduceNumbers(*group_, rank_, data, op, "double", timeout());
}

void ThreadCommunicator::allreduce(Span<MetricMoments> data) {
  allreduceWith(*group_, rank_, data, describe("allreduce", data.size(), "moments"), timeout(),
                [](MetricMoments& into, const MetricMoments& value) { into.merge(value); });
}

void ThreadCommunicator::broadcast(void* data, std::size_t bytes, int root) {
  checkRoot(root);
  const std::string operation =
      describe("broadcast", bytes, "bytes") + " from rank " + std::to_string(root);
  const void* source = rank_ == root ? data : nullptr;
  group_->meet(rank_, {operation, source, bytes}, timeout(), [&](const std::vector<Part>& parts) {
    if (rank_ != root && bytes > 0) {
      std::memcpy(data, parts[static_cast<std::size_t>(root)].data, bytes);
    }
  });
}

std::vector<std::string> ThreadCommunicator::allgather(std::string_view bytes) {
  std::vector<std::string> gathered;
  group_->meet(rank_, {"allgather", bytes.data(), bytes.size()}, timeout(),
               [&](const std::vector<Part>& parts) {
                 for (const Part& part : parts) {
                   gathered.emplace_back(static_cast<const char*>(part.data), part.bytes);
                 }
               });
  return gathered;
}

void ThreadCommunicator::barrier() {
  group_->meet(rank_, {"barrier", nullptr, 0}, timeout(), [](const std::vector<Part>&) {});
}

void runRanksShared(int count,
                    const std::function<void(const std::shared_ptr<Communicator>&)>& body,
                    std::chrono::milliseconds timeout) {
  if (count < 1) {
    throw Error(ErrorCode::kInvalidArgument,
                "runRanks: got " + std::to_string(count) + " ranks, want at least 1");
  }
  const auto group = std::make_shared<ThreadGroup>(count);
  std::vector<std::exception_ptr> failures(static_cast<std::size_t>(count));
  std::vector<std::thread> threads;
  for (int rank = 0; rank < count; ++rank) {
    threads.emplace_back([&, rank] {
      const auto communicator = std::make_shared<ThreadCommunicator>(group, rank);
      communicator->setTimeout(timeout);
      try {
        body(communicator);
      } catch (...) {
        failures[static_cast<std::size_t>(rank)] = std::current_exception();
      }
      group->leave(rank);
    });
  }
  for (std::thread& thread : threads) {
    thread.join();
  }
  // The cause before its consequences: first those that no other rank's end explains.
  for (const bool leftAlone : {false, true}) {
    for (int rank = 0; rank < count; ++rank) {
      const std::exception_ptr& failure = failures[static_cast<std::size_t>(rank)];
      if (failure && group->wasLeftAlone(rank) == leftAlone) {
        std::rethrow_exception(failure);
      }
    }
  }
}

void runRanks(int count, const std::function<void(Communicator&)>& body,
              std::chrono::milliseconds timeout) {
  runRanksShared(
      count, [&body](const std::shared_ptr<Communicator>& world) { body(*world); }, timeout);
}

}  // namespace steptape::testing
