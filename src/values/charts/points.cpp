// SPDX-License-Identifier: Apache-2.0
// Lines, scattered points and bands, which are made of (x, y) pairs.
#include <utility>

#include "values/charts/checks.h"
#include "values/charts/decimate.h"
#include "values/charts/numbers.h"
#include "values/charts/plots.h"

namespace steptape::figure {
namespace {

/// Returns 0, 1, 2, ...
std::vector<double> indices(std::size_t count) {
  std::vector<double> numbers(count);
  for (std::size_t i = 0; i < count; ++i) {
    numbers[i] = static_cast<double>(i);
  }
  return numbers;
}

std::vector<Point> pointsOf(const Frame& frame, const std::vector<double>& x,
                            const std::vector<double>& y) {
  std::vector<Point> points(x.size());
  for (std::size_t i = 0; i < x.size(); ++i) {
    points[i] = frame.at(x[i], y[i]);
  }
  return points;
}

class PointsDrawing : public Drawing {
 public:
  PointsDrawing(std::vector<double> x, std::vector<double> y, const std::optional<Stroke>& stroke,
                const Marker& marker)
      : x_(std::move(x)), y_(std::move(y)), stroke_(stroke), marker_(marker) {}

  void extend(AxisData* x, AxisData* y) const override {
    for (std::size_t i = 0; i < x_.size(); ++i) {
      if (std::isfinite(x_[i]) && std::isfinite(y_[i])) {
        x->include(x_[i]);
        y->include(y_[i]);
      }
    }
  }

  void draw(const Frame& frame, Canvas* canvas) const override {
    const std::vector<Point> points = pointsOf(frame, x_, y_);
    if (stroke_) {
      canvas->stroke(decimatedLine(points), *stroke_);
    }
    if (marker_.shape == MarkerShape::kNone) {
      return;
    }
    // Transparent markers add up if they overlap, so all of them are drawn.
    const bool opaque = marker_.color.alpha == 1;
    for (const Point& point : opaque ? distinctPoints(points) : points) {
      if (isFinite(point)) {
        canvas->draw(marker_, point);
      }
    }
  }

 private:
  std::vector<double> x_;
  std::vector<double> y_;
  std::optional<Stroke> stroke_;
  Marker marker_;
};

class PointsPlot : public Plot {
 public:
  PointsPlot(const std::optional<TensorView>& x, const TensorView& y, LegendKey key)
      : Plot(std::move(key)), x_(x ? std::optional(keep(*x)) : std::nullopt), y_(keep(y)) {}

  std::size_t bytes() const override { return (x_ ? x_->nbytes() : 0) + y_.nbytes(); }

  std::unique_ptr<Drawing> prepare(const PlotGroup& /*group*/) const override {
    std::vector<double> y = numbersOf(y_);
    std::vector<double> x = x_ ? numbersOf(*x_) : indices(y.size());
    return std::make_unique<PointsDrawing>(std::move(x), std::move(y), key().stroke, key().marker);
  }

 private:
  std::optional<TensorView> x_;
  TensorView y_;
};

class BandDrawing : public Drawing {
 public:
  BandDrawing(std::vector<double> x, std::vector<double> lower, std::vector<double> upper,
              const Color& color)
      : x_(std::move(x)), lower_(std::move(lower)), upper_(std::move(upper)), color_(color) {}

  void extend(AxisData* x, AxisData* y) const override {
    for (std::size_t i = 0; i < x_.size(); ++i) {
      if (std::isfinite(x_[i]) && std::isfinite(lower_[i]) && std::isfinite(upper_[i])) {
        x->include(x_[i]);
        y->include(lower_[i]);
        y->include(upper_[i]);
      }
    }
  }

  void draw(const Frame& frame, Canvas* canvas) const override {
    const std::vector<Point> lower = pointsOf(frame, x_, lower_);
    const std::vector<Point> upper = pointsOf(frame, x_, upper_);
    std::vector<Point> above;
    std::vector<Point> below;
    for (std::size_t i = 0; i < x_.size(); ++i) {
      if (isFinite(lower[i]) && isFinite(upper[i])) {
        above.push_back(upper[i]);
        below.push_back(lower[i]);
      } else {
        fillPiece(&above, &below, canvas);
      }
    }
    fillPiece(&above, &below, canvas);
  }

 private:
  /// Fills the area between two gaps, and clears the points.
  void fillPiece(std::vector<Point>* above, std::vector<Point>* below, Canvas* canvas) const {
    std::vector<Point> outline = decimatedLine(*above);
    const std::vector<Point> back = decimatedLine(*below);
    outline.insert(outline.end(), back.rbegin(), back.rend());
    canvas->fill(outline, color_);
    above->clear();
    below->clear();
  }

  std::vector<double> x_;
  std::vector<double> lower_;
  std::vector<double> upper_;
  Color color_;
};

class BandPlot : public Plot {
 public:
  BandPlot(const TensorView& x, const TensorView& lower, const TensorView& upper, LegendKey key)
      : Plot(std::move(key)), x_(keep(x)), lower_(keep(lower)), upper_(keep(upper)) {}

  std::size_t bytes() const override { return x_.nbytes() + lower_.nbytes() + upper_.nbytes(); }

  std::unique_ptr<Drawing> prepare(const PlotGroup& /*group*/) const override {
    return std::make_unique<BandDrawing>(numbersOf(x_), numbersOf(lower_), numbersOf(upper_),
                                         *key().patch);
  }

 private:
  TensorView x_;
  TensorView lower_;
  TensorView upper_;
};

}  // namespace

PlotPtr linePlot(const std::optional<TensorView>& x, const TensorView& y,
                 const LineOptions& options, const Color& color) {
  const std::string where = "Figure::line";
  if (x) {
    checkEqualLengths(*x, "x", y, "y", where);
  } else {
    checkRank1(y, "y", where);
  }
  LegendKey key;
  key.label = options.label;
  if (!options.style.empty()) {
    key.stroke = makeStroke(color, options.width, options.style, where);
  }
  key.marker = makeMarker(options.marker, options.markerSize, color, where);
  return std::make_shared<PointsPlot>(x, y, std::move(key));
}

PlotPtr scatterPlot(const TensorView& x, const TensorView& y, const ScatterOptions& options,
                    const Color& color) {
  const std::string where = "Figure::scatter";
  checkEqualLengths(x, "x", y, "y", where);
  LegendKey key;
  key.label = options.label;
  key.marker = makeMarker(options.marker, options.size, color, where);
  return std::make_shared<PointsPlot>(x, y, std::move(key));
}

PlotPtr bandPlot(const TensorView& x, const TensorView& lower, const TensorView& upper,
                 const BandOptions& options, const Color& color) {
  const std::string where = "Figure::fillBetween";
  checkEqualLengths(x, "x", lower, "lower", where);
  checkEqualLengths(x, "x", upper, "upper", where);
  LegendKey key;
  key.label = options.label;
  key.patch = withOpacity(color, options.opacity, where);
  return std::make_shared<BandPlot>(x, lower, upper, std::move(key));
}

}  // namespace steptape::figure
