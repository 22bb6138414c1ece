// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

/// The images of a folder with one subfolder for each class, `class/name.jpg`: the layout of
/// ImageNet's training images.
///
/// @threads Thread-compatible: const methods may run concurrently.
class ImageFolder {
 public:
  /// Lists the images. Classes are numbered from 0, in the order of their names.
  ///
  /// @throws std::runtime_error if the folder does not exist or contains no image.
  explicit ImageFolder(const std::string& directory);

  std::int64_t size() const { return static_cast<std::int64_t>(images_.size()); }
  std::int64_t classes() const { return classes_; }
  const std::string& path(std::int64_t index) const { return at(index).path; }
  std::int64_t label(std::int64_t index) const { return at(index).label; }

 private:
  struct Image {
    std::string path;
    std::int64_t label;
  };
  const Image& at(std::int64_t index) const { return images_.at(static_cast<std::size_t>(index)); }

  std::vector<Image> images_;
  std::int64_t classes_ = 0;
};
