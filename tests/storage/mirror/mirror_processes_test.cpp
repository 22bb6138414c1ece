// SPDX-License-Identifier: Apache-2.0
// What processes with a mirror of the same directory do.
#include <chrono>
#include <memory>
#include <string>
#include <sys/wait.h>
#include <unistd.h>

#include "process/blackbox/directory_lock.h"
#include "storage/mirror/directory_mirror.h"
#include "storage/mirror/mirror_fixture.h"
#include "support/saying_child.h"

#include <gmock/gmock.h>

namespace steptape::detail::storage {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

constexpr std::chrono::minutes kPatience{10};

class MirrorProcesses : public MirrorTest {
 protected:
  std::shared_ptr<DirectoryMirror> start(const std::string& url = "s3://runs/exp") const {
    DirectoryMirror::Options options;
    options.directory = directory();
    options.url = url;
    options.period = std::chrono::hours(1);
    return DirectoryMirror::of(options);
  }
  static std::string drain(DirectoryMirror* mirror) {
    const Status drained = mirror->drain(kPatience);
    return drained.ok() ? "drained" : drained.message();
  }
};

TEST_F(MirrorProcesses, LeaveTheirDirectoryToTheFirstUnlessTheyWaitForIt) {
  write("events", "first");
  std::shared_ptr<DirectoryMirror> ofChild;
  test::SayingChild first([&] {
    ofChild = start();
    return drain(ofChild.get());
  });
  EXPECT_EQ(first.said(), "drained");
  EXPECT_EQ(objects(), files());
  append("events", ", second");
  const auto mirror = start();
  EXPECT_EQ(drain(mirror.get()), "drained");
  EXPECT_EQ(objects(), files()) << "the other may have looked for the last time";
  append("events", ", third");
  first.kill();
  EXPECT_EQ(drain(mirror.get()), "drained");
  EXPECT_EQ(objects(), files()) << "what the other has left";
}

TEST_F(MirrorProcesses, SendTheirDirectoryToOnePlace) {
  write("events", "first");
  std::shared_ptr<DirectoryMirror> ofChild;
  test::SayingChild first([&] {
    ofChild = start();
    return drain(ofChild.get());
  });
  EXPECT_EQ(first.said(), "drained");
  const auto mirror = start("s3://runs/other");
  EXPECT_THAT(drain(mirror.get()),
              AllOf(HasSubstr("the mirror s3://runs/other sends nothing: got process "),
                    HasSubstr(", which sends " + directory() +
                              " to s3://runs/exp; expected one mirror of a directory")));
}

TEST_F(MirrorProcesses, HaveNoneOfTheirParents) {
  write("events", "first");
  const auto mirror = start();
  EXPECT_EQ(drain(mirror.get()), "drained");
  append("events", ", second");
  server_.forgetRequests();
  test::SayingChild child([&] {
    const DirectoryMirror::Stats stats = mirror->stats();
    return drain(mirror.get()) + ' ' + std::to_string(stats.objects);
  });
  EXPECT_EQ(child.said(), "drained 0");
  EXPECT_THAT(server_.requests(), IsEmpty());
  EXPECT_EQ(drain(mirror.get()), "drained");
  EXPECT_EQ(objects(), files());
}

TEST_F(MirrorProcesses, MayHaveTheirOwnAfterTheirParents) {
  write("events", "first");
  auto mirror = start();
  EXPECT_EQ(drain(mirror.get()), "drained");
  mirror.reset();
  append("events", ", second");
  std::shared_ptr<DirectoryMirror> ofChild;
  test::SayingChild child([&] {
    ofChild = start();
    return drain(ofChild.get());
  });
  EXPECT_EQ(child.said(), "drained");
  EXPECT_EQ(objects(), files());
}

}  // namespace
}  // namespace steptape::detail::storage
