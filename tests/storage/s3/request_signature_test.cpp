// SPDX-License-Identifier: Apache-2.0
#include "storage/s3/request_signature.h"

#include <map>
#include <string>
#include <string_view>

#include "base/sha256.h"

#include <gtest/gtest.h>

namespace steptape::detail::storage {
namespace {

/// The requests of "Authenticating Requests: Using the Authorization Header (AWS Signature Version
/// 4)" in AWS's reference of S3, with the signatures that it prints.
class ExampleOfAws : public ::testing::Test {
 protected:
  ExampleOfAws() {
    parts_.method = "GET";
    parts_.path = "/";
    parts_.headers = {{"host", "examplebucket.s3.amazonaws.com"},
                      {"x-amz-date", "20130524T000000Z"}};
    setBody("");
  }

  void setBody(std::string_view body) {
    parts_.payloadHash = base::hexadecimal(base::sha256(body));
    parts_.headers["x-amz-content-sha256"] = parts_.payloadHash;
  }
  std::string signedParts() const {
    Credentials keys;
    keys.accessKeyId = "AKIAIOSFODNN7EXAMPLE";
    keys.secretAccessKey = "wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY";
    return authorization(parts_, keys, "us-east-1");
  }
  std::string signature() const {
    const std::string value = signedParts();
    return value.substr(value.rfind('=') + 1);
  }

  SignedParts parts_;
};

TEST_F(ExampleOfAws, ReadsTheStartOfAnObject) {
  parts_.path = "/test.txt";
  parts_.headers["range"] = "bytes=0-9";
  EXPECT_EQ(signedParts(),
            "AWS4-HMAC-SHA256 Credential=AKIAIOSFODNN7EXAMPLE/20130524/us-east-1/s3/aws4_request,"
            "SignedHeaders=host;range;x-amz-content-sha256;x-amz-date,"
            "Signature=f0e8bdb87c964420e857bd35b5d6ed310bd44f0170aba48dd91039c6036bdb41");
}

TEST_F(ExampleOfAws, StoresAnObjectOfAStorageClass) {
  parts_.method = "PUT";
  parts_.path = "/test%24file.text";
  parts_.headers["date"] = "Fri, 24 May 2013 00:00:00 GMT";
  parts_.headers["x-amz-storage-class"] = "REDUCED_REDUNDANCY";
  setBody("Welcome to Amazon S3.");
  EXPECT_EQ(parts_.payloadHash, "44ce7dd67c959e0d3524ffac1771dfbba87d2b6b4b4e99e42034a8b803f8b072");
  EXPECT_EQ(signature(), "98ad721746da40c64f1a55b78f14c238d841ea1380cd77a1b5971af0ece108bd");
}

TEST_F(ExampleOfAws, AsksWithANameThatHasNoValue) {
  parts_.query = {{"lifecycle", ""}};
  EXPECT_EQ(signature(), "fea454ca298b7da1c68078a5d1bdbfbbe0d65c699e0f91ac7a200a0136783543");
}

TEST_F(ExampleOfAws, ListsObjects) {
  parts_.query = {{"prefix", "J"}, {"max-keys", "2"}};
  EXPECT_EQ(signature(), "34b48302e7b5fa45bde8084f4b7868a86f0a534bc59db6670ed5711ef69dc6f7");
}

TEST(QueryText, EncodesNamesAndValuesAlsoTheirSlashes) {
  EXPECT_EQ(queryText({}), "");
  EXPECT_EQ(queryText({{"prefix", "runs/a b=c&d+e%25\xc3\xa9"}, {"list-type", "2"}}),
            "list-type=2&prefix=runs%2Fa%20b%3Dc%26d%2Be%2525%C3%A9");
}

TEST(AmazonDate, IsInUtcWithoutFractions) {
  EXPECT_EQ(amazonDate(1369353600), "20130524T000000Z");
  EXPECT_EQ(amazonDate(1369353599.999), "20130523T235959Z");
}

}  // namespace
}  // namespace steptape::detail::storage
