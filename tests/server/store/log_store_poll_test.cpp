// SPDX-License-Identifier: Apache-2.0
//
// A system without inotify: a separate program, because it replaces inotify_init1().
#include <atomic>
#include <cerrno>
#include <sys/inotify.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "server/store/log_store_fixture.h"

namespace {
enum class Lack { kInstances, kWatches };
std::atomic<Lack> lack{Lack::kInstances};
}  // namespace

// Each user may have a number of them, which other programs may have used up.
extern "C" int inotify_init1(int flags) noexcept {
  if (lack == Lack::kInstances) {
    errno = EMFILE;
    return -1;
  }
  return static_cast<int>(::syscall(SYS_inotify_init1, flags));
}
extern "C" int inotify_add_watch(int /*fd*/, const char* /*path*/,
                                 std::uint32_t /*mask*/) noexcept {
  errno = ENOSPC;
  return -1;
}

namespace steptape::detail::server {
namespace {

class PollingStoreTest : public LogStoreFixture {
 protected:
  LogStoreOptions looksOften() {
    LogStoreOptions options = this->options();
    options.reload = std::chrono::milliseconds(50);
    return options;
  }
  void expectEverythingIsFollowed() {
    writePoint("a/events.out.tfevents.1", 1, 1);
    const LogStore store(looksOften());
    expectPoints(store, "a", {{1, 1}});
    appendPoint("a/events.out.tfevents.1", 2, 2);
    expectPoints(store, "a", {{1, 1}, {2, 2}});
    writePoint("a/events.out.tfevents.2", 3, 3);
    expectPoints(store, "a", {{1, 1}, {2, 2}, {3, 3}});
    writePoint("b/events.out.tfevents.1", 4, 4);
    expectPoints(store, "b", {{4, 4}});
    std::filesystem::remove_all(path("a"));
    expectRuns(store, {"b"});
  }
};

TEST_F(PollingStoreTest, LooksForChangesWithoutInotify) {
  lack = Lack::kInstances;
  expectEverythingIsFollowed();
  EXPECT_EQ(reports_.count("inotify is not available; looking for changes every"), 1U);
}

TEST_F(PollingStoreTest, LooksForChangesIfDirectoriesCannotBeWatched) {
  lack = Lack::kWatches;
  expectEverythingIsFollowed();
  EXPECT_EQ(reports_.count("more directories than fs.inotify.max_user_watches allows"), 1U);
}

TEST_F(PollingStoreTest, LooksForChangesWhilePagesAsk) {
  lack = Lack::kInstances;
  writePoint("a/events.out.tfevents.1", 1, 1);
  LogStoreOptions options = looksOften();
  options.reload = std::chrono::milliseconds(300);
  LogStore store(options);
  expectPoints(store, "a", {{1, 1}});
  appendPoint("a/events.out.tfevents.1", 2, 2);
  expectSoon("a point", [&] {
    store.freshen();  // wakes the store more often than it looks
    return pointsOf(store, "a", "x").size() == 2;
  });
}

TEST_F(PollingStoreTest, SaysHowOftenItLooks) {
  lack = Lack::kInstances;
  const LogStore store(looksOften());
  expectReport("looking for changes every 0.05 s");
}

TEST_F(PollingStoreTest, EndsBeforeItsNextLook) {
  lack = Lack::kInstances;
  writePoint("a/events.out.tfevents.1", 1, 1);
  LogStoreOptions options = this->options();
  options.reload = std::chrono::hours(24);
  const LogStore store(options);
  expectPoints(store, "a", {{1, 1}});
}

}  // namespace
}  // namespace steptape::detail::server
