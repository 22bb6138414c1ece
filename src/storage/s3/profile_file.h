// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <string>
#include <string_view>

namespace steptape::detail::storage {

/// Settings by their names in lower case. One of a block, such as `endpoint_url` below `s3 =`, is
/// "s3.endpoint_url".
using ProfileSection = std::map<std::string, std::string>;

/// A file of AWS's tools.
///
/// Read as these tools do, but more leniently: a line that is no setting is skipped, later settings
/// of a name replace earlier ones, and an unknown section is skipped.
///
/// @source https://docs.aws.amazon.com/sdkref/latest/guide/file-format.html
struct ProfileFile {
  enum class Kind {
    kCredentials,  ///< ~/.aws/credentials: each section is a profile, `[NAME]`.
    kConfig,       ///< ~/.aws/config: `[default]`, `[profile NAME]` and `[services NAME]`.
  };

  std::map<std::string, ProfileSection> profiles;
  std::map<std::string, ProfileSection> services;

  static ProfileFile parse(std::string_view text, Kind kind);
};

/// Both files.
struct ProfileFiles {
  std::string credentialsPath;
  std::string configPath;
  ProfileFile credentials;
  ProfileFile config;
  std::string unreadCredentials;  ///< Why the file could not be read; empty if it was.
  std::string unreadConfig;

  /// Reads them; one that cannot be read is empty.
  static ProfileFiles read(const std::string& credentialsPath, const std::string& configPath);

  bool has(const std::string& profile) const;
  /// Returns the settings of a profile in both files: those of the credentials file win.
  ProfileSection settingsOf(const std::string& profile) const;
  /// Returns the settings of a section `[services NAME]`.
  ProfileSection servicesOf(const std::string& name) const;
  /// Returns `"default", "work"`; "none" if there is no profile.
  std::string names() const;
};

/// Returns a setting; empty if there is none.
std::string settingIn(const ProfileSection& section, const std::string& name);

}  // namespace steptape::detail::storage
