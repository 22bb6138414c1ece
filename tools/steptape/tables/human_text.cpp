// SPDX-License-Identifier: Apache-2.0
#include "tools/steptape/tables/human_text.h"

#include <array>
#include <cmath>
#include <fmt/format.h>

namespace steptape::tools {

std::string humanBytes(std::uint64_t bytes) {
  constexpr std::array<const char*, 6> kUnits{"KiB", "MiB", "GiB", "TiB", "PiB", "EiB"};
  if (bytes < 1024) {
    return fmt::format("{} B", bytes);
  }
  double amount = static_cast<double>(bytes) / 1024;
  std::size_t unit = 0;
  // 999.5 would be shown as 1000: one digit too many.
  while (amount >= 999.5) {
    amount /= 1024;
    ++unit;
  }
  const int decimals = amount < 9.995 ? 2 : amount < 99.95 ? 1 : 0;
  return fmt::format("{:.{}f} {}", amount, decimals, kUnits.at(unit));
}

std::string humanDuration(double seconds) {
  constexpr double kThousandYears = 3.2e10;
  if (!(seconds < kThousandYears)) {
    return fmt::format("{:g} s", seconds);
  }
  if (seconds < 0.0995) {
    return fmt::format("{:.0f} ms", seconds * 1000);
  }
  if (seconds < 9.95) {
    return fmt::format("{:.1f} s", seconds);
  }
  const auto whole = static_cast<std::int64_t>(std::llround(seconds));
  if (whole < 60) {
    return fmt::format("{} s", whole);
  }
  if (whole < 3600) {
    return fmt::format("{}:{:02}", whole / 60, whole % 60);
  }
  const std::string clock =
      fmt::format("{}:{:02}:{:02}", whole / 3600 % 24, whole / 60 % 60, whole % 60);
  return whole < 86400 ? clock : fmt::format("{} d {}", whole / 86400, clock);
}

std::tm localTime(double wallTime) {
  const auto time = static_cast<std::time_t>(std::floor(wallTime));
  std::tm parts{};
  localtime_r(&time, &parts);
  return parts;
}

std::string humanTime(double wallTime) {
  if (!(std::abs(wallTime) < kLastCalendarTime)) {
    return fmt::format("{:.6g}", wallTime);
  }
  // Rounded first, so that no second has 1000 milliseconds.
  const double rounded = std::round(wallTime * 1000) / 1000;
  const double second = std::floor(rounded);
  const std::tm parts = localTime(second);
  std::array<char, 64> text;
  const std::size_t size = std::strftime(text.data(), text.size(), "%Y-%m-%d %H:%M:%S", &parts);
  return fmt::format("{}.{:03.0f}", std::string(text.data(), size),
                     std::floor((rounded - second) * 1000 + 0.5));
}

std::string shortNumber(double value) {
  const double size = std::abs(value);
  return size >= 9999.5 && size < 1e7 ? fmt::format("{:.0f}", value) : fmt::format("{:.4g}", value);
}

}  // namespace steptape::tools
