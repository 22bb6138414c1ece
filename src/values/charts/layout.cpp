// SPDX-License-Identifier: Apache-2.0
#include "values/charts/layout.h"

#include <algorithm>
#include <cmath>

#include "values/charts/render.h"

namespace steptape::figure {
namespace {

constexpr double kSin45 = 0.70710678118654752;
/// Free space along the edges of the figure. This and the following lengths are in points.
constexpr double kCellPadding = 7;
constexpr double kLabelGap = 4;
constexpr double kTitleGap = 6;
constexpr double kColorbarGap = 9;
constexpr double kColorbarWidth = 9;
/// Minimum side of the axes in pixels, even if the surrounding texts need more space.
constexpr double kLeastSide = 8;

TextStyle tickStyle() {
  TextStyle style;
  style.size = kTickSize;
  return style;
}

AxisRange rangeOf(const AxisData& data, const FigureModel::Limits& limits, AxisScale scale) {
  const auto [min, max] = limits ? *limits : data.limits(scale);
  return {min, max, scale, data.isInverted()};
}

/// Computes the layout iteratively: the space for texts determines the length of the axes, and the
/// length determines the texts. Converges within a few iterations.
class LayoutSearch {
 public:
  LayoutSearch(const FigureModel& model, const Contents& contents, const Rect& cell, Canvas* canvas)
      : model_(model), contents_(contents), cell_(cell), canvas_(canvas) {
    frame().x = rangeOf(contents.x, model.xLimits, model.xScale);
    frame().y = rangeOf(contents.y, model.yLimits, model.yScale);
    frame().pixelsPerPoint = canvas->pixelsPerPoint();
    frame().area = cell;
  }

  Layout run() {
    constexpr int kTurns = 3;
    for (int turn = 0; turn < kTurns; ++turn) {
      markAxes();
      placeArea();
    }
    markAxes();
    placeTexts();
    return std::move(layout_);
  }

 private:
  Frame& frame() { return layout_.frame; }
  Rect& area() { return layout_.frame.area; }
  double pixels(double points) const { return points * canvas_->pixelsPerPoint(); }
  double width(const Label& label) { return canvas_->textWidth(label, tickStyle()); }

  double widest(const Ticks& ticks) {
    double widest = 0;
    for (const Tick& tick : ticks.major) {
      widest = std::max(widest, width(tick.label));
    }
    return widest;
  }

  void markAxes() {
    const auto alongX = [&](const Label& label) { return width(label) + pixels(kTickSize); };
    const auto alongY = [&](const Label&) { return 1.7 * canvas_->lineHeight(kTickSize); };
    layout_.x = marks(contents_.x, frame().x, area().width, true, alongX);
    layout_.y = marks(contents_.y, frame().y, area().height, false, alongY);
    if (contents_.colorbar != nullptr) {
      const AxisRange range{contents_.colorbar->min, contents_.colorbar->max};
      layout_.colorbarTicks = numbers(range, area().height, 0, alongY).ticks;
    }
  }

  template <typename Needs>
  AxisMarks marks(const AxisData& data, const AxisRange& range, double length, bool isX,
                  const Needs& needs) {
    if (data.isUnmarked()) {
      return {};
    }
    return data.categories().empty() ? numbers(range, length, data.leastStep(), needs)
                                     : names(data.categories(), length, range, isX);
  }

  /// Chooses as many numbers as fit on `length` pixels. `needs` returns the pixels that one number
  /// takes.
  template <typename Needs>
  AxisMarks numbers(const AxisRange& range, double length, double leastStep, const Needs& needs) {
    constexpr int kMost = 9;
    AxisMarks marks;
    for (int count = kMost; count >= 2; --count) {
      marks.ticks = ticksFor(range, count, leastStep);
      if (fits(marks.ticks.major, range, length, needs)) {
        break;
      }
    }
    return marks;
  }

  template <typename Needs>
  static bool fits(const std::vector<Tick>& ticks, const AxisRange& range, double length,
                   const Needs& needs) {
    for (std::size_t i = 1; i < ticks.size(); ++i) {
      const double distance =
          length * std::abs(range.fraction(ticks[i].value) - range.fraction(ticks[i - 1].value));
      if (distance < (needs(ticks[i].label) + needs(ticks[i - 1].label)) / 2) {
        return false;
      }
    }
    return true;
  }

  /// Chooses the name of each position, or of every second, third, ... if not all fit.
  AxisMarks names(const std::vector<std::string>& all, double length, const AxisRange& range,
                  bool isX) {
    const double most = (isX ? 0.35 * cell_.height : 0.3 * cell_.width);
    const double distance = length * std::abs(range.fraction(1) - range.fraction(0));
    const double height = canvas_->lineHeight(kTickSize);
    AxisMarks marks;
    marks.hasCategories = true;
    const double room = distance - pixels(kTickSize) / 2;
    marks.areTilted = isX && std::any_of(all.begin(), all.end(), [&](const std::string& name) {
                        return width({name, ""}) > room;
                      });
    const double needed = marks.areTilted ? 0.9 * height / kSin45 : height;
    const auto every = static_cast<std::size_t>(
        std::max(1.0, isX && !marks.areTilted ? 1.0 : std::ceil(needed / distance)));
    for (std::size_t i = 0; i < all.size(); i += every) {
      const auto value = static_cast<double>(i);
      if (value >= range.min && value <= range.max) {
        marks.ticks.major.push_back({value, {canvas_->shortened(all[i], most, tickStyle()), ""}});
      }
    }
    return marks;
  }

