// SPDX-License-Identifier: Apache-2.0
#include "ranks/communicator/collective_details.h"

#include <algorithm>
#include <cstring>
#include <exception>
#include <numeric>
#include <string_view>

#include "steptape/base/array_view.h"
#include "steptape/base/json.h"
#include "steptape/process/zone.h"
#include "steptape/ranks/collective.h"

#include "base/text.h"

namespace steptape::detail::ranks {
namespace {

constexpr std::int64_t kMomentsDoubles = sizeof(MetricMoments) / sizeof(double);

/// The names of one operation.
struct KindNames {
  const char* span;
  const char* wait;
  const char* kineto;  // Value of Kineto's "Collective name".
};

KindNames namesOf(CollectiveKind kind) {
  switch (kind) {
    case CollectiveKind::kBarrier:
      return {"gloo:barrier", "wait for gloo:barrier", "barrier"};
    case CollectiveKind::kAllreduce:
    case CollectiveKind::kAllreduceMoments:
      return {"gloo:all_reduce", "wait for gloo:all_reduce", "allreduce"};
    case CollectiveKind::kReduceScatter:
      return {"gloo:reduce_scatter", "wait for gloo:reduce_scatter", "reduce_scatter"};
    case CollectiveKind::kBroadcast:
      return {"gloo:broadcast", "wait for gloo:broadcast", "broadcast"};
    case CollectiveKind::kAllgather:
      return {"gloo:all_gather", "wait for gloo:all_gather", "all_gather"};
    case CollectiveKind::kAlltoall:
      return {"gloo:all_to_all", "wait for gloo:all_to_all", "all_to_all"};
    case CollectiveKind::kGather:
      return {"gloo:gather", "wait for gloo:gather", "gather"};
  }
  return {"gloo:unknown", "wait for gloo:unknown", "unknown"};
}

/// The names of one element type.
struct TypeNames {
  const char* kineto;  // LibTorch's scalar type, as Kineto prints it.
  const char* cpp;     // C++ type as GCC prints it, and LibTorch for tensors.
};

TypeNames namesOf(DType dtype) {
  switch (dtype) {
    case DType::kBool:
      return {"Bool", "bool"};
    case DType::kUInt8:
      return {"Byte", "unsigned char"};
    case DType::kInt8:
      return {"Char", "signed char"};
    case DType::kUInt16:
      return {"UInt16", "short unsigned int"};
    case DType::kInt16:
      return {"Short", "short int"};
    case DType::kUInt32:
      return {"UInt32", "unsigned int"};
    case DType::kInt32:
      return {"Int", "int"};
    case DType::kUInt64:
      return {"UInt64", "long unsigned int"};
    case DType::kInt64:
      return {"Long", "long int"};
    case DType::kFloat16:
      return {"Half", "c10::Half"};
    case DType::kBFloat16:
      return {"BFloat16", "c10::BFloat16"};
    case DType::kFloat32:
      return {"Float", "float"};
    case DType::kFloat64:
      return {"Double", "double"};
  }
  return {"Undefined", "unknown"};
}

std::int64_t bytesIn(const std::vector<std::string>& parts) {
  return std::accumulate(parts.begin(), parts.end(), std::int64_t{0},
                         [](std::int64_t sum, const std::string& part) {
                           return sum + static_cast<std::int64_t>(part.size());
                         });
}

/// Returns "[0, 1, 2]". Of more than 30 ranks, it lists the first 29 and the last one, as Kineto
/// does.
std::string rankList(const std::vector<int>& ranks) {
  constexpr std::size_t kMostRanks = 30;
  const bool isCut = ranks.size() > kMostRanks;
  const ArrayView<const int> shown(ranks.data(), isCut ? kMostRanks - 1 : ranks.size());
  return "[" + base::commaSeparated(shown) +
         (isCut ? ", ..., " + std::to_string(ranks.back()) : "") + "]";
}

/// Appends the members of a JSON object.
class Members {
 public:
  void add(std::string_view key, std::string_view text) {
    addKey(key);
    appendJsonString(&text_, text);
  }
  void add(std::string_view key, std::int64_t number) {
    addKey(key);
    appendJsonInteger(&text_, number);
  }
  const std::string& text() const { return text_; }

 private:
  void addKey(std::string_view key) {
    text_ += text_.empty() ? "" : ", ";
    appendJsonString(&text_, key);
    text_ += ": ";
  }

