// SPDX-License-Identifier: Apache-2.0
#include "process/commands/event_command.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <deque>
#include <fcntl.h>
#include <map>
#include <new>
#include <optional>
#include <set>
#include <spawn.h>
#include <sys/wait.h>
#include <system_error>
#include <unistd.h>
#include <utility>

#include "steptape/base/clock.h"

#include "base/file_descriptor.h"
#include "base/got_expected.h"
#include "base/host_name.h"
#include "base/json_text.h"
#include "base/loop_thread.h"
#include "base/mutex.h"
#include "base/sigpipe_blocked.h"
#include "base/text.h"

extern char** environ;

namespace steptape::detail::process {
namespace {

using SteadyClock = std::chrono::steady_clock;

// A document that fits into a pipe is written without waiting for the program.
constexpr std::size_t kMostMessageBytes = std::size_t{16} << 10;
constexpr std::chrono::milliseconds kLook{10};
constexpr std::chrono::milliseconds kLookAtCaller{100};
constexpr int kMostLooksWithoutIt = 100;
constexpr std::size_t kMostNoted = 64;

/// A program that was started by a shell, in a process group of its own.
struct Program {
  pid_t process = -1;
  int error = 0;  // the errno if it could not be started
  base::FileDescriptor input;
};

Program start(const std::string& command) {
  Program program;
  std::array<int, 2> ends{};
  if (::pipe2(ends.data(), O_CLOEXEC) != 0) {
    program.error = errno;
    return program;
  }
  const base::FileDescriptor output(ends[0]);
  program.input = base::FileDescriptor(ends[1]);
  posix_spawn_file_actions_t files;
  posix_spawn_file_actions_init(&files);
  posix_spawn_file_actions_adddup2(&files, output.number(), STDIN_FILENO);
  posix_spawn_file_actions_addopen(&files, STDOUT_FILENO, "/dev/null", O_WRONLY, 0);
  posix_spawnattr_t attributes;
  posix_spawnattr_init(&attributes);
  sigset_t none;
  sigemptyset(&none);
  sigset_t all;
  sigfillset(&all);
  posix_spawnattr_setsigmask(&attributes, &none);
  posix_spawnattr_setsigdefault(&attributes, &all);
  posix_spawnattr_setpgroup(&attributes, 0);
  posix_spawnattr_setflags(&attributes,
                           POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETPGROUP);
  std::array<std::string, 3> words{"sh", "-c", command};
  std::array<char*, 4> arguments{words[0].data(), words[1].data(), words[2].data(), nullptr};
  program.error =
      ::posix_spawn(&program.process, "/bin/sh", &files, &attributes, arguments.data(), environ);
  posix_spawnattr_destroy(&attributes);
  posix_spawn_file_actions_destroy(&files);
  return program;
}

void writeAll(const base::FileDescriptor& file, std::string_view text) {
  const base::SigpipeBlocked blocked;  // the program need not read
  while (!text.empty()) {
    const ssize_t written = ::write(file.number(), text.data(), text.size());
    if (written < 0 && errno != EINTR) {
      return;
    }
    text.remove_prefix(written > 0 ? static_cast<std::size_t>(written) : 0);
  }
}

}  // namespace

struct EventCommand::State {
  /// How a program has ended.
  struct Ended {
    int status = 0;
    std::optional<std::chrono::milliseconds> killedAfter = {};

    std::string problem() const;
  };

  explicit State(Options given) : options(std::move(given)) {}

  SteadyClock::time_point runNext();
  std::string call(const std::string& document);
  Ended waitFor(pid_t process, SteadyClock::time_point begin);
  void report(const std::string& problem);
  bool mayPass() STEPTAPE_REQUIRES(mutex);
  bool isIdle() const STEPTAPE_REQUIRES(mutex) { return waiting.empty() && !isRunning; }

