// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>

#include "steptape/base/clock.h"
#include "steptape/base/status.h"

#include "storage/http/http_client.h"
#include "storage/own_aws_environment.h"
#include "storage/s3/aws_settings.h"
#include "storage/s3/credentials.h"

#include <gmock/gmock.h>

namespace steptape::detail::storage {

/// A clock whose time the test sets.
class SettableClock final : public Clock {
 public:
  double wallSeconds() const override { return wall; }
  std::int64_t steadyNanos() const override { return 0; }

  double wall = 1'795'953'600;  // 2026-11-29T12:00:00Z
};

/// Looks for keys in an environment of its own. Secrets in these tests contain "HUSH".
class CredentialsTest : public ::testing::Test {
 protected:
  /// Returns the access key that a new source finds, or "<code>: <message>".
  std::string find() {
    CredentialSource source(AwsSettings::fromEnvironment(), &http_, clock_);
    return ask(&source);
  }
  std::string ask(CredentialSource* source) {
    const Status status = source->get(&keys_);
    EXPECT_THAT(status.message(), ::testing::Not(::testing::HasSubstr("HUSH")));
    EXPECT_THAT(status.message(), ::testing::Not(::testing::HasSubstr("\n")));
    return status.ok() ? keys_.accessKeyId
                       : std::string(errorCodeName(status.code())) + ": " + status.message();
  }

  test::OwnAwsEnvironment environment_;
  SettableClock clock_;
  HttpClient http_{{}};
  Credentials keys_;  // of the last answer
};

}  // namespace steptape::detail::storage
