// SPDX-License-Identifier: Apache-2.0
// Bars, and histograms, which are drawn as bars.
#include <algorithm>
#include <cmath>
#include <utility>

#include "base/got_expected.h"
#include "values/charts/checks.h"
#include "values/charts/numbers.h"
#include "values/charts/plots.h"

namespace steptape::figure {
namespace {

/// A bar from `bottom` up to `bottom` + `height`.
struct Bar {
  double left;
  double right;
  double height;
  double bottom = 0;
};

class BarsDrawing : public Drawing {
 public:
  /// @param ends Whether the axis ends at the outer bars, as for a histogram.
  BarsDrawing(std::vector<Bar> bars, std::vector<std::string> categories, const Color& color,
              bool ends)
      : bars_(std::move(bars)), categories_(std::move(categories)), color_(color), ends_(ends) {}

  void extend(AxisData* x, AxisData* y) const override {
    for (const Bar& bar : bars_) {
      ends_ ? x->includeEdge(bar.left) : x->include(bar.left);
      ends_ ? x->includeEdge(bar.right) : x->include(bar.right);
      y->include(bar.bottom + bar.height);
      if (std::isfinite(bar.bottom)) {
        y->includeEdge(bar.bottom);
      }
    }
    if (!categories_.empty()) {
      x->setCategories(categories_);
    }
  }

  void draw(const Frame& frame, Canvas* canvas) const override {
    for (const Bar& bar : bars_) {
      // On a logarithmic axis, 0 is infinitely far down.
      const bool isEndless = frame.y.scale == AxisScale::kLog && bar.bottom <= 0;
      const double foot = isEndless ? frame.area.bottom() : frame.pixelY(bar.bottom);
      const double left = frame.pixelX(bar.left);
      const double right = frame.pixelX(bar.right);
      const double end = frame.pixelY(bar.bottom + bar.height);
      if (std::isfinite(left) && std::isfinite(right) && std::isfinite(foot) &&
          std::isfinite(end)) {
        canvas->fillCrisply({left, std::min(foot, end), right - left, std::abs(foot - end)},
                            color_);
      }
    }
  }

 private:
  std::vector<Bar> bars_;
  std::vector<std::string> categories_;
  Color color_;
  bool ends_;
};

class BarPlot : public Plot {
 public:
  BarPlot(const TensorView& heights, const BarOptions& options, LegendKey key, int index)
      : Plot(std::move(key)),
        heights_(keep(heights)),
        labels_(options.labels),
        bottom_(options.bottom),
        width_(options.width),
        index_(index) {}

  std::size_t bytes() const override { return heights_.nbytes() + bottom_.size() * sizeof(double); }

  std::unique_ptr<Drawing> prepare(const PlotGroup& group) const override {
    const std::vector<double> heights = numbersOf(heights_);
    const double width = width_ / group.barPlots;
    std::vector<Bar> bars;
    for (std::size_t i = 0; i < heights.size(); ++i) {
      const double left = static_cast<double>(i) - width_ / 2 + index_ * width;
      bars.push_back({left, left + width, heights[i], bottom_.empty() ? 0 : bottom_[i]});
    }
    return std::make_unique<BarsDrawing>(std::move(bars), labels_, *key().patch, false);
  }

 private:
  TensorView heights_;
  std::vector<std::string> labels_;
  std::vector<double> bottom_;
  double width_;
  int index_;
};

class HistogramPlot : public Plot {
 public:
  HistogramPlot(const TensorView& values, const HistogramPlotOptions& options, LegendKey key)
      : Plot(std::move(key)),
        values_(keep(values)),
        bins_(static_cast<int>(options.bins)),
        edges_(options.edges),
        density_(options.density) {}

  std::size_t bytes() const override { return values_.nbytes(); }

