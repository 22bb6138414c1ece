// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "storage/http/http_client.h"
#include "storage/s3/aws_settings.h"

namespace steptape::detail::storage {

/// The region of buckets for which none is set.
inline constexpr const char* kDefaultRegion = "us-east-1";

/// Returns the URL of AWS's servers of a service in a region, as botocore 1.44.8 chooses it.
///
/// @param service "s3" or "sts".
std::string endpointOfRegion(const std::string& service, const std::string& region,
                             const EndpointVariant& variant);

/// Returns the region of a bucket, if an answer tells it because it refuses a request to another
/// one; else empty.
std::string regionToldBy(const HttpResponse& response);

}  // namespace steptape::detail::storage
