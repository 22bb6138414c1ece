// SPDX-License-Identifier: Apache-2.0
#include "steptape/profile/profiler.h"

#include <exception>
#include <optional>
#include <unistd.h>
#include <utility>

#include "steptape/base/clock.h"
#include "steptape/process/zone.h"

#include "base/host_name.h"
#include "base/mutex.h"
#include "metrics/writer/open_on_all_ranks.h"
#include "profile/recorder/overhead_governor.h"
#include "profile/recorder/profile_output.h"
#include "profile/recorder/profile_session_directory.h"
#include "profile/recorder/profile_trigger.h"
#include "profile/recorder/rank_exchange.h"
#include "profile/recorder/span_source.h"
#include "profile/recorder/step_timer.h"
#include "profile/recorder/window_recorder.h"
#include "ranks/communicator/clock_offset.h"

namespace steptape {
namespace {

bool isRecorded(ProfilerAction action) {
  return action == ProfilerAction::kRecord || action == ProfilerAction::kRecordAndSave;
}

}  // namespace

class Profiler::Impl {
 public:
  Impl(ProfilerOptions options, std::unique_ptr<detail::profile::SpanSource> source)
      : options_(std::move(options)),
        source_(std::move(source)),
        exchange_(makeExchange(validated(options_))),
        output_(options_, exchange_.get()) {
    origin_.hostName = detail::base::hostName();
    origin_.processId = ::getpid();
    if (options_.communicator != nullptr) {
      origin_.rank = options_.communicator->rank();
      origin_.worldSize = options_.communicator->size();
    }
    if (options_.trigger.isSet()) {
      trigger_.emplace(options_.trigger, options_.communicator);
    }
    start();
  }

  ~Impl() {
    try {
      stop();
    } catch (const std::exception&) {  // no memory for the last window: the run has precedence
      setRecording(false);
    }
  }

  void start() {
    if (recorder_) {
      return;
    }
    recorder_.emplace(
        detail::profile::WindowRecorder::Options{
            static_cast<std::size_t>(options_.recordsPerThread), options_.zones,
            static_cast<std::size_t>(options_.maxTraceSpans), source_ ? source_->sampling() : 1,
            source_.get()},
        [this](detail::profile::FinishedWindow window) { finish(std::move(window)); },
        [this] { output_.lose(); });
    step_ = 0;
    governor_.reset();
    timer_ = {};  // the new recorder's thread has used no time yet
    {
      const detail::base::MutexLock lock(finishedMutex_);
      finished_.reset();
    }
    scheduleStart_ = 0;
    if (trigger_) {
      scheduleStart_.reset();
      trigger_->arm();
    }
    enter(scheduledAction());
  }

  void step() {
    if (!recorder_) {
      exchangeProfiles();
      return;
    }
    timer_.beginOwnWork();
    if (recorder_->isOpen()) {
      endStepOfWindow();
    }
    ++step_;
    if (action_ == ProfilerAction::kRecordAndSave) {
      closeWindow();
    }
    if (trigger_) {
      followTrigger();
    }
    exchangeProfiles();
    enter(scheduledAction());
    if (recorder_->isOpen()) {
      beginStepOfWindow();
    }
  }

  void stop() {
    if (!recorder_) {
      return;
    }
    if (recorder_->isOpen()) {
      closeWindow();
    }
    setRecording(false);
    action_ = ProfilerAction::kNone;
    recorder_.reset();
    reportProblems();  // those of the last window
    if (trigger_) {
      trigger_->disarm();
    }
  }

  Status flush() {
    if (recorder_) {
      recorder_->current();  // passes on what was closed
    }
    if (exchange_ != nullptr) {
      output_.finish();
      writeAll(exchange_->finish());
    }
    return output_.flush();
  }

  ProfilerAction action() const { return action_; }

  OpProfile profile() {
    std::optional<OpProfile> current;
    if (recorder_) {
      current = recorder_->current();
    }
    const detail::base::MutexLock lock(finishedMutex_);
    if (finished_) {
      return *finished_;
    }
    return current.value_or(OpProfile());
  }

