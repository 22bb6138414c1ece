// SPDX-License-Identifier: Apache-2.0
#include "storage/mirror/object_writer.h"

#include <filesystem>
#include <memory>
#include <optional>
#include <ostream>
#include <string>
#include <sys/stat.h>

#include "base/crc32c.h"
#include "storage/mirror/directory_mark.h"
#include "storage/mirror/local_files.h"
#include "storage/mirror/mirror_fixture.h"

#include <gmock/gmock.h>

namespace steptape::detail::storage {

// Google Test prints an outcome with this function.
std::ostream& operator<<(std::ostream& out, ObjectWriter::Result::Outcome outcome) {
  constexpr const char* kNames[] = {"kUpToDate",   "kSent",   "kTaken",  "kGone",
                                    "kUnreadable", "kFailed", "kRefused"};
  return out << kNames[static_cast<int>(outcome)];
}

namespace {

namespace fs = std::filesystem;

using test::LoopbackAnswer;
using test::LoopbackRequest;
using test::MemoryBucket;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::StartsWith;

using Answer = std::optional<LoopbackAnswer>;
using Outcome = ObjectWriter::Result::Outcome;

std::string checksumOfText(const std::string& bytes) {
  return base::crc32c(bytes).toString();
}

class ObjectWriterTest : public MirrorTest {
 protected:
  ObjectWriterTest() { restart(); }

  /// As a new process, which knows nothing of the bucket.
  void restart() { restart(takeMark(directory()).mark); }
  void restart(const std::string& mark) {
    bucket_ = std::make_unique<Bucket>(parseBucketUrl("s3://runs/exp", "test"), server_.settings(),
                                       Bucket::Options());
    writer_ = std::make_unique<ObjectWriter>(directory(), mark, bucket_.get());
  }

  LocalFile look(const std::string& name) const {
    for (const LocalFile& file : localFilesIn(directory())) {
      if (file.path == name) {
        return file;
      }
    }
    ADD_FAILURE() << "there is no " << name;
    return {};
  }
  Outcome bring(const std::string& name) {
    result_ = writer_->bring(look(name));
    return result_.outcome;
  }

