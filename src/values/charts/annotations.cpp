// SPDX-License-Identifier: Apache-2.0
// Annotations of a chart: straight lines across the axes, and texts.
#include <algorithm>
#include <utility>

#include "base/got_expected.h"
#include "values/charts/plots.h"

namespace steptape::figure {
namespace {

/// Is its own Drawing, because there are no numbers to wait for.
class RulePlot : public Plot {
 public:
  RulePlot(double at, Direction direction, LegendKey key)
      : Plot(std::move(key)), at_(at), direction_(direction) {}

  std::size_t bytes() const override { return 0; }

  std::unique_ptr<Drawing> prepare(const PlotGroup& /*group*/) const override {
    return std::make_unique<RuleDrawing>(at_, direction_, *key().stroke);
  }

 private:
  class RuleDrawing : public Drawing {
   public:
    RuleDrawing(double at, Direction direction, const Stroke& stroke)
        : at_(at), direction_(direction), stroke_(stroke) {}

    void extend(AxisData* x, AxisData* y) const override {
      (direction_ == Direction::kHorizontal ? y : x)->include(at_);
    }

    void draw(const Frame& frame, Canvas* canvas) const override {
      const Rect& area = frame.area;
      if (direction_ == Direction::kHorizontal) {
        const double y = frame.pixelY(at_);
        canvas->strokeCrisply({area.left, y}, {area.right(), y}, stroke_);
      } else {
        const double x = frame.pixelX(at_);
        canvas->strokeCrisply({x, area.bottom()}, {x, area.top}, stroke_);
      }
    }

   private:
    double at_;
    Direction direction_;
    Stroke stroke_;
  };

  double at_;
  Direction direction_;
};

class Annotation : public Plot {
 public:
  Annotation(double x, double y, std::string text, const TextStyle& style)
      : x_(x), y_(y), text_(std::move(text)), style_(style) {}

  std::size_t bytes() const override { return text_.size(); }

  std::unique_ptr<Drawing> prepare(const PlotGroup& /*group*/) const override {
    return std::make_unique<AnnotationDrawing>(x_, y_, text_, style_);
  }

 private:
  class AnnotationDrawing : public Drawing {
   public:
    AnnotationDrawing(double x, double y, std::string text, const TextStyle& style)
        : x_(x), y_(y), text_(std::move(text)), style_(style) {}

    void extend(AxisData* x, AxisData* y) const override {
      x->include(x_);
      y->include(y_);
    }

    void draw(const Frame& frame, Canvas* canvas) const override {
      canvas->text({text_, ""}, within(frame.area, frame.at(x_, y_), canvas), style_);
    }

   private:
    /// Shifts a text whose point is inside the axes until the whole text is inside.
    Point within(const Rect& area, Point at, Canvas* canvas) const {
      const double width = canvas->textWidth({text_, ""}, style_);
      if (!(at.x >= area.left && at.x <= area.right()) || width > area.width) {
        return at;
      }
      const double before = style_.anchor == TextAnchor::kLeft     ? 0
                            : style_.anchor == TextAnchor::kCenter ? width / 2
                                                                   : width;
      at.x = std::clamp(at.x, area.left + before, area.right() - (width - before));
      return at;
    }

    double x_;
    double y_;
    std::string text_;
    TextStyle style_;
  };

  double x_;
  double y_;
  std::string text_;
  TextStyle style_;
};

}  // namespace

PlotPtr rulePlot(double at, Direction direction, const RuleOptions& options) {
  const std::string where =
      direction == Direction::kHorizontal ? "Figure::horizontalLine" : "Figure::verticalLine";
  LegendKey key;
  key.label = options.label;
  key.stroke = makeStroke(parseColor(options.color, where), options.width, options.style, where);
  return std::make_shared<RulePlot>(at, direction, std::move(key));
}

PlotPtr annotation(double x, double y, std::string text, const AnnotationOptions& options) {
  const std::string where = "Figure::text";
  constexpr double kLargest = 200;
  if (!(options.size > 0 && options.size <= kLargest)) {
    detail::base::reject("size = " + std::to_string(options.size), "more than 0, at most 200",
                         where);
  }
  TextStyle style;
  style.size = options.size;
  style.color = parseColor(options.color, where);
  style.anchor = options.anchor;
  return std::make_shared<Annotation>(x, y, std::move(text), style);
}

}  // namespace steptape::figure
