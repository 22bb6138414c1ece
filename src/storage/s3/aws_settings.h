// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "steptape/base/export.h"

namespace steptape::detail::storage {

/// Which of AWS's servers are meant.
struct EndpointVariant {
  bool isFips = false;       ///< Validated for FIPS 140.
  bool isDualStack = false;  ///< With IPv6.
};

/// What the environment and the profile files of AWS's tools say, for S3 and servers that speak its
/// protocol. Variables have precedence over a profile's settings, and an empty one is as if unset.
///
/// @source https://docs.aws.amazon.com/sdkref/latest/guide/settings-reference.html
struct STEPTAPE_EXPORT AwsSettings {
  std::string accessKeyId;          ///< AWS_ACCESS_KEY_ID
  std::string secretAccessKey;      ///< AWS_SECRET_ACCESS_KEY
  std::string sessionToken;         ///< AWS_SESSION_TOKEN, AWS_SECURITY_TOKEN
  std::string profile = "default";  ///< AWS_PROFILE, AWS_DEFAULT_PROFILE
  std::string credentialsFile;      ///< AWS_SHARED_CREDENTIALS_FILE; ~/.aws/credentials
  std::string configFile;           ///< AWS_CONFIG_FILE; ~/.aws/config
  std::string region;               ///< AWS_REGION, AWS_DEFAULT_REGION, `region`; may be empty
  /// Without a slash at its end: AWS_ENDPOINT_URL_S3, AWS_ENDPOINT_URL, `endpoint_url` of `s3` in
  /// the profile's `services`, `endpoint_url`. Empty: AWS itself, also if
  /// AWS_IGNORE_CONFIGURED_ENDPOINT_URLS or `ignore_configured_endpoint_urls` is true. Without
  /// any, S3_ENDPOINT, which TensorBoard and tensorboardX read.
  std::string endpointUrl;
  /// The `services` of the profile if they decide on the endpoint, but are not in the file:
  /// credentials will complain of them.
  std::string missingServices;
  /// AWS_USE_FIPS_ENDPOINT, `use_fips_endpoint`; AWS_USE_DUALSTACK_ENDPOINT,
  /// `use_dualstack_endpoint`. An endpointUrl has precedence.
  EndpointVariant variant;
  std::string certificates;          ///< AWS_CA_BUNDLE, `ca_bundle`; empty: the system's
  std::string containerRelativeUri;  ///< AWS_CONTAINER_CREDENTIALS_RELATIVE_URI
  std::string containerFullUri;      ///< AWS_CONTAINER_CREDENTIALS_FULL_URI
  std::string containerToken;        ///< AWS_CONTAINER_AUTHORIZATION_TOKEN
  std::string containerTokenFile;    ///< AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE
  std::string containerEndpoint = "http://169.254.170.2";  ///< Of the relative URI.
  std::string webIdentityTokenFile;  ///< AWS_WEB_IDENTITY_TOKEN_FILE, `web_identity_token_file`
  std::string roleArn;               ///< AWS_ROLE_ARN, `role_arn`; only with the file above
  std::string roleSessionName;       ///< AWS_ROLE_SESSION_NAME, `role_session_name`
  std::string stsEndpointUrl;        ///< As endpointUrl, for STS.
  bool isMetadataDisabled = false;   ///< AWS_EC2_METADATA_DISABLED
  /// AWS_EC2_METADATA_SERVICE_ENDPOINT, or the IPv6 address if
  /// AWS_EC2_METADATA_SERVICE_ENDPOINT_MODE is IPv6; settings of the profile likewise.
  std::string metadataEndpoint = "http://169.254.169.254";

  /// Reads them on the calling thread, because another thread's setenv() would be a data race.
  ///
  /// A file that is missing or cannot be read says nothing; a profile that was asked for by name
  /// and is in neither file is what credentials will complain of.
  static AwsSettings fromEnvironment();
};

}  // namespace steptape::detail::storage
