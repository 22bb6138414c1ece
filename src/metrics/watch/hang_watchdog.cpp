// SPDX-License-Identifier: Apache-2.0
#include "steptape/metrics/hang_watchdog.h"

#include <algorithm>
#include <atomic>
#include <csignal>
#include <cstdio>
#include <exception>
#include <filesystem>
#include <optional>
#include <sstream>
#include <string_view>
#include <sys/syscall.h>
#include <system_error>
#include <thread>
#include <unistd.h>
#include <utility>
#include <vector>

#include "steptape/base/clock.h"

#include "base/got_expected.h"
#include "base/host_name.h"
#include "base/loop_thread.h"
#include "base/mutex.h"
#include "base/text.h"
#include "base/whole_file.h"
#include "metrics/watch/hang_detector.h"
#include "metrics/watch/hang_report.h"
#include "process/blackbox/box_folder.h"
#include "process/blackbox/process_facts.h"
#include "process/blackbox/state_page.h"
#include "process/blackbox/state_queries.h"

namespace steptape {
namespace {

using detail::metrics::HangDetector;
using detail::process::BoxName;
using detail::process::RankState;
using detail::process::StatePage;

constexpr std::string_view kFirstWords = "no step has ended for ";
// Whoever makes this file in the log directory asks for a report.
constexpr const char* kRequestFile = "dump_now";

double secondsOf(std::chrono::milliseconds time) {
  return std::chrono::duration<double>(time).count();
}

void check(const HangWatchdogOptions& options) {
  if (options.minimum.count() < 10) {
    detail::base::reject(std::to_string(options.minimum.count()) + " ms", "at least 10 ms",
                         "HangWatchdogOptions::minimum");
  }
  if (!(options.factor >= 1)) {
    detail::base::reject(std::to_string(options.factor), "at least 1",
                         "HangWatchdogOptions::factor");
  }
  if (options.firstLimit < options.minimum) {
    detail::base::reject(std::to_string(options.firstLimit.count()) + " ms",
                         "at least `minimum`, " + std::to_string(options.minimum.count()) + " ms",
                         "HangWatchdogOptions::firstLimit");
  }
}

HangDetector::Limits limitsOf(const HangWatchdogOptions& options, double period) {
  constexpr double kPeriodsOfAGap = 5;
  return {secondsOf(options.minimum), options.factor, secondsOf(options.firstLimit),
          kPeriodsOfAGap * period};
}

/// Returns the states of this process and of the other ranks of its job on this machine.
std::vector<RankState> statesOfJob(const BoxName& own) {
  std::vector<RankState> states;
  RankState mine;
  if (!detail::process::readRankState(own, &mine).ok()) {
    return states;
  }
  for (const BoxName& box : detail::process::listBoxes(own.folder)) {
    const bool isOther = box.number != own.number && mine.launch != 0;
    if (isOther && detail::process::readStateHead(box).launch == mine.launch) {
      RankState state;
      if (detail::process::readRankState(box, &state).ok()) {
        states.push_back(std::move(state));
      }
    }
  }
  states.push_back(std::move(mine));
  return states;
}

/// Returns the report as Markdown: each indented line as an item of a list, which TensorBoard
/// wraps.
std::string markdownOf(const std::string& report) {
  constexpr std::string_view kSpecial = "\\`*_<[";
  std::istringstream lines(report);
  std::string text;
  for (std::string line; std::getline(lines, line);) {
    const bool isItem = detail::base::startsWith(line, "  ");
    text += isItem ? "- " : "\n";
    for (const char letter : line.substr(isItem ? 2 : 0)) {
      text += kSpecial.find(letter) == std::string_view::npos ? "" : "\\";
      text += letter;
    }
    text += isItem ? "\n" : "\n\n";
  }
  return text;
}

/// Returns the directory of a run; empty if this rank does not write it.
std::filesystem::path directoryOf(const SummaryWriter& run) {
  if (!run.isEnabled()) {
    return {};
  }
  std::error_code error;  // then the path stays relative
  return std::filesystem::absolute(run.logDir(), error);
}

/// Ends the process by a signal to the thread that hangs, so that its stack is noted.
[[noreturn]] void endByAbort(const RankState& state) {
  constexpr int kTryAgain = 75;  // EX_TEMPFAIL of sysexits.h
  const RankState::Thread* const thread = detail::process::mainThread(state);
  const auto tid = thread == nullptr ? static_cast<std::uint32_t>(::getpid()) : thread->tid;
  ::syscall(SYS_tgkill, ::getpid(), tid, SIGABRT);
  std::this_thread::sleep_for(std::chrono::seconds(5));
  ::_exit(kTryAgain);  // the signal is ignored, or its handler hangs
}

}  // namespace

/// What the thread and the object share.
class HangWatchdog::Watch {
 public:
  Watch(SummaryWriter* run, HangWatchdogOptions options)
      : options_(std::move(options)),
        period_(std::min(1.0, secondsOf(options_.minimum) / 4)),
        detector_(limitsOf(options_, period_)),
        directory_(directoryOf(*run)),
        run_(run) {}

