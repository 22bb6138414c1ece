// SPDX-License-Identifier: Apache-2.0
#include "image_folder.h"

#include <algorithm>
#include <filesystem>
#include <stdexcept>

#include "image_decoder.h"

namespace {

namespace fs = std::filesystem;

/// File systems list a directory in different orders; all ranks need the same order.
std::vector<fs::path> sortedEntries(const fs::path& directory) {
  std::vector<fs::path> entries;
  for (const fs::directory_entry& entry : fs::directory_iterator(directory)) {
    entries.push_back(entry.path());
  }
  std::sort(entries.begin(), entries.end());
  return entries;
}

}  // namespace

ImageFolder::ImageFolder(const std::string& directory) {
  for (const fs::path& folder : sortedEntries(directory)) {
    if (!fs::is_directory(folder)) {
      continue;
    }
    const std::int64_t label = classes_++;
    for (const fs::path& file : sortedEntries(folder)) {
      if (isImage(file)) {
        images_.push_back({file, label});
      }
    }
  }
  if (images_.empty()) {
    throw std::runtime_error("image folder " + directory +
                             ": got no images; expected class/name.jpg or class/name.png");
  }
}