 private:
  static const ProfilerOptions& validated(const ProfilerOptions& options) {
    options.schedule.check();
    return options;
  }

  /// Returns null if there is no other rank, or if the root does not log. Collective.
  static std::unique_ptr<detail::profile::RankExchange> makeExchange(
      const ProfilerOptions& options) {
    const std::shared_ptr<Communicator>& ranks = options.communicator;
    if (ranks == nullptr || ranks->size() == 1) {
      return nullptr;
    }
    const bool isLogging = options.writer != nullptr || !options.logDir.empty();
    const bool isRootLogging =
        !detail::metrics::valueOfRoot(*ranks, isLogging ? "logs" : "").empty();
    return isRootLogging ? std::make_unique<detail::profile::RankExchange>(ranks) : nullptr;
  }

  void exchangeProfiles() {
    if (exchange_ != nullptr) {
      writeAll(exchange_->advance());
    }
  }

  void writeAll(std::vector<detail::profile::RankExchange::Window> windows) {
    for (detail::profile::RankExchange::Window& window : windows) {
      output_.write(std::move(window));
    }
  }

  ProfilerAction scheduledAction() const {
    return scheduleStart_ ? options_.schedule.actionAt(step_ - *scheduleStart_)
                          : ProfilerAction::kNone;
  }

  void followTrigger() {
    if (scheduleStart_ && options_.schedule.isOverAt(step_ - *scheduleStart_)) {
      scheduleStart_.reset();
    }
    switch (trigger_->endStep(scheduleStart_.has_value())) {
      case detail::profile::TriggerWish::kNone:
        break;
      case detail::profile::TriggerWish::kBegin:
        scheduleStart_ = step_;
        break;
      case detail::profile::TriggerWish::kEnd:
        scheduleStart_.reset();
        if (recorder_->isOpen()) {
          closeWindow();
        }
        break;
    }
    output_.reportOnce(trigger_->takeProblem());
  }

  void enter(ProfilerAction action) {
    action_ = action;
    if (isRecorded(action) && recorder_->isOpen()) {
      return;  // the governor decides whether to record
    }
    setRecording(action != ProfilerAction::kNone);
    if (isRecorded(action)) {
      openWindow();
    }
  }

  void openWindow() {
    if (!nanosPerSpan_) {
      nanosPerSpan_ = source_ != nullptr ? source_->measureNanosPerSpan() : measureZone();
    }
    if (!governor_) {
      governor_.emplace(options_.maxOverhead > 0.0 ? options_.maxOverhead : 1.0, *nanosPerSpan_);
    }
    stepsPassed_ = 0;
    detail::profile::WindowStart start = nameSession();
    if (options_.communicator != nullptr) {
      start.clockOffsetNanos = detail::ranks::estimateClockOffset(*options_.communicator).nanos;
    }
    recorder_->open(std::move(start));
    timer_.beginOwnWork();
    beginStepOfWindow();
  }

  void closeWindow() {
    if (exchange_ != nullptr) {
      exchange_->expect(options_.firstStep + step_);
    }
    recorder_->close({options_.firstStep + step_, stepsPassed_, governor_->share()});
    reportProblems();
  }

  void reportProblems() {
    if (source_ == nullptr) {
      return;
    }
    for (const std::string& problem : source_->problems()) {
      output_.reportOnce(problem);
    }
  }

  void beginStepOfWindow() {
    const bool wasRecorded = recorder_->isRecording();
    if (governor_->recordsNext() != wasRecorded) {
      if (wasRecorded) {
        recorder_->pause();
      }
      setRecording(!wasRecorded);
      if (!wasRecorded) {
        recorder_->resume();
      }
    }
    timer_.beginStep();
    if (recorder_->isRecording()) {
      recordsBefore_ = recorder_->recordCount();
    }
  }

  void endStepOfWindow() {
    ++stepsPassed_;
    const double nanos = timer_.stepNanos();
    governor_->addCost(timer_.takeOwnNanos(recorder_->threadNanos()));
    if (!recorder_->isRecording()) {
      governor_->endUnrecorded(nanos);
      return;
    }
    recorder_->endStep(options_.firstStep + step_);
    governor_->endRecorded(recorder_->recordCount() - recordsBefore_, nanos);
  }

