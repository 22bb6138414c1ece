// SPDX-License-Identifier: Apache-2.0
#include "blackbox/box_folder.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <linux/magic.h>
#include <string_view>
#include <sys/vfs.h>
#include <unistd.h>

#include "base/directory_entries.h"

namespace steptape::detail {
namespace {

constexpr std::string_view kPrefix = "steptape-";
constexpr std::string_view kIdSuffix = ".id";
constexpr std::size_t kDigits = 16;

std::string hexOf(std::uint64_t number) {
  char digits[kDigits + 1];
  std::snprintf(digits, sizeof(digits), "%016llx", static_cast<unsigned long long>(number));
  return digits;
}

bool isTmpfs(const char* folder) {
  struct statfs status {};
  return ::statfs(folder, &status) == 0 && status.f_type == TMPFS_MAGIC;
}

/// Reads the number of a box from the name of its file `.id`.
bool readNumber(std::string_view name, std::string_view prefix, std::uint64_t* number) {
  if (name.size() != prefix.size() + kDigits + kIdSuffix.size() ||
      name.substr(0, prefix.size()) != prefix ||
      name.substr(name.size() - kIdSuffix.size()) != kIdSuffix) {
    return false;
  }
  const std::string digits(name.substr(prefix.size(), kDigits));
  *number = std::strtoull(digits.c_str(), nullptr, 16);
  return hexOf(*number) == digits;
}

}  // namespace

std::string boxFolder() {
  const char* const chosen = std::getenv("STEPTAPE_BLACK_BOX");
  if (chosen != nullptr && *chosen != '\0') {
    return std::string_view(chosen) == "off" ? std::string() : std::string(chosen);
  }
  constexpr const char* kDefault = "/dev/shm";
  return isTmpfs(kDefault) ? kDefault : "";
}

std::string BoxName::pathOf(const std::string& part) const {
  return folder + "/" + std::string(kPrefix) + std::to_string(user) + "-" + hexOf(number) + "." +
         part;
}

std::vector<BoxName> listBoxes(const std::string& folder) {
  std::vector<BoxName> boxes;
  if (folder.empty()) {
    return boxes;
  }
  const std::uint64_t user = ::getuid();
  const std::string prefix = std::string(kPrefix) + std::to_string(user) + "-";
  std::vector<DirectoryEntry> entries;
  listDirectory(folder, &entries);
  for (const DirectoryEntry& entry : entries) {
    std::uint64_t number = 0;
    if (readNumber(entry.name, prefix, &number)) {
      boxes.push_back({folder, user, number});
    }
  }
  std::sort(boxes.begin(), boxes.end(),
            [](const BoxName& a, const BoxName& b) { return a.number < b.number; });
  return boxes;
}

}  // namespace steptape::detail
