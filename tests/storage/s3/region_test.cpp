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

std::string s3Of(const std::string& region, bool isFips = false, bool isDualStack = false) {
  return endpointOfRegion("s3", region, {isFips, isDualStack});
}

std::string stsOf(const std::string& region, bool isFips = false, bool isDualStack = false) {
  return endpointOfRegion("sts", region, {isFips, isDualStack});
}

// The names that botocore 1.44.8 sends requests to.
TEST(Region, HasServersOfItsOwn) {
  EXPECT_EQ(s3Of("eu-central-1"), "https://s3.eu-central-1.amazonaws.com");
  EXPECT_EQ(s3Of("us-gov-west-1"), "https://s3.us-gov-west-1.amazonaws.com");
  EXPECT_EQ(s3Of("cn-north-1"), "https://s3.cn-north-1.amazonaws.com.cn");
  EXPECT_EQ(s3Of("eusc-de-east-1"), "https://s3.eusc-de-east-1.amazonaws.eu");
  EXPECT_EQ(s3Of("us-iso-east-1"), "https://s3.us-iso-east-1.c2s.ic.gov");
  EXPECT_EQ(s3Of("us-isob-east-1"), "https://s3.us-isob-east-1.sc2s.sgov.gov");
  EXPECT_EQ(s3Of("eu-isoe-west-1"), "https://s3.eu-isoe-west-1.cloud.adc-e.uk");
  EXPECT_EQ(s3Of("us-isof-south-1"), "https://s3.us-isof-south-1.csp.hci.ic.gov");
  EXPECT_EQ(stsOf("eu-central-1"), "https://sts.eu-central-1.amazonaws.com");
  EXPECT_EQ(stsOf("eusc-de-east-1"), "https://sts.eusc-de-east-1.amazonaws.eu");
}

TEST(Region, HasValidatedServersAndSomeWithIpv6) {
  EXPECT_EQ(s3Of("us-east-1", true), "https://s3-fips.us-east-1.amazonaws.com");
  EXPECT_EQ(s3Of("eu-central-1", false, true), "https://s3.dualstack.eu-central-1.amazonaws.com");
  EXPECT_EQ(s3Of("cn-north-1", false, true), "https://s3.dualstack.cn-north-1.amazonaws.com.cn");
  EXPECT_EQ(s3Of("us-gov-west-1", true, true),
            "https://s3-fips.dualstack.us-gov-west-1.amazonaws.com");
  EXPECT_EQ(stsOf("us-east-1", true), "https://sts-fips.us-east-1.amazonaws.com");
  EXPECT_EQ(stsOf("eu-central-1", false, true), "https://sts.eu-central-1.api.aws");
  EXPECT_EQ(stsOf("cn-north-1", false, true),
            "https://sts.cn-north-1.api.amazonwebservices.com.cn");
  EXPECT_EQ(stsOf("us-gov-west-1", true), "https://sts.us-gov-west-1.amazonaws.com");
  EXPECT_EQ(stsOf("us-gov-west-1", true, true), "https://sts-fips.us-gov-west-1.api.aws");
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
