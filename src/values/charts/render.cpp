// SPDX-License-Identifier: Apache-2.0
#include "values/charts/render.h"

#include <algorithm>
#include <cmath>
#include <memory>
#include <optional>
#include <utility>

#include "base/got_expected.h"
#include "values/charts/layout.h"
#include "values/charts/legend.h"
#include "values/kinds/image/image.h"

namespace steptape::figure {
namespace {

constexpr Stroke kGridStroke{kGridColor, 0.7};
constexpr Stroke kAxisStroke{kAxisColor, 0.7};

using Drawings = std::vector<std::unique_ptr<Drawing>>;

Contents contentsOf(const FigureModel& model, const Drawings& drawings) {
  Contents contents;
  for (const auto& drawing : drawings) {
    drawing->extend(&contents.x, &contents.y);
    contents.fillsAxes = contents.fillsAxes || drawing->fillsAxes();
    contents.squareCells = contents.squareCells || drawing->hasSquareCells();
    if (contents.colorbar == nullptr) {
      contents.colorbar = drawing->colorbar();
    }
  }
  contents.grid = model.grid && !contents.fillsAxes;
  return contents;
}

void drawGrid(const Layout& layout, Canvas* canvas) {
  const Frame& frame = layout.frame;
  if (!layout.x.hasCategories) {
    for (const Tick& tick : layout.x.ticks.major) {
      const double x = frame.pixelX(tick.value);
      canvas->strokeCrisply({x, frame.area.top}, {x, frame.area.bottom()}, kGridStroke);
    }
  }
  if (!layout.y.hasCategories) {
    for (const Tick& tick : layout.y.ticks.major) {
      const double y = frame.pixelY(tick.value);
      canvas->strokeCrisply({frame.area.left, y}, {frame.area.right(), y}, kGridStroke);
    }
  }
}

void drawXAxis(const Layout& layout, Canvas* canvas) {
  const Frame& frame = layout.frame;
  const double scale = frame.pixelsPerPoint;
  const double foot = frame.area.bottom();
  TextStyle style;
  style.size = kTickSize;
  style.anchor = layout.x.areTilted ? TextAnchor::kRight : TextAnchor::kCenter;
  style.angle = layout.x.areTilted ? kPi / 4 : 0;
  const double gap = (layout.x.hasCategories ? 0 : kTickLength) + kTickGap;
  // A tilted name ends a little below its position; other names are centered on it.
  const double textY =
      foot + gap * scale +
      (layout.x.areTilted ? kTickSize * scale / 3 : canvas->lineHeight(kTickSize) / 2);
  for (const Tick& tick : layout.x.ticks.major) {
    const double x = frame.pixelX(tick.value);
    if (!layout.x.hasCategories) {
      canvas->strokeCrisply({x, foot}, {x, foot + kTickLength * scale}, kAxisStroke);
    }
    canvas->text(tick.label, {x, textY}, style);
  }
  for (const double minor : layout.x.ticks.minor) {
    const double x = frame.pixelX(minor);
    canvas->strokeCrisply({x, foot}, {x, foot + kMinorTickLength * scale}, kAxisStroke);
  }
}

/// Draws the marks of a vertical axis at `x`, to the left if `side` is -1, to the right if it is 1.
void drawVerticalMarks(const Ticks& ticks, bool hasCategories, const Frame& frame, double x,
                       int side, Canvas* canvas) {
  const double scale = side * frame.pixelsPerPoint;
  TextStyle style;
  style.size = kTickSize;
  style.anchor = side < 0 ? TextAnchor::kRight : TextAnchor::kLeft;
  const double gap = hasCategories ? 2 * kTickGap : kTickLength + kTickGap;
  for (const Tick& tick : ticks.major) {
    const double y = frame.pixelY(tick.value);
    if (!hasCategories) {
      canvas->strokeCrisply({x, y}, {x + kTickLength * scale, y}, kAxisStroke);
    }
    canvas->text(tick.label, {x + gap * scale, y}, style);
  }
  for (const double minor : ticks.minor) {
    const double y = frame.pixelY(minor);
    canvas->strokeCrisply({x, y}, {x + kMinorTickLength * scale, y}, kAxisStroke);
  }
}

void drawColorbar(const Colorbar& colorbar, const Layout& layout, Canvas* canvas) {
  const Rect& rect = layout.colorbar;
  std::vector<Color> pixels;
  for (int y = 0; y < rect.height; ++y) {
    const Color color = colorbar.colormap.at(1 - (y + 0.5) / rect.height);
    pixels.insert(pixels.end(), static_cast<std::size_t>(rect.width), color);
  }
  canvas->paint(rect, pixels);
  Frame frame = layout.frame;
  frame.y = {colorbar.min, colorbar.max};
  drawVerticalMarks(layout.colorbarTicks, false, frame, rect.right(), 1, canvas);
}

void drawCentered(const std::string& text, const Point& at, double width, TextStyle style,
                  Canvas* canvas) {
  style.anchor = TextAnchor::kCenter;
  canvas->text({canvas->shortened(text, width, style), ""}, at, style);
}

void drawTitle(const FigureModel& model, const Layout& layout, const Rect& cell, Canvas* canvas) {
  constexpr double kSmallest = 0.8;
  TextStyle style;
  style.size = kTitleSize;
  style.bold = true;
  const double width = canvas->textWidth({model.canvas.title, ""}, style);
  style.size *= std::clamp(layout.titleWidth / std::max(width, 1.0), kSmallest, 1.0);
  const std::string title = canvas->shortened(model.canvas.title, layout.titleWidth, style);
  // Shifts a title that is wider than the axes, so that it stays in the figure.
  const double half = canvas->textWidth({title, ""}, style) / 2;
  const double margin = (cell.width - layout.titleWidth) / 2;
  const double x =
      std::max(cell.left + margin + half, std::min(layout.title.x, cell.right() - margin - half));
  style.anchor = TextAnchor::kCenter;
  canvas->text({title, ""}, {x, layout.title.y}, style);
}

void drawLabels(const FigureModel& model, const Contents& contents, const Layout& layout,
                const Rect& cell, Canvas* canvas) {
  TextStyle style;
  style.size = kAxisLabelSize;
  drawCentered(model.xLabel, layout.xLabel, cell.width, style, canvas);
  style.angle = kPi / 2;
  drawCentered(model.yLabel, layout.yLabel, cell.height, style, canvas);
  if (contents.colorbar != nullptr) {
    drawCentered(contents.colorbar->label, layout.colorbarLabel, cell.height, style, canvas);
  }
}

void drawPlots(const Drawings& drawings, const Contents& contents, const Layout& layout,
               Canvas* canvas) {
  if (contents.grid) {
    drawGrid(layout, canvas);
  }
  const Canvas::Clip clip = canvas->clip(layout.frame.area);
  for (const auto& drawing : drawings) {
    drawing->draw(layout.frame, canvas);
  }
}

void drawAxes(const Contents& contents, const Layout& layout, Canvas* canvas) {
  const Rect& area = layout.frame.area;
  if (!contents.fillsAxes) {
    canvas->strokeCrisply({area.left, area.top}, {area.left, area.bottom()}, kAxisStroke);
    canvas->strokeCrisply({area.left, area.bottom()}, {area.right(), area.bottom()}, kAxisStroke);
  }
  drawXAxis(layout, canvas);
  drawVerticalMarks(layout.y.ticks, layout.y.hasCategories, layout.frame, area.left, -1, canvas);
  if (contents.colorbar != nullptr) {
    drawColorbar(*contents.colorbar, layout, canvas);
  }
}

/// Maximum of Legend::place(): if the legend would hide more, the axes make room for it.
constexpr double kMostHidden = 0.03;

/// Returns the figure with its y axis extended so far that a legend of `height` pixels fits above
/// the plots; nothing if the axis has fixed limits, or if too little would be left for the plots.
std::optional<FigureModel> withHeadroom(const FigureModel& model, const Frame& frame,
                                        double height) {
  constexpr double kMost = 0.35;
  const double share = height / frame.area.height;
  if (model.yLimits || frame.y.inverted || share > kMost) {
    return std::nullopt;
  }
  FigureModel raised = model;
  raised.yLimits = std::pair(frame.y.min, frame.y.value(1 / (1 - share)));
  return std::isfinite(raised.yLimits->second) ? std::optional(raised) : std::nullopt;
}

/// Draws the plots and, if there are `keys`, a legend within the axes.
///
/// @return the layout.
Layout drawWithLegend(const FigureModel& model, const Drawings& drawings, const Contents& contents,
                      const std::vector<LegendKey>& keys, const Rect& cell, Canvas* canvas) {
  Layout layout = layOut(model, contents, cell, canvas);
  drawPlots(drawings, contents, layout, canvas);
  if (keys.empty()) {
    return layout;
  }
  Legend legend(keys, layout.frame.area, canvas);
  if (legend.place(model.legend, layout.frame.area) > kMostHidden) {
    if (const auto raised = withHeadroom(model, layout.frame, legend.outerHeight())) {
      canvas->fill(cell, kWhite);
      layout = layOut(*raised, contents, cell, canvas);
      drawPlots(drawings, contents, layout, canvas);
      legend.place(model.legend, layout.frame.area);
    }
  }
  legend.draw();
  return layout;
}

/// Draws the plots, and a legend to the right of the axes.
///
/// @return the layout.
Layout drawWithLegendBeside(const FigureModel& model, const Drawings& drawings,
                            const Contents& contents, const std::vector<LegendKey>& keys,
                            const Rect& cell, Canvas* canvas) {
  Rect half = cell;
  half.width /= 2;
  Legend legend(keys, half, canvas);
  Contents narrower = contents;
  narrower.besideWidth = legend.outerWidth();
  Layout layout = layOut(model, narrower, cell, canvas);
  drawPlots(drawings, contents, layout, canvas);
  legend.placeBeside(layout.frame.area, cell);
  legend.draw();
  return layout;
}

}  // namespace

void drawFigure(const FigureModel& model, const Rect& cell, Canvas* canvas) {
  Drawings drawings;
  std::vector<LegendKey> keys;
  for (const PlotPtr& plot : model.plots) {
    drawings.push_back(plot->prepare({model.barPlots}));
    if (!plot->key().label.empty() && model.legend != LegendPlace::kNone) {
      keys.push_back(plot->key());
    }
  }
  const Contents contents = contentsOf(model, drawings);
  const bool isBeside = model.legend == LegendPlace::kBeside && !keys.empty();
  const Layout layout = (isBeside ? drawWithLegendBeside : drawWithLegend)(
      model, drawings, contents, keys, cell, canvas);
  drawAxes(contents, layout, canvas);
  drawTitle(model, layout, cell, canvas);
  drawLabels(model, contents, layout, cell, canvas);
}

PngImage encoded(Canvas* canvas) {
  const detail::values::Pixels pixels = canvas->pixels();
  return {pixels.width, pixels.height, detail::values::encodePng(pixels)};
}

void checkCanvas(int width, int height, double dpi, const std::string& where) {
  constexpr int kLeast = 64;
  constexpr int kMost = 8192;
  if (std::min(width, height) < kLeast || std::max(width, height) > kMost) {
    detail::base::reject(
        "a size of " + std::to_string(width) + " x " + std::to_string(height) + " pixels",
        "64 to 8192 pixels to a side", where);
  }
  if (!(dpi >= 20 && dpi <= 1200)) {
    detail::base::reject("dpi = " + std::to_string(dpi), "20 to 1200", where);
  }
}

}  // namespace steptape::figure