  std::unique_ptr<Drawing> prepare(const PlotGroup& /*group*/) const override {
    std::vector<double> values = numbersOf(values_);
    values.erase(std::remove_if(values.begin(), values.end(),
                                [](double value) { return !std::isfinite(value); }),
                 values.end());
    const std::vector<double> edges = edges_.empty() ? equalEdges(values) : edges_;
    std::vector<Bar> bars;
    for (std::size_t i = 1; i < edges.size(); ++i) {
      bars.push_back({edges[i - 1], edges[i], 0});
    }
    count(values, edges, &bars);
    if (density_) {
      scale(&bars);
    }
    return std::make_unique<BarsDrawing>(std::move(bars), std::vector<std::string>(), *key().patch,
                                         true);
  }

 private:
  std::vector<double> equalEdges(const std::vector<double>& values) const {
    if (values.empty()) {
      return {};
    }
    auto [min, max] = std::minmax_element(values.begin(), values.end());
    // A single number gets bins around it, as in numpy.histogram.
    const double low = *min == *max ? *min - 0.5 : *min;
    const double high = *min == *max ? *max + 0.5 : *max;
    std::vector<double> edges;
    for (int i = 0; i <= bins_; ++i) {
      const double share = static_cast<double>(i) / bins_;
      edges.push_back(low * (1 - share) + high * share);
    }
    return edges;
  }

  static void count(const std::vector<double>& values, const std::vector<double>& edges,
                    std::vector<Bar>* bars) {
    for (const double value : values) {
      const auto above = std::upper_bound(edges.begin(), edges.end(), value);
      if (above != edges.begin() && (above != edges.end() || value == edges.back())) {
        const auto bin = static_cast<std::size_t>(above - edges.begin()) - 1;
        ++(*bars)[std::min(bin, bars->size() - 1)].height;
      }
    }
  }

  static void scale(std::vector<Bar>* bars) {
    double total = 0;
    for (const Bar& bar : *bars) {
      total += bar.height;
    }
    for (Bar& bar : *bars) {
      bar.height /= std::max(total, 1.0) * (bar.right - bar.left);
    }
  }

  TensorView values_;
  int bins_;
  std::vector<double> edges_;
  bool density_;
};

void checkEdges(const std::vector<double>& edges, const std::string& where) {
  for (std::size_t i = 0; i < edges.size(); ++i) {
    if (!std::isfinite(edges[i]) || (i > 0 && edges[i] <= edges[i - 1])) {
      detail::base::reject("edges[" + std::to_string(i) + "] = " + std::to_string(edges[i]),
                           "finite, increasing edges", where);
    }
  }
  if (edges.size() == 1) {
    detail::base::reject("1 edge", "at least 2", where);
  }
}

}  // namespace

PlotPtr barPlot(const TensorView& heights, const BarOptions& options, const Color& color,
                int index) {
  const std::string where = "Figure::bar";
  checkRank1(heights, "heights", where);
  checkCount(options.labels.size(), heights.numel(), "labels", "bar", where);
  checkCount(options.bottom.size(), heights.numel(), "bottom", "bar", where);
  if (!(options.width > 0 && options.width <= 1)) {
    detail::base::reject("width = " + std::to_string(options.width), "more than 0, at most 1",
                         where);
  }
  LegendKey key;
  key.label = options.label;
  key.patch = color;
  return std::make_shared<BarPlot>(heights, options, std::move(key), index);
}

PlotPtr histogramPlot(const TensorView& values, const HistogramPlotOptions& options,
                      const Color& color) {
  constexpr int kMostBins = 10000;
  const std::string where = "Figure::histogram";
  if (options.bins < 1 || options.bins > kMostBins) {
    detail::base::reject("bins = " + std::to_string(options.bins), "1 to 10000", where);
  }
  checkEdges(options.edges, where);
  LegendKey key;
  key.label = options.label;
  // Translucent, so that overlapping histograms are both visible.
  key.patch = withOpacity(color, 0.7, where);
  return std::make_shared<HistogramPlot>(values, options, std::move(key));
}

}  // namespace steptape::figure
