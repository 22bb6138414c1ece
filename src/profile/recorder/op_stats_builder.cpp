// SPDX-License-Identifier: Apache-2.0
#include "profile/recorder/op_stats_builder.h"

#include <algorithm>
#include <unordered_map>

#include "profile/recorder/coverage.h"

namespace steptape::detail::profile {
namespace {

bool slowerFirst(const OpStats& a, const OpStats& b) {
  return a.self != b.self ? a.self > b.self : a.name < b.name;
}

}  // namespace

struct OpStatsBuilder::State {
  struct Tally {
    std::uint64_t calls = 0;
    std::uint64_t selfTicks = 0;
    std::uint64_t totalTicks = 0;
    double flops = 0.0;
    std::int64_t bytes = 0;
    SpanKind kind = SpanKind::kOperator;
  };

  /// By depth: time of the finished spans whose parent has not ended yet.
  using OpenTicks = std::vector<std::uint64_t>;

  std::uint64_t startTicks;        // of the window, or of its part since the last pause
  std::uint64_t earlierTicks = 0;  // of earlier parts
  bool isPaused = false;
  unsigned sampling = 1;
  std::vector<Tally> tallies;                              // by name
  std::unordered_map<std::uint64_t, OpenTicks> openTicks;  // by thread
  Coverage coverage;
  std::uint64_t dropped = 0;

  /// Adds `record` to its parent.
  /// @return its time without its children's.
  std::uint64_t selfTicks(const SpanRecord& record, OpenTicks& open) const {
    const std::size_t childDepth = std::size_t{record.depth} + 1;
    if (open.size() <= childDepth) {
      open.resize(childDepth + 1, 0);
    }
    const std::uint64_t ticks = record.endTicks - record.startTicks;
    const std::uint64_t self = ticks - std::min(ticks, open[childDepth]);
    open[childDepth] = 0;
    open[record.depth] += ticks;
    return self;
  }

  void tally(const SpanRecord& record, std::uint64_t selfTicks) {
    if (tallies.size() <= record.nameId) {
      tallies.resize(record.nameId + 1);
    }
    Tally& tally = tallies[record.nameId];
    const unsigned weight = isSampled(record) ? sampling : 1;
    const std::uint64_t ticks = record.endTicks - record.startTicks;
    tally.kind = record.kind;
    tally.calls += weight;
    tally.selfTicks += weight * (weight == 1 ? selfTicks : ticks);
    if ((record.flags & kNestedInItself) == 0) {
      tally.totalTicks += weight * ticks;
    }
    if (const std::uint32_t detailsId = record.detailsId(); detailsId != 0) {
      const SpanDetails& details = spanDetails(detailsId);
      tally.flops += weight * details.flops;
      tally.bytes += weight * details.bytes;
    }
  }

  /// Adds the spans of a device stream, which do not nest, or a thread's calls of a device's
  /// runtime library, which arrive apart from the spans around them.
  void addOfDevice(const process::SpanBatch& batch) {
    for (const SpanRecord& record : batch.records) {
      const bool isOnHost = record.kind == SpanKind::kRuntime;  // its time is that of an operator
      tally(record, isOnHost ? 0 : record.endTicks - record.startTicks);
    }
    dropped += batch.dropped;
  }

  static bool isSampled(const SpanRecord& record) {
    return record.kind == SpanKind::kOperator || record.kind == SpanKind::kBackward ||
           record.kind == SpanKind::kUserScope ||
           // Kernels are recorded one by one; other work of devices by operator.
           (record.kind == SpanKind::kDevice && record.correlation() == 0);
  }
};

OpStatsBuilder::OpStatsBuilder(std::uint64_t windowStartTicks, int sampling) : state_(new State) {
  state_->startTicks = windowStartTicks;
  state_->sampling = static_cast<unsigned>(sampling);
}
OpStatsBuilder::~OpStatsBuilder() = default;
OpStatsBuilder::OpStatsBuilder(OpStatsBuilder&&) noexcept = default;
OpStatsBuilder& OpStatsBuilder::operator=(OpStatsBuilder&&) noexcept = default;

void OpStatsBuilder::add(const process::SpanBatch& batch) {
  const bool isOfRuntime =
      !batch.records.empty() && batch.records.begin()->kind == SpanKind::kRuntime;
  if (batch.device >= 0 || isOfRuntime) {
    state_->addOfDevice(batch);
    return;
  }
  State::OpenTicks& open = state_->openTicks[batch.threadId];
  // Lost records were just before or just after this batch. They may include parents: time of their
  // children must not be subtracted from the next span at their depth.
  if (batch.dropped != 0) {
    open.clear();
  }
  for (const SpanRecord& record : batch.records) {
    if (record.kind == SpanKind::kMemory) {
      continue;
    }
    const bool isDetached = (record.flags & kDetached) != 0;
    const std::uint64_t self = isDetached ? 0 : state_->selfTicks(record, open);
    if (record.startTicks >= state_->startTicks) {
      state_->tally(record, self);
    }
  }
  if (batch.dropped != 0) {
    open.clear();
  }
  state_->coverage.add(batch.records, state_->startTicks);
  state_->dropped += batch.dropped;
}

void OpStatsBuilder::pause(std::uint64_t ticks) {
  state_->earlierTicks += ticks - state_->startTicks;
  state_->isPaused = true;
}

void OpStatsBuilder::resume(std::uint64_t ticks) {
  state_->startTicks = ticks;
  state_->isPaused = false;
  state_->openTicks.clear();
}

OpProfile OpStatsBuilder::build(std::uint64_t windowEndTicks,
                                const TickConverter& converter) const {
  const auto nanos = [&](std::uint64_t ticks) {
    const double exact = converter.nanosBetween(0, ticks);
    return std::chrono::nanoseconds(static_cast<std::int64_t>(exact));
  };
  OpProfile profile;
  const std::uint64_t lastPart = state_->isPaused ? 0 : windowEndTicks - state_->startTicks;
  profile.wall = nanos(state_->earlierTicks + lastPart);
  profile.covered = nanos(state_->coverage.ticks());
  profile.dropped = state_->dropped;
  for (std::size_t id = 0; id < state_->tallies.size(); ++id) {
    const State::Tally& tally = state_->tallies[id];
    if (tally.calls > 0) {
      profile.operators.push_back({spanName(static_cast<std::uint16_t>(id)), tally.kind,
                                   tally.calls, nanos(tally.selfTicks), nanos(tally.totalTicks),
                                   tally.flops, tally.bytes});
    }
  }
  std::sort(profile.operators.begin(), profile.operators.end(), slowerFirst);
  return profile;
}

}  // namespace steptape::detail::profile
