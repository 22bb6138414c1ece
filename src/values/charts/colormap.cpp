// SPDX-License-Identifier: Apache-2.0
#include "values/charts/colormap.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

#include "base/got_expected.h"
#include "base/text.h"

namespace steptape::figure {
namespace {

// viridis and magma: every tenth part of the maps by Smith, van der Walt and Firing, as
// https://cran.r-project.org/package=viridisLite gives them for 11 colors (CC0).
constexpr std::array<unsigned, 11> kViridis{0x440154, 0x482576, 0x414487, 0x35608D,
                                            0x2A788E, 0x21908C, 0x22A884, 0x43BF71,
                                            0x7AD151, 0xBBDF27, 0xFDE725};
constexpr std::array<unsigned, 11> kMagma{0x000004, 0x140E36, 0x3B0F70, 0x641A80,
                                          0x8C2981, 0xB63679, 0xDE4968, 0xF76F5C,
                                          0xFE9F6D, 0xFECE91, 0xFCFDBF};
// Blues and RdBu: ColorBrewer 2.0 by Cynthia Brewer, https://colorbrewer2.org.
constexpr std::array<unsigned, 9> kBlues{0xF7FBFF, 0xDEEBF7, 0xC6DBEF, 0x9ECAE1, 0x6BAED6,
                                         0x4292C6, 0x2171B5, 0x08519C, 0x08306B};
constexpr std::array<unsigned, 11> kRdBu{0x67001F, 0xB2182B, 0xD6604D, 0xF4A582, 0xFDDBC7, 0xF7F7F7,
                                         0xD1E5F0, 0x92C5DE, 0x4393C3, 0x2166AC, 0x053061};
constexpr std::array<unsigned, 2> kGrayStops{0x000000, 0xFFFFFF};

using Named = std::pair<std::string_view, ArrayView<const unsigned>>;

const std::array<Named, 5>& colormaps() {
  static const std::array<Named, 5> kColormaps{{{"viridis", kViridis},
                                                {"magma", kMagma},
                                                {"blues", kBlues},
                                                {"rdbu", kRdBu},
                                                {"gray", kGrayStops}}};
  return kColormaps;
}

double part(unsigned rgb, int shift) {
  return ((rgb >> shift) & 0xFF) / 255.0;
}

}  // namespace

Colormap::Colormap(std::string_view name, const std::string& where) {
  constexpr std::string_view kReversed = "_r";
  std::string_view base = name;
  if (base.size() > kReversed.size() && detail::base::endsWith(base, kReversed)) {
    reversed_ = true;
    base.remove_suffix(kReversed.size());
  }
  std::string known;
  for (const auto& [candidate, colors] : colormaps()) {
    if (candidate == base) {
      colors_ = colors;
      return;
    }
    known += (known.empty() ? "\"" : ", \"") + std::string(candidate) + "\"";
  }
  detail::base::reject("colormap = " + detail::base::quoted(name),
                       "one of " + known + ", with \"_r\" to reverse it", where);
}

Color Colormap::at(double fraction) const {
  const double clamped = std::clamp(reversed_ ? 1 - fraction : fraction, 0.0, 1.0);
  const double place = clamped * static_cast<double>(colors_.size() - 1);
  const auto below = std::min(static_cast<std::size_t>(place), colors_.size() - 2);
  const double share = place - static_cast<double>(below);
  const auto mix = [&](int shift) {
    return part(colors_[below], shift) * (1 - share) + part(colors_[below + 1], shift) * share;
  };
  return {mix(16), mix(8), mix(0), 1};
}

}  // namespace steptape::figure
