// SPDX-License-Identifier: Apache-2.0
#include "steptape/profile/profiler.h"

#include <exception>
#include <optional>
#include <unistd.h>
#include <utility>

#include "steptape/base/clock.h"
#include "steptape/base/mutex.h"
#include "steptape/trace/xplane_trace.h"

#include "distributed/open_on_all_ranks.h"
#include "profile/profile_output.h"
#include "profile/span_source.h"
#include "profile/window_recorder.h"
#include "writer/host_name.h"

namespace steptape {
namespace {

bool isRecorded(ProfilerAction action) {
  return action == ProfilerAction::kRecord || action == ProfilerAction::kRecordAndSave;
}

}  // namespace

class Profiler::Impl {
 public:
  Impl(ProfilerOptions options, std::unique_ptr<detail::SpanSource> source)
      : options_(std::move(options)), source_(std::move(source)), output_(validated(options_)) {
    origin_.hostName = hostName();
    origin_.processId = ::getpid();
    if (options_.communicator != nullptr) {
      origin_.rank = options_.communicator->rank();
      origin_.worldSize = options_.communicator->size();
    }
    start();
  }

  ~Impl() {
    try {
      stop();
    } catch (const std::exception&) {  // no memory for the last window: the run matters more
      setRecording(false);
    }
  }

  void start() {
    if (recorder_) {
      return;
    }
    recorder_.emplace(
        detail::WindowRecorder::Options{options_.recordsPerThread, options_.zones,
                                        options_.maxTraceSpans, options_.operatorSampling},
        [this](detail::FinishedWindow window) { finish(std::move(window)); });
    step_ = 0;
    {
      const MutexLock lock(finishedMutex_);
      finished_.reset();
    }
    enter(options_.schedule.actionAt(0));
  }

  void step() {
    if (!recorder_) {
      return;
    }
    if (recorder_->isOpen()) {
      recorder_->endStep(step_);
    }
    ++step_;
    if (action_ == ProfilerAction::kRecordAndSave) {
      recorder_->close(step_);
    }
    enter(options_.schedule.actionAt(step_));
  }

  void stop() {
    if (!recorder_) {
      return;
    }
    if (recorder_->isOpen()) {
      recorder_->close(step_);
    }
    setRecording(false);
    action_ = ProfilerAction::kNone;
    recorder_.reset();
  }

  Status flush() {
    if (recorder_) {
      recorder_->current();  // hands over what was closed
    }
    return output_.flush();
  }

  ProfilerAction action() const { return action_; }

  OpProfile profile() {
    std::optional<OpProfile> current;
    if (recorder_) {
      current = recorder_->current();
    }
    const MutexLock lock(finishedMutex_);
    if (finished_) {
      return *finished_;
    }
    return current.value_or(OpProfile());
  }

 private:
  static const ProfilerOptions& validated(const ProfilerOptions& options) {
    options.schedule.validate();
    return options;
  }

  void enter(ProfilerAction action) {
    action_ = action;
    setRecording(action != ProfilerAction::kNone);
    if (isRecorded(action) && !recorder_->isOpen()) {
      recorder_->open(nameSession());
    }
  }

  void setRecording(bool on) {
    if (on == recorder_->isRecording()) {
      return;
    }
    // The source comes on last and goes off first: its spans always find recording on.
    if (on) {
      recorder_->startRecording();
    }
    if (source_ != nullptr && on) {
      output_.reportOnce(source_->switchOn());
    } else if (source_ != nullptr) {
      source_->switchOff();
    }
    if (!on) {
      recorder_->stopRecording();
    }
  }

  /// A name for the window that begins, the same on all ranks and another one than the last.
  std::string nameSession() {
    const auto now = static_cast<std::int64_t>(Clock::system().wallSeconds() * 1e9);
    std::string session = profileSessionName(now);
    sameSecond_ = session == lastSecond_ ? sameSecond_ + 1 : 0;
    lastSecond_ = session;
    if (sameSecond_ != 0) {
      session += "_" + std::to_string(sameSecond_);
    }
    return options_.communicator == nullptr ? session
                                            : detail::valueOfRoot(*options_.communicator, session);
  }

  void finish(detail::FinishedWindow window) {
    const MutexLock lock(finishedMutex_);
    finished_ = window.profile;
    output_.write(std::move(window), origin_);
  }

  const ProfilerOptions options_;
  const std::unique_ptr<detail::SpanSource> source_;
  detail::TraceOrigin origin_;
  std::int64_t step_ = 0;
  ProfilerAction action_ = ProfilerAction::kNone;
  std::string lastSecond_;  // of the last session
  int sameSecond_ = 0;      // sessions before it in that second

  Mutex finishedMutex_;
  std::optional<OpProfile> finished_ STEPTAPE_GUARDED_BY(finishedMutex_);  // the latest window

  detail::ProfileOutput output_;
  std::optional<detail::WindowRecorder> recorder_;  // while the profiler runs; last: calls finish()
};

Profiler::Profiler(ProfilerOptions options) : Profiler(std::move(options), nullptr) {}
Profiler::Profiler(ProfilerOptions options, std::unique_ptr<detail::SpanSource> source)
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
