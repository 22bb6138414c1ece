// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "values/charts/axis.h"
#include "values/charts/canvas.h"
#include "values/charts/colormap.h"

namespace steptape::figure {

/// The symbol next to a name in a legend.
struct LegendKey {
  std::string label;
  std::optional<Stroke> stroke;  ///< Drawn as a piece of line.
  Marker marker;
  std::optional<Color> patch;  ///< Drawn as a filled rectangle.
};

/// The range and colors of a colorbar.
struct Colorbar {
  Colormap colormap;
  double min;
  double max;
  std::string label;
};

/// A plot whose numbers are available for drawing.
class Drawing {
 public:
  virtual ~Drawing() = default;
  /// Includes the plot's numbers in the axes.
  virtual void extend(AxisData* x, AxisData* y) const = 0;
  /// Returns whether it covers the grid and the axes' lines completely.
  virtual bool fillsAxes() const { return false; }
  virtual bool hasSquareCells() const { return false; }
  virtual const Colorbar* colorbar() const { return nullptr; }
  virtual void draw(const Frame& frame, Canvas* canvas) const = 0;
};

/// State that the plots of a figure share.
struct PlotGroup {
  int barPlots = 0;  ///< Number of bar plots side by side.
};

/// One plot of a figure. Immutable, so that figures and threads can share it.
///
/// @threads Thread-safe.
class Plot {
 public:
  explicit Plot(LegendKey key = {}) : key_(std::move(key)) {}
  virtual ~Plot() = default;
  Plot(const Plot&) = delete;
  Plot& operator=(const Plot&) = delete;

  /// Returns the entry of the legend; there is none if the label is empty.
  const LegendKey& key() const { return key_; }
  /// Returns the memory of the numbers in bytes.
  virtual std::size_t bytes() const = 0;
  /// Waits for the numbers and reads them; meant for the background thread.
  virtual std::unique_ptr<Drawing> prepare(const PlotGroup& group) const = 0;

 private:
  LegendKey key_;
};

}  // namespace steptape::figure
