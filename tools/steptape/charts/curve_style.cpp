// SPDX-License-Identifier: Apache-2.0
#include "tools/steptape/charts/curve_style.h"

#include <array>
#include <string_view>

namespace steptape::tools {
namespace {

/// Colors of the 256-color palette that differ from each other, black and white: blue, orange,
/// green, red, purple, teal, brown, pink.
constexpr std::array<const char*, 8> kColorCodes{"38;5;33",  "38;5;208", "38;5;34",  "38;5;197",
                                                 "38;5;135", "38;5;37",  "38;5;137", "38;5;205"};
constexpr const char* kFaintColor = "38;5;244";
constexpr std::string_view kMarks = "*+ox#@%&abcdefghijklmnpqrstuvwyzABCDEFGHIJKLMNOPQRSTUVWXYZ";

}  // namespace

CurveStyle::CurveStyle(std::size_t curves, const Terminal& terminal)
    : curves_(curves), terminal_(terminal) {}

bool CurveStyle::hasMarks() const {
  const bool colorsDo = terminal_.hasColor && curves_ <= kColorCodes.size();
  return !hasLines() || (curves_ > 1 && !colorsDo);
}

char CurveStyle::markOf(std::size_t curve) const {
  return kMarks[curve % kMarks.size()];
}

std::string CurveStyle::painted(const std::string& text, std::size_t curve) const {
  return withCodes(kColorCodes[curve % kColorCodes.size()], text);
}

std::string CurveStyle::faint(const std::string& text) const {
  return withCodes(kFaintColor, text);
}

std::string CurveStyle::bold(const std::string& text) const {
  return withCodes("1", text);
}

std::string CurveStyle::sampleOf(std::size_t curve) const {
  const std::string sample = hasMarks() ? std::string(1, markOf(curve)) : "\u2501\u2501";
  return painted(sample, curve);
}

std::string CurveStyle::withCodes(const std::string& codes, const std::string& text) const {
  return terminal_.hasColor ? "\033[" + codes + "m" + text + "\033[0m" : text;
}

}  // namespace steptape::tools