  std::unique_ptr<Bucket> bucket_;
  std::unique_ptr<ObjectWriter> writer_;
  ObjectWriter::Result result_{Outcome::kFailed};
};

TEST_F(ObjectWriterTest, BringsAFileOnce) {
  write("events", "first");
  EXPECT_EQ(bring("events"), Outcome::kSent);
  EXPECT_EQ(result_.bytesSent, 5U);
  EXPECT_EQ(objects().at("events"), "first");
  EXPECT_EQ(writer_->bytesThere("events"), 5U);
  server_.forgetRequests();
  EXPECT_EQ(bring("events"), Outcome::kUpToDate);
  EXPECT_THAT(server_.requests(), IsEmpty());
}

TEST_F(ObjectWriterTest, BringsWhatAFileHasBecome) {
  write("events", "first");
  EXPECT_EQ(bring("events"), Outcome::kSent);
  append("events", ", second");
  server_.forgetRequests();
  EXPECT_EQ(bring("events"), Outcome::kSent);
  EXPECT_THAT(server_.requests(), ElementsAre("PUT exp/events"));
  EXPECT_EQ(objects().at("events"), "first, second");
  write("events", "other");
  EXPECT_EQ(bring("events"), Outcome::kSent);
  EXPECT_EQ(objects().at("events"), "other") << "it became shorter";
}

TEST_F(ObjectWriterTest, BringsFilesWithoutBytes) {
  write("events", "");
  EXPECT_EQ(bring("events"), Outcome::kSent);
  EXPECT_EQ(objects().at("events"), "");
  restart();
  EXPECT_EQ(bring("events"), Outcome::kUpToDate);
}

TEST_F(ObjectWriterTest, SendsNothingAgainAfterARestart) {
  write("events", "first");
  EXPECT_EQ(bring("events"), Outcome::kSent);
  restart();
  server_.forgetRequests();
  EXPECT_EQ(bring("events"), Outcome::kUpToDate);
  EXPECT_THAT(server_.requests(), ElementsAre("HEAD exp/events"));
  EXPECT_EQ(writer_->bytesThere("events"), 5U);
}

TEST_F(ObjectWriterTest, NeverReplacesAnObjectOfAnotherOrigin) {
  for (const bool hasChecksum : {false, true}) {
    MemoryBucket::Object other{"theirs"};
    if (hasChecksum) {
      other.metadata = {{"steptape-crc32c", checksumOfText("theirs")},
                        {"steptape-mirror", std::string(32, '0')}};
    }
    server_.store("exp/events", other);
    restart();
    for (const std::string bytes : {"ours", "ours12", "ours, longer", ""}) {
      write("events", bytes);
      EXPECT_EQ(bring("events"), Outcome::kTaken) << bytes;
      EXPECT_EQ(result_.status.message(),
                "s3://runs/exp/events is not replaced by " + pathOf("events") +
                    ": got an object of another directory with other bytes; expected none, or the "
                    "start of this file");
    }
    EXPECT_EQ(objects().at("events"), "theirs");
    EXPECT_EQ(writer_->bytesThere("events"), std::nullopt);
  }
}

TEST_F(ObjectWriterTest, AsksOnceForAnObjectOfAnotherOrigin) {
  server_.store("exp/events", "theirs");
  write("events", "ours");
  EXPECT_EQ(bring("events"), Outcome::kTaken);
  server_.forgetRequests();
  EXPECT_EQ(bring("events"), Outcome::kTaken);
  EXPECT_THAT(server_.requests(), IsEmpty());
  append("events", ", more");
  server_.remove("exp/events");
  EXPECT_EQ(bring("events"), Outcome::kSent);
}

TEST_F(ObjectWriterTest, ReplacesItsOwnObjectByItsMark) {
  for (const std::string text : {"{\"loss\": 0.5}", "{\"loss\": 0.25}", "{}"}) {
    write("metrics.json", text);
    restart();
    EXPECT_EQ(bring("metrics.json"), Outcome::kSent);
    EXPECT_EQ(objects().at("metrics.json"), text);
  }
}

TEST_F(ObjectWriterTest, ContinuesAnObjectThatIsTheStartOfTheFile) {
  for (const bool hasChecksum : {false, true}) {
    for (const std::string& mark : {takeMark(directory()).mark, std::string()}) {
      MemoryBucket::Object start{"first"};
      if (hasChecksum) {
        start.metadata = {{"steptape-crc32c", checksumOfText("first")}};
      }
      server_.store("exp/events", start);
      write("events", "first, second");
      restart(mark);
      EXPECT_EQ(bring("events"), Outcome::kSent);
      EXPECT_EQ(objects().at("events"), "first, second");
    }
  }
}

TEST_F(ObjectWriterTest, GivesAnObjectOfAnotherToolWithTheSameBytesItsChecksum) {
  server_.store("exp/events", "first");
  write("events", "first");
  EXPECT_EQ(bring("events"), Outcome::kSent);
  EXPECT_EQ(server_.objects().at("exp/events").metadata.at("steptape-crc32c"),
            checksumOfText("first"));
}

TEST_F(ObjectWriterTest, DoesNotReplaceAnObjectThatAppearsMeanwhile) {
  write("events", "ours");
  server_.setRule([this](const LoopbackRequest& request) -> Answer {
    if (request.method == "PUT") {
      server_.store("exp/events", "theirs");
    }
    return std::nullopt;
  });
  EXPECT_EQ(bring("events"), Outcome::kTaken);
  EXPECT_EQ(objects().at("events"), "theirs");
}

TEST_F(ObjectWriterTest, DoesNotReplaceAnObjectThatChangesMeanwhile) {
  write("events", "first");
  EXPECT_EQ(bring("events"), Outcome::kSent);
  append("events", ", second");
  server_.store("exp/events", "theirs");
  EXPECT_EQ(bring("events"), Outcome::kTaken);
  EXPECT_EQ(objects().at("events"), "theirs");
}

TEST_F(ObjectWriterTest, BringsAFileAgainWhoseObjectWasDeleted) {
  write("events", "first");
  EXPECT_EQ(bring("events"), Outcome::kSent);
  server_.remove("exp/events");
  append("events", ", second");
  EXPECT_EQ(bring("events"), Outcome::kSent);
  EXPECT_EQ(objects().at("events"), "first, second");
}

TEST_F(ObjectWriterTest, KnowsItsObjectAgainIfOnlyTheAnswerWasLost) {
  const auto loseAnswers = [](const LoopbackRequest& request, LoopbackAnswer* answer) {
    if (request.method == "PUT") {
      *answer = LoopbackAnswer::close();
    }
  };
  write("events", "first");
  server_.setChange(loseAnswers);
  bring("events");
  EXPECT_EQ(objects().at("events"), "first");
  server_.setChange({});
  EXPECT_EQ(bring("events"), Outcome::kUpToDate);
  append("events", ", second");
  server_.setChange(loseAnswers);
  bring("events");
  server_.setChange({});
  append("events", ", third");
  EXPECT_EQ(bring("events"), Outcome::kSent);
  EXPECT_EQ(objects().at("events"), "first, second, third");
}

TEST_F(ObjectWriterTest, WorksWithServersThatKnowNoConditions) {
  MemoryBucket::Manner manner;
  manner.knowsConditions = false;
  server_.behave(manner);
  write("events", "first");
  EXPECT_EQ(bring("events"), Outcome::kSent);
  append("events", ", second");
  EXPECT_EQ(bring("events"), Outcome::kSent);
  EXPECT_EQ(objects().at("events"), "first, second");
  server_.store("exp/other", "theirs");
  write("other", "ours");
  EXPECT_EQ(bring("other"), Outcome::kTaken);
  EXPECT_EQ(objects().at("other"), "theirs");
}

TEST_F(ObjectWriterTest, SendsTheBytesThatTheFileHadWhenItWasLookedAt) {
  write("events", "first");
  const LocalFile before = look("events");
  append("events", ", second");
  EXPECT_EQ(writer_->bring(before).outcome, Outcome::kSent);
  EXPECT_EQ(objects().at("events"), "first");
  EXPECT_EQ(bring("events"), Outcome::kSent);
  EXPECT_EQ(objects().at("events"), "first, second");
}

TEST_F(ObjectWriterTest, LeavesAFileThatBecomesShorterMeanwhile) {
  write("events", "first, second");
  const LocalFile before = look("events");
  write("events", "first");
  EXPECT_EQ(writer_->bring(before).outcome, Outcome::kGone);
  EXPECT_THAT(objects(), IsEmpty());
  EXPECT_EQ(bring("events"), Outcome::kSent);
  EXPECT_EQ(objects().at("events"), "first");
}

TEST_F(ObjectWriterTest, LeavesAFileThatIsGone) {
  write("events", "first");
  const LocalFile before = look("events");
  fs::remove(pathOf("events"));
  EXPECT_EQ(writer_->bring(before).outcome, Outcome::kGone);
  EXPECT_THAT(server_.requests(), IsEmpty());
}

TEST_F(ObjectWriterTest, ReadsNeitherLinksNorPipes) {
  write("secret", "not for the bucket");
  fs::create_symlink(pathOf("secret"), pathOf("link"));
  ASSERT_EQ(::mkfifo(pathOf("pipe").c_str(), 0600), 0);
  for (const char* const name : {"link", "pipe"}) {
    LocalFile file = look("secret");
    file.path = name;
    const ObjectWriter::Result result = writer_->bring(file);
    EXPECT_EQ(result.outcome, Outcome::kUnreadable) << name;
    EXPECT_THAT(result.status.message(), StartsWith(pathOf(name) + ": "));
  }
  EXPECT_THAT(objects(), IsEmpty());
}

TEST_F(ObjectWriterTest, TellsABusyServerFromOneThatRefuses) {
  write("events", "first");
  server_.setRule([](const LoopbackRequest&) { return MemoryBucket::error(503, "SlowDown"); });
  EXPECT_EQ(bring("events"), Outcome::kFailed);
  EXPECT_THAT(result_.status.message(), HasSubstr("got 503"));
  server_.setRule([](const LoopbackRequest&) { return MemoryBucket::error(403, "AccessDenied"); });
  EXPECT_EQ(bring("events"), Outcome::kRefused);
  EXPECT_THAT(result_.status.message(), HasSubstr("got 403 AccessDenied"));
  server_.setRule({});
  EXPECT_EQ(bring("events"), Outcome::kSent);
}

}  // namespace
}  // namespace steptape::detail::storage
