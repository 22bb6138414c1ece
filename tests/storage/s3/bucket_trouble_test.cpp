// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <thread>

#include "storage/s3/bucket.h"
#include "storage/s3/bucket_fixture.h"

#include <gmock/gmock.h>

namespace steptape::detail::storage {
namespace {

using test::LoopbackAnswer;
using test::LoopbackEnding;
using test::LoopbackRequest;
using test::LoopbackServer;
using test::MemoryBucket;
using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::SizeIs;
using ::testing::StartsWith;

using Answer = std::optional<LoopbackAnswer>;

/// A server whose clock shows 12:20 while the client's shows 12:00.
class BucketWithAnotherClock : public BucketTest {
 protected:
  BucketWithAnotherClock() {
    server_.store("exp/a", "bytes");
    server_.setRule([this](const LoopbackRequest& request) -> Answer {
      const std::string date = request.header("x-amz-date");
      if (date >= "20261129T121500Z" && date <= "20261129T122500Z") {
        return std::nullopt;
      }
      LoopbackAnswer answer = MemoryBucket::error(refusal_, "RequestTimeTooSkewed");
      answer.headers.push_back("Date: Sun, 29 Nov 2026 12:20:00 GMT");
      return answer;
    });
  }

  std::atomic<int> refusal_{403};
};

TEST_F(BucketWithAnotherClock, IsAskedAgainByItsOwnTime) {
  Bucket bucket = this->bucket();
  EXPECT_TRUE(list(&bucket).isDone());
  EXPECT_THAT(listed_, ElementsAre("a 5"));
  EXPECT_THAT(server_.requests(), SizeIs(2));
  EXPECT_EQ(server_.server().requests().back().header("x-amz-date"), "20261129T122000Z");
  clock_.wall += 60;
  EXPECT_TRUE(list(&bucket).isDone());
  EXPECT_THAT(server_.requests(), SizeIs(3)) << "the difference is known";
  EXPECT_EQ(server_.server().requests().back().header("x-amz-date"), "20261129T122100Z");
}

TEST_F(BucketWithAnotherClock, MayHaveAnotherNumberForIt) {
  refusal_ = 400;
  Bucket bucket = this->bucket();
  EXPECT_TRUE(list(&bucket).isDone());
}

TEST_F(BucketWithAnotherClock, IsAskedAgainForAHeadWhoseAnswerHasNoReason) {
  Bucket bucket = this->bucket();
  EXPECT_TRUE(bucket.head("a", &head_).isDone());
  EXPECT_THAT(server_.requests(), ElementsAre("HEAD exp/a", "HEAD exp/a"));
}

TEST_F(BucketWithAnotherClock, GetsTheWholeBodyAgain) {
  Bucket bucket = this->bucket();
  EXPECT_TRUE(put(&bucket, "b", "some bytes").isDone());
  EXPECT_EQ(server_.contents().at("exp/b"), "some bytes");
}

TEST_F(BucketWithAnotherClock, IsAskedAgainIfOurClockIsSet) {
  Bucket bucket = this->bucket();
  EXPECT_TRUE(list(&bucket).isDone());
  clock_.wall += 20 * 60;
  EXPECT_TRUE(list(&bucket).isDone());
  EXPECT_THAT(server_.requests(), SizeIs(4));
}

TEST_F(BucketTest, IsNotAskedAgainIfTheTimeIsRight) {
  for (const std::string date : {"Sun, 29 Nov 2026 12:04:00 GMT", "yesterday", ""}) {
    server_.forgetRequests();
    server_.setRule([&date](const LoopbackRequest&) -> Answer {
      LoopbackAnswer answer = MemoryBucket::error(403, "AccessDenied");
      answer.headers.push_back("Date: " + date);
      return answer;
    });
    Bucket bucket = this->bucket();
    EXPECT_EQ(list(&bucket).outcome, Outcome::kRefused);
    EXPECT_THAT(server_.requests(), SizeIs(1));
  }
}

TEST_F(BucketTest, IsNotAskedForEverByAServerWhoseClockRuns) {
  int hour = 10;
  server_.setRule([&hour](const LoopbackRequest&) -> Answer {
    LoopbackAnswer answer = MemoryBucket::error(403, "RequestTimeTooSkewed");
    answer.headers.push_back("Date: Sun, 29 Nov 2026 " + std::to_string(hour++) + ":00:00 GMT");
    return answer;
  });
  Bucket bucket = this->bucket();
  EXPECT_EQ(list(&bucket).outcome, Outcome::kRefused);
  EXPECT_THAT(server_.requests(), SizeIs(4));
}

/// Keys in a file, which end and are replaced there when the server sees them.
class BucketWithKeysThatEnd : public BucketTest {
 protected:
  BucketWithKeysThatEnd() {
    settings_.accessKeyId.clear();
    settings_.secretAccessKey.clear();
    settings_.credentialsFile = write("OLD");
    server_.store("exp/a", "bytes");
    server_.setRule([this](const LoopbackRequest& request) -> Answer {
      if (request.header("authorization").find("Credential=NEW/") != std::string::npos) {
        return std::nullopt;
      }
      write("NEW");
      return MemoryBucket::error(400, "ExpiredToken");
    });
  }

