// SPDX-License-Identifier: Apache-2.0
#include "values/charts/canvas.h"

#include <algorithm>
#include <cairo.h>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <new>

#include "base/utf8.h"

namespace steptape::figure {
namespace {

constexpr double kPointsPerInch = 72;
/// Height of a capital letter as a share of the font size. Common fonts have 0.70 to 0.73.
constexpr double kCapitalHeight = 0.72;
constexpr double kSuperscriptSize = 0.7;
constexpr double kSuperscriptRise = 0.42;

void setColor(cairo_t* cairo, const Color& color) {
  cairo_set_source_rgba(cairo, color.red, color.green, color.blue, color.alpha);
}

/// Returns lengths of dashes and gaps, alternating.
std::vector<double> dashLengths(DashStyle style, double width) {
  switch (style) {
    case DashStyle::kSolid:
      return {};
    case DashStyle::kDashed:
      return {3.7 * width, 1.6 * width};
    case DashStyle::kDotted:
      return {width, 1.65 * width};
    case DashStyle::kDashDotted:
      return {6.4 * width, 1.6 * width, width, 1.6 * width};
  }
  return {};
}

/// Returns whether no font is installed. Cairo then draws built-in letters, which support only
/// ASCII.
bool isWithoutFont(cairo_t* cairo) {
  return cairo_scaled_font_get_type(cairo_get_scaled_font(cairo)) == CAIRO_FONT_TYPE_USER;
}

std::string replaced(std::string text, const std::string& from, const std::string& to) {
  for (std::size_t at = 0; (at = text.find(from, at)) != std::string::npos; at += to.size()) {
    text.replace(at, from.size(), to);
  }
  return text;
}

/// Returns `text` as valid UTF-8, because Cairo stops all drawing after an ill-formed text.
std::string drawable(cairo_t* cairo, const std::string& text) {
  std::string valid = replaced(detail::base::replaceInvalidUtf8(text), "\n", " ");
  return isWithoutFont(cairo) ? replaced(replaced(valid, "\u2212", "-"), "\u00D7", "x") : valid;
}

double advanceOf(cairo_t* cairo, const std::string& text) {
  cairo_text_extents_t extents;
  cairo_text_extents(cairo, drawable(cairo, text).c_str(), &extents);
  return extents.x_advance;
}

/// Returns Cairo's native-endian pixel: alpha, red, green, blue, premultiplied by alpha.
std::uint32_t argb(const Color& color) {
  const auto byte = [&](double part) {
    return static_cast<std::uint32_t>(std::lround(part * color.alpha * 255));
  };
  return static_cast<std::uint32_t>(std::lround(color.alpha * 255)) << 24 | byte(color.red) << 16 |
         byte(color.green) << 8 | byte(color.blue);
}

std::uint32_t pixelAt(const unsigned char* row, int x) {
  std::uint32_t pixel;
  std::memcpy(&pixel, row + 4 * x, sizeof(pixel));
  return pixel;
}

}  // namespace

struct Canvas::Impl {
  Impl(int width, int height)
      : surface(cairo_image_surface_create(CAIRO_FORMAT_RGB24, width, height)),
        cairo(cairo_create(surface)) {}
  ~Impl() {
    cairo_destroy(cairo);
    cairo_surface_destroy(surface);
  }
  Impl(const Impl&) = delete;
  Impl& operator=(const Impl&) = delete;

