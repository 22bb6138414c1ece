// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

/// The images of a folder that has a folder for each class: `class/name.jpg`, as ImageNet's
/// training images are unpacked.
///
/// @threads Thread-compatible: const methods may run concurrently.
class ImageFolder {
 public:
  /// Classes are numbered in the order of their names, from 0.
  ///
  /// @throws std::runtime_error if there is no such folder, or no image in it.
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
