// SPDX-License-Identifier: Apache-2.0
// What the state of a process tells about the signal that ended it.
#include "process/blackbox/crash_handler.h"

#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <dlfcn.h>
#include <fcntl.h>
#include <filesystem>
#include <stdexcept>
#include <string>
#include <sys/mman.h>
#include <sys/resource.h>
#include <thread>
#include <unistd.h>
#include <vector>

#include "steptape/base/signal_watch.h"
#include "steptape/log/summary_writer.h"
#include "steptape/process/zone.h"

#include "process/blackbox/kept_modules.h"
#include "process/blackbox/state_child.h"
#include "process/blackbox/state_page.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace steptape::detail::process {
namespace {

using test::StateChild;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

class CrashTest : public test::StateTest {
 protected:
  /// Runs `body` in a child that keeps its state; returns the state after the child's end.
  template <typename Body>
  RankState stateAfter(const Body& body) {
    StateChild child([&](const auto&) {
      const rlimit noCore{0, 0};
      setrlimit(RLIMIT_CORE, &noCore);
      body();
    });
    pid_ = child.pid();
    status_ = child.end();
    return boxes().empty() ? RankState() : state();
  }

  /// Returns the signal that ended the child; 0 if it has exited.
  int endedBy() const { return WIFSIGNALED(status_) ? WTERMSIG(status_) : 0; }