  /// Returns the cost of recording a zone. REQUIRES: recording is on.
  static double measureZone() {
    constexpr int kZones = 1000;
    const std::uint64_t start = readTicks();
    for (int i = 0; i < kZones; ++i) {
      STEPTAPE_ZONE("steptape::measureZone");
    }
    return detail::profile::StepTimer::nanosOf(readTicks() - start) / kZones;
  }

  void setRecording(bool on) {
    if (on == recorder_->isRecording()) {
      return;
    }
    // The source is switched on last and off first, so that recording is on for all its spans.
    if (on) {
      recorder_->startRecording();
    }
    if (source_ != nullptr && on) {
      source_->switchOn();
      reportProblems();
    } else if (source_ != nullptr) {
      source_->switchOff();
    }
    if (!on) {
      recorder_->stopRecording();
    }
  }

  /// Returns a name for the new window, the same on all ranks, and the time of the name.
  detail::profile::WindowStart nameSession() {
    const std::int64_t now = Clock::system().wallNanos();
    std::string session = detail::profile::newSessionName(now);
    if (options_.communicator == nullptr) {
      return {session, now};
    }
    Communicator& ranks = *options_.communicator;
    session = detail::metrics::valueOfRoot(ranks, session);
    return {session, std::stoll(detail::metrics::valueOfRoot(ranks, std::to_string(now)))};
  }

  void finish(detail::profile::FinishedWindow window) {
    const detail::base::MutexLock lock(finishedMutex_);
    finished_ = window.profile;
    output_.write(std::move(window), origin_);
  }

  const ProfilerOptions options_;
  const std::unique_ptr<detail::profile::SpanSource> source_;
  detail::profile::TraceOrigin origin_;
  std::int64_t step_ = 0;
  std::optional<std::int64_t> scheduleStart_;  // a step; unset while waiting for a trigger
  ProfilerAction action_ = ProfilerAction::kNone;
  std::optional<double> nanosPerSpan_;                         // once it is measured
  std::optional<detail::profile::OverheadGovernor> governor_;  // of all windows since start()
  std::int64_t stepsPassed_ = 0;                               // in the open window
  detail::profile::StepTimer timer_;
  std::uint64_t recordsBefore_ = 0;  // at the start of the step

  detail::base::Mutex finishedMutex_;
  std::optional<OpProfile> finished_ STEPTAPE_GUARDED_BY(finishedMutex_);  // the latest window

  std::optional<detail::profile::ProfileTrigger> trigger_;
  const std::unique_ptr<detail::profile::RankExchange> exchange_;  // null: results are not gathered
  detail::profile::ProfileOutput output_;
  std::optional<detail::profile::WindowRecorder>
      recorder_;  // while the profiler runs; last: calls finish()
};

Profiler::Profiler(ProfilerOptions options) : Profiler(std::move(options), nullptr) {}
Profiler::Profiler(ProfilerOptions options, std::unique_ptr<detail::profile::SpanSource> source)
    : impl_(std::make_unique<Impl>(std::move(options), std::move(source))) {}
Profiler::~Profiler() = default;

void Profiler::start() {
  impl_->start();
}
void Profiler::step() {
  impl_->step();
}
void Profiler::stop() {
  impl_->stop();
}
Status Profiler::flush() {
  return impl_->flush();
}
ProfilerAction Profiler::action() const noexcept {
  return impl_->action();
}
OpProfile Profiler::profile() const {
  return impl_->profile();
}
std::vector<OpStats> Profiler::stats() const {
  return profile().operators;
}
std::string Profiler::table(const OpTableOptions& options) const {
  return opTable(profile(), options);
}
void Profiler::writeTo(SummaryWriter& writer, std::int64_t step,
                       const OpTableOptions& options) const {
  writeOpStats(writer, profile(), step, options);
}

}  // namespace steptape
