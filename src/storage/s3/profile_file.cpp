// SPDX-License-Identifier: Apache-2.0
#include "storage/s3/profile_file.h"

#include <algorithm>
#include <cctype>
#include <cstddef>
#include <optional>
#include <set>
#include <utility>

#include "base/got_expected.h"
#include "base/text.h"
#include "base/whole_file.h"

namespace steptape::detail::storage {
namespace {

constexpr std::string_view kByteOrderMark = "\xef\xbb\xbf";
constexpr const char* kDefaultSection = "default";

std::string settingName(std::string_view text) {
  std::string name(base::trimmed(text));
  std::transform(name.begin(), name.end(), name.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return name;
}

/// Returns a value without the comment at its end, which begins after a space.
/// @param text All that follows the equals sign.
std::string settingValue(const std::string& name, std::string_view text) {
  for (std::size_t i = 1; i < text.size() && name != "credential_process"; ++i) {
    if ((text[i] == '#' || text[i] == ';') && (text[i - 1] == ' ' || text[i - 1] == '\t')) {
      text = text.substr(0, i);
    }
  }
  return std::string(base::trimmed(text));
}

/// Returns "work" for `profile work` and `profile "work"` if `kind` is "profile".
std::optional<std::string> sectionName(std::string_view title, std::string_view kind) {
  if (!base::startsWith(title, kind)) {
    return std::nullopt;
  }
  title.remove_prefix(kind.size());
  const std::string_view name = base::trimmed(title);
  if (name.empty() || name.size() == title.size()) {
    return std::nullopt;
  }
  if (name.size() > 2 && name.front() == name.back() &&
      (name.front() == '"' || name.front() == '\'')) {
    return std::string(name.substr(1, name.size() - 2));
  }
  return base::contains(name, " ") || base::contains(name, "\t")
             ? std::nullopt
             : std::optional<std::string>(std::string(name));
}

class ProfileParser {
 public:
  explicit ProfileParser(ProfileFile::Kind kind) : kind_(kind) {}

  void addLine(std::string_view line) {
    const std::string_view content = base::trimmed(line);
    if (content.empty() || content.front() == '#' || content.front() == ';') {
      return;
    }
    const std::size_t indent = line.find(content.front());
    if (!setting_.empty() && indent > indent_) {
      addToBlock(content);
      return;
    }
    indent_ = indent;
    setting_.clear();
    if (content.front() == '[') {
      const std::size_t end = content.rfind(']');
      section_ = end == std::string_view::npos
                     ? nullptr
                     : sectionOf(base::trimmed(content.substr(1, end - 1)));
      return;
    }
    const std::size_t sign = content.find_first_of("=:");
    if (sign != std::string_view::npos && sign > 0) {
      setting_ = settingName(content.substr(0, sign));
      set(setting_, settingValue(setting_, content.substr(sign + 1)));
    }
  }

  ProfileFile take() {
    if (plainDefault_) {
      file_.profiles.emplace(kDefaultSection, std::move(*plainDefault_));
    }
    return std::move(file_);
  }

 private:
  ProfileSection* sectionOf(std::string_view title) {
    if (kind_ == ProfileFile::Kind::kCredentials) {
      return &file_.profiles[std::string(title)];
    }
    if (title == kDefaultSection) {  // `[profile default]` has precedence over it
      plainDefault_ = plainDefault_ ? std::move(plainDefault_) : ProfileSection();
      return &*plainDefault_;
    }
    if (const std::optional<std::string> profile = sectionName(title, "profile")) {
      return &file_.profiles[*profile];
    }
    const std::optional<std::string> services = sectionName(title, "services");
    return services ? &file_.services[*services] : nullptr;
  }

  /// Adds a line that is indented below a setting. The setting of a block has no value of its own;
  /// the other lines of a value are no settings.
  void addToBlock(std::string_view content) {
    const std::size_t sign = content.find('=');
    if (section_ != nullptr && sign != std::string_view::npos &&
        settingIn(*section_, setting_).empty()) {
      const std::string name = settingName(content.substr(0, sign));
      set(setting_ + '.' + name, settingValue(name, content.substr(sign + 1)));
    }
  }

  void set(const std::string& name, const std::string& value) {
    if (section_ != nullptr) {
      (*section_)[name] = value;
    }
  }

  const ProfileFile::Kind kind_;
  ProfileFile file_;
  std::optional<ProfileSection> plainDefault_;
  ProfileSection* section_ = nullptr;
  std::string setting_;     // the last one; empty after the title of a section
  std::size_t indent_ = 0;  // its indentation
};

/// @return why the file could not be read; empty if it was.
std::string readProfiles(const std::string& path, ProfileFile::Kind kind, ProfileFile* file) {
  std::string text;
  const Status status = base::readWholeFile(path, text);
  *file = ProfileFile::parse(text, kind);
  return status.message();
}

}  // namespace

ProfileFile ProfileFile::parse(std::string_view text, Kind kind) {
  if (base::startsWith(text, kByteOrderMark)) {
    text.remove_prefix(kByteOrderMark.size());
  }
  ProfileParser parser(kind);
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size() - 1);
    parser.addLine(text.substr(0, end + 1));
    text.remove_prefix(end + 1);
  }
  return parser.take();
}

ProfileFiles ProfileFiles::read(const std::string& credentialsPath, const std::string& configPath) {
  ProfileFiles files;
  files.credentialsPath = credentialsPath;
  files.configPath = configPath;
  files.unreadCredentials =
      readProfiles(credentialsPath, ProfileFile::Kind::kCredentials, &files.credentials);
  files.unreadConfig = readProfiles(configPath, ProfileFile::Kind::kConfig, &files.config);
  return files;
}

bool ProfileFiles::has(const std::string& profile) const {
  return credentials.profiles.count(profile) != 0 || config.profiles.count(profile) != 0;
}

ProfileSection ProfileFiles::settingsOf(const std::string& profile) const {
  ProfileSection settings;
  if (const auto found = credentials.profiles.find(profile); found != credentials.profiles.end()) {
    settings = found->second;
  }
  if (const auto found = config.profiles.find(profile); found != config.profiles.end()) {
    settings.insert(found->second.begin(), found->second.end());
  }
  return settings;
}

ProfileSection ProfileFiles::servicesOf(const std::string& name) const {
  const auto found = config.services.find(name);
  return found == config.services.end() ? ProfileSection() : found->second;
}

std::string ProfileFiles::names() const {
  std::set<std::string> all;
  for (const ProfileFile* const file : {&credentials, &config}) {
    for (const auto& [name, settings] : file->profiles) {
      all.insert(base::quoted(name));
    }
  }
  std::string text;
  for (const std::string& name : all) {
    text += (text.empty() ? "" : ", ") + name;
  }
  return text.empty() ? "none" : text;
}

std::string settingIn(const ProfileSection& section, const std::string& name) {
  const auto found = section.find(name);
  return found == section.end() ? std::string() : found->second;
}

}  // namespace steptape::detail::storage