  pid_t pid_ = 0;
  int status_ = 0;
};

// Not inlined, so that it has a frame of its own.
[[gnu::noinline]] void storeAt(std::uintptr_t address) {
  *reinterpret_cast<volatile int*>(address) = 1;
}

[[gnu::noinline]] int useStack(int depth) {
  volatile char bytes[4096];
  bytes[0] = static_cast<char>(depth);
  const int deeper = depth == 0 ? 0 : useStack(depth + 1);  // it never is 0
  return deeper + bytes[0];
}

/// Returns whether a frame of the note lies in this program, in a function of the given name.
bool hasFrameIn(const RankState& state, const void* function) {
  const auto begin = reinterpret_cast<std::uintptr_t>(function);
  constexpr std::uintptr_t kLongest = 4096;
  for (const std::uint64_t frame : state.death.frames) {
    if (frame >= begin && frame < begin + kLongest) {
      return true;
    }
  }
  return false;
}

TEST_F(CrashTest, NotesWhereAStoreFailed) {
  const double before = Clock::system().wallSeconds() - 0.001;
  const RankState read = stateAfter([] {
    StatePage::keep();
    STEPTAPE_ZONE("train");
    storeAt(0x10);
  });
  EXPECT_EQ(endedBy(), SIGSEGV);
  EXPECT_EQ(read.death.signal, SIGSEGV);
  EXPECT_EQ(read.death.code, SEGV_MAPERR);
  EXPECT_EQ(read.death.address, 0x10U);
  EXPECT_EQ(read.death.senderPid, 0U);
  EXPECT_EQ(read.death.tid, static_cast<std::uint32_t>(pid_));
  EXPECT_GE(read.death.time, before);
  EXPECT_FALSE(read.death.isUncertain);
  ASSERT_THAT(read.death.frames, Not(IsEmpty()));
  const auto function = reinterpret_cast<std::uintptr_t>(&storeAt);
  EXPECT_GE(read.death.frames[0], function) << "the first frame is the instruction itself";
  EXPECT_LT(read.death.frames[0], function + 64);
  bool isInModule = false;
  for (const RankState::Module& module : read.modules) {
    isInModule =
        isInModule || (read.death.frames[0] >= module.begin && read.death.frames[0] < module.end &&
                       module.path == BoxHeader::textOf(read.process.program));
  }
  EXPECT_TRUE(isInModule);
  ASSERT_EQ(read.threads.size(), 1U);
  EXPECT_EQ(read.threads[0].zones.size(), 1U);
}

TEST_F(CrashTest, NotesABusError) {
  const RankState read = stateAfter([this] {
    StatePage::keep();
    const int file = open((folder() + "/file").c_str(), O_RDWR | O_CREAT, 0600);
    void* const page = mmap(nullptr, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    storeAt(reinterpret_cast<std::uintptr_t>(page));
  });
  EXPECT_EQ(endedBy(), SIGBUS);
  EXPECT_EQ(read.death.signal, SIGBUS);
  EXPECT_EQ(read.death.code, BUS_ADRERR);
  EXPECT_NE(read.death.address, 0U);
}

TEST_F(CrashTest, NotesAnAbortAndWhy) {
  const testing::TempDir logs;
  const RankState read = stateAfter([&] {
    const SummaryWriter writer(logs.string());
    ::testing::internal::CaptureStderr();
    std::thread([] { throw std::runtime_error("the data set is empty"); }).join();
  });
  EXPECT_EQ(endedBy(), SIGABRT);
  EXPECT_EQ(read.death.signal, SIGABRT);
  EXPECT_EQ(read.death.senderPid, static_cast<std::uint32_t>(pid_)) << "it is sent by itself";
  EXPECT_EQ(read.lastError, "uncaught exception: the data set is empty");
}

TEST_F(CrashTest, NotesAnIllegalInstruction) {
  const RankState read = stateAfter([] {
    StatePage::keep();
    __builtin_trap();
  });
  EXPECT_NE(endedBy(), 0);
  EXPECT_EQ(read.death.signal, endedBy());
}

TEST_F(CrashTest, NotesAFailedDivision) {
  const RankState read = stateAfter([] {
    StatePage::keep();
    raise(SIGFPE);
  });
  EXPECT_EQ(endedBy(), SIGFPE);
  EXPECT_EQ(read.death.signal, SIGFPE);
}

TEST_F(CrashTest, NotesWhoSentTheSignal) {
  StateChild child([](const auto& ready) {
    const rlimit noCore{0, 0};
    setrlimit(RLIMIT_CORE, &noCore);
    StatePage::keep();
    ready.tellAndWait();
  });
  ASSERT_TRUE(child.isReady());
  child.send(SIGSEGV);
  const int status = child.end();
  EXPECT_TRUE(WIFSIGNALED(status) && WTERMSIG(status) == SIGSEGV);
  const RankState read = state();
  EXPECT_EQ(read.death.signal, SIGSEGV);
  EXPECT_EQ(read.death.code, SI_USER);
  EXPECT_EQ(read.death.senderPid, static_cast<std::uint32_t>(getpid()));
  EXPECT_EQ(read.death.senderUid, static_cast<std::uint32_t>(getuid()));
  EXPECT_EQ(read.death.senderName, std::string(program_invocation_short_name).substr(0, 15));
  EXPECT_EQ(read.death.address, 0U);
}

TEST_F(CrashTest, NotesARequestToEndWhichStillEndsTheProcess) {
  StateChild child([](const auto& ready) {
    StatePage::keep();
    ready.tellAndWait();
  });
  ASSERT_TRUE(child.isReady());
  child.send(SIGTERM);
  const int status = child.end();
  EXPECT_TRUE(WIFSIGNALED(status) && WTERMSIG(status) == SIGTERM);
  EXPECT_EQ(state().termination.signal, SIGTERM);
  EXPECT_EQ(state().termination.senderPid, static_cast<std::uint32_t>(getpid()));
  EXPECT_EQ(state().death.signal, 0);
}

std::atomic<int> depthOfRequests{0};
std::atomic<int> requestsTaken{0};

TEST_F(CrashTest, TakesRequestsToEndOneAfterTheOtherBecauseManyWouldOverflowTheStack) {
  stateAfter([] {
    StatePage::keep();
    delayTermination([] {
      if (++depthOfRequests > 1) {
        _exit(1);
      }
      if (++requestsTaken < 100) {
        raise(SIGTERM);
      }
      --depthOfRequests;
      return true;
    });
    raise(SIGTERM);
    _exit(requestsTaken == 100 ? 0 : 2);
  });
  EXPECT_EQ(status_, 0);
}

TEST_F(CrashTest, TakesASignalInsideItsHandlerIfTheEarlierHandlerWantsIt) {
  stateAfter([] {
    struct sigaction earlier {};
    earlier.sa_flags = SA_NODEFER;
    earlier.sa_handler = [](int) {
      if (++requestsTaken == 1) {
        raise(SIGTERM);
        _exit(requestsTaken == 2 ? 0 : 1);
      }
    };
    sigaction(SIGTERM, &earlier, nullptr);
    StatePage::keep();
    raise(SIGTERM);
  });
  EXPECT_EQ(status_, 0);
}

class CrashBySignal : public CrashTest, public ::testing::WithParamInterface<int> {};

TEST_P(CrashBySignal, ThatEndsAProcessWithoutAHandlerIsNoted) {
  const RankState read = stateAfter([] {
    StatePage::keep();
    raise(GetParam());
  });
  EXPECT_EQ(endedBy(), GetParam());
  EXPECT_EQ(read.death.signal, GetParam());
  EXPECT_EQ(read.death.senderPid, static_cast<std::uint64_t>(pid_));
  EXPECT_THAT(read.death.frames, IsEmpty());
}

INSTANTIATE_TEST_SUITE_P(All, CrashBySignal,
                         ::testing::Values(SIGHUP, SIGINT, SIGQUIT, SIGUSR1, SIGUSR2, SIGXCPU,
                                           SIGXFSZ, SIGPIPE, SIGALRM));

TEST_F(CrashTest, NotesALimitOfTheProcessorTime) {
  const RankState read = stateAfter([] {
    StatePage::keep();
    const rlimit second{1, 2};
    setrlimit(RLIMIT_CPU, &second);
    for (volatile int i = 0;;) {
      i = i + 1;
    }
  });
  EXPECT_EQ(endedBy(), SIGXCPU);
  EXPECT_EQ(read.death.signal, SIGXCPU);
}

TEST_F(CrashTest, DoesNotNoteASignalThatAHandlerOfTheProgramTakes) {
  const RankState read = stateAfter([] {
    StatePage::keep();
    const SignalWatch watch({SIGUSR1, SIGINT});
    raise(SIGUSR1);
    raise(SIGINT);
    _exit(0);
  });
  EXPECT_EQ(endedBy(), 0);
  EXPECT_EQ(read.death.signal, 0);
}

TEST_F(CrashTest, LeavesARequestToEndToThoseWhoWatchIt) {
  StateChild child([](const auto& ready) {
    StatePage::keep();
    const SignalWatch watch({SIGTERM});
    ready.tell();
    while (watch.received() == 0) {
      std::this_thread::yield();
    }
    ready.tellAndWait();
  });
  ASSERT_TRUE(child.isReady());
  child.send(SIGTERM);
  ASSERT_TRUE(child.isReady());
  EXPECT_EQ(state().termination.signal, SIGTERM);
  child.letEnd();
  EXPECT_EQ(child.end(), 0);
}

TEST_F(CrashTest, LeavesASignalIgnoredThatWasIgnored) {
  StateChild child([](const auto& ready) {
    std::signal(SIGTERM, SIG_IGN);
    std::signal(SIGSEGV, SIG_IGN);
    StatePage::keep();
    raise(SIGTERM);
    raise(SIGSEGV);
    ready.tellAndWait();
  });
  ASSERT_TRUE(child.isReady());
  child.letEnd();
  EXPECT_EQ(child.end(), 0);
}

int earlierPipe[2];

/// Writes what an earlier handler gets.
void earlierHandler(int signal, siginfo_t* info, void* context) {
  const std::uintptr_t seen[4] = {static_cast<std::uintptr_t>(signal),
                                  static_cast<std::uintptr_t>(info->si_code),
                                  reinterpret_cast<std::uintptr_t>(info->si_addr),
                                  static_cast<std::uintptr_t>(context != nullptr)};
  static_cast<void>(!write(earlierPipe[1], seen, sizeof(seen)));
}

TEST_F(CrashTest, CallsAnEarlierHandlerWithTheSameArguments) {
  ASSERT_EQ(pipe(earlierPipe), 0);
  const RankState read = stateAfter([] {
    struct sigaction action {};
    action.sa_sigaction = &earlierHandler;
    action.sa_flags = SA_SIGINFO | static_cast<int>(SA_RESETHAND);  // as Open MPI's
    sigaction(SIGSEGV, &action, nullptr);
    StatePage::keep();
    storeAt(0x18);
  });
  EXPECT_EQ(endedBy(), SIGSEGV);
  EXPECT_EQ(read.death.signal, SIGSEGV);
  close(earlierPipe[1]);
  std::uintptr_t seen[5] = {};
  ASSERT_EQ(::read(earlierPipe[0], seen, sizeof(seen)), static_cast<ssize_t>(4 * sizeof(seen[0])))
      << "called once";
  EXPECT_EQ(seen[0], static_cast<std::uintptr_t>(SIGSEGV));
  EXPECT_EQ(seen[1], static_cast<std::uintptr_t>(SEGV_MAPERR));
  EXPECT_EQ(seen[2], 0x18U);
  EXPECT_EQ(seen[3], 1U);
  close(earlierPipe[0]);
}

TEST_F(CrashTest, IsCalledByALaterHandlerThatHandsOn) {
  static struct sigaction before;
  const RankState read = stateAfter([] {
    StatePage::keep();
    struct sigaction action {};
    action.sa_flags = SA_SIGINFO;
    action.sa_sigaction = [](int signal, siginfo_t* info, void* context) {
      before.sa_sigaction(signal, info, context);
      _exit(7);
    };
    sigaction(SIGSEGV, &action, &before);
    storeAt(0x20);
  });
  EXPECT_EQ(WEXITSTATUS(status_), 7);
  EXPECT_EQ(read.death.signal, SIGSEGV);
  EXPECT_EQ(read.death.address, 0x20U);
}

TEST_F(CrashTest, NotesAnOverflowOfTheStackOfAnyThreadWithZones) {
  const RankState read = stateAfter([] {
    StatePage::keep();
    std::thread([] {
      STEPTAPE_ZONE("deep");
      useStack(1);
    }).join();
  });
  EXPECT_EQ(endedBy(), SIGSEGV);
  EXPECT_EQ(read.death.signal, SIGSEGV);
  EXPECT_NE(read.death.tid, static_cast<std::uint32_t>(pid_));
  const auto distance = static_cast<std::int64_t>(read.death.address - read.death.stackPointer);
  EXPECT_LT(std::abs(distance), 64 << 10);
  EXPECT_TRUE(hasFrameIn(read, reinterpret_cast<const void*>(&useStack)));
}

/// Returns whether a byte of this process's memory can be read.
bool isReadable(const void* address) {
  int ends[2] = {};
  const bool isRead = pipe(ends) == 0 && write(ends[1], address, 1) == 1;
  close(ends[0]);
  close(ends[1]);
  return isRead;
}

TEST_F(CrashTest, GuardsTheStackOfItsHandlersOnBothSides) {
  stateAfter([] {
    StatePage::keep();
    std::thread([] {
      STEPTAPE_ZONE("zone");
      stack_t stack{};
      const bool isKnown = sigaltstack(nullptr, &stack) == 0;
      char* const begin = static_cast<char*>(stack.ss_sp);
      char* const end = begin + stack.ss_size;
      _exit(isKnown && isReadable(begin) && isReadable(end - 1) && !isReadable(begin - 1) &&
                    !isReadable(end)
                ? 7
                : 1);
    }).join();
  });
  EXPECT_EQ(WEXITSTATUS(status_), 7);
}

TEST_F(CrashTest, NotesOneOfTwoThreadsThatFaultAtOnce) {
  for (int round = 0; round < 20; ++round) {
    std::filesystem::remove_all(folder());
    std::filesystem::create_directory(folder());
    const RankState read = stateAfter([] {
      StatePage::keep();
      std::atomic<int> here{0};
      const auto fault = [&](std::uintptr_t address) {
        STEPTAPE_ZONE("fault");
        ++here;
        while (here < 2) {
        }
        storeAt(address);
      };
      std::thread other([&] { fault(0x30); });
      fault(0x40);
      other.join();
    });
    EXPECT_EQ(endedBy(), SIGSEGV);
    EXPECT_EQ(read.death.signal, SIGSEGV);
    EXPECT_FALSE(read.death.isUncertain);
    EXPECT_EQ(read.death.address,
              read.death.tid == static_cast<std::uint32_t>(pid_) ? 0x40U : 0x30U);
  }
}

TEST_F(CrashTest, NotesNothingInAChildWithoutItsOwnState) {
  StateChild child([](const auto& ready) {
    StatePage::keep();
    const pid_t grandchild = fork();
    if (grandchild == 0) {
      const rlimit noCore{0, 0};
      setrlimit(RLIMIT_CORE, &noCore);
      storeAt(0x50);
    }
    int status = 0;
    waitpid(grandchild, &status, 0);
    EXPECT_TRUE(WIFSIGNALED(status) && WTERMSIG(status) == SIGSEGV);
    ready.tellAndWait();
  });
  ASSERT_TRUE(child.isReady());
  EXPECT_EQ(state().death.signal, 0);
  child.letEnd();
  EXPECT_EQ(child.end(), 0);
}

TEST_F(CrashTest, NotesTheSignalOfAForkedChildInItsOwnState) {
  const RankState read = stateAfter([] {
    StatePage::keep();
    const pid_t grandchild = fork();
    if (grandchild == 0) {
      const rlimit noCore{0, 0};
      setrlimit(RLIMIT_CORE, &noCore);
      StatePage::keep();
      storeAt(0x60);
    }
    int status = 0;
    waitpid(grandchild, &status, 0);
  });
  EXPECT_EQ(status_, 0);
  EXPECT_EQ(read.death.address, 0x60U);
}

TEST_F(CrashTest, LeavesSignalsAloneIfItIsTurnedOff) {
  setenv("STEPTAPE_SIGNAL_HANDLER", "off", 1);
  const RankState read = stateAfter([] {
    StatePage::keep();
    struct sigaction action {};
    sigaction(SIGSEGV, nullptr, &action);
    if (action.sa_handler != SIG_DFL) {
      _exit(1);
    }
    raise(SIGSEGV);
  });
  unsetenv("STEPTAPE_SIGNAL_HANDLER");
  EXPECT_EQ(endedBy(), SIGSEGV);
  EXPECT_EQ(read.death.signal, 0);
  EXPECT_EQ(read.process.pid, static_cast<std::uint64_t>(pid_)) << "the state is kept";
}

TEST_F(CrashTest, KeepsTheMapOfALibraryThatWasLoadedLater) {
  StateChild child([](const auto& ready) {
    StatePage::keep();
    EXPECT_NE(dlopen("libresolv.so.2", RTLD_NOW), nullptr) << dlerror();
    keepModules(*StatePage::current());
    ready.tellAndWait();
  });
  ASSERT_TRUE(child.isReady());
  bool isKept = false;
  for (const RankState::Module& module : state().modules) {
    isKept = isKept || module.path.find("libresolv") != std::string::npos;
  }
  EXPECT_TRUE(isKept);
}

}  // namespace
}  // namespace steptape::detail::process
