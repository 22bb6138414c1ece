// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <variant>
#include <vector>

#include "steptape/base/export.h"

namespace steptape {

/// The random numbers of one sample in one epoch.
///
/// They depend on seed, epoch and sample only. An augmentation that draws from them is therefore
/// the same on every thread, on every rank and after every resume.
///
/// @threads Not thread-safe: one thread at a time.
/// @source SplitMix64: Steele, Lea, Flood, "Fast Splittable Pseudorandom Number Generators",
///         OOPSLA 2014.
class STEPTAPE_EXPORT SampleRandom {
 public:
  SampleRandom(std::uint64_t seed, std::int64_t epoch, std::int64_t sample);

  /// Returns 64 random bits.
  std::uint64_t bits();
  /// Returns a number in [low, high).
  double uniform(double low = 0, double high = 1);
  /// Returns an integer in [0, bound). `bound` must be positive.
  std::int64_t below(std::int64_t bound);

 private:
  std::uint64_t state_;
};

/// A data set whose samples are read one by one, such as ImageFolderSource. PrefetchLoader reads
/// them on its worker threads. Derive from it for other data.
///
/// @threads const methods may run concurrently.
class STEPTAPE_EXPORT SampleSource {
 public:
  SampleSource() = default;
  SampleSource(const SampleSource&) = delete;
  SampleSource& operator=(const SampleSource&) = delete;
  virtual ~SampleSource();

  /// Returns the number of samples.
  virtual std::int64_t size() const = 0;

  /// Returns the shape of each sample's input, such as {3, 224, 224}.
  virtual std::vector<std::int64_t> shape() const = 0;

  /// Writes the input of sample `index` to `input`, which has room for the floats of shape() in
  /// row-major order, and returns the sample's target, such as its class.
  ///
  /// @throws Error that names the file, for one that cannot be read. PrefetchLoader adds the
  ///         number of the sample.
  virtual std::int64_t read(std::int64_t index, SampleRandom& random, float* input) const = 0;
};

// The transforms have the names and the semantics of torchvision's. Resizing is bilinear with
// antialiasing: on the same pixels it gives the bytes that Pillow gives.

/// Crops a part of random area and aspect ratio, and resizes it to `size` x `size`.
struct RandomResizedCrop {
  std::int64_t size = 224;
  double minScale = 0.08;  ///< Of the area of the image.
  double maxScale = 1;
  double minRatio = 3.0 / 4;  ///< Width / height.
  double maxRatio = 4.0 / 3;
};

/// Resizes so that the shorter side has `size` pixels.
struct Resize {
  std::int64_t size = 256;
};

/// Crops `size` x `size` pixels around the center. Adds black pixels to a smaller image.
struct CenterCrop {
  std::int64_t size = 224;
};

/// Adds `padding` black pixels on each side, then crops `size` x `size` pixels at a random place.
struct RandomCrop {
  std::int64_t size = 32;
  std::int64_t padding = 0;
};

/// Mirrors left and right with this probability.
struct RandomHorizontalFlip {
  double probability = 0.5;
};

using ImageTransform =
    std::variant<RandomResizedCrop, Resize, CenterCrop, RandomCrop, RandomHorizontalFlip>;

/// Transforms in the order in which they apply:
///
///     const ImageTransforms train{RandomResizedCrop{224}, RandomHorizontalFlip{}};
///     const ImageTransforms test{Resize{256}, CenterCrop{224}};
using ImageTransforms = std::vector<ImageTransform>;

/// Normalizes bytes 0..255 for a network: (byte / 255 - mean) / std, per channel.
struct Normalization {
  /// One number per channel, or one for all. The default is that of the common MNIST examples.
  std::vector<double> mean = {0.1307};
  std::vector<double> std = {0.3081};
};

/// Returns the normalization of networks that were trained on ImageNet, as torchvision has it.
STEPTAPE_EXPORT Normalization imageNetNormalization();

/// An image in memory: rows from the top, `channels` bytes per pixel.
struct Image {
  std::int64_t width = 0;
  std::int64_t height = 0;
  std::int64_t channels = 3;  ///< 3: red, green, blue; 1: gray.
  std::vector<std::uint8_t> pixels;
};

/// Applies transforms to an image.
///
/// @throws Error(kInvalidArgument) if a size is not positive, or RandomCrop is larger than the
///         image and its padding.
/// @threads Thread-safe.
STEPTAPE_EXPORT Image transformImage(const Image& image, const ImageTransforms& transforms,
                                     SampleRandom& random);

}  // namespace steptape
