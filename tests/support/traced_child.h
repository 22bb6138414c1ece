// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <fcntl.h>
#include <iterator>
#include <map>
#include <sys/mman.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

namespace steptape::test {

/// How a child ended that runAndKillAtStop() has traced.
struct TracedEnd {
  bool isRefused = false;        ///< The operating system allows no tracing.
  bool hasUnknownCalls = false;  ///< The kernel does not say which calls these were.
  bool isKilled = false;         ///< It reached the stop at which it was to be killed.
  std::size_t stops = 0;         ///< That were counted.
  int status = 0;                ///< As of waitpid().
};

/// A stop of a thread at a system call.
struct CallStop {
  static constexpr std::uint64_t kUnknown = ~std::uint64_t{0};

  bool isEntry = false;             ///< Before the kernel executes the call, not after.
  std::uint64_t number = kUnknown;  ///< Of the call.
  std::uint64_t arguments[6] = {};
};

/// Returns whether a call changes nothing outside of its process.
inline bool changesNothingOutside(const CallStop& call) {
  switch (call.number) {
#ifdef SYS_open
    case SYS_open:
      return (call.arguments[1] & (O_CREAT | O_TRUNC)) == 0;
#endif
    case SYS_openat:
      return (call.arguments[2] & (O_CREAT | O_TRUNC)) == 0;
#ifdef SYS_access
    case SYS_access:
    case SYS_getdents:
    case SYS_readlink:
    case SYS_stat:
    case SYS_lstat:
#endif
    case SYS_brk:
    case SYS_clock_gettime:
    case SYS_clock_nanosleep:
    case SYS_faccessat:
    case SYS_fstat:
    case SYS_fstatfs:
    case SYS_futex:
    case SYS_getdents64:
    case SYS_getpid:
    case SYS_getrandom:
    case SYS_gettid:
    case SYS_getuid:
    case SYS_lseek:
    case SYS_madvise:
    case SYS_mprotect:
    case SYS_munmap:
    case SYS_nanosleep:
    case SYS_newfstatat:
    case SYS_prctl:
    case SYS_pread64:
    case SYS_prlimit64:
    case SYS_read:
    case SYS_readlinkat:
    case SYS_rseq:
    case SYS_rt_sigaction:
    case SYS_rt_sigprocmask:
    case SYS_sched_yield:
    case SYS_set_robust_list:
    case SYS_sigaltstack:
    case SYS_statfs:
    case SYS_sysinfo:
    case SYS_uname:
      return true;
    case SYS_mmap:
      return (call.arguments[3] & MAP_SHARED) == 0;
    default:
      return false;
  }
}

/// Returns the call at which a thread stands, which it may have entered before.
inline CallStop callAt(pid_t thread, CallStop* entered) {
  struct __ptrace_syscall_info info {};
  if (ptrace(PTRACE_GET_SYSCALL_INFO, thread, sizeof(info), &info) <= 0) {
    return {};  // an old kernel: every call counts
  }
  entered->isEntry = info.op == PTRACE_SYSCALL_INFO_ENTRY;
  if (entered->isEntry) {
    entered->number = info.entry.nr;
    std::copy(std::begin(info.entry.args), std::end(info.entry.args), entered->arguments);
  }
  return *entered;
}

/// Runs `body` in a child, and kills it by SIGKILL at one of its stops. Each system call of each of
/// its threads has two: before the kernel executes it, and after.
///
/// The child has only one thread at first, so the calling process must have no other thread that
/// holds a lock. It must have no other child either.
///
/// @param stop At which of the stops, from 0 on, since `isCounting`, in shared memory, is true.
/// @param counts Which calls count.
template <typename Body, typename Counts>
TracedEnd runAndKillAtStop(std::size_t stop, const std::atomic<bool>& isCounting,
                           const Counts& counts, const Body& body) {
  constexpr int kRefused = 77;
  std::fflush(nullptr);  // or the child would print what waits here, too
  TracedEnd end;
  const pid_t child = fork();
  if (child == 0) {
    if (ptrace(PTRACE_TRACEME, 0, nullptr, nullptr) != 0) {
      _exit(kRefused);
    }
    std::raise(SIGSTOP);
    body();
    std::exit(0);
  }
  if (waitpid(child, &end.status, 0) != child || !WIFSTOPPED(end.status)) {
    end.isRefused = true;
    return end;
  }
  constexpr long kOptions = PTRACE_O_TRACESYSGOOD | PTRACE_O_TRACECLONE | PTRACE_O_EXITKILL;
  if (ptrace(PTRACE_SETOPTIONS, child, nullptr, kOptions) != 0) {
    end.isRefused = true;
    kill(child, SIGKILL);
    waitpid(child, nullptr, 0);
    return end;
  }
  std::map<pid_t, CallStop> calls;  // that each thread has entered
  pid_t stopped = child;
  int signal = 0;
  while (true) {
    // Without success, the thread has been killed meanwhile.
    static_cast<void>(ptrace(PTRACE_SYSCALL, stopped, nullptr, static_cast<long>(signal)));
    int status = 0;
    do {
      stopped = waitpid(-1, &status, __WALL);
      if (stopped == child && !WIFSTOPPED(status)) {
        end.status = status;
        return end;
      }
      if (stopped < 0 && errno == ECHILD) {
        return end;
      }
    } while (stopped < 0 || !WIFSTOPPED(status) || end.isKilled);
    constexpr int kAtCall = SIGTRAP | 0x80;
    const bool isEvent = status >> 16 != 0;  // a thread begins
    const bool isAtCall = WSTOPSIG(status) == kAtCall;
    if (isAtCall && isCounting) {
      const CallStop call = callAt(stopped, &calls[stopped]);
      end.hasUnknownCalls = end.hasUnknownCalls || call.number == CallStop::kUnknown;
      if (counts(call) && end.stops++ == stop) {
        end.isKilled = true;
        kill(child, SIGKILL);
        continue;
      }
    }
    // A thread begins with a SIGSTOP that nobody has sent.
    signal = isEvent || isAtCall || WSTOPSIG(status) == SIGSTOP ? 0 : WSTOPSIG(status);
  }
}

}  // namespace steptape::test
