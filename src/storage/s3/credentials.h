// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <limits>
#include <string>

#include "steptape/base/clock.h"
#include "steptape/base/export.h"
#include "steptape/base/status.h"

#include "storage/http/http_client.h"
#include "storage/s3/aws_settings.h"

namespace steptape::detail::storage {

struct Credentials {
  std::string accessKeyId;
  std::string secretAccessKey;
  std::string sessionToken;  ///< Empty: none.
  /// Seconds since 1970 at which they end.
  double expires = std::numeric_limits<double>::infinity();
};

/// Finds the keys in the order of AWS's tools: environment, web identity, profile files, container,
/// instance. Keys that end are replaced five minutes before; until they end, they are kept if their
/// place gives no new ones, and it is asked again a minute later.
///
/// Not followed are roles of a profile (`role_arn` without a web identity) and its single sign-on:
/// the error says how AWS's own tool gives such keys.
///
/// @threads Not thread-safe: one thread at a time.
/// @source  https://docs.aws.amazon.com/sdkref/latest/guide/standardized-credentials.html
class STEPTAPE_EXPORT CredentialSource {
 public:
  /// @param http Outlives this object.
  CredentialSource(AwsSettings settings, HttpClient* http, const Clock& clock = Clock::system());

  /// Gets the keys: from memory if they are still good.
  ///
  /// @return kFailedPrecondition with all places that were looked at and what each lacked, if there
  ///         are none, and if what a place says must be corrected; kIoError if a place that has or
  ///         had some gives none now. No message holds a secret.
  /// @cost   Without memory: reads both files, and may run a program for a minute. A place of the
  ///         network is asked twice; without any keys, a machine that is not on AWS waits 2 s.
  Status get(Credentials* credentials);

  /// Makes the next get() look again: the server has refused the keys.
  void forget() { isRefused_ = true; }

 private:
  Status find(Credentials* found);

  const AwsSettings settings_;
  HttpClient* const http_;
  const Clock& clock_;
  Credentials kept_;
  bool hasKeys_ = false;    // kept_ was once filled
  bool isRefused_ = false;  // kept_ is not good
  double nextLook_ = 0;     // in seconds since 1970
};

}  // namespace steptape::detail::storage
