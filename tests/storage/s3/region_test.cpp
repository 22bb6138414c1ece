// SPDX-License-Identifier: Apache-2.0
#include "storage/s3/region.h"

#include <string>

#include <gtest/gtest.h>

namespace steptape::detail::storage {
namespace {

HttpResponse answer(int status, const std::string& body, const std::string& header = "") {
  HttpResponse response;
  response.status = status;
  response.body = body;
  if (!header.empty()) {
    response.headers["x-amz-bucket-region"] = header;
  }
  return response;
}

TEST(Region, HasServersOfItsOwn) {
  EXPECT_EQ(endpointOfRegion("eu-central-1"), "https://s3.eu-central-1.amazonaws.com");
  EXPECT_EQ(endpointOfRegion("us-gov-west-1"), "https://s3.us-gov-west-1.amazonaws.com");
  EXPECT_EQ(endpointOfRegion("cn-north-1"), "https://s3.cn-north-1.amazonaws.com.cn");
}

TEST(Region, IsToldByTheServerOfAnother) {
  const std::string malformed =
      "<Error><Code>AuthorizationHeaderMalformed</Code><Region>eu-west-1</Region></Error>";
  EXPECT_EQ(regionToldBy(answer(400, malformed)), "eu-west-1");
  EXPECT_EQ(regionToldBy(answer(301, "<Error><Code>PermanentRedirect</Code></Error>", "eu-west-1")),
            "eu-west-1");
  EXPECT_EQ(regionToldBy(answer(307, "", "eu-west-1")), "eu-west-1");
}

TEST(Region, IsToldInTheAnswerToAHeadWhichHasNoBody) {
  EXPECT_EQ(regionToldBy(answer(400, "", "eu-west-1")), "eu-west-1");
  EXPECT_EQ(regionToldBy(answer(301, "", "eu-west-1")), "eu-west-1");
  EXPECT_EQ(regionToldBy(answer(403, "", "eu-west-1")), "eu-west-1");
}

TEST(Region, IsNotThatOfAnObjectWithThisText) {
  EXPECT_EQ(regionToldBy(answer(200, "<Region>eu-west-1</Region>", "eu-west-1")), "");
  EXPECT_EQ(regionToldBy(answer(404, "", "eu-west-1")), "");
  EXPECT_EQ(regionToldBy(answer(403, "<Error><Code>AccessDenied</Code></Error>")), "");
}

}  // namespace
}  // namespace steptape::detail::storage
