// SPDX-License-Identifier: Apache-2.0
#include "values/charts/color.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <string>
#include <utility>

#include "base/fnv.h"
#include "base/got_expected.h"
#include "base/text.h"
#include "values/charts/geometry.h"
#include "values/kinds/image/color_math.h"

namespace steptape::figure {
namespace {

constexpr Color fromRgb(unsigned rgb) {
  return {((rgb >> 16) & 0xFF) / 255.0, ((rgb >> 8) & 0xFF) / 255.0, (rgb & 0xFF) / 255.0, 1};
}

// Okabe and Ito, "Color Universal Design", 2008.
constexpr Color kBlue = fromRgb(0x0072B2);
constexpr Color kVermilion = fromRgb(0xD55E00);
constexpr Color kGreen = fromRgb(0x009E73);
constexpr Color kPurple = fromRgb(0xCC79A7);
constexpr Color kOrange = fromRgb(0xE69F00);
constexpr Color kCyan = fromRgb(0x56B4E9);
constexpr Color kBlack = fromRgb(0x000000);
constexpr Color kYellow = fromRgb(0xF0E442);
constexpr Color kGray = fromRgb(0x7F7F7F);

constexpr std::array<Color, 8> kCycle{kBlue,   kVermilion, kGreen, kPurple,
                                      kOrange, kCyan,      kBlack, kYellow};

constexpr std::array<std::pair<std::string_view, Color>, 11> kNames{{{"black", kBlack},
                                                                     {"white", kWhite},
                                                                     {"gray", kGray},
                                                                     {"gray", kGray},
                                                                     {"red", kVermilion},
                                                                     {"green", kGreen},
                                                                     {"blue", kBlue},
                                                                     {"orange", kOrange},
                                                                     {"purple", kPurple},
                                                                     {"cyan", kCyan},
                                                                     {"yellow", kYellow}}};

/// Parses the digits after '#'.
/// @return false unless there are 3, 6 or 8 digits.
bool parseHex(std::string_view digits, Color* color) {
  const std::size_t perPart = digits.size() == 3 ? 1 : 2;
  if (digits.size() != 3 && digits.size() != 6 && digits.size() != 8) {
    return false;
  }
  std::array<double, 4> parts{0, 0, 0, 1};
  for (std::size_t i = 0; i * perPart < digits.size(); ++i) {
    const int high = detail::base::hexDigit(digits[i * perPart]);
    const int low = detail::base::hexDigit(digits[i * perPart + perPart - 1]);
    if (high < 0 || low < 0) {
      return false;
    }
    parts[i] = (high * 16 + low) / 255.0;
  }
  *color = {parts[0], parts[1], parts[2], parts[3]};
  return true;
}

/// Inverts linearLight(), rounded to whole bytes as in "#rrggbb".
double companded(double linearPart) {
  const double part = std::clamp(linearPart, 0.0, 1.0);
  const double value = part <= 0.0031308 ? 12.92 * part : 1.055 * std::pow(part, 1 / 2.4) - 0.055;
  return std::round(value * 255) / 255;
}

/// @source Ottosson, "A perceptual color space for image processing", 2020,
///         https://bottosson.github.io/posts/oklab/.
Color fromOklab(double lightness, double a, double b) {
  const double l = std::pow(lightness + 0.3963377774 * a + 0.2158037573 * b, 3);
  const double m = std::pow(lightness - 0.1055613458 * a - 0.0638541728 * b, 3);
  const double s = std::pow(lightness - 0.0894841775 * a - 1.2914855480 * b, 3);
  return {companded(4.0767416621 * l - 3.3077115913 * m + 0.2309699292 * s),
          companded(-1.2684380046 * l + 2.6097574011 * m - 0.3413193965 * s),
          companded(-0.0041960863 * l - 0.7034186147 * m + 1.7076147010 * s), 1};
}

/// Hashes with FNV-1a and the final mixing of Murmur, without which names that differ only in the
/// last letter would have similar colors.
std::uint32_t hashOf(std::string_view text) {
  std::uint32_t hash = detail::base::Fnv<std::uint32_t>().add(text).hash();
  hash = (hash ^ hash >> 16) * 0x85EBCA6BU;
  hash = (hash ^ hash >> 13) * 0xC2B2AE35U;
  return hash ^ hash >> 16;
}

}  // namespace

Color cycleColor(int index) {
  return kCycle[static_cast<std::size_t>(index) % kCycle.size()];
}

Color colorOfName(std::string_view name) {
  constexpr double kChroma = 0.085;  // the maximum that every hue has at these lightnesses
  const std::uint32_t hash = hashOf(name);
  const double hue = 2 * kPi * (hash & 0xFFFF) / 65536.0;
  // Names with similar hues often differ in lightness.
  const double lightness = 0.76 + 0.12 * (hash >> 16 & 0xFF) / 255.0;
  return fromOklab(lightness, kChroma * std::cos(hue), kChroma * std::sin(hue));
}

Color parseColor(std::string_view text, const std::string& where) {
  Color color;
  if (!text.empty() && text.front() == '#' && parseHex(text.substr(1), &color)) {
    return color;
  }
  if (text.size() == 2 && text[0] == 'C' && text[1] >= '0' && text[1] <= '7') {
    return cycleColor(text[1] - '0');
  }
  for (const auto& [name, named] : kNames) {
    if (text == name) {
      return named;
    }
  }
  detail::base::reject("color = " + detail::base::quoted(text),
                       "a color such as \"#1f77b4\", \"C0\" to \"C7\" or \"red\"", where);
}

Color withOpacity(Color color, double opacity, const std::string& where) {
  if (!(opacity >= 0 && opacity <= 1)) {
    detail::base::reject("opacity = " + std::to_string(opacity), "0 to 1", where);
  }
  color.alpha *= opacity;
  return color;
}

double relativeLuminance(const Color& color) {
  return detail::values::relativeLuminance(color.red, color.green, color.blue);
}

Color textColorOn(const Color& background) {
  // The luminance at which the contrast ratios (L + 0.05) / (l + 0.05) with white and with the ink
  // are equal.
  const double onWhite = 1.05 / (relativeLuminance(background) + 0.05);
  const double onInk = (relativeLuminance(background) + 0.05) / (relativeLuminance(kInk) + 0.05);
  return onWhite > onInk ? kWhite : kInk;
}

}  // namespace steptape::figure
