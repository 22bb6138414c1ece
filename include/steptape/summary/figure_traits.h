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

/// A PNG file in memory, such as one that another plotting library has made.
struct PngImage {
  int width = 0;   ///< Pixels.
  int height = 0;  ///< Pixels.
  std::string bytes = {};
};

/// Takes a PNG file of any maker, and its size from the file's header.
///
///     writer.addFigure("plot", steptape::pngImage(bytesOfAnotherLibrary), step);
///
/// Looks at the order and the lengths of the chunks and at the header's checksum, so that a file
/// cut short is noticed; the pixels are not decoded.
///
/// @throws  Error(kInvalidArgument) saying what is wrong with the bytes.
/// @threads Thread-safe.
/// @cost    Microseconds; the bytes are moved.
/// @source  PNG (Third Edition), W3C, https://www.w3.org/TR/png-3/, sections 5 and 11.2.1.
STEPTAPE_EXPORT PngImage pngImage(std::string bytes);

/// A figure that will be drawn later, on the background thread.
struct CapturedFigure {
  /// May be called more than once. What it throws is reported, and the value counted as dropped.
  std::function<PngImage()> draw;
  std::size_t bytes = 0;  ///< Memory that `draw` holds.
};

/// Specialize for a type to let addFigure() take it: `static CapturedFigure capture(const T&)`,
/// which takes what it needs; <steptape/figure.h> does so for steptape::Figure.
template <typename T>
struct FigureTraits;

/// Lets addFigure() take a PNG file. `width` and `height` need not be set: the file says them.
template <>
struct FigureTraits<PngImage> {
  /// @throws Error(kInvalidArgument) as pngImage().
  /// @cost One copy of the bytes.
  STEPTAPE_EXPORT static CapturedFigure capture(const PngImage& image);
};

/// Removes an overload unless `T` has FigureTraits.
template <typename T>
using RequiresFigureTraits = decltype(FigureTraits<T>::capture(std::declval<const T&>()));

}  // namespace steptape
