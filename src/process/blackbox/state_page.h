// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string_view>

#include "steptape/base/clock.h"
#include "steptape/base/export.h"

#include "process/blackbox/collective_notes.h"
#include "process/blackbox/kernel_kills.h"
#include "process/blackbox/process_box.h"
#include "process/blackbox/rank_state.h"
#include "process/blackbox/state_layout.h"
#include "process/blackbox/value_notes.h"

namespace steptape::detail::process {

/// What the background thread measures once a second. -1: unknown.
struct MemoryUse {
  std::int64_t residentBytes = -1;
  std::int64_t cgroupBytes = -1;
  std::int64_t cgroupLimit = -1;
  std::int64_t oomKills = -1;
};

/// The state of this process in a mapped file of its black box, from which readRankState() reads
/// it, whatever happens to the process.
///
/// The page exists from the first keep() until the process ends. A normal end removes its file. A
/// child made by fork() has no page until it calls keep().
///
/// @threads Thread-safe, unless a function says otherwise.
/// @cost    Stores into memory: no lock, allocation or system call, unless a function says so.
class STEPTAPE_EXPORT StatePage {
 public:
  /// Makes the page of this process if there is none, and catches signals that end it; see
  /// crash_handler.h. If there can be no page, says so once on stderr, and nothing is kept.
  ///
  /// `STEPTAPE_BLACK_BOX=off` turns it off. May allocate, lock and block.
  static void keep() noexcept;

  /// Returns the page, or null.
  static StatePage* current() noexcept { return current_.load(std::memory_order_acquire); }

  /// Makes `listener` called with each new page, and with null in a child made by fork(), which has
  /// lost it. If there is a page, it is called now. For the one room that keeps zones.
  using Listener = void (*)(StatePage*);
  static void setListener(Listener listener) noexcept;

  StatePage(const StatePage&) = delete;
  StatePage& operator=(const StatePage&) = delete;

  /// Notes the process's number in its job. Until then, the launcher's variables tell it.
  /// @param localRank -1: unknown.
  void noteRank(int rank, int worldSize, int localRank) noexcept;
  /// Notes what all ranks of one start of a job have in common: the number of rank 0's box.
  void noteLaunch(std::uint64_t number) noexcept;
  /// Notes where this process logs, or rank 0 for it.
  /// @param directory Absolute: a reader has another working directory.
  void noteLogDirectory(std::string_view directory) noexcept;
  /// Also whether memory has run out: the error may be a consequence.
  void noteError(std::string_view text) noexcept;

  /// Notes that a step begins, or has ended; what the number means is the caller's matter.
  void noteStep(std::int64_t step) noexcept;
  /// @return the phase before.
  RunPhase setPhase(RunPhase phase) noexcept;

  /// Returns where collectives are noted.
  CollectiveNotes collectives() noexcept { return CollectiveNotes(*state_); }
  /// Returns where the values of scalars are noted.
  ValueNotes values() noexcept { return ValueNotes(*state_); }

  /// Adds name `number`, which is one more than the last number. Others are ignored. Not
  /// thread-safe.
  void addName(std::uint16_t number, std::string_view text) noexcept;
  std::size_t names() const noexcept;

  /// How far the process is.
  struct Progress {
    std::uint64_t steps = 0;  ///< How many were noted; if none, 1 + the largest one logged.
    RunPhase phase = RunPhase::kUnknown;
    double medianStep = 0;       ///< Seconds between the last steps; 0: unknown.
    std::uint64_t activity = 0;  ///< Grows when a zone, operator or collective begins or ends.
  };
  Progress progress() const noexcept;

  // For the writers' background thread.
  void noteHeartbeat() noexcept;
  void noteLoggedStep(std::int64_t step) noexcept;
  /// Follows the system clock: converts ticks to wall time from now on.
  void calibrate() noexcept;
  void noteMemory(const MemoryUse& use) noexcept;
  /// Notes whether the kernel has killed a process of the control group, for a process that is
  /// about to end. Safe in a signal handler.
  void noteKernelKills() noexcept;

  void noteDeviceBytes(std::int64_t bytes) noexcept;

  state_layout::State& state() noexcept { return *state_; }
  const BoxName& box() const noexcept { return box_->name(); }
  /// Returns whether this is the process that made the page. Safe in a signal handler.
  bool isOurs() const noexcept;
  /// Safe in a signal handler.
  double nanosPerTick() const noexcept;

 private:
  StatePage(std::shared_ptr<ProcessBox> box, std::unique_ptr<BoxFile> file,
            state_layout::State* state);
  static std::unique_ptr<StatePage> make(Status* why);
  void fillIdentity();

  static void endAtExit(int code) noexcept;
  static void afterForkInChild() noexcept;

  static std::atomic<StatePage*> current_;

  const std::shared_ptr<ProcessBox> box_;
  const std::unique_ptr<BoxFile> file_;
  const std::uint64_t pid_;
  state_layout::State* const state_;
  TickConverter time_;  // of one thread at a time: the constructor's, then the backend's
  std::uint64_t calibrations_ = 0;
  std::int64_t oomKillsAtStart_ = -1;
  KernelKills kernelKills_;
  StatePage* before_ = nullptr;
};

/// Notes a step in the page of this process, if there is one.
inline void noteStep(std::int64_t step) noexcept {
  if (StatePage* const page = StatePage::current()) {
    page->noteStep(step);
  }
}

/// Notes how much memory the process has allocated on its device.
inline void noteDeviceBytes(std::int64_t bytes) noexcept {
  if (StatePage* const page = StatePage::current()) {
    page->noteDeviceBytes(bytes);
  }
}

/// Notes that Steptape ends this process, and the job with it.
STEPTAPE_EXPORT void noteEndOfJob(std::string_view why) noexcept;

/// Tells that a job of several ranks begins or ends in this process. If the process calls exit()
/// meanwhile, its state stays, with the exit code: launchers then end the other ranks, of which
/// none knows why. Each beginning has an end.
STEPTAPE_EXPORT void noteJobIsOpen(bool isOpen) noexcept;

/// Notes an error that the user is told about.
inline void noteError(std::string_view text) noexcept {
  if (StatePage* const page = StatePage::current()) {
    page->noteError(text);
  }
}

/// Notes that the scope that it lives in is a phase of the run, inside the phase around it.
class PhaseScope {
 public:
  explicit PhaseScope(RunPhase phase) noexcept {
    if (StatePage* const page = StatePage::current()) {
      outer_ = page->setPhase(phase);
      isKept_ = true;
    }
  }
  ~PhaseScope() {
    StatePage* const page = StatePage::current();
    if (isKept_ && page != nullptr) {
      page->setPhase(outer_);
    }
  }
  PhaseScope(const PhaseScope&) = delete;
  PhaseScope& operator=(const PhaseScope&) = delete;

 private:
  RunPhase outer_ = RunPhase::kUnknown;
  bool isKept_ = false;
};

}  // namespace steptape::detail::process
