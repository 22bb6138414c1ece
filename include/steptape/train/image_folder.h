// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "steptape/base/export.h"
#include "steptape/train/samples.h"

namespace steptape {

namespace detail::train {
struct ByteScale;
}  // namespace detail::train

/// Options of ImageFolder.
struct ImageFolderOptions {
  /// Accept a class without images. It keeps its number.
  bool allowEmptyClasses = false;
};

/// The images of a folder with one subfolder per class, `class/name.jpg`: the layout of ImageNet
/// and of torchvision's ImageFolder.
///
/// - The subfolders are the classes, numbered from 0 in the order of the bytes of their names.
/// - The images of a class are its files named .jpg, .jpeg or .png, in any case, in the order of
///   their names. Other files, deeper folders and names that begin with a dot are ignored.
/// - Links are followed. A link to nothing counts as an image, and reading it is an error.
/// - Nothing deeper than the files of a class is listed, so links cannot form a loop.
///
/// Lists names only. Images that are removed or damaged later are errors when they are read.
///
/// @threads Thread-compatible: const methods may run concurrently.
/// @cost   The length of its name plus about 50 bytes per image.
class STEPTAPE_EXPORT ImageFolder {
 public:
  /// @throws Error(kIoError) if a folder cannot be listed; Error(kInvalidArgument) if there is no
  ///         image, or a class has none. Each names the folder.
  explicit ImageFolder(const std::string& directory, const ImageFolderOptions& options = {});

  /// Returns the number of images.
  std::int64_t size() const { return static_cast<std::int64_t>(images_.size()); }
  /// Returns the names of the classes.
  const std::vector<std::string>& classes() const { return classes_; }
  /// Returns the path of image `index`.
  std::string path(std::int64_t index) const;
  /// Returns the number of the class of image `index`.
  std::int64_t label(std::int64_t index) const { return at(index).label; }

 private:
  struct ImageFile {
    std::string name;
    std::int64_t label;
  };
  const ImageFile& at(std::int64_t index) const {
    return images_.at(static_cast<std::size_t>(index));
  }

  std::string directory_;
  std::vector<std::string> classes_;
  std::vector<ImageFile> images_;
};

/// Options of decodeImage() and ImageFolderSource.
struct DecodeOptions {
  /// Most pixels (width x height) that an image may have. An image whose header states more is an
  /// error, and no memory is allocated for it. Default: 8192 x 8192.
  std::int64_t maxPixels = std::int64_t{1} << 26;
};

/// Reads a JPEG or PNG file as red, green and blue. The first bytes select the format, not the
/// name.
///
/// The colors are those of Pillow's `convert("RGB")`: gray and palettes become colors, 16 bits
/// become 8, transparency is removed, and CMYK and YCCK are taken as inverted, as Adobe writes
/// them. The orientation in EXIF data is ignored.
///
/// @throws Error that names the file: kIoError if it cannot be read; kDataLoss if it is neither
///         JPEG nor PNG, or is damaged or ends early; kResourceExhausted above a limit.
/// @threads Thread-safe.
STEPTAPE_EXPORT Image decodeImage(const std::string& path, const DecodeOptions& options = {});

/// Gives the images of a folder, decoded, transformed and normalized.
///
///     const steptape::ImageFolder folder("imagenet/train");
///     const steptape::ImageTransforms transforms{steptape::RandomResizedCrop{224},
///                                                steptape::RandomHorizontalFlip{}};
///     auto source = std::make_shared<steptape::ImageFolderSource>(folder, transforms);
///
/// Of a JPEG it decodes only the part that the transforms show, at 1/2, 1/4 or 1/8 of the size if
/// that is enough for it. Damage elsewhere in the file remains unnoticed.
class STEPTAPE_EXPORT ImageFolderSource final : public SampleSource {
 public:
  /// @param transforms Must make images of one size: they end with a crop, and flips.
  /// @throws Error(kInvalidArgument) otherwise, or if `normalization` has neither one value nor
  ///         three.
  ImageFolderSource(ImageFolder folder, ImageTransforms transforms,
                    const Normalization& normalization = imageNetNormalization(),
                    const DecodeOptions& options = {});

  const ImageFolder& folder() const { return folder_; }
  std::int64_t size() const override { return folder_.size(); }
  /// Returns {3, height, width}.
  std::vector<std::int64_t> shape() const override;
  /// @throws as decodeImage().
  std::int64_t read(std::int64_t index, SampleRandom& random, float* input) const override;

 private:
  ImageFolder folder_;
  ImageTransforms transforms_;
  std::shared_ptr<const detail::train::ByteScale> scale_;
  DecodeOptions options_;
};

}  // namespace steptape
