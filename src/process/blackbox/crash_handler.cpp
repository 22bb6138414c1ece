// SPDX-License-Identifier: Apache-2.0
#include "process/blackbox/crash_handler.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <execinfo.h>
#include <fcntl.h>
#include <string>
#include <string_view>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <ucontext.h>
#include <unistd.h>

#include "base/thread_id.h"
#include "process/blackbox/kept_modules.h"
#include "process/blackbox/state_page.h"
#include "process/blackbox/state_words.h"

extern "C" {
// Present in a program that is built with a sanitizer, also if this library is not. The names are
// the compiler's. NOLINTBEGIN(bugprone-reserved-identifier,readability-identifier-naming)
__attribute__((weak)) void __asan_init();
__attribute__((weak)) void __tsan_init();
__attribute__((weak)) void __msan_init();
// NOLINTEND(bugprone-reserved-identifier,readability-identifier-naming)
}

namespace steptape::detail::process {
namespace {

constexpr std::array<int, 5> kFatalSignals{SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT};
/// End a process that has no handler for them, such as Ctrl-C or a limit of the processor time.
constexpr std::array<int, 9> kEndingSignals{SIGHUP,  SIGINT,  SIGQUIT, SIGUSR1, SIGUSR2,
                                            SIGXCPU, SIGXFSZ, SIGPIPE, SIGALRM};

// What the handler reads. The earlier actions change only while no handler of ours is installed.
std::array<struct sigaction, NSIG> earlierActions;
std::atomic<StatePage*> notedPage{nullptr};
std::atomic<bool> areInstalled{false};
std::atomic<bool (*)()> terminationTaker{nullptr};
/// The thread that stores a note; 0: none.
std::atomic<int> storingThread{0};

bool isIn(const int* signals, std::size_t count, int signal) noexcept {
  for (std::size_t i = 0; i < count; ++i) {
    if (signals[i] == signal) {
      return true;
    }
  }
  return false;
}

bool isEnding(int signal) noexcept {
  return isIn(kEndingSignals.data(), kEndingSignals.size(), signal);
}

/// Whether an instruction of the program raises the signal, and raises it again if it is repeated.
bool isOfInstruction(int signal) noexcept {
  return signal != SIGABRT && isIn(kFatalSignals.data(), kFatalSignals.size(), signal);
}

int tidNow() noexcept {
  return static_cast<int>(base::threadId());
}

bool isFunction(const struct sigaction& action) noexcept {
  return (action.sa_flags & SA_SIGINFO) != 0 ||
         (action.sa_handler != SIG_DFL && action.sa_handler != SIG_IGN);
}

std::uint64_t stackPointerOf(const void* context) noexcept {
  const auto* const user = static_cast<const ucontext_t*>(context);
#if defined(__x86_64__)
  return static_cast<std::uint64_t>(user->uc_mcontext.gregs[REG_RSP]);
#elif defined(__aarch64__)
  return user->uc_mcontext.sp;
#else
  static_cast<void>(user);
  return 0;
#endif
}

/// Returns the address of the instruction at which the signal arrived.
std::uint64_t instructionOf(const void* context) noexcept {
  const auto* const user = static_cast<const ucontext_t*>(context);
#if defined(__x86_64__)
  return static_cast<std::uint64_t>(user->uc_mcontext.gregs[REG_RIP]);
#elif defined(__aarch64__)
  return user->uc_mcontext.pc;
#else
  static_cast<void>(user);
  return 0;
#endif
}

/// Waits until no other thread stores a note, but not for long: it may have died in it.
/// @return whether the calling thread may store.
bool enter(int tid) noexcept {
  constexpr int kTries = 200;
  constexpr long kPauseNanos = 10'000'000;
  for (int i = 0; i < kTries; ++i) {
    int storing = 0;
    if (storingThread.compare_exchange_strong(storing, tid)) {
      return true;
    }
    if (storing == tid) {
      return false;  // the note itself has faulted: in backtrace(), for example
    }
    const struct timespec pause { 0, kPauseNanos };
    ::nanosleep(&pause, nullptr);
  }
  return false;
}

/// Stores the name of the process that has sent the signal, if that lives. Calls only what a
/// handler may call.
void storeSender(state_layout::Death& death, std::uint64_t pid) noexcept {
  constexpr std::string_view kBefore = "/proc/";
  constexpr std::string_view kAfter = "/comm";
  std::array<char, 40> path{};
  std::array<char, 20> digits{};
  std::size_t count = 0;
  for (std::uint64_t rest = pid; rest > 0; rest /= 10) {
    digits[count++] = static_cast<char>('0' + rest % 10);
  }
  char* end = std::copy(kBefore.begin(), kBefore.end(), path.data());
  end = std::reverse_copy(digits.data(), digits.data() + count, end);
  std::copy(kAfter.begin(), kAfter.end(), end);
  std::array<char, std::tuple_size<decltype(death.senderName)>::value> name{};
  const int file = pid == 0 ? -1 : ::open(path.data(), O_RDONLY | O_CLOEXEC);
  const ssize_t bytes = file < 0 ? 0 : ::read(file, name.data(), name.size() - 1);
  if (file >= 0) {
    ::close(file);
  }
  const std::string_view text(name.data(), static_cast<std::size_t>(std::max<ssize_t>(0, bytes)));
  storeText(death.senderName, text.substr(0, text.find('\n')));
}

void storeCause(state_layout::Death& death, int signal, const siginfo_t& info, const void* context,
                int tid, std::uint64_t now) noexcept {
  const OwnStore store(death.sequence);
  storeWord(death.frameCount, 0);
  storeSigned(death.signal, signal);
  storeSigned(death.code, info.si_code);
  const bool isFault = info.si_code > 0 && isOfInstruction(signal);
  storeWord(death.address, isFault ? reinterpret_cast<std::uintptr_t>(info.si_addr) : 0);
  // SI_USER, SI_TKILL and SI_QUEUE tell the sender.
  const bool isSent = info.si_code <= 0;
  storeWord(death.senderPid, isSent ? static_cast<std::uint64_t>(info.si_pid) : 0);
  storeWord(death.senderUid, isSent ? static_cast<std::uint64_t>(info.si_uid) : 0);
  storeWord(death.stackPointer, stackPointerOf(context));
  storeWord(death.tid, static_cast<std::uint64_t>(tid));
  storeWord(death.ticks, now);
}

void storeFrames(state_layout::Death& death, const void* context) noexcept {
  constexpr std::size_t kOfHandler = 8;
  std::array<void*, std::tuple_size<decltype(death.frames)>::value + kOfHandler> frames;
  const int count = ::backtrace(frames.data(), static_cast<int>(frames.size()));
  void** const end = frames.data() + count;
  // The innermost frames are the handler's own.
  const std::uint64_t instruction = instructionOf(context);
  void** from = frames.data();
  while (from != end && reinterpret_cast<std::uintptr_t>(*from) != instruction) {
    ++from;
  }
  if (from == end) {
    from = frames.data();
  }
  std::size_t stored = 0;
  for (; from != end && stored < death.frames.size(); ++from, ++stored) {
    storeWord(death.frames[stored], reinterpret_cast<std::uintptr_t>(*from));
  }
  __atomic_store_n(&death.frameCount, std::uint64_t{stored}, __ATOMIC_RELEASE);
}

void note(int signal, const siginfo_t& info, const void* context) noexcept {
  StatePage* const page = notedPage.load();
  // A child of vfork() or of a fork() without handlers does not have the mapping.
  if (page == nullptr || page != StatePage::current() || !page->isOurs()) {
    return;
  }
  const bool isTermination = signal == SIGTERM;
  state_layout::Death& death = page->state().deaths[isTermination ? 1 : 0];
  const int tid = tidNow();
  if (!enter(tid)) {
    return;
  }
  // The first of several threads that fault at once is the cause. A process that survives may get
  // another signal later.
  constexpr double kAtOnceNanos = 1e9;
  const std::uint64_t now = readTicks();
  const std::uint64_t known = loadWord(death.ticks);
  const double nanosPerTick = page->nanosPerTick();
  if (isTermination || known == 0 ||
      static_cast<double>(now - known) * nanosPerTick > kAtOnceNanos) {
    // First what cannot fail: the unwinder may fault or wait for a lock.
    storeCause(death, signal, info, context, tid, now);
    storeSender(death, loadWord(death.senderPid));
    if (isTermination) {
      page->noteKernelKills();  // srun ends the ranks beside one that the kernel has killed
    }
    // Those that come from outside may interrupt anything, and where they do says nothing.
    if (!isTermination && !isEnding(signal)) {
      storeFrames(death, context);
    }
  }
  storingThread.store(0);
}

/// Lets the signal do what it does without a handler.
void takeDefaultWay(int signal, siginfo_t* info) noexcept {
  struct sigaction usual {};
  usual.sa_handler = SIG_DFL;
  sigemptyset(&usual.sa_mask);
  ::sigaction(signal, &usual, nullptr);
  if (info->si_code > 0 && isOfInstruction(signal)) {
    return;  // the instruction runs again and faults again: a core file then shows the place
  }
  // Sent by a process: again, with the same information. Where it is blocked here, it comes when
  // this handler returns.
  if (::syscall(SYS_rt_tgsigqueueinfo, ::getpid(), tidNow(), signal, info) != 0) {
    ::syscall(SYS_tgkill, ::getpid(), tidNow(), signal);
  }
}

void onSignal(int signal, siginfo_t* info, void* context);

bool isOurs(const struct sigaction& action) noexcept {
  return (action.sa_flags & SA_SIGINFO) != 0 && action.sa_sigaction == &onSignal;
}

/// Whether a handler that was installed after ours has called it: then the process may survive.
bool isHandedOn(int signal) noexcept {
  struct sigaction now {};
  return ::sigaction(signal, nullptr, &now) != 0 || !isOurs(now);
}

bool isDelayed(int signal) noexcept {
  bool (*const takesOver)() = signal == SIGTERM ? terminationTaker.load() : nullptr;
  return takesOver != nullptr && takesOver();
}

/// Hands the signal on to the action that was there before.
void handOn(int signal, siginfo_t* info, void* context) noexcept {
  struct sigaction& before = earlierActions[static_cast<std::size_t>(signal)];
  // A handler that was installed after ours decides itself what follows.
  const bool isCalledByKernel = !isHandedOn(signal);
  if (!isFunction(before)) {
    if (isCalledByKernel && before.sa_handler == SIG_DFL && !isDelayed(signal)) {
      takeDefaultWay(signal, info);
    }
    return;
  }
  if ((before.sa_flags & SA_RESETHAND) != 0 && isCalledByKernel) {
    // It is to be called once: what follows its return is the default.
    struct sigaction usual {};
    usual.sa_handler = SIG_DFL;
    sigemptyset(&usual.sa_mask);
    ::sigaction(signal, &usual, nullptr);
  }
  if ((before.sa_flags & SA_SIGINFO) != 0) {
    before.sa_sigaction(signal, info, context);
  } else {
    before.sa_handler(signal);
  }
}

void onSignal(int signal, siginfo_t* info, void* context) {
  const int error = errno;
  if (!isEnding(signal) || !isHandedOn(signal)) {
    note(signal, *info, context);
  }
  handOn(signal, info, context);
  errno = error;
}

void catchSignal(int signal) noexcept {
  struct sigaction& before = earlierActions[static_cast<std::size_t>(signal)];
  struct sigaction known {};
  if (::sigaction(signal, nullptr, &known) != 0 || isOurs(known)) {
    return;
  }
  if (!isFunction(known) && known.sa_handler == SIG_IGN) {
    return;
  }
  if (isFunction(known) && isEnding(signal)) {
    return;  // it need not end the process
  }
  before = known;
  struct sigaction ours {};
  ours.sa_sigaction = &onSignal;
  ours.sa_flags = SA_SIGINFO | SA_ONSTACK;
  if (signal == SIGTERM || isEnding(signal)) {
    // One after the other: many that nest would overflow the stack.
    ours.sa_flags |= SA_RESTART | (known.sa_flags & SA_NODEFER);
  } else {
    // If the note itself faults, the next handler still gets its turn.
    ours.sa_flags |= SA_NODEFER;
  }
  ours.sa_mask = known.sa_mask;
  ::sigaction(signal, &ours, nullptr);
}

bool isTurnedOff() {
  const char* const chosen = std::getenv("STEPTAPE_SIGNAL_HANDLER");
  const bool isOff = chosen != nullptr && std::string_view(chosen) == "off";
  return isOff || &__asan_init != nullptr || &__tsan_init != nullptr || &__msan_init != nullptr;
}

}  // namespace

void catchFatalSignals(StatePage& page) noexcept {
  try {
    if (isTurnedOff()) {
      return;
    }
    keepModules(page);
    // The first call loads a library and allocates; a handler must not.
    std::array<void*, 2> frames;
    ::backtrace(frames.data(), static_cast<int>(frames.size()));
    notedPage.store(&page);
    storingThread.store(0);
    // Once, also in a child made by fork(): a handler that was installed since may call ours, and
    // ours must not call it.
    if (areInstalled.exchange(true)) {
      return;
    }
    for (const int signal : kFatalSignals) {
      catchSignal(signal);
    }
    catchSignal(SIGTERM);
    for (const int signal : kEndingSignals) {
      catchSignal(signal);
    }
  } catch (const std::exception&) {
    // Out of memory: signals are not noted.
  }
}

void delayTermination(bool (*takesOver)()) noexcept {
  terminationTaker.store(takesOver);
}

void endByTermination() noexcept {
  struct sigaction usual {};
  usual.sa_handler = SIG_DFL;
  sigemptyset(&usual.sa_mask);
  ::sigaction(SIGTERM, &usual, nullptr);
  sigset_t termination;
  sigemptyset(&termination);
  sigaddset(&termination, SIGTERM);
  ::pthread_sigmask(SIG_UNBLOCK, &termination, nullptr);
  ::kill(::getpid(), SIGTERM);
  ::_exit(128 + SIGTERM);
}

SignalStack::~SignalStack() {
  if (memory_ == nullptr) {
    return;
  }
  stack_t off{};
  off.ss_flags = SS_DISABLE;
  stack_t known{};
  if (::sigaltstack(nullptr, &known) == 0 &&
      known.ss_sp == static_cast<char*>(memory_) + kGuardBytes) {
    ::sigaltstack(&off, nullptr);
  }
  ::munmap(memory_, kGuardBytes + kBytes + kGuardBytes);
}

void SignalStack::install() noexcept {
  stack_t known{};
  if (memory_ != nullptr || ::sigaltstack(nullptr, &known) != 0 ||
      (known.ss_flags & SS_DISABLE) == 0) {
    return;
  }
  constexpr std::size_t kAll = kGuardBytes + kBytes + kGuardBytes;
  void* const memory = ::mmap(nullptr, kAll, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) {
    return;
  }
  stack_t ours{};
  ours.ss_sp = static_cast<char*>(memory) + kGuardBytes;
  ours.ss_size = kBytes;
  if (::mprotect(ours.ss_sp, kBytes, PROT_READ | PROT_WRITE) == 0 &&
      ::sigaltstack(&ours, nullptr) == 0) {
    memory_ = memory;
  } else {
    ::munmap(memory, kAll);
  }
}

}  // namespace steptape::detail::process
