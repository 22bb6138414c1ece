// SPDX-License-Identifier: Apache-2.0
#include "storage/mirror/send_directory.h"

#include <atomic>
#include <chrono>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "storage/mirror/mirror_fixture.h"

#include <gmock/gmock.h>

namespace steptape::detail::storage {
namespace {

using test::LoopbackAnswer;
using test::LoopbackRequest;
using test::MemoryBucket;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

using Answer = std::optional<LoopbackAnswer>;

class SendDirectoryTest : public MirrorTest {
 protected:
  SentDirectory send(std::chrono::milliseconds patience = std::chrono::milliseconds::max()) {
    progress_.clear();
    return sendDirectory(
        directory(), parseBucketUrl("s3://runs/exp", "test"), patience,
        [this](std::uint64_t done, std::uint64_t all) { progress_.emplace_back(done, all); });
  }

  std::vector<std::pair<std::uint64_t, std::uint64_t>> progress_;
};

TEST_F(SendDirectoryTest, SendsWhatTheBucketLacks) {
  for (int i = 1; i <= 30; ++i) {
    write("run" + std::to_string(i % 3) + "/events." + std::to_string(i),
          std::string(static_cast<std::size_t>(i), 'x'));
  }
  const SentDirectory first = send();
  EXPECT_EQ(objects(), files());
  EXPECT_EQ(first.files, 30U);
  EXPECT_EQ(first.sent, 30U);
  EXPECT_EQ(first.bytes, 465U);
  EXPECT_THAT(first.problems, IsEmpty());
  EXPECT_THAT(progress_, SizeIs(30));
  EXPECT_EQ(progress_.back(), std::make_pair(std::uint64_t{465}, std::uint64_t{465}));

  append("run1/events.1", "more");
  const SentDirectory second = send();
  EXPECT_EQ(objects(), files());
  EXPECT_EQ(second.files, 30U);
  EXPECT_EQ(second.sent, 1U);
  EXPECT_EQ(second.bytes, 5U);
}

TEST_F(SendDirectoryTest, SendsTheOthersIfOneNameIsTaken) {
  server_.store("exp/a", "theirs");
  for (const char* const name : {"a", "b", "c"}) {
    write(name, "ours");
  }
  const SentDirectory sent = send();
  ASSERT_THAT(sent.problems, SizeIs(1));
  EXPECT_THAT(sent.problems[0].message(), HasSubstr("exp/a is not replaced"));
  EXPECT_EQ(objects(),
            (std::map<std::string, std::string>{{"a", "theirs"}, {"b", "ours"}, {"c", "ours"}}));
}

TEST_F(SendDirectoryTest, TriesAServerAgainThatIsBusy) {
  write("a", "ours");
  std::atomic<int> failures{3};
  server_.setRule([&failures](const LoopbackRequest&) -> Answer {
    return --failures >= 0 ? Answer(MemoryBucket::error(503, "SlowDown")) : std::nullopt;
  });
  EXPECT_THAT(send().problems, IsEmpty());
  EXPECT_EQ(objects(), files());
}

TEST_F(SendDirectoryTest, EndsAtTheFirstRefusal) {
  for (int i = 0; i < 100; ++i) {
    write("events." + std::to_string(i), "x");
  }
  server_.setRule(
      [](const LoopbackRequest&) { return MemoryBucket::error(403, "InvalidAccessKeyId"); });
  const SentDirectory sent = send();
  ASSERT_THAT(sent.problems, SizeIs(1));
  EXPECT_THAT(sent.problems[0].message(), HasSubstr("got 403 InvalidAccessKeyId (the reason)"));
  EXPECT_EQ(sent.sent, 0U);
  EXPECT_THAT(server_.requests(), SizeIs(::testing::Le(32U))) << "of up to eight threads";
}

TEST_F(SendDirectoryTest, SaysWhatIsLeftWhenItsTimeIsOver) {
  write("a", "ours");
  write("b", "ours");
  const SentDirectory sent = send(std::chrono::milliseconds(0));
  ASSERT_THAT(sent.problems, SizeIs(1));
  EXPECT_EQ(sent.problems[0].message(), "2 files of " + directory() + " left: the time is over");
}

}  // namespace
}  // namespace steptape::detail::storage
