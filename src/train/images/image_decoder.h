// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

#include "train/samples/image_plan.h"
#include "train/samples/resample.h"

namespace steptape::detail::train {

/// Pixels of a decoded part of an image. No vector, which would write zeros first.
struct DecodedPart {
  std::unique_ptr<std::uint8_t[]> pixels;
  PixelView view;  ///< The pixels that hold the part,
  Box box;         ///< and where they do.
};

/// Decodes one file. Its bytes must outlive it.
///
/// Not thread-safe: one thread at a time.
class ImageDecoder {
 public:
  ImageDecoder() = default;
  ImageDecoder(const ImageDecoder&) = delete;
  ImageDecoder& operator=(const ImageDecoder&) = delete;
  virtual ~ImageDecoder() = default;

  /// Returns the size that the header states.
  virtual Size size() const = 0;

  /// Decodes `crop`. The result may be smaller than `crop`, but not than `least` unless `crop` is.
  /// Call it once.
  virtual DecodedPart decode(const Rect& crop, Size least) = 0;
};

/// @throws std::runtime_error with what the library says. So do the methods of the decoders.
std::unique_ptr<ImageDecoder> openJpeg(const std::string& bytes);
std::unique_ptr<ImageDecoder> openPng(const std::string& bytes);

}  // namespace steptape::detail::train
