// SPDX-License-Identifier: Apache-2.0
//
// What a store shows while it reads: a separate program, because it replaces pread().
#include <atomic>
#include <chrono>
#include <filesystem>
#include <mutex>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "server/store/log_store_fixture.h"

namespace {

/// Held while nobody may read the file of this number.
std::mutex heldFile;
std::atomic<ino_t> heldNumber{0};

}  // namespace

extern "C" ssize_t pread(int file, void* bytes, size_t count, off_t offset) {
  struct stat status {};
  if (heldNumber != 0 && ::fstat(file, &status) == 0 && status.st_ino == heldNumber) {
    const std::lock_guard<std::mutex> wait(heldFile);
  }
  return ::syscall(SYS_pread64, file, bytes, count, offset);
}

namespace steptape::detail::server {
namespace {

class ReadingStoreTest : public LogStoreFixture {
 protected:
  LogStoreOptions onOneThread() {
    LogStoreOptions options = this->options();
    options.threads = 1;
    return options;
  }
  void makeOlder(const std::string& file, int hours) const {
    const std::filesystem::path older = path(file);
    std::filesystem::last_write_time(
        older, std::filesystem::last_write_time(older) - std::chrono::hours(hours));
  }
};

TEST_F(ReadingStoreTest, ShowsTheNewestRunsBeforeItHasReadTheOldest) {
  writePoint("a old/events.out.tfevents.1", 1, 1);
  writePoint("b new/events.out.tfevents.1", 2, 2);
  writePoint("c between/events.out.tfevents.1", 3, 3);
  makeOlder("a old/events.out.tfevents.1", 2);
  makeOlder("c between/events.out.tfevents.1", 1);
  struct stat status {};
  ASSERT_EQ(::stat(path("a old/events.out.tfevents.1").c_str(), &status), 0);
  std::unique_lock<std::mutex> held(heldFile);
  heldNumber = status.st_ino;
  const LogStore store(onOneThread());
  expectPoints(store, "b new", {{2, 2}});
  expectPoints(store, "c between", {{3, 3}});
  EXPECT_EQ(runsOf(store), (Names{"a old", "b new", "c between"}));
  EXPECT_TRUE(pointsOf(store, "a old", "x").empty());
  held.unlock();
  expectPoints(store, "a old", {{1, 1}});
  heldNumber = 0;
}

}  // namespace
}  // namespace steptape::detail::server
