// SPDX-License-Identifier: Apache-2.0
#include "steptape/profile/profiler.h"

#include <exception>
#include <optional>
#include <utility>

#include "steptape/base/clock.h"

namespace steptape {

class Profiler::Impl {
 public:
  Impl(ProfilerOptions options, SourceSwitch source)
      : options_(std::move(options)), source_(source) {
    options_.schedule.validate();
    if (!options_.logDir.empty()) {
      writer_.emplace(options_.logDir + "/profile");
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
    if (collector_ != nullptr) {
      return;
    }
    collector_ = std::make_unique<SpanCollector>(options_.recordsPerThread, options_.zones);
    step_ = 0;
    finished_.reset();
    enter(options_.schedule.actionAt(0));
  }

  void step() {
    if (collector_ == nullptr) {
      return;
    }
    ++step_;
    const ProfilerAction last = action_;
    if (last == ProfilerAction::kRecord || last == ProfilerAction::kRecordAndSave) {
      extendWindow();
    }
    if (last == ProfilerAction::kRecordAndSave) {
      saveWindow();
    }
    enter(options_.schedule.actionAt(step_));
  }

  void stop() {
    if (collector_ == nullptr) {
      return;
    }
    if (window_) {
      extendWindow();
    }
    setRecording(false);
    collector_.reset();
    action_ = ProfilerAction::kNone;
    if (window_) {
      saveWindow();
    }
  }

  ProfilerAction action() const { return action_; }

  OpProfile profile() const {
    if (finished_) {
      return *finished_;
    }
    return window_ ? window_->build(windowEndTicks_, converter_) : OpProfile{};
  }

 private:
  void enter(ProfilerAction action) {
    action_ = action;
    setRecording(action != ProfilerAction::kNone);
    const bool wantsWindow =
        action == ProfilerAction::kRecord || action == ProfilerAction::kRecordAndSave;
    if (wantsWindow && !window_) {
      openWindow();
    }
  }

  void setRecording(bool on) {
    if (on == collector_->isRecording()) {
      return;
    }
    // The source comes on last and goes off first: its spans always find recording on.
    if (on) {
      collector_->startRecording();
    }
    if (source_ != nullptr) {
      source_(on);
    }
    if (!on) {
      collector_->stopRecording();
    }
  }

  void openWindow() {
    collector_->drain([](const SpanBatch&) {});  // the warm-up
    converter_.recalibrate();
    windowEndTicks_ = readTicks();
    window_.emplace(windowEndTicks_);
  }

  void extendWindow() {
    collector_->drain([&](const SpanBatch& batch) { window_->add(batch); });
    windowEndTicks_ = readTicks();  // after the drain, which lets no span reach beyond the window
    converter_.recalibrate();
  }

  void saveWindow() {
    finished_ = window_->build(windowEndTicks_, converter_);
    window_.reset();
    if (writer_) {
      writeOpStats(*writer_, *finished_, step_);
    }
  }

  const ProfilerOptions options_;
  const SourceSwitch source_;
  std::optional<SummaryWriter> writer_;
  std::unique_ptr<SpanCollector> collector_;  // while the profiler runs
  std::int64_t step_ = 0;
  ProfilerAction action_ = ProfilerAction::kNone;
  TickConverter converter_;
  std::optional<OpStatsBuilder> window_;  // while one is open
  std::uint64_t windowEndTicks_ = 0;
  std::optional<OpProfile> finished_;  // the latest window that was closed
};

Profiler::Profiler(ProfilerOptions options) : Profiler(std::move(options), nullptr) {}
Profiler::Profiler(ProfilerOptions options, SourceSwitch source)
    : impl_(std::make_unique<Impl>(std::move(options), source)) {}
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
