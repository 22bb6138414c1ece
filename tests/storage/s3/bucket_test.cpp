// SPDX-License-Identifier: Apache-2.0
#include "storage/s3/bucket.h"

#include <optional>
#include <string>
#include <vector>

#include "storage/s3/bucket_fixture.h"

#include <gmock/gmock.h>

namespace steptape::detail::storage {
namespace {

using test::LoopbackAnswer;
using test::LoopbackRequest;
using test::MemoryBucket;
using ::testing::ElementsAre;
using ::testing::ElementsAreArray;
using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

const std::vector<std::string> kOddNames{
    "a b",       "a%20b",   "a%2Fb",           "a+b",
    "a//b",      "a=b&c;d", "lr=0.1,seed=2/x", "na\xc3\xafve \xe2\x82\xac",
    "~-._!'()*", "#?:@[]",  "<&amp;>",         "\"\\^`{|}$",
    "./..x",     "100%"};

TEST_F(BucketTest, KeepsEveryNameAsItIs) {
  Bucket bucket = this->bucket();
  std::vector<std::string> keys;
  std::vector<std::string> lines;
  for (const std::string& name : kOddNames) {
    EXPECT_TRUE(put(&bucket, name, name).isDone()) << name;
    EXPECT_TRUE(get(&bucket, name).isDone()) << name;
    EXPECT_EQ(read_, name);
    EXPECT_TRUE(bucket.head(name, &head_).isDone()) << name;
    EXPECT_EQ(head_.bytes, name.size());
    EXPECT_EQ(server_.contents().count("exp/" + name), 1U) << name;
    lines.push_back(name + ' ' + std::to_string(name.size()));
  }
  EXPECT_EQ(server_.objects().size(), kOddNames.size());
  EXPECT_TRUE(list(&bucket).isDone());
  EXPECT_THAT(listed_, ::testing::UnorderedElementsAreArray(lines));
}

TEST_F(BucketTest, ListsNamesOfServersThatDoNotEncodeThem) {
  for (const std::string& name : kOddNames) {
    server_.store("exp/" + name, "");
  }
  MemoryBucket::Manner manner;
  manner.encodesKeys = false;
  server_.behave(manner);
  Bucket bucket = this->bucket();
  EXPECT_TRUE(list(&bucket).isDone());
  std::vector<std::string> lines;
  for (const std::string& name : kOddNames) {
    lines.push_back(name + " 0");
  }
  EXPECT_THAT(listed_, ::testing::UnorderedElementsAreArray(lines));
}

TEST_F(BucketTest, ListsPageAfterPage) {
  std::vector<std::string> lines;
  for (char c = 'a'; c <= 'g'; ++c) {
    server_.store(std::string("exp/") + c, std::string(static_cast<std::size_t>(c - 'a'), 'x'));
    lines.push_back(std::string(1, c) + ' ' + std::to_string(c - 'a'));
  }
  MemoryBucket::Manner manner;
  manner.pageSize = 3;
  server_.behave(manner);
  Bucket bucket = this->bucket();
  EXPECT_TRUE(list(&bucket).isDone());
  EXPECT_THAT(listed_, ElementsAreArray(lines));
  EXPECT_THAT(server_.requests(), ElementsAre("GET", "GET", "GET"));
}

TEST_F(BucketTest, ListsOnlyWhatIsBelowItsPrefix) {
  server_.store("exp", "x");
  server_.store("exp/", "");
  server_.store("exp/a", "x");
  server_.store("exp2/b", "x");
  server_.store("other", "x");
  Bucket bucket = this->bucket();
  EXPECT_TRUE(list(&bucket).isDone());
  EXPECT_THAT(listed_, ElementsAre("a 1"));
  Bucket whole = this->bucket("s3://runs");
  EXPECT_TRUE(list(&whole).isDone());
  EXPECT_THAT(listed_, ElementsAre("exp 1", "exp/ 0", "exp/a 1", "exp2/b 1", "other 1"));
}

TEST_F(BucketTest, ListsAnObjectOnceThatTheServerListsTwice) {
  server_.store("exp/a", "bytes");
  server_.setChange([](const LoopbackRequest&, LoopbackAnswer* answer) {
    const std::size_t begin = answer->body.find("<Contents>");
    const std::size_t end = answer->body.find("</Contents>") + 11;
    answer->body.insert(end, answer->body.substr(begin, end - begin));
  });
  Bucket bucket = this->bucket();
  EXPECT_TRUE(list(&bucket).isDone());
  EXPECT_THAT(listed_, ElementsAre("a 5"));
}

TEST_F(BucketTest, ListsNothingOfAnEmptyBucket) {
  Bucket bucket = this->bucket();
  EXPECT_TRUE(list(&bucket).isDone());
  EXPECT_THAT(listed_, IsEmpty());
}

TEST_F(BucketTest, RefusesAListWhoseEndTheServerDoesNotReach) {
  for (const char* const end :
       {"<NextContinuationToken>again</NextContinuationToken>", "<NextMarker>a</NextMarker>"}) {
    server_.forgetRequests();
    server_.setRule([end](const LoopbackRequest&) {
      LoopbackAnswer answer;
      answer.body = "<ListBucketResult><IsTruncated>true</IsTruncated>" + std::string(end) +
                    "<Contents><Key>exp/a</Key></Contents></ListBucketResult>";
      return answer;
    });
    Bucket bucket = this->bucket();
    const StorageResult result = list(&bucket);
    EXPECT_EQ(result.outcome, Outcome::kRefused);
    EXPECT_THAT(result.status.message(), HasSubstr("s3://runs/exp: got a part of a list"));
    EXPECT_LE(server_.requests().size(), 2U);
  }
}

TEST_F(BucketTest, RefusesAListWhosePartsGoRoundInACircle) {
  int part = 0;
  server_.setRule([&part](const LoopbackRequest&) {
    LoopbackAnswer answer;
    answer.body = "<ListBucketResult><IsTruncated>true</IsTruncated><NextContinuationToken>" +
                  std::to_string(part++ % 3) + "</NextContinuationToken></ListBucketResult>";
    return answer;
  });
  Bucket bucket = this->bucket();
  EXPECT_EQ(list(&bucket).outcome, Outcome::kRefused);
  EXPECT_EQ(server_.requests().size(), 4U);
}

TEST_F(BucketTest, StoresAndReadsMetadata) {
  Bucket bucket = this->bucket();
  ObjectBody body = ObjectBody::of("bytes");
  body.metadata["steptape-crc32c"] = "0x01234567";
  EXPECT_TRUE(bucket.put("a", body, "", &etag_).isDone());
  EXPECT_EQ(etag_, MemoryBucket::Object{"bytes"}.etag());
  EXPECT_TRUE(bucket.head("a", &head_).isDone());
  EXPECT_EQ(head_.metadata.at("steptape-crc32c"), "0x01234567");
  EXPECT_EQ(head_.etag, etag_);
  EXPECT_EQ(head_.bytes, 5U);
  head_ = {};
  EXPECT_TRUE(get(&bucket, "a").isDone());
  EXPECT_EQ(head_.metadata.at("steptape-crc32c"), "0x01234567");
  EXPECT_EQ(head_.etag, etag_);
}

TEST_F(BucketTest, StoresObjectsWithoutBytesAndLargeOnes) {
  Bucket bucket = this->bucket();
  EXPECT_TRUE(put(&bucket, "empty", "").isDone());
  EXPECT_TRUE(get(&bucket, "empty").isDone());
  EXPECT_EQ(read_, "");
  std::string large(std::size_t{3} << 20, '\0');
  for (std::size_t i = 0; i < large.size(); ++i) {
    large[i] = static_cast<char>(i * 7 >> 3);
  }
  EXPECT_TRUE(put(&bucket, "large", large).isDone());
  EXPECT_TRUE(get(&bucket, "large").isDone());
  EXPECT_TRUE(read_ == large);
}

TEST_F(BucketTest, StoresANewObjectOnlyWhereThereIsNone) {
  Bucket bucket = this->bucket();
  EXPECT_TRUE(put(&bucket, "a", "first").isDone());
  EXPECT_EQ(server_.server().requests().back().header("if-none-match"), "*");
  const StorageResult second = put(&bucket, "a", "second");
  EXPECT_EQ(second.outcome, Outcome::kChanged);
  EXPECT_THAT(second.status.message(),
              HasSubstr("PUT s3://runs/exp/a: got 412 PreconditionFailed (the reason) from " +
                        server_.server().url() + "; expected success"));
  EXPECT_EQ(server_.contents().at("exp/a"), "first");
}

TEST_F(BucketTest, ReplacesOnlyTheObjectThatItKnows) {
  Bucket bucket = this->bucket();
  EXPECT_TRUE(put(&bucket, "a", "first").isDone());
  const std::string first = etag_;
  EXPECT_TRUE(put(&bucket, "a", "second", first).isDone());
  EXPECT_EQ(server_.server().requests().back().header("if-match"), '"' + first + '"');
  EXPECT_EQ(put(&bucket, "a", "third", first).outcome, Outcome::kChanged);
  EXPECT_EQ(server_.contents().at("exp/a"), "second");
  server_.remove("exp/a");
  EXPECT_EQ(put(&bucket, "a", "third", first).outcome, Outcome::kMissing);
  EXPECT_THAT(server_.contents(), IsEmpty());
}

TEST_F(BucketTest, TellsAnObjectThatIsMissing) {
  Bucket bucket = this->bucket();
  EXPECT_EQ(bucket.head("a", &head_).outcome, Outcome::kMissing);
  EXPECT_EQ(get(&bucket, "a").outcome, Outcome::kMissing);
  EXPECT_EQ(read_, "") << "the text of the error is none of the object's";
}

TEST_F(BucketTest, RefusesABucketThatDoesNotExist) {
  Bucket bucket = this->bucket("s3://walks/exp");
  const StorageResult listed = list(&bucket);
  EXPECT_EQ(listed.outcome, Outcome::kRefused);
  EXPECT_EQ(listed.status.message(), "GET s3://walks: got 404 NoSuchBucket (the reason) from " +
                                         server_.server().url() + "; expected success");
  EXPECT_EQ(put(&bucket, "a", "x").outcome, Outcome::kRefused);
  EXPECT_EQ(get(&bucket, "a").outcome, Outcome::kRefused);
}

TEST_F(BucketTest, ReadsAnObjectFromAnOffset) {
  server_.store("exp/a", "0123456789");
  Bucket bucket = this->bucket();
  EXPECT_TRUE(get(&bucket, "a", 4).isDone());
  EXPECT_EQ(read_, "456789");
  EXPECT_EQ(server_.server().requests().back().header("range"), "bytes=4-");
  EXPECT_TRUE(get(&bucket, "a", 10).isDone()) << "its end";
  EXPECT_EQ(read_, "");
}

TEST_F(BucketTest, ReadsOnlyTheObjectThatItKnows) {
  server_.store("exp/a", "first");
  Bucket bucket = this->bucket();
  const std::string first = MemoryBucket::Object{"first"}.etag();
  EXPECT_TRUE(get(&bucket, "a", 2, first).isDone());
  server_.store("exp/a", "second");
  EXPECT_EQ(get(&bucket, "a", 2, first).outcome, Outcome::kChanged);
  EXPECT_EQ(read_, "");
}

TEST_F(BucketTest, RefusesTheWholeObjectInPlaceOfARange) {
  server_.store("exp/a", "0123456789");
  Bucket bucket = this->bucket();
  server_.setRule([](const LoopbackRequest&) {
    LoopbackAnswer answer;
    answer.headers = {"ETag: \"any\""};
    answer.body = "0123456789";
    return answer;
  });
  const StorageResult result = get(&bucket, "a", 4);
  EXPECT_EQ(result.outcome, Outcome::kRefused);
  EXPECT_EQ(result.status.message(), "s3://runs/exp/a: got the whole object from " +
                                         server_.server().url() +
                                         "; expected the range that was asked for");
  EXPECT_EQ(read_, "");
}

TEST_F(BucketTest, RefusesAnotherRange) {
  server_.store("exp/a", "0123456789");
  server_.setChange([](const LoopbackRequest&, LoopbackAnswer* answer) {
    answer->body = "3456789";
    answer->headers.back() = "Content-Range: bytes 3-9/10";
  });
  Bucket bucket = this->bucket();
  EXPECT_EQ(get(&bucket, "a", 4).outcome, Outcome::kRefused);
  EXPECT_EQ(read_, "");
}

TEST_F(BucketTest, TakesARangeThatIsCalledASuccess) {
  server_.store("exp/a", "0123456789");
  server_.setChange([](const LoopbackRequest&, LoopbackAnswer* answer) { answer->status = 200; });
  Bucket bucket = this->bucket();
  EXPECT_TRUE(get(&bucket, "a", 4).isDone());
  EXPECT_EQ(read_, "456789");
}

TEST_F(BucketTest, EndsATransferWhoseBytesAreNotWanted) {
  server_.store("exp/a", std::string(std::size_t{4} << 20, 'x'));
  Bucket bucket = this->bucket();
  int pieces = 0;
  const StorageResult result = bucket.get("a", 0, "", [&](std::string_view) {
    ++pieces;
    return false;
  });
  EXPECT_EQ(result.outcome, Outcome::kFailed);
  EXPECT_EQ(pieces, 1);
  EXPECT_TRUE(get(&bucket, "a").isDone()) << "the next request is a new one";
  EXPECT_EQ(read_.size(), std::size_t{4} << 20);
}

TEST_F(BucketTest, SendsTheTokenOfASession) {
  settings_.sessionToken = "TOKEN/+=";
  Bucket bucket = this->bucket();
  EXPECT_TRUE(list(&bucket).isDone());
  const LoopbackRequest request = server_.server().requests().back();
  EXPECT_EQ(request.header("x-amz-security-token"), "TOKEN/+=");
  EXPECT_THAT(request.header("authorization"), HasSubstr(";x-amz-security-token,Signature="));
}

TEST_F(BucketTest, IsBelowThePathOfItsEndpoint) {
  settings_.endpointUrl += "/storage/v1";
  Bucket bucket = this->bucket();
  EXPECT_EQ(list(&bucket).outcome, Outcome::kRefused);
  EXPECT_THAT(server_.server().requests().back().path(), "/storage/v1/runs/");
}

TEST_F(BucketTest, UsesOneConnection) {
  Bucket bucket = this->bucket();
  EXPECT_TRUE(put(&bucket, "a", "x").isDone());
  EXPECT_TRUE(put(&bucket, "b", std::string(std::size_t{1} << 20, 'x')).isDone());
  EXPECT_EQ(bucket.head("none", &head_).outcome, Outcome::kMissing);
  EXPECT_TRUE(get(&bucket, "b").isDone());
  EXPECT_TRUE(list(&bucket).isDone());
  EXPECT_EQ(server_.server().connections(), 1U);
}

TEST_F(BucketTest, SaysNothingUnreadableOfAServer) {
  server_.setRule([](const LoopbackRequest&) {
    LoopbackAnswer answer = MemoryBucket::error(403, "AccessDenied");
    answer.body = "<Error><Code>AccessDenied</Code><Message>\xff\xfe</Message></Error>";
    return answer;
  });
  Bucket bucket = this->bucket();
  EXPECT_THAT(list(&bucket).status.message(),
              HasSubstr("got 403 AccessDenied (\xef\xbf\xbd\xef\xbf\xbd) from "));
}

}  // namespace
}  // namespace steptape::detail::storage
