// SPDX-License-Identifier: Apache-2.0
//
// Links in a log directory: each path is a run of its own, as for tensorboard-data-server 0.7.2.
#include <filesystem>
#include <string>

#include "server/store/log_store_fixture.h"

namespace steptape::detail::server {
namespace {

namespace filesystem = std::filesystem;

class LinkedRunsTest : public LogStoreFixture {
 protected:
  void link(const std::string& target, const std::string& name) const {
    filesystem::create_symlink(target, path(name));
  }
};

TEST_F(LinkedRunsTest, AreShownUnderBothNames) {
  writePoint("a/events.out.tfevents.1", 1, 1);
  link("a", "b");
  const LogStore store(options());
  expectRuns(store, {"a", "b"});
  expectPoints(store, "a", {{1, 1}});
  expectPoints(store, "b", {{1, 1}});
}

TEST_F(LinkedRunsTest, GrowUnderBothNames) {
  writePoint("a/events.out.tfevents.1", 1, 1);
  link("a", "b");
  const LogStore store(options());
  expectPoints(store, "a", {{1, 1}});
  expectPoints(store, "b", {{1, 1}});
  appendPoint("a/events.out.tfevents.1", 2, 2);
  expectPoints(store, "a", {{1, 1}, {2, 2}});
  expectPoints(store, "b", {{1, 1}, {2, 2}});
}

TEST_F(LinkedRunsTest, StayWatchedWithoutTheLink) {
  writePoint("b/events.out.tfevents.1", 1, 1);
  link("b", "a");
  const LogStore store(options());
  expectRuns(store, {"a", "b"});
  expectPoints(store, "b", {{1, 1}});
  filesystem::remove(path("a"));
  expectRuns(store, {"b"});
  appendPoint("b/events.out.tfevents.1", 2, 2);
  expectPoints(store, "b", {{1, 1}, {2, 2}});
}

TEST_F(LinkedRunsTest, AppearWhenTheLinkIsMade) {
  writePoint("a/events.out.tfevents.1", 1, 1);
  const LogStore store(options());
  expectPoints(store, "a", {{1, 1}});
  link("a", "latest");
  expectPoints(store, "latest", {{1, 1}});
}

TEST_F(LinkedRunsTest, FollowALinkThatIsChanged) {
  writePoint("a/events.out.tfevents.1", 1, 1);
  writePoint("b/events.out.tfevents.1", 2, 2);
  link("a", "latest");
  const LogStore store(options());
  expectPoints(store, "latest", {{1, 1}});
  link("b", "new");
  filesystem::rename(path("new"), path("latest"));
  expectPoints(store, "latest", {{2, 2}});
  appendPoint("b/events.out.tfevents.1", 3, 3);
  expectPoints(store, "latest", {{2, 2}, {3, 3}});
  expectPoints(store, "a", {{1, 1}});
}

TEST_F(LinkedRunsTest, MayBeOutsideTheLogDirectory) {
  writePoint("elsewhere/a/events.out.tfevents.1", 1, 1);
  filesystem::create_directories(path("logs"));
  link(path("elsewhere"), "logs/more");
  const LogStore store(optionsOf({{"", path("logs")}}));
  expectPoints(store, "more/a", {{1, 1}});
  appendPoint("elsewhere/a/events.out.tfevents.1", 2, 2);
  expectPoints(store, "more/a", {{1, 1}, {2, 2}});
}

TEST_F(LinkedRunsTest, EndAtALinkToADirectoryAroundIt) {
  writePoint("a/events.out.tfevents.1", 1, 1);
  link("..", "a/up");
  link(".", "a/same");
  link("b", "b");  // to itself
  const LogStore store(options());
  expectRuns(store, {"a"});
  expectPoints(store, "a", {{1, 1}});
}

}  // namespace
}  // namespace steptape::detail::server
