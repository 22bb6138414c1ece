// SPDX-License-Identifier: Apache-2.0
#include "values/charts/legend.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

namespace steptape::figure {
namespace {

constexpr double kTextSize = 9;
// These lengths are in points, too.
constexpr double kLegendMargin = 5;   // to the axes
constexpr double kLegendPadding = 4;  // beside the keys
constexpr double kPaddingAbove = 3;
constexpr double kKeyWidth = 18;
constexpr double kKeyGap = 5;
/// Maximum share of the axes for a legend.
constexpr double kMostWidth = 0.6;

constexpr Color kBackground{1, 1, 1, 0.85};
constexpr Stroke kBorder{{0.8, 0.8, 0.8, 1}, 0.6};

TextStyle textStyle() {
  TextStyle style;
  style.size = kTextSize;
  return style;
}

/// Shares of the free space around a legend, from the left and from the top.
using Place = std::pair<double, double>;

/// The corners, in the order of LegendPlace.
constexpr std::array<Place, 4> kCorners{{{1, 0}, {0, 0}, {0, 1}, {1, 1}}};

/// Returns all candidate positions of a legend, preferred ones first.
std::vector<Place> allPlaces() {
  std::vector<Place> places(kCorners.begin(), kCorners.end());
  for (const double y : {0.0, 1.0, 0.5, 0.25, 0.75}) {
    for (const double x : {1.0, 0.0, 0.5, 0.75, 0.25}) {
      places.emplace_back(x, y);
    }
  }
  return places;
}

void drawKey(const LegendKey& key, const Rect& rect, Canvas* canvas) {
  if (key.patch) {
    const double inset = rect.height * 0.24;
    canvas->fillCrisply({rect.left, rect.top + inset, rect.width, rect.height - 2 * inset},
                        *key.patch);
  }
  if (key.stroke) {
    canvas->stroke({{rect.left, rect.centerY()}, {rect.right(), rect.centerY()}}, *key.stroke);
  }
  canvas->draw(key.marker, {rect.centerX(), rect.centerY()});
}

}  // namespace

Legend::Legend(std::vector<LegendKey> keys, const Rect& area, Canvas* canvas)
    : keys_(std::move(keys)), canvas_(canvas) {
  const double scale = canvas_->pixelsPerPoint();
  beforeText_ = (kLegendPadding + kKeyWidth + kKeyGap) * scale;
  const double mostText = std::max(0.0, kMostWidth * area.width - beforeText_);
  double widest = 0;
  for (LegendKey& key : keys_) {
    key.label = canvas_->shortened(key.label, mostText, textStyle());
    widest = std::max(widest, canvas_->textWidth({key.label, ""}, textStyle()));
  }
  rect_.width = std::ceil(beforeText_ + widest + kLegendPadding * scale);
  rect_.height = std::ceil(canvas_->lineHeight(kTextSize) * static_cast<double>(keys_.size()) +
                           2 * kPaddingAbove * scale);
}

Rect Legend::rectAt(double x, double y, const Rect& area) const {
  const double margin = kLegendMargin * canvas_->pixelsPerPoint();
  return {std::round(area.left + margin + x * (area.width - 2 * margin - rect_.width)),
          std::round(area.top + margin + y * (area.height - 2 * margin - rect_.height)),
          rect_.width, rect_.height};
}

double Legend::place(LegendPlace place, const Rect& area) {
  if (place != LegendPlace::kBest) {
    const auto first = static_cast<std::size_t>(LegendPlace::kUpperRight);
    const auto [x, y] = kCorners[static_cast<std::size_t>(place) - first];
    rect_ = rectAt(x, y, area);
    return 0;
  }
  Rect best;
  double leastInk = HUGE_VAL;
  for (const auto& [x, y] : allPlaces()) {
    const Rect rect = rectAt(x, y, area);
    const double ink = canvas_->ink(rect);
    if (ink < leastInk) {
      leastInk = ink;
      best = rect;
    }
  }
  rect_ = best;
  return leastInk;
}

void Legend::placeBeside(const Rect& area, const Rect& cell) {
  rect_.left = std::round(cell.right() - kLegendMargin * canvas_->pixelsPerPoint() - rect_.width);
  rect_.top = area.top;
}

double Legend::outerWidth() const {
  return rect_.width + 2 * kLegendMargin * canvas_->pixelsPerPoint();
}

double Legend::outerHeight() const {
  return rect_.height + 2 * kLegendMargin * canvas_->pixelsPerPoint();
}

void Legend::drawBox() {
  canvas_->fill(rect_, kBackground);
  const Point upperLeft{rect_.left, rect_.top};
  const Point upperRight{rect_.right(), rect_.top};
  const Point lowerLeft{rect_.left, rect_.bottom()};
  const Point lowerRight{rect_.right(), rect_.bottom()};
  canvas_->strokeCrisply(upperLeft, upperRight, kBorder);
  canvas_->strokeCrisply(lowerLeft, lowerRight, kBorder);
  canvas_->strokeCrisply(upperLeft, lowerLeft, kBorder);
  canvas_->strokeCrisply(upperRight, lowerRight, kBorder);
}

void Legend::draw() {
  drawBox();
  const double scale = canvas_->pixelsPerPoint();
  const double row = canvas_->lineHeight(kTextSize);
  double top = rect_.top + kPaddingAbove * scale;
  for (const LegendKey& key : keys_) {
    drawKey(key, {rect_.left + kLegendPadding * scale, top, kKeyWidth * scale, row}, canvas_);
    canvas_->text({key.label, ""}, {rect_.left + beforeText_, top + row / 2}, textStyle());
    top += row;
  }
}

}  // namespace steptape::figure
