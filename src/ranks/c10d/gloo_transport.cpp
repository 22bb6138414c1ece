// SPDX-License-Identifier: Apache-2.0
#include "ranks/c10d/gloo_transport.h"

#include <algorithm>
#include <climits>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "steptape/base/status.h"

#include "base/element.h"
#include "base/sigpipe_blocked.h"
#include "base/torch_error_text.h"
#include "ranks/c10d/roll_call.h"
#include "ranks/c10d/store_transport.h"
#include "ranks/c10d/tcp_store_connection.h"
#include "ranks/communicator/element_reduction.h"
#include "ranks/engine/stuck.h"

#include <torch/csrc/distributed/c10d/PrefixStore.hpp>
#include <torch/csrc/distributed/c10d/ProcessGroupGloo.hpp>

namespace steptape::c10d::detail {
namespace {

using steptape::detail::base::torchErrorText;
using steptape::detail::ranks::CollectiveCall;
using steptape::detail::ranks::CollectiveKind;
using steptape::detail::ranks::ComparedMessage;
using steptape::detail::ranks::GroupMap;
using steptape::detail::ranks::RankParts;
using steptape::detail::ranks::StallNote;
using steptape::detail::ranks::Transfer;
using steptape::detail::ranks::TransportFailure;
using Group = c10::intrusive_ptr<::c10d::ProcessGroupGloo>;
using Work = c10::intrusive_ptr<::c10d::Work>;

/// The time that gloo gives an operation. The engine counts the time of waits, which it begins
/// later.
constexpr std::chrono::hours kLong{24 * 7};

/// Views the caller's memory as a tensor.
at::Tensor tensorOf(const void* data, std::size_t count, at::ScalarType type = at::kByte) {
  return at::from_blob(const_cast<void*>(data), {static_cast<std::int64_t>(count)},
                       at::TensorOptions().dtype(type));
}

/// Returns the type by which gloo sums what Communicator promises.
at::ScalarType torchType(DType dtype) {
  switch (dtype) {
    case DType::kFloat32:
      return at::kFloat;
    case DType::kFloat64:
      return at::kDouble;
    case DType::kInt32:
      return at::kInt;
    case DType::kInt64:
      return at::kLong;
    case DType::kInt8:
      return at::kChar;
    case DType::kUInt8:
      return at::kByte;
    default:
      return at::ScalarType::Undefined;
  }
}

::c10d::ReduceOp torchOp(ReduceOp op) {
  switch (op) {
    case ReduceOp::kMin:
      return ::c10d::ReduceOp::MIN;
    case ReduceOp::kMax:
      return ::c10d::ReduceOp::MAX;
    case ReduceOp::kProduct:
      return ::c10d::ReduceOp::PRODUCT;
    case ReduceOp::kSum:
    case ReduceOp::kAverage:
      break;
  }
  return ::c10d::ReduceOp::SUM;
}

/// Returns what gloo says, without its source line and its advice.
std::string glooErrorText(const std::string& what) {
  std::string text = torchErrorText(what);
  if (text.substr(0, 2) == "[/") {
    text = text.substr(std::min(text.find("] ") + 2, text.size()));
  }
  return text.substr(0, text.find(". This is typically caused by"));
}

Group makeGroup(const GlooSetup& setup, const GroupMap& map, const char* name, int threads) {
  const steptape::detail::base::SigpipeBlocked inThreadsOfGloo;
  auto options = ::c10d::ProcessGroupGloo::Options::create(setup.timeout);
  const char* const variable = std::getenv("GLOO_SOCKET_IFNAME");
  std::istringstream interfaces(
      setup.networkInterfaces.empty() && variable != nullptr ? variable : setup.networkInterfaces);
  std::string interface;
  while (std::getline(interfaces, interface, ',')) {
    options->devices.push_back(::c10d::ProcessGroupGloo::createDeviceForInterface(interface));
  }
  if (options->devices.empty()) {
    options->devices.push_back(::c10d::ProcessGroupGloo::createDefaultDevice());
  }
  options->threads = threads * static_cast<int>(options->devices.size());
  const auto store =
      c10::make_intrusive<::c10d::PrefixStore>(setup.prefix + name, setup.tcp->connection().store);
  return c10::make_intrusive<::c10d::ProcessGroupGloo>(store, map.rank(), map.size(), options);
}

class GlooTransport final : public steptape::detail::ranks::Transport {
 public:
  GlooTransport(const GlooSetup& setup, const GroupMap& map)
      : Transport(map, std::size_t{1} << 30),
        presence_(setup.presence),
        roll_(setup.keys, map.rank()),
        reports_(std::make_shared<PrefixedStore>(setup.keys, "reports/"), map),
        comparisons_(makeGroup(setup, map, "comparisons", 1)),
        data_(makeGroup(setup, map, "data", 2)) {}

