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
  int width = 0;
  int height = 0;
  std::string bytes;
};

/// A figure that will be drawn later, on the background thread.
struct CapturedFigure {
  std::function<PngImage()> draw;
  std::size_t bytes = 0;  ///< Memory that `draw` holds.
};

/// Specialise for a type to let addFigure() take it: `static CapturedFigure capture(const T&)`,
/// which takes what it needs; <steptape/figure.h> does so for steptape::Figure.
template <typename T>
struct FigureTraits;

/// Removes an overload unless `T` has FigureTraits.
template <typename T>
using RequiresFigureTraits = decltype(FigureTraits<T>::capture(std::declval<const T&>()));

/// Options of addFigure().
struct FigureOptions {
  std::optional<double> wallTime = std::nullopt;
  std::string displayName = {};
  std::string description = {};
};

}  // namespace steptape
