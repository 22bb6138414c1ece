// SPDX-License-Identifier: Apache-2.0
#include "steptape/train/image_folder.h"

#include <algorithm>
#include <system_error>
#include <utility>

#include "steptape/base/status.h"

#include "base/directory_entries.h"
#include "base/got_expected.h"

namespace steptape {
namespace {

using detail::base::DirectoryEntry;

char lower(char letter) {
  return 'A' <= letter && letter <= 'Z' ? static_cast<char>(letter - 'A' + 'a') : letter;
}

bool isImage(const DirectoryEntry& entry) {
  std::string extension = entry.name.substr(std::min(entry.name.size(), entry.name.rfind('.')));
  std::transform(extension.begin(), extension.end(), extension.begin(), lower);
  return !entry.isDirectory && (extension == ".jpg" || extension == ".jpeg" || extension == ".png");
}

/// Returns the names in `directory` that `isWanted` accepts. File systems list names in different
/// orders; all ranks need the same order.
std::vector<std::string> sortedNames(const std::string& directory,
                                     bool (*isWanted)(const DirectoryEntry&)) {
  std::vector<DirectoryEntry> entries;
  const int error = detail::base::listDirectory(directory, &entries);
  if (error != 0) {
    throw Error(ErrorCode::kIoError,
                "image folder " + detail::base::quoted(directory) +
                    ": cannot list it: " + std::generic_category().message(error));
  }
  std::vector<std::string> names;
  for (DirectoryEntry& entry : entries) {
    if (entry.name[0] != '.' && isWanted(entry)) {
      names.push_back(std::move(entry.name));
    }
  }
  std::sort(names.begin(), names.end());
  return names;
}

}  // namespace

ImageFolder::ImageFolder(const std::string& directory, const ImageFolderOptions& options)
    : directory_(directory),
      classes_(
          sortedNames(directory, [](const DirectoryEntry& entry) { return entry.isDirectory; })) {
  for (std::size_t label = 0; label < classes_.size(); ++label) {
    const std::string folder = directory_ + "/" + classes_[label];
    const std::size_t before = images_.size();
    for (std::string& name : sortedNames(folder, isImage)) {
      images_.push_back({std::move(name), static_cast<std::int64_t>(label)});
    }
    if (images_.size() == before && !options.allowEmptyClasses) {
      detail::base::reject("no image in the class " + detail::base::quoted(classes_[label]),
                           "files named .jpg, .jpeg or .png; remove the folder, or set "
                           "ImageFolderOptions::allowEmptyClasses",
                           "image folder " + detail::base::quoted(directory));
    }
  }
  if (images_.empty()) {
    detail::base::reject("no images", "class/name.jpg or class/name.png",
                         "image folder " + detail::base::quoted(directory));
  }
}

std::string ImageFolder::path(std::int64_t index) const {
  const ImageFile& image = at(index);
  return directory_ + "/" + classes_[static_cast<std::size_t>(image.label)] + "/" + image.name;
}

}  // namespace steptape
