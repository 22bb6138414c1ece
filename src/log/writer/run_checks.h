// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cmath>
#include <string>

#include "base/got_expected.h"
#include "base/text.h"

namespace steptape::detail::log {

/// TensorBoard's fast data server stops reading a file at a NaN wall time.
/// @throws Error(kInvalidArgument) if it is not finite.
inline void checkWallTime(double wallTime) {
  if (!std::isfinite(wallTime)) {
    base::reject(std::to_string(wallTime), "finite seconds since 1970", "wallTime");
  }
}

/// @param advice For the URL of a bucket: what to do instead.
/// @throws Error(kInvalidArgument) for a URL, which would become a directory named "s3:".
inline void checkIsPath(const std::string& directory, const std::string& where,
                        const std::string& advice) {
  const std::size_t end = directory.find("://");
  const bool isUrl = end != std::string::npos && end > 0 && end < directory.find('/');
  if (isUrl) {
    const bool isBucket = base::startsWith(directory, "s3://");
    base::reject(base::quoted(directory), "a directory of this machine" + (isBucket ? advice : ""),
                 where);
  }
}

}  // namespace steptape::detail::log
