// SPDX-License-Identifier: Apache-2.0
#include "storage/mirror/bucket_copy.h"

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/crc32c.h"
#include "storage/mirror/mirror_fixture.h"

#include <gmock/gmock.h>

namespace steptape::detail::storage {
namespace {

namespace fs = std::filesystem;

using test::LoopbackAnswer;
using test::LoopbackEnding;
using test::LoopbackRequest;
using test::MemoryBucket;
using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Pair;
using ::testing::SizeIs;
using ::testing::StartsWith;

using Answer = std::optional<LoopbackAnswer>;

/// Each test runs with objects that a mirror has stored, and with those of another tool.
class BucketCopyTest : public MirrorTest, public ::testing::WithParamInterface<bool> {
 protected:
  BucketCopyTest() { restart(); }

  /// As a new process, which knows nothing of the directory.
  void restart() {
    BucketCopy::Options options;
    options.directory = directory();
    options.onProgress = [this](std::uint64_t bytes) { progress_ += bytes; };
    copy_ = std::make_unique<BucketCopy>(parseBucketUrl("s3://runs/exp", "test"), options);
  }
  void store(const std::string& path, const std::string& bytes) {
    MemoryBucket::Object object{bytes};
    if (GetParam()) {
      object.metadata["steptape-crc32c"] = base::crc32c(bytes).toString();
    }
    server_.store("exp/" + path, object);
  }
  /// Updates, and returns the messages of the problems.
  std::vector<std::string> update() {
    progress_ = 0;
    update_ = copy_->update();
    EXPECT_EQ(progress_, update_.bytes);
    std::vector<std::string> messages;
    for (const Status& problem : update_.problems) {
      messages.push_back(problem.message());
    }
    return messages;
  }
  void expectSame() {
    EXPECT_THAT(update(), IsEmpty());
    EXPECT_EQ(files(), objects());
  }

