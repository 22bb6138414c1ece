// SPDX-License-Identifier: Apache-2.0
#include "storage/mirror/directory_mirror.h"

#include <array>
#include <atomic>
#include <chrono>
#include <fcntl.h>
#include <filesystem>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <sys/stat.h>
#include <thread>
#include <unistd.h>
#include <utility>
#include <vector>

#include "events/framing/event_file_name.h"
#include "process/blackbox/directory_lock.h"
#include "storage/mirror/mirror_fixture.h"
#include "support/expect_error.h"

#include <gmock/gmock.h>

namespace steptape::detail::storage {
namespace {

namespace fs = std::filesystem;

using test::LoopbackAnswer;
using test::LoopbackRequest;
using test::LoopbackServer;
using test::MemoryBucket;
using ::testing::AllOf;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::Pair;
using ::testing::SizeIs;
using ::testing::StartsWith;

using Answer = std::optional<LoopbackAnswer>;

constexpr std::chrono::minutes kPatience{10};

/// Root may read any file.
class AsNobody {
 public:
  AsNobody() { EXPECT_EQ(::geteuid() == 0 ? ::seteuid(kNobody) : 0, 0); }
  AsNobody(const AsNobody&) = delete;
  AsNobody& operator=(const AsNobody&) = delete;
  ~AsNobody() { EXPECT_EQ(::getuid() == 0 ? ::seteuid(0) : 0, 0); }

 private:
  static constexpr uid_t kNobody = 65534;
};

class DirectoryMirrorTest : public MirrorTest {
 protected:
  /// A mirror that looks only when it is drained.
  std::shared_ptr<DirectoryMirror> start(std::chrono::milliseconds period = std::chrono::hours(1)) {
    return DirectoryMirror::of(optionsOf(directory(), "s3://runs/exp", period));
  }
  DirectoryMirror::Options optionsOf(const std::string& directory, const std::string& url,
                                     std::chrono::milliseconds period = std::chrono::hours(1)) {
    DirectoryMirror::Options options;
    options.directory = directory;
    options.url = url;
    options.period = period;
    options.isEventFile = events::isEventFileName;
    options.onProblem = [this](const Status& problem) {
      const std::lock_guard<std::mutex> lock(mutex_);
      problems_.push_back(problem.message());
      return true;
    };
    return options;
  }
  std::vector<std::string> problems() {
    const std::lock_guard<std::mutex> lock(mutex_);
    return problems_;
  }
  /// Expects that the bucket has all files after a drain.
  void expectDrained(DirectoryMirror* mirror) {
    const Status drained = mirror->drain(kPatience);
    EXPECT_TRUE(drained.ok()) << drained.message();
    EXPECT_EQ(objects(), files());
  }

