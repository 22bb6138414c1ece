// SPDX-License-Identifier: Apache-2.0
#include "storage/s3/bucket_url.h"

#include <string>

#include "support/expect_error.h"

#include <gtest/gtest.h>

namespace steptape::detail::storage {
namespace {

/// Returns "<bucket> <prefix>".
std::string partsOf(const std::string& text) {
  const BucketUrl url = parseBucketUrl(text, "mirror");
  return url.bucket + ' ' + url.prefix;
}

TEST(BucketUrl, HasABucketAndAPrefix) {
  EXPECT_EQ(partsOf("s3://runs"), "runs ");
  EXPECT_EQ(partsOf("s3://runs/"), "runs ");
  EXPECT_EQ(partsOf("s3://runs/lr=0.1/seed 1"), "runs lr=0.1/seed 1");
  EXPECT_EQ(partsOf("s3://My_runs.2026-11/x"), "My_runs.2026-11 x");
}

TEST(BucketUrl, HasNoSlashAtTheEndsOfItsPrefix) {
  EXPECT_EQ(partsOf("s3://runs//a//b//"), "runs a//b");
}

TEST(BucketUrl, TakesSignsThatHaveAMeaningInOtherUrlsAsTheyAre) {
  EXPECT_EQ(partsOf("s3://runs/a%20b?c#d+e"), "runs a%20b?c#d+e");
}

TEST(BucketUrl, NamesObjectsBelowItsPrefix) {
  const BucketUrl url = parseBucketUrl("s3://runs/exp", "mirror");
  EXPECT_EQ(url.keyOf("train/events"), "exp/train/events");
  EXPECT_EQ(url.urlOf("train/events"), "s3://runs/exp/train/events");
  EXPECT_EQ(url.urlOf(""), "s3://runs/exp");
  const BucketUrl whole = parseBucketUrl("s3://runs", "mirror");
  EXPECT_EQ(whole.keyOf("events"), "events");
  EXPECT_EQ(whole.urlOf("events"), "s3://runs/events");
  EXPECT_EQ(whole.urlOf(""), "s3://runs");
}

TEST(BucketUrl, RejectsWhatHasNoNameOfABucket) {
  for (const char* const text :
       {"", "runs", "/runs", "s3:/runs/exp", "S3://runs", "gs://runs", "s3://", "s3:///exp",
        "s3://ab/exp", "s3://-runs", "s3://runs-/exp", "s3://ru ns/exp", "s3://run\xc3\xa9/exp",
        "s3://key:secret@runs/exp", "s3://runs?x"}) {
    test::expectInvalidArgument(
        [&] { parseBucketUrl(text, "mirror"); },
        "mirror: got \"" + std::string(text) + "\"; expected s3://BUCKET or s3://BUCKET/PREFIX");
  }
  const std::string longest = "s3://" + std::string(63, 'a');
  EXPECT_EQ(parseBucketUrl(longest, "mirror").bucket.size(), 63U);
  EXPECT_THROW(parseBucketUrl(longest + 'a', "mirror"), Error);
}

TEST(BucketUrl, IsKnownByItsBeginning) {
  EXPECT_TRUE(isBucketUrl("s3://"));
  EXPECT_FALSE(isBucketUrl("s3:/x"));
  EXPECT_FALSE(isBucketUrl("runs/s3://x"));
}

TEST(UriEncoded, KeepsLettersDigitsAndFourSigns) {
  const std::string kept = "AZaz09-._~";
  EXPECT_EQ(uriEncoded(kept, false), kept);
  EXPECT_EQ(uriEncoded("a b+c=d&e%25/\xc3\xa9\x01", false), "a%20b%2Bc%3Dd%26e%2525%2F%C3%A9%01");
  EXPECT_EQ(uriEncoded("a/b//c d", true), "a/b//c%20d");
}

TEST(UriDecoded, GivesBackEveryByte) {
  std::string all;
  for (int byte = 0; byte < 256; ++byte) {
    all += static_cast<char>(byte);
  }
  EXPECT_EQ(uriDecoded(uriEncoded(all, false)), all);
  EXPECT_EQ(uriDecoded(uriEncoded(all, true)), all);
  EXPECT_EQ(uriDecoded("a+b%2bc"), "a b+c");
}

TEST(UriDecoded, KeepsAPercentThatBeginsNoByte) {
  EXPECT_EQ(uriDecoded("%"), "%");
  EXPECT_EQ(uriDecoded("100%"), "100%");
  EXPECT_EQ(uriDecoded("%4"), "%4");
  EXPECT_EQ(uriDecoded("%4g%zz%41"), "%4g%zzA");
}

}  // namespace
}  // namespace steptape::detail::storage
