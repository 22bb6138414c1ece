// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <utility>

#include "steptape/base/clock.h"
#include "steptape/base/status.h"

#include "storage/http/http_client.h"
#include "storage/s3/aws_settings.h"
#include "storage/s3/credentials.h"
#include "storage/s3/profile_file.h"

namespace steptape::detail::storage {

// The places of keys. No message holds a secret, nor any text of a server that may repeat one.

/// What a place gave: keys, a failure, or neither.
struct Finding {
  std::optional<Credentials> keys;
  Status failure;    ///< The place is meant, but something is wrong with it.
  std::string lack;  ///< Why the place has no keys; nobody means it.

  static Finding found(Credentials keys) { return {std::move(keys), {}, {}}; }
  static Finding failed(Status failure) { return {std::nullopt, std::move(failure), {}}; }
  static Finding refused(std::string problem) {
    return failed({ErrorCode::kFailedPrecondition, std::move(problem)});
  }
  static Finding lacking(std::string lack) { return {std::nullopt, {}, std::move(lack)}; }
};

Finding lookAtEnvironment(const AwsSettings& settings);

/// Asks STS for a role, with the token of a file.
Finding lookAtWebIdentity(const AwsSettings& settings, HttpClient* http, const Clock& clock);

/// Keys of a profile, or of its `credential_process`.
Finding lookAtProfile(const AwsSettings& settings, const ProfileFiles& files);

/// The server that ECS or EKS gives to a container.
Finding lookAtContainer(const AwsSettings& settings, HttpClient* http);

/// The role of an EC2 instance: Instance Metadata Service version 2.
Finding lookAtInstance(const AwsSettings& settings, HttpClient* http);

/// Sends a request, and once more if the first answer may pass.
/// @return kIoError if there was no answer.
Status sendTwice(HttpClient* http, const HttpRequest& request, HttpResponse* response);

}  // namespace steptape::detail::storage