 private:
  std::mutex mutex_;
  std::vector<std::string> problems_;
};

TEST_F(DirectoryMirrorTest, SendsAllThatIsInADirectoryAndBelow) {
  write("events.out.tfevents.1", "points");
  write("train/events.out.tfevents.1", "more points");
  write("lr=0.1, seed=2/a+b%20c", "a name");
  write("trace.json", "[]");
  write("empty", "");
  const auto mirror = start();
  expectDrained(mirror.get());
  const DirectoryMirror::Stats stats = mirror->stats();
  EXPECT_EQ(stats.objects, 5U);
  EXPECT_EQ(stats.bytesSent, 25U);
  EXPECT_EQ(stats.lateFiles, 0U);
  EXPECT_EQ(stats.lateBytes, 0U);
  EXPECT_THAT(problems(), IsEmpty());
}

TEST_F(DirectoryMirrorTest, LeavesOutModelsHiddenFilesAndLinks) {
  for (const char* const name :
       {"model.pt", "model.pth", "model.ckpt", "model.safetensors", "model.onnx", "x.tmp",
        ".hidden", ".hidden.d/file", "train/.steptape_owner"}) {
    write(name, "not for the bucket");
  }
  write("model.pt.json", "but a manifest is");
  fs::create_symlink("/etc", pathOf("link_to_directory"));
  fs::create_symlink("/etc/hostname", pathOf("link_to_file"));
  ASSERT_EQ(::mkfifo(pathOf("pipe").c_str(), 0600), 0);
  const auto mirror = start();
  EXPECT_TRUE(mirror->drain(kPatience).ok());
  EXPECT_THAT(objects(), ElementsAre(Pair("model.pt.json", "but a manifest is")));
}

TEST_F(DirectoryMirrorTest, SendsWhatIsNewAgainAndAgain) {
  write("events", "first");
  const auto mirror = start(std::chrono::milliseconds(1));
  server_.server().waitForRequests(3);  // a list, HEAD and PUT
  EXPECT_EQ(objects().at("events"), "first");
  append("events", ", second");
  server_.server().waitForRequests(4);
  EXPECT_EQ(objects().at("events"), "first, second");
}

TEST_F(DirectoryMirrorTest, SendsNothingTwice) {
  write("events", "first");
  write("other", "x");
  const auto mirror = start();
  expectDrained(mirror.get());
  expectDrained(mirror.get());
  append("events", ", second");
  expectDrained(mirror.get());
  EXPECT_EQ(mirror->stats().bytesSent, 5U + 1U + 13U);
  EXPECT_THAT(server_.requests(), ElementsAre("GET", "HEAD exp/events", "PUT exp/events",
                                              "HEAD exp/other", "PUT exp/other", "PUT exp/events"));
}

TEST_F(DirectoryMirrorTest, DeletesNoObject) {
  write("events", "first");
  const auto mirror = start();
  expectDrained(mirror.get());
  fs::remove(pathOf("events"));
  EXPECT_TRUE(mirror->drain(kPatience).ok());
  EXPECT_EQ(objects().at("events"), "first");
}

TEST_F(DirectoryMirrorTest, GoesOnWhereAnEarlierProcessEnded) {
  write("events", "first");
  expectDrained(start().get());
  append("events", ", second");
  server_.forgetRequests();
  expectDrained(start().get());
  EXPECT_THAT(server_.requests(), ElementsAre("GET", "HEAD exp/events", "PUT exp/events"));
}

TEST_F(DirectoryMirrorTest, IsTheSameForOneDirectoryAndUrl) {
  const auto mirror = start();
  EXPECT_EQ(start(), mirror);
  EXPECT_NE(DirectoryMirror::of(optionsOf(directory(), "s3://runs/other")), mirror);
}

TEST_F(DirectoryMirrorTest, RejectsWhatIsNoUrlOfABucket) {
  test::expectInvalidArgument(
      [&] { DirectoryMirror::of(optionsOf(directory(), "s3:/runs/exp")); },
      "mirror: got \"s3:/runs/exp\"; expected s3://BUCKET or s3://BUCKET/PREFIX");
}

/// Servers that do not get what is sent.
TEST_F(DirectoryMirrorTest, SaysWhatIsLateIfNobodyListens) {
  {
    const LoopbackServer gone([](const LoopbackRequest&) { return LoopbackAnswer(); });
    environment_.set("AWS_ENDPOINT_URL", gone.url());
  }
  write("a", "12345");
  write("b", "123");
  const auto mirror = start();
  const Status drained = mirror->drain(std::chrono::milliseconds(100));
  EXPECT_EQ(drained.code(), ErrorCode::kDeadlineExceeded);
  EXPECT_THAT(drained.message(),
              AllOf(StartsWith("the mirror s3://runs/exp lacks 2 files with 8 bytes of " +
                               directory() + ": "),
                    HasSubstr("100 ms")));
  EXPECT_EQ(mirror->stats().lateFiles, 2U);
  EXPECT_EQ(mirror->stats().lateBytes, 8U);
}

TEST_F(DirectoryMirrorTest, DoesNotWaitForAServerThatHangs) {
  server_.setRule([](const LoopbackRequest&) { return LoopbackAnswer::hang(); });
  write("a", "12345");
  auto mirror = start();
  server_.server().waitForRequests(1);
  EXPECT_EQ(mirror->drain(std::chrono::milliseconds(100)).code(), ErrorCode::kDeadlineExceeded);
  mirror.reset();  // ends the transfer
}

TEST_F(DirectoryMirrorTest, TriesAgainAfterAFailure) {
  write("a", "12345");
  std::atomic<int> failures{2};
  server_.setRule([&failures](const LoopbackRequest&) -> Answer {
    return --failures >= 0 ? Answer(MemoryBucket::error(503, "SlowDown")) : std::nullopt;
  });
  const auto mirror = start();
  expectDrained(mirror.get());
  EXPECT_THAT(problems(), IsEmpty()) << "a pause is no problem yet";
}

TEST_F(DirectoryMirrorTest, TriesAtOnceWhenItIsDrainedAfterFailures) {
  write("a", "12345");
  server_.setRule([](const LoopbackRequest&) { return MemoryBucket::error(503, "SlowDown"); });
  const auto mirror = start();
  server_.server().waitForRequests(3);  // the next one would come 4 s later
  server_.setRule({});
  const Status drained = mirror->drain(std::chrono::milliseconds(3500));
  EXPECT_TRUE(drained.ok()) << drained.message();
}

TEST_F(DirectoryMirrorTest, EndsADrainAtOnceIfTheKeysAreRefused) {
  for (char c = 'a'; c <= 'e'; ++c) {
    write(std::string(1, c), "12345");
  }
  server_.setRule(
      [](const LoopbackRequest&) { return MemoryBucket::error(403, "InvalidAccessKeyId"); });
  const auto mirror = start();
  const Status drained = mirror->drain(kPatience);
  EXPECT_THAT(drained.message(),
              AllOf(StartsWith("the mirror s3://runs/exp lacks 5 files with 25 bytes of "),
                    HasSubstr("got 403 InvalidAccessKeyId (the reason)")));
  EXPECT_FALSE(mirror->drain(kPatience).ok());
  EXPECT_THAT(problems(), SizeIs(1)) << "each is told once";
  server_.setRule({});
  expectDrained(mirror.get());
}

TEST_F(DirectoryMirrorTest, SendsTheOthersIfOneNameIsTaken) {
  server_.store("exp/b", "theirs");
  for (const char* const name : {"a", "b", "c"}) {
    write(name, "ours");
  }
  const auto mirror = start();
  const Status drained = mirror->drain(kPatience);
  EXPECT_THAT(drained.message(),
              AllOf(HasSubstr("lacks 1 file with 4 bytes"), HasSubstr("exp/b is not replaced")));
  EXPECT_EQ(objects(),
            (std::map<std::string, std::string>{{"a", "ours"}, {"b", "theirs"}, {"c", "ours"}}));
  EXPECT_THAT(problems(), ElementsAre(HasSubstr("exp/b is not replaced")));
  write("d", "ours");
  EXPECT_FALSE(mirror->drain(kPatience).ok());
  EXPECT_EQ(objects().at("d"), "ours") << "what is new is sent all the same";
}

TEST_F(DirectoryMirrorTest, SendsTheOthersIfSomeAreRefused) {
  for (char c = 'a'; c <= 'f'; ++c) {
    write(std::string(1, c), "ours");
  }
  server_.setRule([](const LoopbackRequest& request) -> Answer {
    return request.path() < "/runs/exp/e" && request.path() > "/runs/exp/"
               ? Answer(MemoryBucket::error(403, "AccessDenied"))
               : std::nullopt;
  });
  const auto mirror = start();
  EXPECT_FALSE(mirror->drain(kPatience).ok());
  server_.setRule({});
  expectDrained(mirror.get());
}

TEST_F(DirectoryMirrorTest, SendsTheOthersBeforeItTriesAgainWhatFailed) {
  for (char c = 'a'; c <= 'e'; ++c) {
    write(std::string(1, c), "ours");
  }
  for (const auto& [status, firstThatIsTaken] : {std::pair{503, "b"}, std::pair{403, "e"}}) {
    server_.setRule([code = status, end = std::string(firstThatIsTaken)](
                        const LoopbackRequest& request) -> Answer {
      return request.path() < "/runs/exp/" + end && request.path() > "/runs/exp/"
                 ? Answer(MemoryBucket::error(code, "Trouble"))
                 : std::nullopt;
    });
    const auto mirror = start(std::chrono::milliseconds(1));
    while (objects().count("e") == 0) {
      std::this_thread::yield();
    }
    EXPECT_EQ(objects().count("a"), 0U);
    server_.remove("exp/e");
  }
}

TEST_F(DirectoryMirrorTest, SendsTheOthersIfFilesCannotBeRead) {
  for (const char* const name : {"a", "b", "c", "d", "e"}) {
    write(name, "ours");
  }
  for (const char* const name : {"a", "b", "c", "d"}) {
    fs::permissions(pathOf(name), fs::perms::none);
  }
  fs::permissions(directory(), fs::perms::all);
  const AsNobody nobody;
  const auto mirror = start();
  const Status drained = mirror->drain(kPatience);
  EXPECT_THAT(drained.message(),
              AllOf(HasSubstr("lacks 4 files"), HasSubstr("/d: Permission denied")));
  EXPECT_EQ(objects(), (std::map<std::string, std::string>{{"e", "ours"}}));
  EXPECT_THAT(problems(), SizeIs(4));
}

TEST_F(DirectoryMirrorTest, TellsOfEventFilesOfAnotherRun) {
  server_.store("exp/events.out.tfevents.1.other", "theirs");
  server_.store("exp/train/events.out.tfevents.1.other", "of a run below");
  write("events.out.tfevents.2.ours", "ours");
  const auto mirror = start();
  EXPECT_TRUE(mirror->drain(kPatience).ok());
  EXPECT_THAT(problems(),
              ElementsAre(HasSubstr("got 1 event file that " + directory() + " lacks")));
}

TEST_F(DirectoryMirrorTest, TellsNothingOfThemIfTheRunContinuesAnother) {
  server_.store("exp/events.out.tfevents.1.other", "theirs");
  DirectoryMirror::Options options = optionsOf(directory(), "s3://runs/exp");
  options.isEventFile = nullptr;
  EXPECT_TRUE(DirectoryMirror::of(std::move(options))->drain(kPatience).ok());
  EXPECT_THAT(problems(), IsEmpty());
}

TEST_F(DirectoryMirrorTest, MayBeAskedForItsStateWhereItTellsAProblem) {
  server_.store("exp/a", "theirs");
  write("a", "ours");
  std::weak_ptr<DirectoryMirror> self;
  std::atomic<bool> mayLook{false};
  std::atomic<std::uint64_t> late{0};
  DirectoryMirror::Options options = optionsOf(directory(), "s3://runs/exp");
  options.onProblem = [&](const Status&) {
    while (!mayLook) {
      std::this_thread::yield();
    }
    if (const auto mirror = self.lock()) {
      late = mirror->stats().lateFiles;
    }
    return true;
  };
  const auto mirror = DirectoryMirror::of(std::move(options));
  self = mirror;
  mayLook = true;
  EXPECT_FALSE(mirror->drain(kPatience).ok());
  EXPECT_EQ(late, 1U);
}

/// What other mirrors do, of this process and of others.
TEST_F(DirectoryMirrorTest, LeavesADirectoryWithAMirrorOfItsOwnToThat) {
  write("events", "x");
  write("rank_1/events", "y");
  auto below = DirectoryMirror::of(optionsOf(pathOf("rank_1"), "s3://runs/other"));
  EXPECT_TRUE(below->drain(kPatience).ok());
  const auto mirror = start();
  EXPECT_TRUE(mirror->drain(kPatience).ok());
  EXPECT_THAT(server_.contents(), ElementsAre(Pair("exp/events", "x"), Pair("other/events", "y")));
  below.reset();
  EXPECT_TRUE(mirror->drain(kPatience).ok());
  EXPECT_EQ(server_.contents().at("exp/rank_1/events"), "y");
}

TEST_F(DirectoryMirrorTest, SendsADirectoryWhoseOwnMirrorWasKilled) {
  write("rank_1/events", "y");
  write("rank_1/.steptape_owner_mirror", "");  // which a killed process leaves
  const std::array<timespec, 2> longAgo{};
  ASSERT_EQ(
      ::utimensat(AT_FDCWD, pathOf("rank_1/.steptape_owner_mirror").c_str(), longAgo.data(), 0), 0);
  expectDrained(start().get());
}

TEST_F(DirectoryMirrorTest, GivesUpWhatIsNotSentAtItsEnd) {
  server_.setRule([](const LoopbackRequest&) { return MemoryBucket::error(503, "SlowDown"); });
  write("a", "x");
  start().reset();
  server_.setRule({});
  EXPECT_THAT(objects(), IsEmpty());
  EXPECT_FALSE(process::DirectoryLock::look(directory(), "_mirror")) << "the next one may begin";
}

}  // namespace
}  // namespace steptape::detail::storage