  detail::base::LoopThread::Time look() noexcept {
    try {
      if (StatePage* const page = StatePage::current()) {
        const auto hang = detector_.look(sightOf(page));
        if (hang) {
          report(page, *hang);
        }
        answerRequest(page);
      }
    } catch (const std::exception&) {
      // Out of memory: the next look is soon.
    }
    return std::chrono::steady_clock::now() +
           std::chrono::duration_cast<std::chrono::steady_clock::duration>(
               std::chrono::duration<double>(period_));
  }

  void setPaused(bool isPaused) noexcept { isPaused_.store(isPaused, std::memory_order_relaxed); }

  /// The run is not used any more.
  void forgetRun() {
    detail::base::MutexLock lock(mutex_);
    run_ = nullptr;
  }

 private:
  HangDetector::Sight sightOf(StatePage* page) {
    HangDetector::Sight sight;
    sight.now = static_cast<double>(Clock::system().steadyNanos()) * 1e-9;
    const StatePage::Progress progress = page->progress();
    sight.steps = progress.steps;
    sight.phase = progress.phase;
    sight.activity = progress.activity;
    sight.usualStep = progress.medianStep;
    sight.counts =
        !isPaused_.load(std::memory_order_relaxed) && !detail::process::isBeingDebugged();
    return sight;
  }

  void report(StatePage* page, const HangDetector::Hang& hang) {
    const std::vector<RankState> states = statesOfJob(page->box());
    if (states.empty()) {
      return;
    }
    const RankState& own = states.back();
    const double now = Clock::system().wallSeconds();
    if (!options_.endJob && anotherHasReported(states, now - hang.waited)) {
      return;
    }
    const std::string phase = detail::process::runPhaseName(hang.phase);
    std::string text =
        phase.empty() ? std::string(kFirstWords) : "the phase " + phase + " has lasted ";
    text += detail::metrics::secondsText(hang.waited);
    text += hang.usual > 0 ? "; usual is " + detail::metrics::secondsText(hang.usual) : "";
    text += (hang.usual > 0 ? ", the limit " : "; the limit is ") +
            detail::metrics::secondsText(hang.limit);
    if (hang.idle < hang.limit) {
      text += "; zones, operators or collectives still begin and end";
    }
    detail::process::noteError(text);
    text += '\n' + detail::metrics::hangReport(states, now);
    text += options_.endJob ? "  the job ends now, as HangWatchdogOptions::endJob says\n" : "";
    write(own, text);
    if (options_.endJob) {
      endByAbort(own);
    }
  }

