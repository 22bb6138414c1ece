// SPDX-License-Identifier: Apache-2.0
#include "ranks/testing/carry_out.h"

#include <algorithm>
#include <cstring>

#include "steptape/ranks/collective.h"

#include "ranks/communicator/element_reduction.h"
#include "ranks/communicator/group_messages.h"

namespace steptape::testing {
namespace {

using detail::ranks::CollectiveCall;
using detail::ranks::CollectiveKind;
using Calls = std::vector<CollectiveCall>;

std::vector<std::byte> reduced(const Calls& calls, std::size_t count) {
  const CollectiveCall& first = calls.front();
  std::vector<const void*> parts;
  for (const CollectiveCall& call : calls) {
    parts.push_back(call.input != nullptr ? call.input : call.output);
  }
  std::vector<std::byte> result(count * dtypeSize(first.dtype));
  detail::ranks::reduceElements(parts, count, first.dtype, first.op, result.data());
  return result;
}

void copyTo(void* target, const void* source, std::size_t bytes) {
  if (bytes > 0) {
    std::memcpy(target, source, bytes);
  }
}

void allreduce(const Calls& calls) {
  const std::vector<std::byte> result = reduced(calls, calls.front().count);
  for (const CollectiveCall& call : calls) {
    copyTo(call.output, result.data(), result.size());
  }
}

std::string reduceScatter(const Calls& calls) {
  const CollectiveCall& first = calls.front();
  std::size_t total = 0;
  for (const CollectiveCall& call : calls) {
    total += call.count;
  }
  if (total != first.inputCount) {
    return detail::ranks::partsMismatchText(first, total);
  }
  const std::vector<std::byte> result = reduced(calls, total);
  const std::byte* part = result.data();
  for (const CollectiveCall& call : calls) {
    const std::size_t bytes = call.count * dtypeSize(first.dtype);
    copyTo(call.output, part, bytes);
    part += bytes;
  }
  return "";
}

void mergeMoments(const Calls& calls) {
  const auto at = [](const CollectiveCall& call, std::size_t i) {
    return static_cast<const MetricMoments*>(call.input != nullptr ? call.input : call.output)[i];
  };
  for (std::size_t i = 0; i < calls.front().count; ++i) {
    MetricMoments total = at(calls.front(), i);
    for (std::size_t rank = 1; rank < calls.size(); ++rank) {
      total.merge(at(calls[rank], i));
    }
    for (const CollectiveCall& call : calls) {
      static_cast<MetricMoments*>(call.output)[i] = total;
    }
  }
}

void broadcast(const Calls& calls) {
  const CollectiveCall& root = calls[static_cast<std::size_t>(calls.front().root)];
  for (const CollectiveCall& call : calls) {
    if (&call != &root) {
      copyTo(call.output, root.output, root.count);
    }
  }
}

std::vector<std::string> gathered(const Calls& calls) {
  std::vector<std::string> byRank;
  for (const CollectiveCall& call : calls) {
    byRank.emplace_back(static_cast<const char*>(call.input), call.inputCount);
  }
  return byRank;
}

void gather(const Calls& calls) {
  for (const CollectiveCall& call : calls) {
    call.fromRank->clear();
  }
  *calls[static_cast<std::size_t>(calls.front().root)].fromRank = gathered(calls);
}

void allgather(const Calls& calls) {
  const std::vector<std::string> byRank = gathered(calls);
  for (const CollectiveCall& call : calls) {
    *call.fromRank = byRank;
  }
}

void alltoall(const Calls& calls) {
  for (std::size_t to = 0; to < calls.size(); ++to) {
    std::vector<std::string> received;
    for (const CollectiveCall& from : calls) {
      received.push_back((*from.toRank)[to]);
    }
    *calls[to].fromRank = std::move(received);
  }
}

}  // namespace

std::string carryOut(const std::vector<CollectiveCall>& callByRank) {
  switch (callByRank.front().kind) {
    case CollectiveKind::kBarrier:
      break;
    case CollectiveKind::kAllreduce:
      allreduce(callByRank);
      break;
    case CollectiveKind::kAllreduceMoments:
      mergeMoments(callByRank);
      break;
    case CollectiveKind::kReduceScatter:
      return reduceScatter(callByRank);
    case CollectiveKind::kBroadcast:
      broadcast(callByRank);
      break;
    case CollectiveKind::kAllgather:
      allgather(callByRank);
      break;
    case CollectiveKind::kGather:
      gather(callByRank);
      break;
    case CollectiveKind::kAlltoall:
      alltoall(callByRank);
      break;
  }
  return "";
}

}  // namespace steptape::testing
