// SPDX-License-Identifier: Apache-2.0
#include "base/got_expected.h"
#include "storage/s3/credential_places.h"
#include "storage/s3/key_document.h"
#include "storage/s3/key_program.h"

namespace steptape::detail::storage {
namespace {

/// Looks at one of the files. `lack` is its reason if it has no keys.
Finding keysIn(const std::string& path, const std::string& unread, const ProfileFile& file,
               const std::string& profile) {
  const auto section = file.profiles.find(profile);
  if (section == file.profiles.end()) {
    return Finding::lacking(unread.empty() ? "no such profile in " + path : unread);
  }
  const std::string id = settingIn(section->second, "aws_access_key_id");
  const std::string secret = settingIn(section->second, "aws_secret_access_key");
  if (id.empty() && secret.empty()) {
    return Finding::lacking("no aws_access_key_id in " + path);
  }
  if (id.empty() || secret.empty()) {
    return Finding::refused(
        base::gotExpected((id.empty() ? "aws_secret_access_key without aws_access_key_id in "
                                      : "aws_access_key_id without aws_secret_access_key in ") +
                              path,
                          "both"));
  }
  const std::string token = settingIn(section->second, "aws_session_token");
  return Finding::found(
      {id, secret, token.empty() ? settingIn(section->second, "aws_security_token") : token});
}

Finding keysOfProgram(const std::string& command) {
  std::string output;
  Status status = runKeyProgram(command, &output);
  Credentials keys;
  if (status.ok()) {
    status = readKeyDocument(output, KeyDocument::kProgram, &keys);
  }
  return status.ok() ? Finding::found(std::move(keys))
                     : Finding::failed({status.code(), "credential_process: " + status.message()});
}

/// Returns the failure of a profile that only AWS's own tool can follow.
Finding notFollowed(const std::string& setting, const std::string& profile) {
  const std::string command = "aws configure export-credentials --profile " + profile;
  return Finding::refused(base::gotExpected(
      setting + ", which is not supported",
      "aws_access_key_id and aws_secret_access_key, or credential_process; run eval \"$(" +
          command + " --format env)\", or choose a profile with credential_process = " + command +
          " --format process"));
}

}  // namespace

Finding lookAtProfile(const AwsSettings& settings, const ProfileFiles& files) {
  const std::string& name = settings.profile;
  const ProfileSection section = files.settingsOf(name);
  // Its keys, if there are some, are those of another user, who may take the role.
  if (section.count("role_arn") != 0 && section.count("web_identity_token_file") == 0) {
    return notFollowed("role_arn", name);
  }
  Finding first = keysIn(files.credentialsPath, files.unreadCredentials, files.credentials, name);
  if (first.keys || !first.failure.ok()) {
    return first;
  }
  if (const std::string command = settingIn(section, "credential_process"); !command.empty()) {
    return keysOfProgram(command);
  }
  Finding second = keysIn(files.configPath, files.unreadConfig, files.config, name);
  if (second.keys || !second.failure.ok()) {
    return second;
  }
  for (const char* const setting : {"sso_session", "sso_start_url", "login_session"}) {
    if (section.count(setting) != 0) {
      return notFollowed(setting, name);
    }
  }
  return Finding::lacking(first.lack + ", " + second.lack);
}

}  // namespace steptape::detail::storage
