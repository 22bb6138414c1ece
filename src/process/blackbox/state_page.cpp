// SPDX-License-Identifier: Apache-2.0
#include "process/blackbox/state_page.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <string>
#include <sys/syscall.h>
#include <tuple>
#include <unistd.h>
#include <utility>

#include "base/fork_handlers.h"
#include "base/mutex.h"
#include "process/blackbox/crash_handler.h"
#include "process/blackbox/process_facts.h"
#include "process/blackbox/state_words.h"
#include "process/blackbox/thread_state.h"

namespace steptape::detail::process {
namespace {

using state_layout::State;

/// What keep() and the fork handlers share. Never destroyed: threads may outlive main().
struct PageKeeper {
  base::Mutex mutex;
  StatePage::Listener listener STEPTAPE_GUARDED_BY(mutex) = nullptr;
  bool isPrepared STEPTAPE_GUARDED_BY(mutex) = false;
  bool hasFailed STEPTAPE_GUARDED_BY(mutex) = false;
  /// In a forked child: the pages of the processes before it, so that checkers find no leak.
  StatePage* ofParents STEPTAPE_GUARDED_BY(mutex) = nullptr;
};

PageKeeper& keeper() {
  static auto* const kKeeper = new PageKeeper;
  return *kKeeper;
}

template <typename Entry>
state_layout::Table::Section sectionOf(state_layout::SectionId id, const State& state,
                                       const Entry* entries, std::size_t count) {
  const auto offset = static_cast<std::size_t>(reinterpret_cast<const char*>(entries) -
                                               reinterpret_cast<const char*>(&state));
  return {id, sizeof(Entry), BoxHeader::kBytes + offset, count};
}

void fillTable(State* state) {
  const State& s = *state;
  const auto ofArray = [&s](state_layout::SectionId id, const auto& entries) {
    return sectionOf(id, s, entries.data(), entries.size());
  };
  const std::array<state_layout::Table::Section, state_layout::kSections> sections{
      sectionOf(state_layout::kIdentity, s, &s.identity, 1),
      sectionOf(state_layout::kProgress, s, &s.progress, 1),
      ofArray(state_layout::kClock, s.clocks),
      sectionOf(state_layout::kHeartbeat, s, &s.heartbeat, 1),
      sectionOf(state_layout::kMemory, s, &s.memory, 1),
      sectionOf(state_layout::kError, s, &s.error, 1),
      sectionOf(state_layout::kCounters, s, &s.counters, 1),
      ofArray(state_layout::kGroups, s.groups),
      ofArray(state_layout::kCollectives, s.collectives),
      ofArray(state_layout::kThreads, s.threads),
      ofArray(state_layout::kValues, s.values),
      ofArray(state_layout::kDeaths, s.deaths),
      ofArray(state_layout::kNames, s.names),
      ofArray(state_layout::kModules, s.modules),
  };
  std::copy(sections.begin(), sections.end(), state->table.section.begin());
  state->table.version = state_layout::kVersion;
  state->table.sections = state_layout::kSections;
}

void sayOnce(const Status& why) {
  std::fprintf(stderr,
               "steptape: %s; the state of this process is not kept. STEPTAPE_BLACK_BOX names "
               "another folder, or off\n",
               why.message().c_str());
}

/// Of several ranks, in this process.
std::atomic<int> openJobs{0};

}  // namespace

std::atomic<StatePage*> StatePage::current_{nullptr};

void noteJobIsOpen(bool isOpen) noexcept {
  openJobs += isOpen ? 1 : -1;
}

void noteEndOfJob(std::string_view why) noexcept {
  std::array<char, 1024> text;
  std::snprintf(text.data(), text.size(), "%s%.*s", kEndedItself, static_cast<int>(why.size()),
                why.data());
  noteError(text.data());
}

void StatePage::keep() noexcept {
  if (current() != nullptr) {
    return;
  }
  base::MutexLock lock(keeper().mutex);
  if (current() != nullptr || keeper().hasFailed) {
    return;
  }
  try {
    if (boxFolder().empty()) {
      return;  // turned off, or this system has no such folder
    }
    Status why;
    std::unique_ptr<StatePage> page = make(&why);
    if (page == nullptr) {
      keeper().hasFailed = true;
      sayOnce(why);
      return;
    }
    if (!keeper().isPrepared) {
      keeper().isPrepared = true;
      static constexpr base::ForkHandlers kHandlers{[] { return &keeper().mutex; },
                                                    &afterForkInChild};
      base::addForkHandlers(base::ForkOrder::kState, kHandlers);
      ::on_exit([](int code, void* /*nothing*/) { endAtExit(code); }, nullptr);
    }
    // Never destroyed: other threads may store into it while the process ends.
    StatePage* const kept = page.release();
    current_.store(kept, std::memory_order_release);
    if (keeper().listener != nullptr) {
      keeper().listener(kept);
    }
    joinState();
    catchFatalSignals(*kept);
  } catch (const std::exception&) {
    // Out of memory: nothing is kept.
  }
}

std::unique_ptr<StatePage> StatePage::make(Status* why) {
  std::shared_ptr<ProcessBox> box = ProcessBox::acquire(why);
  if (box == nullptr) {
    return nullptr;
  }
  std::unique_ptr<BoxFile> file = box->addFile(kStatePart, why);
  if (file == nullptr) {
    return nullptr;
  }
  int error = 0;
  void* const memory = file->map(BoxHeader::kBytes, sizeof(State), &error);
  if (memory == nullptr) {
    *why = boxError("reserve room in", file->path(), error);
    file->remove();
    return nullptr;
  }
  std::unique_ptr<StatePage> page(
      new StatePage(std::move(box), std::move(file), static_cast<State*>(memory)));
  page->fillIdentity();
  return page;
}

StatePage::StatePage(std::shared_ptr<ProcessBox> box, std::unique_ptr<BoxFile> file, State* state)
    : box_(std::move(box)), file_(std::move(file)), pid_(box_->header().pid), state_(state) {
  storeSigned(state_->counters.deviceBytes, -1);
  calibrate();
  const MemoryUse use = measureMemory();
  oomKillsAtStart_ = use.oomKills;
  kernelKills_ = kernelKillsOfOwnGroup();
  noteMemory(use);
  // Last: until then, a reader finds a file without sections.
  fillTable(state_);
}

void StatePage::fillIdentity() {
  const JobFacts facts = jobFacts();
  const std::string command = commandLine();
  state_layout::Identity& identity = state_->identity;
  const SharedStore store(identity.sequence);
  storeSigned(identity.rank, facts.rank);
  storeSigned(identity.worldSize, facts.worldSize);
  storeSigned(identity.localRank, facts.localRank);
  storeText(identity.jobId, facts.jobId);
  storeText(identity.command, command);
}

void StatePage::setListener(Listener listener) noexcept {
  base::MutexLock lock(keeper().mutex);
  keeper().listener = listener;
  if (StatePage* const page = current()) {
    listener(page);
  }
}

void StatePage::noteRank(int rank, int worldSize, int localRank) noexcept {
  state_layout::Identity& identity = state_->identity;
  if (const SharedStore store{identity.sequence}) {
    storeSigned(identity.rank, rank);
    storeSigned(identity.worldSize, worldSize);
    if (localRank >= 0) {
      storeSigned(identity.localRank, localRank);
    }
  }
}

void StatePage::noteLaunch(std::uint64_t number) noexcept {
  if (const SharedStore store{state_->identity.sequence}) {
    storeWord(state_->identity.launch, number);
  }
}

void StatePage::noteLogDirectory(std::string_view directory) noexcept {
  state_layout::Identity& identity = state_->identity;
  if (directory.empty()) {
    return;
  }
  const SharedStore store(identity.sequence);
  if (!store) {
    return;
  }
  for (auto& known : identity.directories) {
    if (known[0] == '\0') {
      storeText(known, directory);
      return;
    }
    const std::string_view text(known.data(), ::strnlen(known.data(), known.size()));
    if (text == directory.substr(0, known.size() - 1)) {
      return;
    }
  }
}

void StatePage::noteError(std::string_view text) noexcept {
  state_layout::Error& error = state_->error;
  if (const SharedStore store{error.sequence}) {
    storeWord(error.ticks, readTicks());
    storeText(error.text, text);
  }
  noteKernelKills();
}

void StatePage::noteStep(std::int64_t step) noexcept {
  state_layout::Progress& progress = state_->progress;
  const std::uint64_t now = readTicks();
  if (const SharedStore store{progress.sequence}) {
    const std::uint64_t steps = loadWord(progress.steps);
    // Trainer, profiler and writer may all tell the same step.
    if (steps > 0 && loadWord(progress.step) == static_cast<std::uint64_t>(step)) {
      return;
    }
    storeWord(progress.stepTicks[steps % progress.stepTicks.size()], now);
    storeSigned(progress.step, step);
    storeWord(progress.steps, steps + 1);
  }
}

StatePage::Progress StatePage::progress() const noexcept {
  const state_layout::Progress& kept = state_->progress;
  Progress progress;
  const std::uint64_t noted = loadWord(kept.steps);
  const state_layout::Heartbeat& logged = state_->heartbeat;
  progress.steps = noted > 0 || loadWord(logged.hasStep) == 0 ? noted : loadWord(logged.step) + 1;
  progress.phase = static_cast<RunPhase>(loadWord(kept.phase));
  progress.activity = loadWord(state_->counters.collectives);
  for (const state_layout::Collective& collective : state_->collectives) {
    progress.activity += loadWord(collective.sequence);
  }
  for (const state_layout::Thread& thread : state_->threads) {
    progress.activity += loadWord(thread.sequence);
  }
  std::array<double, std::tuple_size_v<decltype(kept.stepTicks)>> times{};
  const std::size_t count = std::min<std::uint64_t>(noted, times.size());
  std::size_t known = 0;
  for (std::size_t i = 1; i < count; ++i) {
    const std::uint64_t later = loadWord(kept.stepTicks[(noted - i) % times.size()]);
    const std::uint64_t earlier = loadWord(kept.stepTicks[(noted - i - 1) % times.size()]);
    times[known++] = static_cast<double>(later - earlier) * nanosPerTick() * 1e-9;
  }
  if (known > 0) {
    const auto middle = times.begin() + static_cast<std::ptrdiff_t>(known / 2);
    std::nth_element(times.begin(), middle, times.begin() + static_cast<std::ptrdiff_t>(known));
    progress.medianStep = *middle;
  }
  return progress;
}

RunPhase StatePage::setPhase(RunPhase phase) noexcept {
  state_layout::Progress& progress = state_->progress;
  const std::uint64_t now = readTicks();
  RunPhase before = RunPhase::kUnknown;
  if (const SharedStore store{progress.sequence}) {
    before = static_cast<RunPhase>(loadWord(progress.phase));
    if (before != phase) {
      storeWord(progress.phase, static_cast<std::uint64_t>(phase));
      storeWord(progress.phaseTicks, now);
    }
  }
  return before;
}

std::size_t StatePage::names() const noexcept {
  return static_cast<std::size_t>(loadWord(state_->counters.names));
}

void StatePage::addName(std::uint16_t number, std::string_view text) noexcept {
  if (number == names() + 1 && number <= state_->names.size()) {
    storeText(state_->names[number - std::size_t{1}].text, text);
    __atomic_store_n(&state_->counters.names, std::uint64_t{number}, __ATOMIC_RELEASE);
  }
}

void StatePage::noteHeartbeat() noexcept {
  state_layout::Heartbeat& heartbeat = state_->heartbeat;
  const std::uint64_t now = readTicks();
  if (const SharedStore store{heartbeat.sequence}) {
    storeWord(heartbeat.ticks, now);
    storeWord(heartbeat.passes, loadWord(heartbeat.passes) + 1);
  }
}

void StatePage::noteLoggedStep(std::int64_t step) noexcept {
  state_layout::Heartbeat& heartbeat = state_->heartbeat;
  const std::uint64_t now = readTicks();
  if (const SharedStore store{heartbeat.sequence}) {
    storeWord(heartbeat.hasStep, 1);
    storeSigned(heartbeat.step, step);
    storeWord(heartbeat.stepTicks, now);
  }
}

void StatePage::calibrate() noexcept {
  if (calibrations_ > 0) {
    time_.recalibrate();
  }
  const std::uint64_t now = readTicks();
  constexpr std::uint64_t kManyTicks = std::uint64_t{1} << 40;
  state_layout::Clock& clock = state_->clocks[calibrations_ % state_->clocks.size()];
  // The numbers of both entries grow together, so that the newer one is the larger one.
  ++calibrations_;
  storeOdd(clock.sequence, 2 * calibrations_ - 1);
  storeWord(clock.anchorTicks, now);
  storeDouble(clock.wall, time_.wallSeconds(now));
  storeDouble(clock.nanosPerTick,
              time_.nanosBetween(0, kManyTicks) / static_cast<double>(kManyTicks));
  __atomic_store_n(&clock.sequence, 2 * calibrations_, __ATOMIC_RELEASE);
}

void StatePage::noteMemory(const MemoryUse& use) noexcept {
  state_layout::Memory& memory = state_->memory;
  if (const SharedStore store{memory.sequence}) {
    storeWord(memory.ticks, readTicks());
    storeSigned(memory.residentBytes, use.residentBytes);
    storeSigned(memory.cgroupBytes, use.cgroupBytes);
    storeSigned(memory.cgroupLimit, use.cgroupLimit);
    storeSigned(memory.oomKillsAtStart, oomKillsAtStart_);
    storeSigned(memory.oomKills, use.oomKills);
  }
}

void StatePage::noteKernelKills() noexcept {
  const std::int64_t kills = kernelKills_.count();
  state_layout::Memory& memory = state_->memory;
  if (const SharedStore store{memory.sequence}) {
    storeSigned(memory.oomKills, kills);  // the sizes are still those of Memory::ticks
  }
}

void StatePage::noteDeviceBytes(std::int64_t bytes) noexcept {
  storeSigned(state_->counters.deviceBytes, bytes);
}

bool StatePage::isOurs() const noexcept {
  return pid_ == static_cast<std::uint64_t>(::getpid());
}

double StatePage::nanosPerTick() const noexcept {
  double nanos;
  const std::uint64_t bits = loadWord(state_->clocks[0].nanosPerTick);
  std::memcpy(&nanos, &bits, sizeof(nanos));
  return nanos;
}

void StatePage::endAtExit(int code) noexcept {
  // A child that has not called keep() has no page, and removes nothing.
  StatePage* const page = current();
  if (page != nullptr && page->isOurs()) {
    if (openJobs.load() > 0) {
      std::array<char, 64> text;
      std::snprintf(text.data(), text.size(), "%s%d", kLeftEarly, code);
      page->noteError(text.data());
      return;
    }
    page->file_->remove();
    // The box itself goes if nobody else needs it. Const, but nobody reads it any more.
    const_cast<std::shared_ptr<ProcessBox>&>(page->box_).reset();
  }
}

// Called with the lock, which the analysis cannot follow.
void StatePage::afterForkInChild() noexcept STEPTAPE_THREAD_ANNOTATION(no_thread_safety_analysis) {
  // The child does not have the mapping. The object is not destroyed, for the same reason.
  StatePage* const ofParent = current_.exchange(nullptr, std::memory_order_acq_rel);
  if (ofParent != nullptr) {
    ofParent->before_ = std::exchange(keeper().ofParents, ofParent);
  }
  threadState = {};
  openJobs = 0;  // the child is no rank
  if (keeper().listener != nullptr) {
    keeper().listener(nullptr);
  }
}

}  // namespace steptape::detail::process