  Transfer compare(ComparedMessage& message) override {
    Pending pending;
    pending.memory.resize(ComparedMessage::kBytes * size());
    const auto* const bytes = reinterpret_cast<const char*>(&message);
    pending.own.assign(bytes, bytes + ComparedMessage::kBytes);
    startAllgather(*comparisons_, pending);
    pending.finish = [&message](const std::vector<char>& all) {
      for (std::size_t at = 0; at < all.size(); at += ComparedMessage::kBytes) {
        message.mergeInOrder(static_cast<int>(at / ComparedMessage::kBytes), all.data() + at);
      }
    };
    return keep(std::move(pending));
  }

  Transfer gatherReports(char* all, std::size_t bytesPerRank) override {
    return reports_.gatherReports(all, bytesPerRank) << 1 | 1;
  }

  Transfer barrier() override {
    ::c10d::BarrierOptions options;
    options.timeout = kLong;
    return start([&] { return data_->barrier(options); });
  }

  Transfer broadcast(void* data, std::size_t bytes, int root) override {
    std::vector<at::Tensor> tensors{tensorOf(data, bytes)};
    ::c10d::BroadcastOptions options;
    options.rootRank = root;
    options.timeout = kLong;
    return start([&] { return data_->broadcast(tensors, options); });
  }

  Transfer allgather(void* all, std::size_t bytesPerRank) override {
    auto* const to = static_cast<char*>(all);
    Pending pending;
    pending.memory.resize(bytesPerRank * size());
    pending.own.assign(to + rank() * bytesPerRank, to + (rank() + 1) * bytesPerRank);
    startAllgather(*data_, pending);
    pending.finish = [to](const std::vector<char>& gathered) {
      std::memcpy(to, gathered.data(), gathered.size());
    };
    return keep(std::move(pending));
  }

  Transfer allgatherv(void* all, const RankParts& parts) override {
    // gloo gathers equal sizes only: the shorter parts are padded.
    auto* const to = static_cast<char*>(all);
    const auto most =
        static_cast<std::size_t>(*std::max_element(parts.counts.begin(), parts.counts.end()));
    const char* const mine = to + parts.starts[rank()];
    Pending pending;
    pending.memory.resize(most * size());
    pending.own.assign(mine, mine + parts.counts[rank()]);
    pending.own.resize(most);
    startAllgather(*data_, pending);
    pending.finish = [to, &parts, most](const std::vector<char>& gathered) {
      for (std::size_t other = 0; other < parts.counts.size(); ++other) {
        std::memcpy(to + parts.starts[other], gathered.data() + other * most,
                    static_cast<std::size_t>(parts.counts[other]));
      }
    };
    return keep(std::move(pending));
  }

  Transfer gatherv(const void* mine, std::size_t bytes, int root, void* all,
                   const RankParts& parts) override {
    // gloo gathers equal sizes only: an exchange in which ranks send to the root alone.
    std::vector<std::int64_t> outCounts(parts.counts.begin(), parts.counts.end());
    outCounts.resize(size());
    std::vector<std::int64_t> inCounts(size());
    inCounts[static_cast<std::size_t>(root)] = static_cast<std::int64_t>(bytes);
    at::Tensor output = tensorOf(all, parts.counts.empty() ? 0 : parts.total());
    at::Tensor input = tensorOf(mine, bytes);
    ::c10d::AllToAllOptions options;
    options.timeout = kLong;
    return start([&] { return data_->alltoall_base(output, input, outCounts, inCounts, options); });
  }

  Transfer alltoallv(const void* from, const RankParts& sent, void* to,
                     const RankParts& received) override {
    std::vector<std::int64_t> outCounts(received.counts.begin(), received.counts.end());
    std::vector<std::int64_t> inCounts(sent.counts.begin(), sent.counts.end());
    at::Tensor output = tensorOf(to, received.total());
    at::Tensor input = tensorOf(from, sent.total());
    ::c10d::AllToAllOptions options;
    options.timeout = kLong;
    return start([&] { return data_->alltoall_base(output, input, outCounts, inCounts, options); });
  }

  bool canReduce(const CollectiveCall& call) const override {
    // gloo keeps a NaN in a minimum or a maximum or loses it, by its place.
    const bool mayLoseNan = (call.op == ReduceOp::kMin || call.op == ReduceOp::kMax) &&
                            steptape::detail::base::isFloatingPoint(call.dtype);
    return call.kind == CollectiveKind::kAllreduce && !mayLoseNan &&
           torchType(call.dtype) != at::ScalarType::Undefined;
  }

  Transfer allreduce(const CollectiveCall& call, std::size_t offset, std::size_t count) override {
    const std::size_t element = steptape::detail::ranks::elementBytes(call);
    auto* const to = static_cast<char*>(call.output) + offset * element;
    if (call.input != nullptr) {
      std::memcpy(to, static_cast<const char*>(call.input) + offset * element, count * element);
    }
    std::vector<at::Tensor> tensors{tensorOf(to, count, torchType(call.dtype))};
    ::c10d::AllreduceOptions options;
    options.reduceOp = torchOp(call.op);
    options.timeout = kLong;
    return start([&] { return data_->allreduce(tensors, options); });
  }