  std::unique_ptr<BucketCopy> copy_;
  BucketCopy::Update update_;
  std::uint64_t progress_ = 0;
};

INSTANTIATE_TEST_SUITE_P(Objects, BucketCopyTest, ::testing::Bool(), [](const auto& tested) {
  return tested.param ? "OfAMirror" : "OfAnotherTool";
});

TEST_P(BucketCopyTest, HasTheFilesOfTheBucket) {
  store("events", "points");
  store("train/events", "more points");
  store("lr=0.1, seed=2/a+b%20c", "a name");
  store("empty", "");
  expectSame();
  EXPECT_EQ(update_.objects, 4U);
  EXPECT_EQ(update_.read, 4U);
  EXPECT_EQ(update_.bytes, 23U);
}

TEST_P(BucketCopyTest, ReadsNothingAgain) {
  store("events", "points");
  store("empty", "");
  expectSame();
  server_.forgetRequests();
  expectSame();
  EXPECT_THAT(server_.requests(), ElementsAre("GET"));
  EXPECT_EQ(update_.objects, 2U);
  EXPECT_EQ(update_.read, 0U);
}

TEST_P(BucketCopyTest, ReadsOnlyWhatAnObjectHasGained) {
  store("events", "first");
  expectSame();
  store("events", "first, second");
  server_.forgetRequests();
  expectSame();
  EXPECT_EQ(update_.bytes, 8U);
  EXPECT_EQ(update_.read, 1U);
  EXPECT_THAT(server_.requests(), ElementsAre("GET", "GET exp/events"));
}

TEST_P(BucketCopyTest, FollowsManyObjects) {
  for (int round = 1; round <= 3; ++round) {
    for (int i = 0; i < 50; ++i) {
      store("events." + std::to_string(i), std::string(static_cast<std::size_t>(round * i), 'x'));
    }
    expectSame();
  }
  EXPECT_EQ(update_.read, 49U);
}

TEST_P(BucketCopyTest, ReplacesWhatBecameShorter) {
  store("metrics.json", "{\"loss\": 0.5}");
  expectSame();
  store("metrics.json", "{}");
  expectSame();
  EXPECT_EQ(update_.read, 1U);
}

TEST_P(BucketCopyTest, ReplacesWhatHasOtherBytesOfTheSameNumber) {
  store("metrics.json", "{\"loss\": 0.5}");
  expectSame();
  store("metrics.json", "{\"loss\": 0.4}");
  expectSame();
  EXPECT_EQ(update_.read, 1U);
}

TEST_P(BucketCopyTest, GoesOnWithTheFilesOfAnEarlierProcess) {
  store("events", "first");
  store("other", "x");
  expectSame();
  store("events", "first, second");
  restart();
  expectSame();
  if (GetParam()) {
    EXPECT_EQ(update_.bytes, 8U) << "the checksum tells of the rest";
  }
  EXPECT_EQ(update_.read, 1U);
}

TEST_P(BucketCopyTest, KeepsTheFilesOfDeletedObjects) {
  store("events", "first");
  expectSame();
  server_.remove("exp/events");
  EXPECT_THAT(update(), IsEmpty());
  EXPECT_EQ(update_.objects, 0U);
  EXPECT_EQ(read("events"), "first");
}

TEST_P(BucketCopyTest, NeverReplacesAFileThatWasThereBeforeWithOtherBytes) {
  for (const std::string object : {"theirs", "theirs, longer", "the", "yourz"}) {
    store("events", object);
    write("events", "yours");
    restart();
    EXPECT_THAT(update(), ElementsAre(pathOf("events") +
                                      " is not replaced by s3://runs/exp/events"
                                      ": got a file with other bytes; expected none, or the start "
                                      "of the object"));
    EXPECT_EQ(read("events"), "yours") << object;
    EXPECT_THAT(update(), SizeIs(1)) << "it stays a problem";
  }
}

TEST_P(BucketCopyTest, LeavesOutNamesThatLeadElsewhere) {
  const std::string tooLong(256, 'n');
  for (const char* const name :
       {"../x", "a/../../x", "/x", "a//x", "./x", "a/./x", tooLong.c_str()}) {
    store(name, "x");
  }
  store("fine", "x");
  const std::vector<std::string> problems = update();
  EXPECT_THAT(problems, SizeIs(7));
  EXPECT_THAT(problems, ::testing::Contains(
                            "got the key \"exp/../x\"; expected one that can be the name of a "
                            "file; it is left out"));
  EXPECT_THAT(files(), ElementsAre(Pair("fine", "x")));
  EXPECT_FALSE(fs::exists(directory() + "/../x"));
}

TEST_P(BucketCopyTest, LeavesOutWhatAMirrorDoesNotSend) {
  for (const std::string name : {"model.pt", ".steptape_owner", ".git/hooks/post-commit",
                                 "a/.hidden/x", "folder/", "x.tmp"}) {
    store(name, "x");
  }
  store("events", "x");
  EXPECT_THAT(update(), IsEmpty());
  EXPECT_THAT(files(), ElementsAre(Pair("events", "x")));
  EXPECT_FALSE(fs::exists(pathOf(".git")));
  EXPECT_FALSE(fs::exists(pathOf("a")));
}

TEST_P(BucketCopyTest, ReadsOnlyWhatIsWanted) {
  store("events", "x");
  store("trace.json", "x");
  BucketCopy::Options options;
  options.directory = directory();
  options.wants = [](std::string_view name) { return name == "events"; };
  BucketCopy copy(parseBucketUrl("s3://runs/exp", "test"), options);
  EXPECT_EQ(copy.update().objects, 1U);
  EXPECT_THAT(files(), ElementsAre(Pair("events", "x")));
}

TEST_P(BucketCopyTest, ReportsANameThatIsBothFileAndDirectory) {
  store("a", "x");
  store("b/c", "x");
  expectSame();
  store("a/b", "y");
  store("b", "y");
  const std::vector<std::string> problems = update();
  EXPECT_THAT(problems, SizeIs(2));
  EXPECT_THAT(problems, ::testing::Each(HasSubstr(directory())));
  EXPECT_EQ(read("a"), "x");
  EXPECT_EQ(read("b/c"), "x");
}

TEST_P(BucketCopyTest, WritesThroughNoLink) {
  const testing::TempDir other;
  fs::create_symlink(other.string() + "/file", pathOf("events"));
  store("events", "x");
  EXPECT_THAT(update(), SizeIs(1));
  EXPECT_TRUE(fs::is_empty(other.string()));
}

TEST_P(BucketCopyTest, ContinuesATransferThatBreaksOff) {
  store("events", "0123456789");
  std::atomic<int> breaks{2};
  server_.setChange([&breaks](const LoopbackRequest& request, LoopbackAnswer* answer) {
    if (request.path() == "/runs/exp/events" && breaks-- > 0) {
      answer->sentBytes = 3;
      answer->ending = LoopbackEnding::kClose;
    }
  });
  EXPECT_THAT(update(), SizeIs(1));
  EXPECT_EQ(read("events"), "012");
  EXPECT_THAT(update(), SizeIs(1));
  EXPECT_EQ(read("events"), "012345");
  expectSame();
  EXPECT_EQ(update_.bytes, 4U);
}

TEST_P(BucketCopyTest, WaitsForTheNextUpdateIfAnObjectChangesMeanwhile) {
  store("events", "first");
  server_.setRule([this](const LoopbackRequest& request) -> Answer {
    if (request.path() == "/runs/exp/events") {
      store("events", "another one");
    }
    return std::nullopt;
  });
  EXPECT_THAT(update(), IsEmpty());
  server_.setRule({});
  expectSame();
}

TEST_P(BucketCopyTest, GoesOnIfAFileIsRemovedOrCutMeanwhile) {
  store("events", "0123456789");
  store("metrics", "0123456789");
  expectSame();
  fs::remove(pathOf("events"));
  fs::resize_file(pathOf("metrics"), 4);
  store("events", "0123456789abc");
  store("metrics", "0123456789abc");
  update();
  update();
  EXPECT_EQ(read("events"), "0123456789abc");
  EXPECT_EQ(read("metrics"), "0123456789abc");
}

TEST_P(BucketCopyTest, ReportsOneObjectAndReadsTheOthers) {
  store("a", "x");
  store("b", "y");
  server_.setRule([](const LoopbackRequest& request) -> Answer {
    return request.path() == "/runs/exp/a" ? Answer(MemoryBucket::error(403, "AccessDenied"))
                                           : std::nullopt;
  });
  EXPECT_THAT(update(), ElementsAre(HasSubstr("GET s3://runs/exp/a: got 403 AccessDenied")));
  EXPECT_EQ(read("b"), "y");
  server_.setRule({});
  expectSame();
}

TEST_P(BucketCopyTest, SaysWhyABucketCannotBeListed) {
  server_.setRule([](const LoopbackRequest&) { return MemoryBucket::error(404, "NoSuchBucket"); });
  EXPECT_THAT(update(), ElementsAre(AllOf(HasSubstr("s3://runs"), HasSubstr("NoSuchBucket"))));
}

/// Objects of mirrors alone: only these have a checksum.
class ChecksummedCopyTest : public BucketCopyTest {
 protected:
  /// Answers reads of an object with one other byte, so many times.
  void corrupt(int times) {
    left_ = times;
    server_.setChange([this](const LoopbackRequest& request, LoopbackAnswer* answer) {
      if (request.method == "GET" && request.path() == "/runs/exp/events" && left_-- > 0) {
        answer->body.back() ^= 1;
      }
    });
  }

 private:
  std::atomic<int> left_{0};
};

INSTANTIATE_TEST_SUITE_P(Objects, ChecksummedCopyTest, ::testing::Values(true));

TEST_P(ChecksummedCopyTest, ReadsAnObjectAgainWhoseBytesAreNotThoseOfItsChecksum) {
  store("events", "first");
  corrupt(1);
  expectSame();
  store("events", "first, second");
  corrupt(1);
  expectSame();
}

TEST_P(ChecksummedCopyTest, TakesNoBytesThatAreNotThoseOfTheChecksum) {
  store("events", "first");
  expectSame();
  store("events", "first, second");
  corrupt(1000);
  EXPECT_THAT(update(),
              ElementsAre(AllOf(StartsWith("s3://runs/exp/events: got bytes with the checksum "),
                                HasSubstr(base::crc32c("first, second").toString()))));
  EXPECT_EQ(read("events"), "first");
  server_.setChange({});
  expectSame();
}

TEST_P(ChecksummedCopyTest, ReplacesAFileThatIsNotTheStartOfALongerObject) {
  store("events", "first");
  expectSame();
  store("events", "another one");
  expectSame();
}

}  // namespace
}  // namespace steptape::detail::storage