  cairo_surface_t* surface;
  cairo_t* cairo;
};

Canvas::Canvas(int width, int height, double dpi)
    : pixelsPerPoint_(dpi / kPointsPerInch), impl_(std::make_unique<Impl>(width, height)) {
  if (cairo_status(impl_->cairo) != CAIRO_STATUS_SUCCESS) {
    throw std::bad_alloc();
  }
  // Fixed options: otherwise the desktop's settings would change the pixels.
  cairo_font_options_t* options = cairo_font_options_create();
  cairo_font_options_set_antialias(options, CAIRO_ANTIALIAS_GRAY);
  cairo_font_options_set_hint_style(options, CAIRO_HINT_STYLE_SLIGHT);
  cairo_font_options_set_hint_metrics(options, CAIRO_HINT_METRICS_OFF);
  cairo_set_font_options(impl_->cairo, options);
  cairo_font_options_destroy(options);
  cairo_set_line_join(impl_->cairo, CAIRO_LINE_JOIN_ROUND);
  setColor(impl_->cairo, kWhite);
  cairo_paint(impl_->cairo);
}

Canvas::~Canvas() = default;

void Canvas::fill(const Rect& rect, const Color& color) {
  setColor(impl_->cairo, color);
  cairo_rectangle(impl_->cairo, rect.left, rect.top, rect.width, rect.height);
  cairo_fill(impl_->cairo);
}

void Canvas::fillCrisply(const Rect& rect, const Color& color) {
  const double left = std::round(rect.left);
  const double top = std::round(rect.top);
  fill({left, top, std::round(rect.right()) - left, std::round(rect.bottom()) - top}, color);
}

void Canvas::fill(const std::vector<Point>& polygon, const Color& color) {
  setColor(impl_->cairo, color);
  trace(polygon);
  cairo_fill(impl_->cairo);
}

void Canvas::stroke(const std::vector<Point>& line, const Stroke& stroke) {
  setColor(impl_->cairo, stroke.color);
  const double width = stroke.width * pixelsPerPoint_;
  const std::vector<double> dashes = dashLengths(stroke.dashes, width);
  cairo_set_dash(impl_->cairo, dashes.data(), static_cast<int>(dashes.size()), 0);
  cairo_set_line_width(impl_->cairo, width);
  trace(line);
  cairo_stroke(impl_->cairo);
}

void Canvas::trace(const std::vector<Point>& line) {
  cairo_new_path(impl_->cairo);
  bool inLine = false;
  for (const Point& point : line) {
    if (!isFinite(point)) {
      inLine = false;
    } else if (inLine) {
      cairo_line_to(impl_->cairo, point.x, point.y);
    } else {
      cairo_move_to(impl_->cairo, point.x, point.y);
      inLine = true;
    }
  }
}

void Canvas::strokeCrisply(Point from, Point to, const Stroke& stroke) {
  const double pixels = std::max(1.0, std::round(stroke.width * pixelsPerPoint_));
  // A line of an odd pixel width is centered on a pixel, one of an even width between two pixels.
  const double shift = std::fmod(pixels, 2) / 2;
  if (from.x == to.x) {
    from.x = to.x = std::round(from.x - shift) + shift;
  } else {
    from.y = to.y = std::round(from.y - shift) + shift;
  }
  Stroke whole = stroke;
  whole.width = pixels / pixelsPerPoint_;
  this->stroke({from, to}, whole);
}

void Canvas::draw(const Marker& marker, Point at) {
  const double r = marker.size * pixelsPerPoint_ / 2;
  const double s = r * 0.89;  // half the side of a square with the same area as the disc
  const Stroke arms{marker.color, marker.size / 5};
  switch (marker.shape) {
    case MarkerShape::kNone:
      return;
    case MarkerShape::kDisc:
      setColor(impl_->cairo, marker.color);
      cairo_new_path(impl_->cairo);
      cairo_arc(impl_->cairo, at.x, at.y, r, 0, 2 * kPi);
      cairo_fill(impl_->cairo);
      return;
    case MarkerShape::kSquare:
      return fill({at.x - s, at.y - s, 2 * s, 2 * s}, marker.color);
    case MarkerShape::kTriangle:
      return fill(std::vector<Point>{{at.x, at.y - r}, {at.x + r, at.y + r}, {at.x - r, at.y + r}},
                  marker.color);
    case MarkerShape::kDiamond:
      return fill(
          std::vector<Point>{
              {at.x, at.y - r}, {at.x + r, at.y}, {at.x, at.y + r}, {at.x - r, at.y}},
          marker.color);
    case MarkerShape::kPlus:
      stroke({{at.x - r, at.y}, {at.x + r, at.y}}, arms);
      return stroke({{at.x, at.y - r}, {at.x, at.y + r}}, arms);
    case MarkerShape::kCross:
      stroke({{at.x - s, at.y - s}, {at.x + s, at.y + s}}, arms);
      return stroke({{at.x - s, at.y + s}, {at.x + s, at.y - s}}, arms);
  }
}

void Canvas::setFont(const TextStyle& style) {
  cairo_select_font_face(impl_->cairo, "sans-serif", CAIRO_FONT_SLANT_NORMAL,
                         style.bold ? CAIRO_FONT_WEIGHT_BOLD : CAIRO_FONT_WEIGHT_NORMAL);
  cairo_set_font_size(impl_->cairo, style.size * pixelsPerPoint_);
}

double Canvas::textWidth(const Label& label, const TextStyle& style) {
  setFont(style);
  const double width = advanceOf(impl_->cairo, label.text);
  return label.superscript.empty()
             ? width
             : width + kSuperscriptSize * advanceOf(impl_->cairo, label.superscript);
}

void Canvas::text(const Label& label, Point at, const TextStyle& style) {
  if (!isFinite(at)) {
    return;
  }
  const double width = textWidth(label, style);
  const double size = style.size * pixelsPerPoint_;
  const double left = style.anchor == TextAnchor::kLeft     ? 0
                      : style.anchor == TextAnchor::kCenter ? -width / 2
                                                            : -width;
  cairo_t* const cairo = impl_->cairo;
  cairo_save(cairo);
  setColor(cairo, style.color);
  cairo_translate(cairo, at.x, at.y);
  cairo_rotate(cairo, -style.angle);
  cairo_move_to(cairo, left, kCapitalHeight / 2 * size);
  cairo_show_text(cairo, drawable(cairo, label.text).c_str());
  if (!label.superscript.empty()) {
    cairo_rel_move_to(cairo, 0, -kSuperscriptRise * size);
    cairo_set_font_size(cairo, kSuperscriptSize * size);
    cairo_show_text(cairo, drawable(cairo, label.superscript).c_str());
  }
  cairo_restore(cairo);
}

std::string Canvas::shortened(const std::string& text, double width, const TextStyle& style) {
  if (textWidth({text, ""}, style) <= width) {
    return text;
  }
  const std::string valid = detail::base::replaceInvalidUtf8(text);
  std::vector<std::size_t> cuts;
  for (std::size_t i = 1; i < valid.size(); ++i) {
    if (!detail::base::isUtf8Continuation(valid[i])) {
      cuts.push_back(i);
    }
  }
  // Names of templates have thousands of letters, and measuring takes time in proportion to the
  // length.
  const auto tooLong = std::partition_point(cuts.begin(), cuts.end(), [&](std::size_t cut) {
    return textWidth({valid.substr(0, cut) + "…", ""}, style) <= width;
  });
  return (tooLong == cuts.begin() ? "" : valid.substr(0, *(tooLong - 1))) + "…";
}

void Canvas::paint(const Rect& rect, const std::vector<Color>& pixels) {
  const int width = static_cast<int>(rect.width);
  const int height = static_cast<int>(rect.height);
  cairo_surface_t* const image = cairo_image_surface_create(CAIRO_FORMAT_ARGB32, width, height);
  if (cairo_surface_status(image) != CAIRO_STATUS_SUCCESS) {
    cairo_surface_destroy(image);
    throw std::bad_alloc();
  }
  const int stride = cairo_image_surface_get_stride(image);
  unsigned char* row = cairo_image_surface_get_data(image);
  auto color = pixels.begin();
  for (int y = 0; y < height; ++y, row += stride) {
    for (int x = 0; x < width; ++x) {
      const std::uint32_t pixel = argb(*color++);
      std::memcpy(row + 4 * x, &pixel, sizeof(pixel));
    }
  }
  cairo_surface_mark_dirty(image);
  cairo_set_source_surface(impl_->cairo, image, rect.left, rect.top);
  cairo_paint(impl_->cairo);
  cairo_surface_destroy(image);
}

Canvas::Clip Canvas::clip(const Rect& rect) {
  cairo_save(impl_->cairo);
  cairo_rectangle(impl_->cairo, rect.left, rect.top, rect.width, rect.height);
  cairo_clip(impl_->cairo);
  return Clip(this);
}

Canvas::Clip::~Clip() {
  cairo_restore(canvas_->impl_->cairo);
}

double Canvas::ink(const Rect& rect) {
  cairo_surface_flush(impl_->surface);
  const int stride = cairo_image_surface_get_stride(impl_->surface);
  const unsigned char* const data = cairo_image_surface_get_data(impl_->surface);
  const int left = std::max(0, static_cast<int>(rect.left));
  const int top = std::max(0, static_cast<int>(rect.top));
  const int right =
      std::min(cairo_image_surface_get_width(impl_->surface), static_cast<int>(rect.right()));
  const int bottom =
      std::min(cairo_image_surface_get_height(impl_->surface), static_cast<int>(rect.bottom()));
  const int grid = static_cast<int>(3 * 255 * kGridColor.red);
  double ink = 0;
  double pixels = 0;
  for (int y = top; y < bottom; ++y) {
    for (int x = left; x < right; ++x) {
      const std::uint32_t pixel = pixelAt(data + static_cast<std::ptrdiff_t>(y) * stride, x);
      const auto light =
          static_cast<int>((pixel >> 16 & 0xFF) + (pixel >> 8 & 0xFF) + (pixel & 0xFF));
      ink += std::max(0, grid - light);
      ++pixels;
    }
  }
  return pixels > 0 ? ink / (pixels * grid) : 0;
}

detail::values::Pixels Canvas::pixels() {
  if (cairo_status(impl_->cairo) != CAIRO_STATUS_SUCCESS) {
    throw std::bad_alloc();
  }
  cairo_surface_flush(impl_->surface);
  detail::values::Pixels pixels{cairo_image_surface_get_width(impl_->surface),
                                cairo_image_surface_get_height(impl_->surface),
                                3,
                                {}};
  const int stride = cairo_image_surface_get_stride(impl_->surface);
  const unsigned char* row = cairo_image_surface_get_data(impl_->surface);
  pixels.data.reserve(3 * static_cast<std::size_t>(pixels.width) * pixels.height);
  for (int y = 0; y < pixels.height; ++y, row += stride) {
    for (int x = 0; x < pixels.width; ++x) {
      const std::uint32_t pixel = pixelAt(row, x);
      for (const int shift : {16, 8, 0}) {
        pixels.data.push_back(static_cast<std::uint8_t>(pixel >> shift));
      }
    }
  }
  return pixels;
}

}  // namespace steptape::figure