  /// Reports what a job does that need not hang, if a file asks for it. On the root only.
  void answerRequest(StatePage* page) {
    const std::filesystem::path request = directory_ / kRequestFile;
    std::error_code error;
    if (directory_.empty() || cannotRemove_ || !std::filesystem::exists(request, error)) {
      return;
    }
    const std::vector<RankState> states = statesOfJob(page->box());
    if (states.empty()) {
      return;
    }
    keep(states.back(), "dump",
         "what the ranks of this node do, as " + request.string() + " asks\n" +
             detail::metrics::hangReport(states, Clock::system().wallSeconds()));
    // Last, so that who waits until it is gone finds the report.
    std::filesystem::remove(request, error);
    cannotRemove_ = static_cast<bool>(error);
  }

  /// Returns whether another rank of this node has reported since `since`: one report is enough.
  static bool anotherHasReported(const std::vector<RankState>& states, double since) {
    return std::any_of(states.begin(), states.end() - 1, [since](const RankState& state) {
      return state.lastErrorTime > since && detail::base::startsWith(state.lastError, kFirstWords);
    });
  }

  void write(const RankState& own, const std::string& text) {
    if (options_.onHang) {
      options_.onHang(text);
    } else {
      std::fprintf(stderr, "steptape: %s", text.c_str());
      std::fflush(stderr);
    }
    keep(own, "hang", text);
  }

  /// Writes a report into a file and into the run.
  void keep(const RankState& own, const std::string& kind, const std::string& text) {
    std::filesystem::path directory = directory_;
    if (directory.empty() && !own.logDirectories.empty()) {
      directory = own.logDirectories.front();  // which the root has told
    }
    if (!directory.empty()) {
      const std::string name =
          kind + "-" + detail::base::hostName() + "-" + std::to_string(::getpid()) + ".txt";
      // A disk that refuses the file changes nothing.
      static_cast<void>(
          detail::base::replaceFile(directory / detail::process::kStateFolder / name, text));
    }
    detail::base::MutexLock lock(mutex_);
    if (run_ != nullptr && run_->isEnabled()) {
      run_->addText("steptape/" + kind, markdownOf(text), own.step);
      if (kind == "hang") {
        run_->notify("hung", text);
      }
    }
  }

  const HangWatchdogOptions options_;
  const double period_;
  HangDetector detector_;
  const std::filesystem::path directory_;  // of the run; empty: this rank does not write it
  bool cannotRemove_ = false;              // the file of a request, which is answered only once
  std::atomic<bool> isPaused_{false};
  detail::base::Mutex mutex_;
  SummaryWriter* run_ STEPTAPE_GUARDED_BY(mutex_);
};

class HangWatchdog::Impl {
 public:
  Impl(SummaryWriter& run, HangWatchdogOptions options) {
    check(options);
    StatePage::keep();
    watch_ = std::make_shared<Watch>(&run, std::move(options));
    thread_.emplace("steptape-hang", [watch = watch_] { return watch->look(); });
  }
  ~Impl() {
    const bool isForkedChild = thread_->isOfParent();
    thread_.reset();
    if (!isForkedChild) {  // in which nobody would release the lock
      watch_->forgetRun();
    }
  }
  Impl(const Impl&) = delete;
  Impl& operator=(const Impl&) = delete;

  void setPaused(bool isPaused) noexcept { watch_->setPaused(isPaused); }

 private:
  std::shared_ptr<Watch> watch_;
  std::optional<detail::base::LoopThread> thread_;
};

HangWatchdog::HangWatchdog(DistributedWriter& writer, HangWatchdogOptions options)
    : impl_(std::make_unique<Impl>(writer.jobWriter(), std::move(options))) {}

HangWatchdog::HangWatchdog(SummaryWriter& writer, HangWatchdogOptions options)
    : impl_(std::make_unique<Impl>(writer, std::move(options))) {}

HangWatchdog::~HangWatchdog() = default;

void HangWatchdog::pause() noexcept {
  impl_->setPaused(true);
}

void HangWatchdog::resume() noexcept {
  impl_->setPaused(false);
}

}  // namespace steptape
