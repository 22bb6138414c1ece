// SPDX-License-Identifier: Apache-2.0
#include "profile/recorder/profile_output.h"

#include <chrono>
#include <cstdio>
#include <exception>
#include <new>
#include <utility>
#include <vector>

#include "steptape/base/status.h"
#include "steptape/profile/trace_summary.h"

#include "profile/recorder/profile_guide.h"
#include "profile/recorder/rank_profile_codec.h"
#include "profile/tables/span_stacks.h"
#include "profile/trace/chrome/chrome_trace.h"
#include "profile/trace/perfetto/perfetto_trace.h"
#include "profile/trace/xplane/xplane_trace.h"

namespace steptape::detail::profile {
namespace {

/// Ranks write at about the same time; a rank that does not has ended, or writes elsewhere.
constexpr std::chrono::seconds kPatienceWithRanks(2);

/// Returns a thread that lives as long as any profiler.
std::shared_ptr<TaskThread> sharedThread() {
  static base::Mutex mutex;
  static std::weak_ptr<TaskThread> shared;
  const base::MutexLock lock(mutex);
  std::shared_ptr<TaskThread> thread = shared.lock();
  if (thread == nullptr) {
    thread = std::make_shared<TaskThread>();
    shared = thread;
  }
  return thread;
}

}  // namespace

ProfileOutput::ProfileOutput(const ProfilerOptions& options, RankExchange* exchange)
    : options_(options), exchange_(exchange), sessions_(options.logDir), thread_(sharedThread()) {
  const bool isRoot = options_.communicator == nullptr || options_.communicator->isRoot();
  if (options_.writer == nullptr && !options_.logDir.empty() && isRoot) {
    // A directory with two writers would confuse TensorBoard.
    ownWriter_.emplace(options_.logDir + "/profile");
  }
}

template <typename Task>
void ProfileOutput::attempt(const Task& task) noexcept {
  try {
    task();
  } catch (const std::exception& error) {
    noteCaught(error);
  }
}

ProfileOutput::~ProfileOutput() {
  finish();
  attempt([&] { note(sessions_.finish(kPatienceWithRanks)); });
}

void ProfileOutput::write(FinishedWindow window, const TraceOrigin& origin) {
  // A std::function must be copyable, but the large window must not be copied.
  auto shared = std::make_shared<const FinishedWindow>(std::move(window));
  thread_->post([this, shared, origin] { process(*shared, origin); });
}

void ProfileOutput::write(RankExchange::Window window) {
  auto shared = std::make_shared<const RankExchange::Window>(std::move(window));
  thread_->post([this, shared] { attempt([&] { writeNow(*shared); }); });
}

Status ProfileOutput::flush() {
  finish();
  const base::MutexLock lock(mutex_);
  return std::exchange(failure_, Status());
}

void ProfileOutput::process(const FinishedWindow& window, const TraceOrigin& origin) {
  std::optional<Trace> trace;
  std::string found;
  attempt([&] {
    trace = traceOf(window, origin);
    if (exchange_ != nullptr) {
      found = encodeRankProfile(rankProfileOf(window, trace));
    }
  });
  if (exchange_ != nullptr) {
    exchange_->provide(std::move(found));  // also if it is empty: the other ranks count windows
  }
  attempt([&] { writeNow(window, trace); });
}

/// Returns the trace; empty if it is not requested.
std::optional<Trace> ProfileOutput::traceOf(const FinishedWindow& window,
                                            const TraceOrigin& origin) const {
  const bool wantsTrace = ownWriter_ || options_.writer != nullptr || wantsFiles() ||
                          options_.onTrace || exchange_ != nullptr;
  if (!wantsTrace || options_.maxTraceSpans == 0) {
    return std::nullopt;
  }
  Trace trace = window.records.build(window.endTicks, window.converter, origin,
                                     window.start.clockOffsetNanos);
  if (options_.stacks) {
    addCallStacks(&trace);
  }
  return trace;
}

RankProfile ProfileOutput::rankProfileOf(const FinishedWindow& window,
                                         const std::optional<Trace>& trace) const {
  RankProfile rank;
  rank.nodeName = options_.communicator->nodeName();
  rank.profile = window.profile;
  if (trace) {
    rank.steps = summarizeSteps(*trace);
  }
  return rank;
}

void ProfileOutput::writeNow(const FinishedWindow& window, const std::optional<Trace>& trace) {
  if (writer() != nullptr) {
    writeOpStats(*writer(), window.profile, window.step, tableOptions());
  }
  if (!trace) {
    return;
  }
  if (writer() != nullptr) {
    if (const std::string guide = profileGuide(*trace, options_); !guide.empty()) {
      writer()->addText("profile/about", guide, window.step);
    }
    writeTraceSummary(*writer(), *trace, window.step, tableOptions());
  }
  if (wantsFiles()) {
    writeTrace(*trace, window.start);
  }
  if (options_.onTrace) {
    callOnTrace(*trace, window.step);
  }
}

/// Called last. Catches exceptions, so that they do not affect the thread's next windows.
void ProfileOutput::callOnTrace(const Trace& trace, std::int64_t step) {
  std::string why;
  try {
    options_.onTrace(trace, writer(), step);
    return;
  } catch (const std::exception& error) {
    why = error.what();
  } catch (...) {
    why = "an exception that is no std::exception";
  }
  note(Status(ErrorCode::kFailedPrecondition, "ProfilerOptions::onTrace threw: " + why));
}

void ProfileOutput::writeNow(const RankExchange::Window& window) {
  std::vector<RankProfile> ranks;
  for (const std::string& found : window.byRank) {
    if (found.empty()) {
      return;  // that rank has reported why
    }
    ranks.push_back(decodeRankProfile(found));
  }
  writeRankSummary(*writer(), ranks, window.step, tableOptions());
}

OpTableOptions ProfileOutput::tableOptions() const {
  OpTableOptions options;
  options.detailScalars = options_.detailScalars;
  return options;
}

bool ProfileOutput::wantsFiles() const {
  return !options_.logDir.empty() &&
         (options_.chromeTrace || options_.perfettoTrace || options_.xplane);
}

void ProfileOutput::writeTrace(const Trace& trace, const WindowStart& start) {
  if (options_.chromeTrace) {
    note(writeChromeTrace(options_.logDir + "/" + chromeTraceFileName(trace),
                          ArrayView<const Trace>(&trace, 1)));
  }
  if (options_.perfettoTrace) {
    note(writePerfettoTrace(options_.logDir + "/" + perfettoTraceFileName(trace), trace));
  }
  if (options_.xplane) {
    note(sessions_.write(start.session, trace, {start.namedNanos}));
  }
}

void ProfileOutput::noteCaught(const std::exception& error) noexcept {
  if (dynamic_cast<const std::bad_alloc*>(&error) == nullptr) {
    try {
      note(Status(ErrorCode::kIoError, std::string("cannot write the profile: ") + error.what()));
      return;
    } catch (const std::bad_alloc&) {
      // This error is reported below.
    }
  }
  note(outOfMemory_);
}

void ProfileOutput::lose() noexcept {
  if (exchange_ != nullptr) {
    exchange_->provide("");  // the other ranks count windows
  }
  note(outOfMemory_);
}

void ProfileOutput::note(const Status& status) noexcept {
  if (status.ok()) {
    return;
  }
  {
    const base::MutexLock lock(mutex_);
    if (failure_.ok()) {
      failure_ = status;
    }
  }
  report(status);
}

void ProfileOutput::reportOnce(const std::string& what) {
  bool isNew = false;
  if (!what.empty()) {
    const base::MutexLock lock(mutex_);
    isNew = reported_.insert(what).second;
  }
  if (isNew) {
    report(Status(ErrorCode::kFailedPrecondition, what));
  }
}

void ProfileOutput::report(const Status& status) const noexcept {
  if (options_.onError) {
    try {
      options_.onError(status);
    } catch (...) {
      // onError must not throw. If it does, for example for lack of memory, the training continues.
    }
  } else {
    std::fprintf(stderr, "steptape: %s\n", status.message().c_str());
  }
}

}  // namespace steptape::detail::profile