  std::string text_;
};

std::string groupMembers(int rank, int size, const std::vector<int>& jobRanks) {
  Members members;
  members.add("Group size", size);
  members.add("Rank", rank);
  if (!jobRanks.empty()) {
    members.add("Process Group Ranks", rankList(jobRanks));
  }
  return members.text();
}

}  // namespace

const char* collectiveSpanName(CollectiveKind kind) {
  return namesOf(kind).span;
}

const char* collectiveWaitName(CollectiveKind kind) {
  return namesOf(kind).wait;
}

CollectiveDetails::CollectiveDetails(int rank, int size, const std::vector<int>& jobRanks)
    : groupArguments_(groupMembers(rank, size, jobRanks)) {}

std::uint32_t CollectiveDetails::idOf(const CollectiveCall& call, bool hasSucceeded) noexcept {
  const Key key = keyOf(call, hasSucceeded);
  Slot& slot = slots_[slotOf(key, call.name)];
  if (slot.id != 0 && slot.key == key && slot.name == call.name) {
    return slot.id;
  }
  try {
    slot.id = 0;
    slot.name = call.name;
    slot.key = key;
    slot.id = intern(key, call.name);
  } catch (const std::exception&) {
    // Out of memory: the span is recorded without details.
  }
  return slot.id;
}

bool CollectiveDetails::Key::operator==(const Key& other) const {
  return inElements == other.inElements && outElements == other.outElements && root == other.root &&
         kind == other.kind && op == other.op && dtype == other.dtype;
}

CollectiveDetails::Key CollectiveDetails::keyOf(const CollectiveCall& call, bool hasSucceeded) {
  const auto elements = static_cast<std::int64_t>(call.count);
  Key key{elements, elements, call.root, call.kind, call.op, call.dtype};
  switch (call.kind) {
    case CollectiveKind::kBarrier:
    case CollectiveKind::kAllreduce:
    case CollectiveKind::kBroadcast:
      break;
    case CollectiveKind::kAllreduceMoments:
      key.inElements = key.outElements = elements * kMomentsDoubles;
      key.dtype = DType::kFloat64;
      break;
    case CollectiveKind::kReduceScatter:
      key.inElements = static_cast<std::int64_t>(call.inputCount);
      break;
    case CollectiveKind::kAllgather:
    case CollectiveKind::kGather:
      key.inElements = static_cast<std::int64_t>(call.inputCount);
      key.outElements = hasSucceeded ? bytesIn(*call.fromRank) : kUnknown;
      break;
    case CollectiveKind::kAlltoall:
      key.inElements = bytesIn(*call.toRank);
      key.outElements = hasSucceeded ? bytesIn(*call.fromRank) : kUnknown;
      break;
  }
  return key;
}

std::size_t CollectiveDetails::slotOf(const Key& key, const std::string& name) {
  // Names in a program often differ only at the end: "bucket 7", "bucket 8".
  std::uint64_t ending = 0;
  const std::size_t length = std::min(name.size(), sizeof ending);
  std::memcpy(&ending, name.data() + name.size() - length, length);
  std::uint64_t mixed = ending;
  for (const std::uint64_t part :
       {static_cast<std::uint64_t>(key.inElements), static_cast<std::uint64_t>(key.outElements),
        static_cast<std::uint64_t>(key.root) << 24 | static_cast<std::uint64_t>(key.kind) << 16 |
            static_cast<std::uint64_t>(key.op) << 8 | static_cast<std::uint64_t>(key.dtype)}) {
    // Multiplying by an odd factor is reversible and spreads differences to the high bits.
    mixed = (mixed ^ part) * 0x9E3779B97F4A7C15U;
    mixed ^= mixed >> 32;
  }
  return mixed % kSlots;
}

std::uint32_t CollectiveDetails::intern(const Key& key, const std::string& name) const {
  Members members;
  members.add("Collective name", namesOf(key.kind).kineto);
  if (!name.empty()) {
    members.add("Name", name);
  }
  if (key.kind == CollectiveKind::kAllreduceMoments) {
    members.add("Reduction", "merge");
  } else if (key.kind == CollectiveKind::kAllreduce || key.kind == CollectiveKind::kReduceScatter) {
    members.add("Reduction", reduceOpName(key.op));
  }
  if (key.kind == CollectiveKind::kBroadcast || key.kind == CollectiveKind::kGather) {
    members.add("Root", key.root);
  }
  SpanDetails details;
  if (key.kind != CollectiveKind::kBarrier) {
    members.add("dtype", namesOf(key.dtype).kineto);
    members.add("In msg nelems", key.inElements);
    if (key.outElements != kUnknown) {
      members.add("Out msg nelems", key.outElements);
    }
    details.shapes = "[[" + std::to_string(key.inElements) + "]]";
    details.types = std::string("[\"") + namesOf(key.dtype).cpp + "\"]";
    details.bytes =
        std::max(key.inElements, key.outElements) * static_cast<std::int64_t>(dtypeSize(key.dtype));
  }
  details.arguments = members.text() + ", " + groupArguments_;
  return internSpanDetails(details);
}

}  // namespace steptape::detail::ranks
