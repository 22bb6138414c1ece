// SPDX-License-Identifier: Apache-2.0
#include "storage/s3/region.h"

#include "base/text.h"
#include "storage/s3/xml_text.h"

namespace steptape::detail::storage {

std::string endpointOfRegion(const std::string& region) {
  return "https://s3." + region +
         (base::startsWith(region, "cn-") ? ".amazonaws.com.cn" : ".amazonaws.com");
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