  std::string write(const std::string& key) {
    return environment_.write(
        "keys", "[default]\naws_access_key_id = " + key + "\naws_secret_access_key = HUSH\n");
  }
};

TEST_F(BucketWithKeysThatEnd, TakesTheNewOnes) {
  Bucket bucket = this->bucket();
  EXPECT_TRUE(list(&bucket).isDone());
  EXPECT_THAT(server_.requests(), SizeIs(2));
}

TEST_F(BucketWithKeysThatEnd, TakesTheNewOnesForAHeadWhoseAnswerHasNoReason) {
  Bucket bucket = this->bucket();
  const StorageResult result = bucket.head("a", &head_);
  EXPECT_TRUE(result.isDone()) << result.status.message();
  EXPECT_EQ(head_.bytes, 5U);
}

TEST_F(BucketWithKeysThatEnd, TakesTheNewOnesForTheHeadOfAnEmptyObject) {
  server_.store("exp/a", "");
  Bucket bucket = this->bucket();
  EXPECT_TRUE(bucket.head("a", &head_).isDone());
}

TEST_F(BucketWithKeysThatEnd, SaysSoIfThereAreNoOthers) {
  server_.setRule([](const LoopbackRequest&) { return MemoryBucket::error(400, "ExpiredToken"); });
  Bucket bucket = this->bucket();
  const StorageResult result = bucket.head("a", &head_);
  EXPECT_EQ(result.outcome, Outcome::kRefused);
  EXPECT_THAT(result.status.message(), HasSubstr("got 400 ExpiredToken (the reason)"));
}

TEST_F(BucketTest, SaysWhyAHeadWasRefused) {
  server_.setRule(
      [](const LoopbackRequest&) { return MemoryBucket::error(403, "InvalidAccessKeyId"); });
  Bucket bucket = this->bucket();
  const StorageResult result = bucket.head("a", &head_);
  EXPECT_EQ(result.outcome, Outcome::kRefused);
  EXPECT_THAT(result.status.message(), HasSubstr("got 403 InvalidAccessKeyId (the reason)"));
}

TEST_F(BucketTest, TellsWhatMayPassFromWhatWillNot) {
  Bucket bucket = this->bucket();
  const auto outcomeOf = [&](int status, const std::string& code) {
    server_.setRule([&](const LoopbackRequest&) { return MemoryBucket::error(status, code); });
    return list(&bucket).outcome;
  };
  EXPECT_EQ(outcomeOf(503, "SlowDown"), Outcome::kFailed);
  EXPECT_EQ(outcomeOf(500, "InternalError"), Outcome::kFailed);
  EXPECT_EQ(outcomeOf(429, "TooManyRequests"), Outcome::kFailed);
  EXPECT_EQ(outcomeOf(408, "RequestTimeout"), Outcome::kFailed);
  EXPECT_EQ(outcomeOf(403, "SignatureDoesNotMatch"), Outcome::kRefused);
  EXPECT_EQ(outcomeOf(400, "InvalidBucketName"), Outcome::kRefused);
  EXPECT_EQ(outcomeOf(405, "MethodNotAllowed"), Outcome::kRefused);
  EXPECT_THAT(server_.requests(), SizeIs(7)) << "none is sent again here";
}

TEST_F(BucketTest, StoresWithoutConditionsWhereTheyAreNotImplemented) {
  server_.setRule([](const LoopbackRequest& request) -> Answer {
    return request.headers.count("if-none-match") + request.headers.count("if-match") > 0
               ? Answer(MemoryBucket::error(501, "NotImplemented"))
               : std::nullopt;
  });
  Bucket bucket = this->bucket();
  EXPECT_TRUE(put(&bucket, "a", "first").isDone());
  EXPECT_TRUE(put(&bucket, "a", "second", etag_).isDone());
  EXPECT_EQ(server_.contents().at("exp/a"), "second");
  EXPECT_THAT(server_.requests(), SizeIs(3)) << "it is known then";
  server_.setRule([](const LoopbackRequest&) { return MemoryBucket::error(501, "Never"); });
  EXPECT_EQ(put(&bucket, "a", "third").outcome, Outcome::kRefused);
}

TEST_F(BucketTest, TakesNoOtherAnswerForAList) {
  Bucket bucket = this->bucket();
  const auto listOf = [&](const std::string& body) {
    server_.setRule([&](const LoopbackRequest&) -> Answer {
      LoopbackAnswer answer;
      answer.body = body;
      return answer;
    });
    return list(&bucket);
  };
  const StorageResult page = listOf("<html><body>Please log in</body></html>");
  EXPECT_EQ(page.outcome, Outcome::kRefused);
  EXPECT_THAT(page.status.message(),
              AllOf(StartsWith("s3://runs/exp: got an answer without a list of objects from http"),
                    HasSubstr("expected a server that speaks S3")));
  EXPECT_EQ(listOf("").outcome, Outcome::kRefused);
  EXPECT_EQ(listOf("<ListBucketResult><Contents><Key>exp/a</Key>").outcome, Outcome::kFailed);
  const StorageResult error = listOf("<Error><Code>InternalError</Code></Error>");
  EXPECT_EQ(error.outcome, Outcome::kFailed);
  EXPECT_THAT(error.status.message(), HasSubstr("got 200 InternalError"));
  EXPECT_TRUE(listOf("<ListBucketResult></ListBucketResult>").isDone());
}

TEST_F(BucketTest, TakesASuccessForOneOnlyWithAnETag) {
  Bucket bucket = this->bucket();
  server_.setRule([&](const LoopbackRequest&) -> Answer {
    LoopbackAnswer answer;
    answer.body = "<html><body>Please log in</body></html>";
    return answer;
  });
  EXPECT_EQ(get(&bucket, "a").outcome, Outcome::kFailed);
  EXPECT_EQ(read_, "") << "that is no object";
  EXPECT_EQ(bucket.head("a", &head_).outcome, Outcome::kFailed);
  const StorageResult result = put(&bucket, "a", "bytes");
  EXPECT_EQ(result.outcome, Outcome::kFailed);
  EXPECT_THAT(result.status.message(),
              StartsWith("PUT s3://runs/exp/a: got a success without an ETag from http"));
}

TEST_F(BucketTest, ReadsNoOtherObjectOfAServerThatIgnoresConditions) {
  MemoryBucket::Manner manner;
  manner.knowsConditions = false;
  server_.behave(manner);
  server_.store("exp/a", "bytes");
  Bucket bucket = this->bucket();
  EXPECT_EQ(get(&bucket, "a", 0, "another").outcome, Outcome::kChanged);
  EXPECT_EQ(get(&bucket, "a", 2, "another").outcome, Outcome::kChanged);
  EXPECT_EQ(read_, "");
  server_.store("exp/a", "");
  EXPECT_EQ(get(&bucket, "a", 0, "another").outcome, Outcome::kChanged);
}

TEST_F(BucketTest, FailsWhereNobodyListens) {
  {
    const LoopbackServer gone([](const LoopbackRequest&) { return LoopbackAnswer(); });
    settings_.endpointUrl = gone.url();
  }
  Bucket bucket = this->bucket();
  const StorageResult result = list(&bucket);
  EXPECT_EQ(result.outcome, Outcome::kFailed);
  EXPECT_THAT(result.status.message(), AllOf(StartsWith("s3://runs/exp: "), HasSubstr("onnect")));
}

TEST_F(BucketTest, RefusesAnEndpointThatIsNone) {
  for (const char* const url : {"ftp://127.0.0.1", "http://127.0.0.1:x", "http://[::1"}) {
    settings_.endpointUrl = url;
    Bucket bucket = this->bucket();
    const StorageResult result = list(&bucket);
    EXPECT_EQ(result.outcome, Outcome::kRefused) << url << ": " << result.status.message();
  }
}

TEST_F(BucketTest, GivesUpAConnectionThatHangsInTheMiddleOfABody) {
  server_.store("exp/a", "0123456789");
  server_.setChange([](const LoopbackRequest&, LoopbackAnswer* answer) {
    answer->sentBytes = 4;
    answer->ending = LoopbackEnding::kHang;
  });
  options_.stallTimeout = std::chrono::seconds(1);
  Bucket bucket = this->bucket();
  EXPECT_EQ(get(&bucket, "a").outcome, Outcome::kFailed);
  EXPECT_EQ(read_, "0123");
  server_.setChange({});
  EXPECT_TRUE(get(&bucket, "a", read_.size()).isDone());
  EXPECT_EQ(read_, "456789");
}

TEST_F(BucketTest, GivesUpAServerThatDoesNotAnswer) {
  server_.setRule([](const LoopbackRequest&) { return LoopbackAnswer::hang(); });
  options_.stallTimeout = std::chrono::seconds(1);
  Bucket bucket = this->bucket();
  EXPECT_EQ(put(&bucket, "a", "bytes").outcome, Outcome::kFailed);
}

TEST_F(BucketTest, GivesUpAServerThatSendsAByteNowAndThen) {
  server_.setChange([](const LoopbackRequest&, LoopbackAnswer* answer) {
    answer->body = std::string(1 << 20, 'x');
    answer->pause = std::chrono::milliseconds(50);
  });
  options_.stallTimeout = std::chrono::seconds(1);
  Bucket bucket = this->bucket();
  const StorageResult result = list(&bucket);
  EXPECT_EQ(result.outcome, Outcome::kFailed);
  EXPECT_THAT(result.status.message(), HasSubstr("the connection hangs: "));
}

TEST_F(BucketTest, GivesUpAServerThatDoesNotTakeABody) {
  const LoopbackServer server([](const LoopbackRequest&) { return LoopbackAnswer(); },
                              [](const LoopbackRequest&) { return LoopbackEnding::kHang; });
  settings_.endpointUrl = server.url();
  options_.stallTimeout = std::chrono::seconds(1);
  Bucket bucket = this->bucket();
  EXPECT_EQ(put(&bucket, "a", std::string(std::size_t{8} << 20, 'x')).outcome, Outcome::kFailed);
}

TEST_F(BucketTest, FailsIfTheConnectionClosesInTheMiddleOfABody) {
  server_.store("exp/a", "0123456789");
  server_.setChange([](const LoopbackRequest&, LoopbackAnswer* answer) {
    answer->sentBytes = 4;
    answer->ending = LoopbackEnding::kClose;
  });
  Bucket bucket = this->bucket();
  EXPECT_EQ(get(&bucket, "a").outcome, Outcome::kFailed);
  EXPECT_EQ(read_, "0123");
  EXPECT_EQ(list(&bucket).outcome, Outcome::kFailed);
}

TEST_F(BucketTest, FailsIfTheConnectionClosesWithoutAnAnswer) {
  server_.setRule([](const LoopbackRequest&) { return LoopbackAnswer::close(); });
  Bucket bucket = this->bucket();
  EXPECT_EQ(put(&bucket, "a", "bytes").outcome, Outcome::kFailed);
  EXPECT_EQ(list(&bucket).outcome, Outcome::kFailed);
}

TEST_F(BucketTest, SendsABodyAgainIfItsConnectionHadBeenIdleForTooLong) {
  Bucket bucket = this->bucket();
  EXPECT_TRUE(put(&bucket, "a", "first").isDone());
  bool isClosed = false;
  server_.setRule([&isClosed](const LoopbackRequest&) -> Answer {
    // As a server whose limit ends while the request is under way.
    const bool closes = !isClosed;
    isClosed = true;
    return closes ? Answer(LoopbackAnswer::close()) : std::nullopt;
  });
  const StorageResult result = put(&bucket, "b", "second");
  EXPECT_TRUE(result.isDone()) << result.status.message();
  EXPECT_EQ(server_.contents()["exp/b"], "second");
}

TEST_F(BucketTest, EndsATransferWhenItIsStopped) {
  const auto stop = std::make_shared<std::atomic<bool>>(false);
  options_.stop = [stop] { return stop->load(); };
  server_.setRule([](const LoopbackRequest&) { return LoopbackAnswer::hang(); });
  Bucket bucket = this->bucket();
  std::thread stopper([&] {
    server_.server().waitForRequests(1);
    stop->store(true);
  });
  EXPECT_EQ(list(&bucket).outcome, Outcome::kFailed);
  stopper.join();
  int reads = 0;
  ObjectBody body = ObjectBody::of("bytes");
  body.read = [&reads](std::uint64_t, char*, std::size_t) -> std::size_t { return ++reads; };
  EXPECT_EQ(bucket.put("a", body, "", &etag_).outcome, Outcome::kFailed) << "nor is one begun";
  EXPECT_EQ(reads, 0) << "which takes a while for a large file";
}

TEST_F(BucketTest, FailsIfTheFileBecomesShorter) {
  ObjectBody body;
  body.bytes = 10;
  std::size_t left = 7;
  body.read = [&left](std::uint64_t, char* out, std::size_t most) {
    const std::size_t bytes = std::min(most, left);
    std::fill(out, out + bytes, 'x');
    left -= bytes;
    return bytes;
  };
  Bucket bucket = this->bucket();
  const StorageResult result = bucket.put("a", body, "", &etag_);
  EXPECT_EQ(result.outcome, Outcome::kFailed);
  EXPECT_THAT(result.status.message(),
              HasSubstr("the file to send cannot be read, or has become shorter"));
  left = 15;  // while it is sent
  EXPECT_EQ(bucket.put("a", body, "", &etag_).outcome, Outcome::kFailed);
  EXPECT_THAT(server_.contents(), SizeIs(0));
}

TEST_F(BucketTest, RefusesWithoutKeys) {
  settings_.accessKeyId.clear();
  settings_.secretAccessKey.clear();
  Bucket bucket = this->bucket();
  const StorageResult result = list(&bucket);
  EXPECT_EQ(result.outcome, Outcome::kRefused);
  EXPECT_THAT(result.status.message(),
              StartsWith("s3://runs/exp: credentials for S3: got none in the environment"));
  EXPECT_THAT(server_.requests(), SizeIs(0));
}

TEST_F(BucketTest, SaysNoSecretInAnError) {
  settings_.secretAccessKey = "HUSH";
  settings_.sessionToken = "HUSH-T";
  server_.setRule(
      [](const LoopbackRequest&) { return MemoryBucket::error(403, "SignatureDoesNotMatch"); });
  Bucket bucket = this->bucket();
  EXPECT_THAT(put(&bucket, "a", "x").status.message(), Not(HasSubstr("HUSH")));
}

}  // namespace
}  // namespace steptape::detail::storage
