// SPDX-License-Identifier: Apache-2.0
#include "storage/mirror/local_files.h"

#include <algorithm>
#include <array>
#include <sys/stat.h>

#include "base/directory_entries.h"
#include "base/text.h"

namespace steptape::detail::storage {
namespace {

void addFiles(const std::string& directory, const std::string& below,
              const std::function<bool(const std::string&)>& entersDirectory,
              std::vector<LocalFile>* files) {
  std::vector<base::DirectoryEntry> entries;
  static_cast<void>(base::listDirectory(directory, &entries));
  for (const base::DirectoryEntry& entry : entries) {
    if (entry.isLink || entry.name.front() == '.') {
      continue;
    }
    const std::string path = directory + '/' + entry.name;
    const std::string name = below.empty() ? entry.name : below + '/' + entry.name;
    if (entry.isDirectory) {
      if (!entersDirectory || entersDirectory(path)) {
        addFiles(path, name, entersDirectory, files);
      }
      continue;
    }
    struct stat status {};
    if (isMirrored(entry.name) && ::lstat(path.c_str(), &status) == 0 && S_ISREG(status.st_mode)) {
      constexpr std::int64_t kNanosPerSecond = 1'000'000'000;
      files->push_back({name, static_cast<std::uint64_t>(status.st_size),
                        status.st_mtim.tv_sec * kNanosPerSecond + status.st_mtim.tv_nsec});
    }
  }
}

}  // namespace

bool isMirrored(std::string_view name) {
  constexpr std::array<std::string_view, 6> kLeftOut{".pt",          ".pth",  ".ckpt",
                                                     ".safetensors", ".onnx", ".tmp"};
  return !base::startsWith(name, ".") &&
         std::none_of(kLeftOut.begin(), kLeftOut.end(),
                      [&](std::string_view end) { return base::endsWith(name, end); });
}

std::vector<LocalFile> localFilesIn(
    const std::string& directory,
    const std::function<bool(const std::string& path)>& entersDirectory) {
  std::vector<LocalFile> files;
  addFiles(directory, "", entersDirectory, &files);
  std::sort(files.begin(), files.end(),
            [](const LocalFile& a, const LocalFile& b) { return a.path < b.path; });
  return files;
}

std::vector<const LocalFile*> withLast(const std::vector<LocalFile>& files,
                                       const std::set<std::string>& last) {
  std::vector<const LocalFile*> ordered;
  for (const bool isLast : {false, true}) {
    for (const LocalFile& file : files) {
      if ((last.count(file.path) > 0) == isLast) {
        ordered.push_back(&file);
      }
    }
  }
  return ordered;
}

}  // namespace steptape::detail::storage
