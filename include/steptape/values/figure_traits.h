// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>

#include "steptape/base/export.h"

namespace steptape {

/// A PNG file in memory, such as one of another plotting library.
struct PngImage {
  int width = 0;   ///< Pixels.
  int height = 0;  ///< Pixels.
  std::string bytes = {};
};

/// Checks a PNG file of any origin and reads its size.
///
///     writer.addFigure("plot", steptape::pngImage(bytesOfAnotherLibrary), step);
///
/// Checks the order and the lengths of the chunks and the checksum of the header, which detects a
/// truncated file. Does not decode the pixels.
///
/// @throws  Error(kInvalidArgument) naming the fault in the bytes.
/// @threads Thread-safe.
/// @cost    Microseconds; the bytes are moved.
/// @source  PNG (Third Edition), W3C, https://www.w3.org/TR/png-3/, sections 5 and 11.2.1.
STEPTAPE_EXPORT PngImage pngImage(std::string bytes);

/// A figure that will be drawn later, on the background thread.
struct CapturedFigure {
  /// Draws the figure; may be called more than once. An exception is reported, and the value is
  /// counted as discarded.
  std::function<PngImage()> draw;
  std::size_t bytes = 0;  ///< Memory that `draw` holds, in bytes.
};

/// Lets addFigure() take a type: specialize it with `static CapturedFigure capture(const T&)`,
/// which copies the data that drawing needs. `<steptape/figure.h>` does so for steptape::Figure.
template <typename T>
struct FigureTraits;

/// Lets addFigure() take a PNG file. `width` and `height` are read from the file.
template <>
struct FigureTraits<PngImage> {
  /// @throws Error(kInvalidArgument) as pngImage().
  /// @cost One copy of the bytes.
  STEPTAPE_EXPORT static CapturedFigure capture(const PngImage& image);
};

/// Disables an overload unless `T` has FigureTraits.
template <typename T>
using RequiresFigureTraits = decltype(FigureTraits<T>::capture(std::declval<const T&>()));

}  // namespace steptape
