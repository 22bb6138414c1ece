// SPDX-License-Identifier: Apache-2.0
#include "base/fork_handlers.h"

#include <cxxabi.h>
#include <sys/wait.h>
#include <unistd.h>
#include <vector>

#include <gmock/gmock.h>

namespace steptape::detail::base {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

enum Call { kLocksFirst, kLocksLast, kFirstInChild, kLastInChild };

// Static, as handlers are.
std::vector<Call> forkCalls;
Mutex firstMutex;
Mutex lastMutex;
Mutex addedMutex;

bool isFree(Mutex& mutex) {
  if (!mutex.tryLock()) {
    return false;
  }
  mutex.unlock();
  return true;
}

/// Calls fork(). @return whether the child's `check` was true.
template <typename Check>
bool holdsInChild(const Check& check) {
  const pid_t child = fork();
  if (child == 0) {
    _exit(check() ? 0 : 1);
  }
  int status = -1;
  waitpid(child, &status, 0);
  return status == 0;
}

TEST(ForkHandlers, AreNotCalledAfterTheirLibraryIsUnloaded) {
  static char library;
  static constexpr ForkHandlers kOfLibrary{[] {
                                             forkCalls.push_back(kLocksFirst);
                                             return &firstMutex;
                                           },
                                           nullptr};
  addForkHandlers(ForkOrder::kState, kOfLibrary, &library);
  forkCalls.clear();
  EXPECT_TRUE(holdsInChild([] { return true; }));
  EXPECT_THAT(forkCalls, ElementsAre(kLocksFirst));
  abi::__cxa_finalize(&library);  // as dlclose() does
  forkCalls.clear();
  EXPECT_TRUE(holdsInChild([] { return true; }));
  EXPECT_THAT(forkCalls, IsEmpty());
}

// Added in the wrong order.
void setBoth() {
  static constexpr ForkHandlers kLast{[] {
                                        forkCalls.push_back(kLocksLast);
                                        return &lastMutex;
                                      },
                                      [] { forkCalls.push_back(kLastInChild); }};
  static constexpr ForkHandlers kFirst{[] {
                                         forkCalls.push_back(kLocksFirst);
                                         return &firstMutex;
                                       },
                                       [] { forkCalls.push_back(kFirstInChild); }};
  addForkHandlers(ForkOrder::kBoxes, kLast);
  addForkHandlers(ForkOrder::kWriters, kFirst);
  forkCalls.clear();
}

TEST(ForkHandlers, AreCalledInTheOrderOfTheirPlaces) {
  setBoth();
  EXPECT_TRUE(holdsInChild([] {
    return forkCalls == std::vector<Call>{kLocksFirst, kLocksLast, kLastInChild, kFirstInChild};
  }));
  EXPECT_THAT(forkCalls, ElementsAre(kLocksFirst, kLocksLast));
}

TEST(ForkHandlers, LeaveTheMutexesFreeInParentAndChild) {
  setBoth();
  EXPECT_TRUE(holdsInChild([] { return isFree(firstMutex) && isFree(lastMutex); }));
  EXPECT_TRUE(isFree(firstMutex));
  EXPECT_TRUE(isFree(lastMutex));
}

TEST(ForkHandlers, AddedDuringAForkDoNotUnlockWhatItHasNotLocked) {
  setBoth();
  static constexpr ForkHandlers kAdded{[] { return &addedMutex; }, nullptr};
  static constexpr ForkHandlers kAdding{[] {
                                          addForkHandlers(ForkOrder::kWriters, kAdded);
                                          return static_cast<Mutex*>(nullptr);
                                        },
                                        nullptr};
  addForkHandlers(ForkOrder::kBoxes, kAdding);
  addedMutex.lock();  // as another thread may have
  const auto isHeld = [] { return !addedMutex.tryLock(); };
  EXPECT_TRUE(holdsInChild(isHeld));
  EXPECT_TRUE(isHeld());
  addedMutex.unlock();
}

}  // namespace
}  // namespace steptape::detail::base
