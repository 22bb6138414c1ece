// SPDX-License-Identifier: Apache-2.0
#include "process/blackbox/box_folder.h"

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstdlib>
#include <linux/magic.h>
#include <string_view>
#include <sys/vfs.h>
#include <unistd.h>

#include "base/directory_entries.h"

namespace steptape::detail::process {
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

const char* networkFileSystem(std::uint64_t type) {
  struct Named {
    std::uint32_t type;
    const char* name;
  };
  // linux/magic.h lacks some of them.
  constexpr std::array<Named, 15> kKnown{{
      {0x6969, "NFS"},
      {0x517B, "SMB"},
      {0xFE534D42, "SMB"},
      {0xFF534D42, "CIFS"},
      {0x0BD00BD0, "Lustre"},
      {0x47504653, "GPFS"},
      {0x19830326, "BeeGFS"},
      {0x00C36400, "Ceph"},
      {0x5346414F, "AFS"},
      {0x6B414653, "AFS"},
      {0x73757245, "Coda"},
      {0x01021997, "9P"},
      {0x7461636F, "OCFS2"},
      {0x01161970, "GFS2"},
      {0xAAD7AAEA, "PanFS"},
  }};
  const auto found = std::find_if(kKnown.begin(), kKnown.end(), [type](const Named& known) {
    return known.type == static_cast<std::uint32_t>(type);  // some systems extend the sign
  });
  return found == kKnown.end() ? nullptr : found->name;
}

const char* networkFileSystemOf(const std::string& folder) {
  struct statfs status {};
  return ::statfs(folder.c_str(), &status) == 0
             ? networkFileSystem(static_cast<std::uint64_t>(status.f_type))
             : nullptr;
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
  std::vector<base::DirectoryEntry> entries;
  base::listDirectory(folder, &entries);
  for (const base::DirectoryEntry& entry : entries) {
    std::uint64_t number = 0;
    if (readNumber(entry.name, prefix, &number)) {
      boxes.push_back({folder, user, number});
    }
  }
  std::sort(boxes.begin(), boxes.end(),
            [](const BoxName& a, const BoxName& b) { return a.number < b.number; });
  return boxes;
}

}  // namespace steptape::detail::process