  Transfer reduceScatter(const CollectiveCall& /*call*/,
                         const std::vector<int>& /*counts*/) override {
    return 0;  // not called: see canReduce()
  }

  bool hasEnded(Transfer& transfer) override {
    if ((transfer & 1) != 0) {
      Transfer report = transfer >> 1;
      if (!reports_.hasEnded(report)) {
        return false;
      }
      transfer = 0;
      return true;
    }
    Pending& pending = pending_[(transfer >> 1) - 1];
    if (!pending.work->isCompleted()) {
      return false;
    }
    rethrowFailure(*pending.work);
    if (pending.finish) {
      pending.finish(pending.memory);
    }
    pending = Pending();
    free_.push_back((transfer >> 1) - 1);
    transfer = 0;
    return true;
  }

  void postNote(const StallNote& note) override { reports_.postNote(note); }
  bool takeNote(int& rank, StallNote& note) override {
    roll_.answerIfCalled();
    return reports_.takeNote(rank, note);
  }
  void noteBroken(const std::string& why) override { steptape::detail::ranks::markStuck(why); }

  std::string lostBecause() override {
    if (presence_) {
      try {
        presence_->checkPeers();
      } catch (const Error& error) {
        return error.what();
      }
    }
    return "";
  }

 private:
  /// An operation in flight, and the memory that it uses.
  struct Pending {
    Work work;
    std::vector<char> own;
    std::vector<char> memory;
    std::function<void(const std::vector<char>& memory)> finish;
  };

  std::size_t size() const { return static_cast<std::size_t>(map().size()); }
  std::size_t rank() const { return static_cast<std::size_t>(map().rank()); }

  template <typename Call>
  static Work begin(const Call& call) {
    try {
      return call();
    } catch (const std::exception& error) {
      throw TransportFailure(ErrorCode::kIoError, torchErrorText(error.what()));
    }
  }

  template <typename Call>
  Transfer start(const Call& call) {
    Pending pending;
    pending.work = begin(call);
    return keep(std::move(pending));
  }

  /// Gathers `pending.own` of all ranks in `pending.memory`.
  void startAllgather(::c10d::ProcessGroupGloo& group, Pending& pending) {
    const std::size_t bytes = pending.own.size();
    std::vector<std::vector<at::Tensor>> outputs(1);
    for (std::size_t other = 0; other < size(); ++other) {
      outputs.front().push_back(tensorOf(pending.memory.data() + other * bytes, bytes));
    }
    std::vector<at::Tensor> inputs{tensorOf(pending.own.data(), bytes)};
    ::c10d::AllgatherOptions options;
    options.timeout = kLong;
    pending.work = begin([&] { return group.allgather(outputs, inputs, options); });
  }

  Transfer keep(Pending pending) {
    if (free_.empty()) {
      free_.push_back(pending_.size());
      pending_.emplace_back();
    }
    const std::size_t slot = free_.back();
    free_.pop_back();
    pending_[slot] = std::move(pending);
    return (slot + 1) << 1;
  }

  void rethrowFailure(::c10d::Work& work) {
    if (work.isSuccess()) {
      return;
    }
    std::string why = "the connection to a rank was lost";
    try {
      std::rethrow_exception(work.exception());
    } catch (const std::exception& error) {
      why = glooErrorText(error.what());
    }
    std::string lost = lostBecause();
    if (lost.empty()) {
      lost = silentRanks();
    }
    throw TransportFailure(ErrorCode::kDeadlineExceeded,
                           lost.empty() ? why : lost + " (" + why + ")");
  }

  /// Finds out who has ended: gloo tells an address, not a rank.
  std::string silentRanks() {
    std::vector<int> silent;
    for (int other = 0; other < map().size(); ++other) {
      if (other != map().rank()) {
        silent.push_back(other);
      }
    }
    if (silent.size() > 1) {
      try {
        silent = roll_.silentOf(silent);
      } catch (const Error&) {
        return "";  // the store has ended as well
      }
    }
    return silent.empty() ? "" : map().namesOf(silent) + " does not answer any more";
  }

  std::shared_ptr<NodeMemory> presence_;
  RollCall roll_;
  StoreTransport reports_;
  Group comparisons_;
  Group data_;
  std::vector<Pending> pending_;
  std::vector<std::size_t> free_;
};

}  // namespace

bool hasGloo() {
  return true;
}

std::shared_ptr<steptape::detail::ranks::Transport> makeGlooTransport(const GlooSetup& setup,
                                                                      const GroupMap& map) {
  try {
    return std::make_shared<GlooTransport>(setup, map);
  } catch (const Error&) {
    throw;
  } catch (const std::exception& error) {
    throw Error(ErrorCode::kDeadlineExceeded,
                "gloo on " + map.nameOf(map.rank()) +
                    " cannot reach the other ranks: " + torchErrorText(error.what()));
  }
}

}  // namespace steptape::c10d::detail
