// SPDX-License-Identifier: Apache-2.0
//
// Counts the cost of a scalar call on its thread: no allocation, no lock and no system call after
// the thread's first call. A separate program, because it replaces operator new and
// pthread_mutex_lock.
#include <array>
#include <atomic>
#include <csignal>
#include <cstddef>
#include <cstdint>
#include <dlfcn.h>
#include <functional>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <pthread.h>
#include <string>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <thread>
#include <utility>
#include <vector>

#include "steptape/log/summary_writer.h"
#include "steptape/ranks/testing.h"

#include "support/allocations.h"

#include <gtest/gtest.h>

namespace {

thread_local std::uint64_t locks = 0;
std::atomic<std::uint64_t> trappedSystemCalls{0};

}  // namespace

extern "C" int pthread_mutex_lock(pthread_mutex_t* mutex) {
  static const auto kReal =
      reinterpret_cast<int (*)(pthread_mutex_t*)>(dlsym(RTLD_NEXT, "pthread_mutex_lock"));
  ++locks;
  return kReal(mutex);
}

namespace steptape {
namespace {

void countSystemCall(int, siginfo_t*, void*) {
  trappedSystemCalls.fetch_add(1);
}

/// From now on, every system call of this thread is rejected and counted, except those for ending
/// the thread and returning from the handler.
void trapSystemCalls() {
  struct sigaction action {};
  action.sa_sigaction = &countSystemCall;
  action.sa_flags = SA_SIGINFO;
  ASSERT_EQ(sigaction(SIGSYS, &action, nullptr), 0);
  const auto allow = [](unsigned number) {
    return std::array<sock_filter, 2>{sock_filter BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, number, 0, 1),
                                      sock_filter BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW)};
  };
  std::vector<sock_filter> program{BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, nr))};
  for (const unsigned number : {SYS_rt_sigreturn, SYS_exit, SYS_exit_group, SYS_madvise, SYS_munmap,
                                SYS_futex, SYS_rt_sigprocmask}) {
    const auto rule = allow(number);
    program.insert(program.end(), rule.begin(), rule.end());
  }
  program.push_back(BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_TRAP));
  const sock_fprog filter{static_cast<unsigned short>(program.size()), program.data()};
  ASSERT_EQ(prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0), 0);
  ASSERT_EQ(prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &filter), 0);
}

class HotPathTest : public ::testing::Test {
 protected:
  struct Cost {
    std::uint64_t allocations;
    std::uint64_t locks;
    std::uint64_t systemCalls;
  };

  /// Returns the cost of many calls on a thread that has already made one.
  static Cost costOf(const std::function<void(std::int64_t)>& call) {
    Cost cost{};
    std::thread([&] {
      call(0);
      trapSystemCalls();
      const std::uint64_t allocationsBefore = allocationsOfThread();
      const std::uint64_t locksBefore = locks;
      const std::uint64_t systemCallsBefore = trappedSystemCalls.load();
      for (std::int64_t step = 1; step < 2000; ++step) {
        call(step);
      }
      cost.allocations = allocationsOfThread() - allocationsBefore;
      cost.locks = locks - locksBefore;
      cost.systemCalls = trappedSystemCalls.load() - systemCallsBefore;
    }).join();
    return cost;
  }
  static void expectFree(const Cost& cost) {
    EXPECT_EQ(cost.allocations, 0U);
    EXPECT_EQ(cost.locks, 0U);
    EXPECT_EQ(cost.systemCalls, 0U);
  }

  testing::TempDir dir_;
  SummaryWriter writer_{dir_.string()};
};

TEST_F(HotPathTest, CountsAllocationsLocksAndSystemCalls) {
  pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
  const Cost cost = costOf([&mutex](std::int64_t) {
    ::operator delete(::operator new(8));
    pthread_mutex_lock(&mutex);
    pthread_mutex_unlock(&mutex);
    syscall(SYS_getppid);
  });
  EXPECT_EQ(cost.allocations, 1999U);
  EXPECT_EQ(cost.locks, 1999U);
  EXPECT_EQ(cost.systemCalls, 1999U);
}

TEST_F(HotPathTest, AScalarByHandleCostsNoAllocationLockOrSystemCall) {
  const ScalarTag tag = writer_.scalarTag("loss");
  expectFree(costOf([&](std::int64_t step) { writer_.addScalar(tag, 0.5, step); }));
}

TEST_F(HotPathTest, AScalarByNameCostsNoAllocationLockOrSystemCall) {
  expectFree(costOf([&](std::int64_t step) {
    writer_.addScalar("a/rather/long/tag/that/no/small/string/holds", 0.5, step);
  }));
}

TEST_F(HotPathTest, ABatchCostsNoAllocationLockOrSystemCall) {
  const ScalarTag tag = writer_.scalarTag("loss");
  expectFree(costOf([&](std::int64_t step) {
    StepBatch batch = writer_.atStep(step);
    batch.add(tag, 0.5);
    batch.add("accuracy", 0.5);
  }));
}

TEST_F(HotPathTest, ACurveOfSeveralCostsNoAllocationLockOrSystemCall) {
  const std::vector<std::pair<std::string, double>> values{{"xsinx", 1}, {"xcosx", 2}};
  expectFree(costOf([&](std::int64_t step) { writer_.addScalars("run_14h", values, step); }));
}

}  // namespace
}  // namespace steptape
