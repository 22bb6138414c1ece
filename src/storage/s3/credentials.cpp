// SPDX-License-Identifier: Apache-2.0
#include "storage/s3/credentials.h"

#include <algorithm>
#include <array>
#include <functional>
#include <utility>

#include "base/got_expected.h"
#include "storage/s3/credential_places.h"
#include "storage/s3/profile_file.h"

namespace steptape::detail::storage {
namespace {

constexpr double kRenewBeforeEnd = 300;    // seconds
constexpr double kPauseBetweenLooks = 60;  // seconds
constexpr const char* kWhatFailed = "credentials for S3: ";

struct KeyPlace {
  std::string name;
  std::function<Finding()> look;
};

Status credentialError(ErrorCode code, const std::string& problem) {
  return {code, kWhatFailed + problem};
}

/// @return what is wrong with the choice of the profile.
Status checkChoice(const AwsSettings& settings, const ProfileFiles& files) {
  const std::string places = files.credentialsPath + " and " + files.configPath;
  if (settings.profile != AwsSettings().profile && !files.has(settings.profile)) {
    return credentialError(ErrorCode::kFailedPrecondition,
                           base::gotExpected("the profile " + base::quoted(settings.profile) +
                                                 " of AWS_PROFILE or AWS_DEFAULT_PROFILE",
                                             "a profile of " + places + ": " + files.names()));
  }
  if (!settings.missingServices.empty()) {
    return credentialError(
        ErrorCode::kFailedPrecondition,
        "profile " + base::quoted(settings.profile) + ": " +
            base::gotExpected("services = " + base::quoted(settings.missingServices),
                              "the name of a section [services ...] in " + files.configPath));
  }
  return {};
}

bool isPlain(const std::string& text) {
  return std::all_of(text.begin(), text.end(), [](char c) { return c > ' ' && c <= '~'; });
}

/// @return which of the keys could not be sent in a header; empty if all can.
std::string unusableKey(const Credentials& keys) {
  return !isPlain(keys.accessKeyId)       ? "access key"
         : !isPlain(keys.secretAccessKey) ? "secret access key"
         : !isPlain(keys.sessionToken)    ? "session token"
                                          : "";
}

}  // namespace

Finding lookAtEnvironment(const AwsSettings& settings) {
  const bool hasId = !settings.accessKeyId.empty();
  if (hasId != !settings.secretAccessKey.empty()) {
    const std::string id = "AWS_ACCESS_KEY_ID";
    const std::string secret = "AWS_SECRET_ACCESS_KEY";
    return Finding::refused(
        base::gotExpected((hasId ? id : secret) + " without " + (hasId ? secret : id), "both"));
  }
  return hasId ? Finding::found(
                     {settings.accessKeyId, settings.secretAccessKey, settings.sessionToken})
               : Finding::lacking("AWS_ACCESS_KEY_ID is not set");
}

CredentialSource::CredentialSource(AwsSettings settings, HttpClient* http, const Clock& clock)
    : settings_(std::move(settings)), http_(http), clock_(clock) {}

Status CredentialSource::get(Credentials* credentials) {
  const double now = clock_.wallSeconds();
  const bool isKept = hasKeys_ && !isRefused_;
  if (isKept && now < nextLook_) {
    *credentials = kept_;
    return {};
  }
  Credentials fresh;
  Status status = find(&fresh);
  if (status.ok()) {
    kept_ = std::move(fresh);
    hasKeys_ = true;
    isRefused_ = false;
  } else if (!isKept || now >= kept_.expires) {
    // What a place once had may come back.
    return hasKeys_ ? Status(ErrorCode::kIoError, status.message()) : status;
  }
  // Keys that have ended already, by a clock that is wrong, are the server's to judge.
  const double pauseEnd = now + kPauseBetweenLooks;
  nextLook_ = std::max(kept_.expires - kRenewBeforeEnd,
                       now < kept_.expires ? std::min(pauseEnd, kept_.expires) : pauseEnd);
  *credentials = kept_;
  return {};
}

Status CredentialSource::find(Credentials* found) {
  const ProfileFiles files = ProfileFiles::read(settings_.credentialsFile, settings_.configFile);
  if (Status problem = checkChoice(settings_, files); !problem.ok()) {
    return problem;
  }
  const std::array<KeyPlace, 5> places{
      {{"the environment", [&] { return lookAtEnvironment(settings_); }},
       {"a web identity", [&] { return lookAtWebIdentity(settings_, http_, clock_); }},
       {"profile " + base::quoted(settings_.profile),
        [&] { return lookAtProfile(settings_, files); }},
       {"a container", [&] { return lookAtContainer(settings_, http_); }},
       {"the instance", [&] { return lookAtInstance(settings_, http_); }}}};
  std::string lacks;
  for (const KeyPlace& place : places) {
    Finding finding = place.look();
    if (!finding.failure.ok()) {
      return credentialError(finding.failure.code(), place.name + ": " + finding.failure.message());
    }
    if (finding.keys) {
      *found = std::move(*finding.keys);
      const std::string unusable = unusableKey(*found);
      return unusable.empty()
                 ? Status()
                 : credentialError(
                       ErrorCode::kFailedPrecondition,
                       place.name + ": the " + unusable + ": " +
                           base::gotExpected("a space, an end of line or another such character",
                                             "letters, digits and punctuation alone"));
    }
    lacks += (lacks.empty() ? "" : ", ") + place.name + " (" + finding.lack + ")";
  }
  return credentialError(ErrorCode::kFailedPrecondition,
                         base::gotExpected("none in " + lacks, "keys in one of these places"));
}

}  // namespace steptape::detail::storage