  double xMarksHeight() {
    const double gap = pixels(layout_.x.hasCategories ? kTickGap : kTickLength + kTickGap);
    return gap + (layout_.x.areTilted ? kSin45 * (widest(layout_.x.ticks) + pixels(kTickSize))
                                      : canvas_->lineHeight(kTickSize));
  }

  double yMarksWidth() {
    return widest(layout_.y.ticks) +
           pixels(layout_.y.hasCategories ? 2 * kTickGap : kTickLength + kTickGap);
  }

  double labelHeight(const std::string& label) const {
    return label.empty() ? 0 : canvas_->lineHeight(kAxisLabelSize) + pixels(kLabelGap) / 2;
  }

  double colorbarSpace() {
    return contents_.colorbar == nullptr
               ? 0
               : pixels(kColorbarGap + kColorbarWidth + kTickLength + kTickGap) +
                     widest(layout_.colorbarTicks) + labelHeight(contents_.colorbar->label);
  }

  /// Returns how far the names of the x axis extend beyond its ends.
  double overhang(bool atTheEnd) {
    double overhang = 0;
    for (const Tick& tick : layout_.x.ticks.major) {
      const double at = frame().x.fraction(tick.value) * area().width;
      const double w = width(tick.label);
      const double before = layout_.x.areTilted ? kSin45 * w : w / 2;
      const double after = layout_.x.areTilted ? 0 : w / 2;
      overhang = std::max(overhang, atTheEnd ? at + after - area().width : before - at);
    }
    return overhang;
  }

  void placeArea() {
    const double padding = pixels(kCellPadding);
    const double left =
        padding + std::max(labelHeight(model_.yLabel) + yMarksWidth(), overhang(false));
    const double right =
        padding + std::max(colorbarSpace() + contents_.besideWidth, overhang(true));
    const double top =
        padding + (model_.canvas.title.empty()
                       ? canvas_->lineHeight(kTickSize) / 4
                       : canvas_->lineHeight(kTitleSize) + pixels(kTitleGap) - padding / 2);
    const double bottom = padding / 2 + xMarksHeight() + labelHeight(model_.xLabel);
    Rect area{std::round(cell_.left + left), std::round(cell_.top + top),
              std::round(std::max(kLeastSide, cell_.width - left - right)),
              std::round(std::max(kLeastSide, cell_.height - top - bottom))};
    if (contents_.squareCells) {
      makeCellsSquare(&area);
    }
    frame().area = area;
  }

  void makeCellsSquare(Rect* area) {
    const double columns = frame().x.max - frame().x.min;
    const double rows = frame().y.max - frame().y.min;
    const double side = std::min(area->width / columns, area->height / rows);
    const double width = std::max(kLeastSide, std::round(side * columns));
    const double height = std::max(kLeastSide, std::round(side * rows));
    area->left += std::floor((area->width - width) / 2);
    area->top += std::floor((area->height - height) / 2);
    area->width = width;
    area->height = height;
  }

  void placeTexts() {
    const double half = canvas_->lineHeight(kAxisLabelSize) / 2;
    layout_.title = {area().centerX(),
                     area().top - pixels(kTitleGap) - canvas_->lineHeight(kTitleSize) / 2};
    layout_.titleWidth = cell_.width - 2 * pixels(kCellPadding);
    layout_.xLabel = {area().centerX(),
                      area().bottom() + xMarksHeight() + pixels(kLabelGap) / 2 + half};
    layout_.yLabel = {area().left - yMarksWidth() - pixels(kLabelGap) / 2 - half, area().centerY()};
    if (contents_.colorbar != nullptr) {
      layout_.colorbar = {std::round(area().right() + pixels(kColorbarGap)), area().top,
                          std::round(pixels(kColorbarWidth)), area().height};
      layout_.colorbarLabel = {layout_.colorbar.right() + pixels(kTickLength + kTickGap) +
                                   widest(layout_.colorbarTicks) + pixels(kLabelGap) / 2 + half,
                               area().centerY()};
    }
  }

  const FigureModel& model_;
  const Contents& contents_;
  const Rect cell_;
  Canvas* const canvas_;
  Layout layout_;
};

}  // namespace

Layout layOut(const FigureModel& model, const Contents& contents, const Rect& cell,
              Canvas* canvas) {
  return LayoutSearch(model, contents, cell, canvas).run();
}

}  // namespace steptape::figure
