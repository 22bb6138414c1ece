// SPDX-License-Identifier: Apache-2.0
#include "storage/s3/aws_settings.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <cstdlib>
#include <initializer_list>
#include <pwd.h>
#include <unistd.h>

#include "base/text.h"
#include "storage/s3/profile_file.h"

namespace steptape::detail::storage {
namespace {

constexpr const char* kIpv6MetadataEndpoint = "http://[fd00:ec2::254]";

std::string variable(const std::string& name) {
  const char* const value = std::getenv(name.c_str());
  return value != nullptr ? value : "";
}

std::string firstOf(std::initializer_list<std::string> values) {
  for (const std::string& value : values) {
    if (!value.empty()) {
      return value;
    }
  }
  return {};
}

bool isWord(const std::string& text, std::string_view lowerCaseWord) {
  return std::equal(text.begin(), text.end(), lowerCaseWord.begin(), lowerCaseWord.end(),
                    [](unsigned char a, char b) { return std::tolower(a) == b; });
}

std::string withoutSlash(std::string url) {
  url.erase(url.find_last_not_of('/') + 1);
  return url;
}

/// Returns the folder of the user, also in a job that was started without an environment.
std::string homeFolder() {
  std::string home = variable("HOME");
  if (!home.empty()) {
    return home;
  }
  std::array<char, 4096> bytes{};
  passwd entry{};
  passwd* found = nullptr;
  ::getpwuid_r(::getuid(), &entry, bytes.data(), bytes.size(), &found);
  return found != nullptr ? found->pw_dir : "";
}

std::string withHome(const std::string& path) {
  return path == "~" || base::startsWith(path, "~/") ? homeFolder() + path.substr(1) : path;
}

}  // namespace

AwsSettings AwsSettings::fromEnvironment() {
  AwsSettings settings;
  settings.accessKeyId = variable("AWS_ACCESS_KEY_ID");
  settings.secretAccessKey = variable("AWS_SECRET_ACCESS_KEY");
  settings.sessionToken = firstOf({variable("AWS_SESSION_TOKEN"), variable("AWS_SECURITY_TOKEN")});
  settings.profile =
      firstOf({variable("AWS_PROFILE"), variable("AWS_DEFAULT_PROFILE"), settings.profile});
  settings.credentialsFile =
      withHome(firstOf({variable("AWS_SHARED_CREDENTIALS_FILE"), "~/.aws/credentials"}));
  settings.configFile = withHome(firstOf({variable("AWS_CONFIG_FILE"), "~/.aws/config"}));

  const ProfileFiles files = ProfileFiles::read(settings.credentialsFile, settings.configFile);
  const ProfileSection profile = files.settingsOf(settings.profile);
  const auto choose = [&profile](const char* name, const char* setting) {
    return firstOf({variable(name), settingIn(profile, setting)});
  };
  settings.region = firstOf({variable("AWS_REGION"), choose("AWS_DEFAULT_REGION", "region")});
  const auto isOn = [&choose](const char* name, const char* setting) {
    return isWord(choose(name, setting), "true");
  };
  settings.variant = {isOn("AWS_USE_FIPS_ENDPOINT", "use_fips_endpoint"),
                      isOn("AWS_USE_DUALSTACK_ENDPOINT", "use_dualstack_endpoint")};
  settings.certificates = choose("AWS_CA_BUNDLE", "ca_bundle");

  if (!isOn("AWS_IGNORE_CONFIGURED_ENDPOINT_URLS", "ignore_configured_endpoint_urls")) {
    const std::string servicesName = settingIn(profile, "services");
    const ProfileSection services = files.servicesOf(servicesName);
    const auto endpoint = [&](const char* name, const char* setting) {
      return withoutSlash(
          firstOf({variable(name), variable("AWS_ENDPOINT_URL"), settingIn(services, setting),
                   settingIn(profile, "endpoint_url")}));
    };
    settings.endpointUrl = firstOf({endpoint("AWS_ENDPOINT_URL_S3", "s3.endpoint_url"),
                                    withoutSlash(variable("S3_ENDPOINT"))});
    settings.stsEndpointUrl = endpoint("AWS_ENDPOINT_URL_STS", "sts.endpoint_url");
    const bool isChosen =
        !firstOf({variable("AWS_ENDPOINT_URL_S3"), variable("AWS_ENDPOINT_URL")}).empty();
    settings.missingServices = services.empty() && !isChosen ? servicesName : "";
  }

  settings.containerRelativeUri = variable("AWS_CONTAINER_CREDENTIALS_RELATIVE_URI");
  settings.containerFullUri = variable("AWS_CONTAINER_CREDENTIALS_FULL_URI");
  settings.containerToken = variable("AWS_CONTAINER_AUTHORIZATION_TOKEN");
  settings.containerTokenFile = variable("AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE");

  settings.webIdentityTokenFile = choose("AWS_WEB_IDENTITY_TOKEN_FILE", "web_identity_token_file");
  settings.roleArn = settings.webIdentityTokenFile.empty() ? variable("AWS_ROLE_ARN")
                                                           : choose("AWS_ROLE_ARN", "role_arn");
  settings.roleSessionName = choose("AWS_ROLE_SESSION_NAME", "role_session_name");

  settings.isMetadataDisabled = isWord(variable("AWS_EC2_METADATA_DISABLED"), "true");
  const bool isIpv6 =
      isWord(choose("AWS_EC2_METADATA_SERVICE_ENDPOINT_MODE", "ec2_metadata_service_endpoint_mode"),
             "ipv6");
  settings.metadataEndpoint = withoutSlash(
      firstOf({choose("AWS_EC2_METADATA_SERVICE_ENDPOINT", "ec2_metadata_service_endpoint"),
               isIpv6 ? kIpv6MetadataEndpoint : settings.metadataEndpoint}));
  return settings;
}

}  // namespace steptape::detail::storage
