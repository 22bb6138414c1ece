// SPDX-License-Identifier: Apache-2.0
#include "storage/s3/region.h"

#include <array>

#include "base/text.h"
#include "storage/s3/xml_text.h"

namespace steptape::detail::storage {
namespace {

/// Regions with domains of their own.
/// @source https://github.com/boto/botocore/blob/develop/botocore/data/partitions.json
struct Partition {
  const char* prefix;
  const char* domain;
  const char* dualStackDomain;
};
constexpr std::array<Partition, 6> kPartitions{{
    {"cn-", "amazonaws.com.cn", "api.amazonwebservices.com.cn"},
    {"eusc-", "amazonaws.eu", "api.amazonwebservices.eu"},
    {"us-iso-", "c2s.ic.gov", "api.aws.ic.gov"},
    {"us-isob-", "sc2s.sgov.gov", "api.aws.scloud"},
    {"eu-isoe-", "cloud.adc-e.uk", "api.cloud-aws.adc-e.uk"},
    {"us-isof-", "csp.hci.ic.gov", "api.aws.hci.ic.gov"},
}};
constexpr Partition kUsual{"", "amazonaws.com", "api.aws"};

const Partition& partitionOf(const std::string& region) {
  for (const Partition& partition : kPartitions) {
    if (base::startsWith(region, partition.prefix)) {
      return partition;
    }
  }
  return kUsual;
}

}  // namespace

std::string endpointOfRegion(const std::string& service, const std::string& region,
                             const EndpointVariant& variant) {
  const Partition& partition = partitionOf(region);
  const bool isS3 = service == "s3";
  // All servers of STS in these regions are validated, and have one name.
  const bool isFips =
      variant.isFips && (isS3 || variant.isDualStack || !base::startsWith(region, "us-gov-"));
  std::string url = "https://" + service + (isFips ? "-fips." : ".");
  url += variant.isDualStack && isS3 ? "dualstack." : "";
  url += region + '.';
  url += variant.isDualStack && !isS3 ? partition.dualStackDomain : partition.domain;
  return url;
}

std::string regionToldBy(const HttpResponse& response) {
  const bool isElsewhere = response.status == 301 || response.status == 307 ||
                           response.status == 400 || response.status == 403;
  if (!isElsewhere) {
    return {};
  }
  const std::string inBody = elementText(response.body, "Region");
  return inBody.empty() ? response.header("x-amz-bucket-region") : inBody;
}

}  // namespace steptape::detail::storage