  const Options options;
  base::Mutex mutex;
  base::CondVar changed;
  std::deque<std::string> waiting STEPTAPE_GUARDED_BY(mutex);
  std::deque<SteadyClock::time_point> posted STEPTAPE_GUARDED_BY(mutex);  // of the last minute
  std::uint64_t omitted STEPTAPE_GUARDED_BY(mutex) = 0;
  bool isRunning STEPTAPE_GUARDED_BY(mutex) = false;
  bool isGivenUp STEPTAPE_GUARDED_BY(mutex) = false;
  pid_t group STEPTAPE_GUARDED_BY(mutex) = 0;  // of the program that runs
  // Of processes that another has waited for since it began.
  std::map<pid_t, int> noted STEPTAPE_GUARDED_BY(mutex);
  std::set<std::string> reported STEPTAPE_GUARDED_BY(mutex);
  std::optional<base::LoopThread> thread;  // last: it uses the others
};

bool EventCommand::State::mayPass() {
  const SteadyClock::time_point now = SteadyClock::now();
  while (!posted.empty() && now - posted.front() > std::chrono::minutes(1)) {
    posted.pop_front();
  }
  if (posted.size() >= options.mostPerMinute) {
    return false;
  }
  posted.push_back(now);
  return true;
}

SteadyClock::time_point EventCommand::State::runNext() {
  std::string document;
  {
    const base::MutexLock lock(mutex);
    if (waiting.empty() || isGivenUp) {
      return base::LoopThread::kWhenWoken;
    }
    document = std::move(waiting.front());
    waiting.pop_front();
    isRunning = true;
  }
  try {
    report(call(document));
  } catch (const std::bad_alloc&) {
    // There is no memory for the report.
  }
  const base::MutexLock lock(mutex);
  isRunning = false;
  changed.notifyAll();
  return base::LoopThread::kAtOnce;
}

/// @param problem Empty: none.
void EventCommand::State::report(const std::string& problem) {
  if (problem.empty() || !options.onProblem) {
    return;
  }
  {
    const base::MutexLock lock(mutex);
    if (!reported.insert(problem).second) {
      return;
    }
  }
  try {
    options.onProblem("event command \"" + options.command + "\": " + problem);
  } catch (...) {
    // It is the last to hear of it.
  }
}

/// @return what is wrong with the program; empty if nothing.
std::string EventCommand::State::call(const std::string& document) {
  {
    const base::MutexLock lock(mutex);
    noted.clear();
  }
  const SteadyClock::time_point begin = SteadyClock::now();
  Program program = start(options.command);
  if (program.error != 0) {
    return "cannot start a shell: " + std::generic_category().message(program.error);
  }
  {
    const base::MutexLock lock(mutex);
    group = program.process;
  }
  writeAll(program.input, document);
  program.input = base::FileDescriptor();
  const Ended ended = waitFor(program.process, begin);
  const base::MutexLock lock(mutex);
  group = 0;
  return ended.problem();
}

/// Kills the program if it takes too long.
EventCommand::State::Ended EventCommand::State::waitFor(pid_t process,
                                                        SteadyClock::time_point begin) {
  int looksWithoutIt = 0;
  for (;;) {
    int status = 0;
    const pid_t found = ::waitpid(process, &status, WNOHANG);
    if (found == process) {
      return {status, {}};
    }
    looksWithoutIt += found < 0 && errno == ECHILD ? 1 : 0;
    const auto waited =
        std::chrono::duration_cast<std::chrono::milliseconds>(SteadyClock::now() - begin);
    {
      const base::MutexLock lock(mutex);
      if (const auto byAnother = noted.find(process); byAnother != noted.end()) {
        return {byAnother->second, {}};
      }
      if (looksWithoutIt > kMostLooksWithoutIt) {
        return {};  // The program that this process belongs to has waited, and tells nothing.
      }
      if (waited < options.timeout && !isGivenUp) {
        changed.waitUntil(mutex, SteadyClock::now() + kLook);
        continue;
      }
    }
    ::kill(-process, SIGKILL);
    ::waitpid(process, nullptr, 0);
    return {0, std::min(waited, options.timeout)};
  }
}

std::string EventCommand::State::Ended::problem() const {
  if (killedAfter) {
    return base::gotExpected("no end",
                             "one within " + std::to_string(killedAfter->count()) + " ms; killed");
  }
  const std::string got = WIFSIGNALED(status) ? "signal " + std::to_string(WTERMSIG(status))
                                              : "exit code " + std::to_string(WEXITSTATUS(status));
  return status == 0 ? "" : base::gotExpected(got, "exit code 0");
}

EventCommand::EventCommand(Options options) : state_(std::make_shared<State>(std::move(options))) {
  const std::shared_ptr<State> state = state_;
  // A call ends soon after it is given up.
  const base::LoopThread::Options ofThread{"event command", 0, base::LoopThread::kUnlimited};
  state->thread.emplace(ofThread, [raw = state.get()] { return raw->runNext(); });
}

EventCommand::~EventCommand() {
  constexpr std::chrono::seconds kPatience{5};
  drain(kPatience);
}

void EventCommand::post(std::string_view event, std::string_view message, std::string_view run,
                        std::string_view members, bool isRare) {
  if (state_->thread->isOfParent()) {
    return;
  }
  std::string document = "{\"event\": " + base::jsonString(event) + ", \"message\": " +
                         base::jsonString(message.substr(0, kMostMessageBytes)) +
                         ", \"run\": " + (run.empty() ? "null" : base::jsonString(run)) +
                         ", \"host\": " + base::jsonString(base::hostName()) +
                         ", \"process\": " + std::to_string(::getpid()) +
                         ", \"time\": " + base::jsonNumber(Clock::system().wallSeconds());
  document += members;
  {
    const base::MutexLock lock(state_->mutex);
    if (!isRare && !state_->mayPass()) {
      ++state_->omitted;
      return;
    }
    if (state_->omitted > 0) {
      document += ", \"omitted\": " + std::to_string(std::exchange(state_->omitted, 0));
    }
    state_->waiting.push_back(document + "}\n");
  }
  state_->thread->wake();
}

bool EventCommand::drain(std::chrono::milliseconds patience, const std::function<bool()>& mayWait) {
  State& state = *state_;
  if (state.thread->isOfParent()) {
    return true;
  }
  tellOmitted();
  const SteadyClock::time_point begin = SteadyClock::now();
  std::size_t untold = 0;
  {
    const base::MutexLock lock(state.mutex);
    for (bool isInTime = true; isInTime && !state.isIdle();) {
      state.changed.waitUntil(state.mutex,
                              std::min(begin + patience, SteadyClock::now() + kLookAtCaller));
      isInTime = SteadyClock::now() < begin + patience && (!mayWait || mayWait());
    }
    if (state.isIdle()) {
      return true;
    }
    state.isGivenUp = true;
    untold = state.waiting.size();
    state.waiting.clear();
    state.changed.notifyAll();
  }
  state.thread->waitUntilIdle();
  {
    const base::MutexLock lock(state.mutex);
    state.isGivenUp = false;
  }
  if (untold > 0) {
    state.report(base::counted(untold, "event") +
                 " not told: " + base::gotExpected("no end of the one before", "one in time"));
  }
  return false;
}

void EventCommand::tellOmitted() {
  std::uint64_t omitted = 0;
  {
    const base::MutexLock lock(state_->mutex);
    omitted = state_->omitted;
  }
  if (omitted > 0) {
    post("omitted",
         base::counted(omitted, "event") + " left out: got more than " +
             base::counted(state_->options.mostPerMinute, "event") + " in a minute",
         "", {}, /*isRare=*/true);
  }
}

pid_t EventCommand::group() const {
  const base::MutexLock lock(state_->mutex);
  return state_->group;
}

void EventCommand::noteEnd(pid_t process, int status) {
  const base::MutexLock lock(state_->mutex);
  if (state_->noted.size() == kMostNoted && process != state_->group) {
    return;  // orphans of the caller
  }
  state_->noted[process] = status;
  state_->changed.notifyAll();
}

}  // namespace steptape::detail::process
