// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

namespace steptape::tools {

constexpr double kDaySeconds = 86'400;

/// Returns labels of ascending multiples of a step, all with the number of decimals that the step
/// needs.
///
/// From 100,000 on, labels have the suffix k, M, G or T. Beyond these suffixes, and below one
/// thousandth, they have an exponent: "2.5e-5".
std::vector<std::string> numberLabels(const std::vector<double>& values);

/// Formats one number like numberLabels().
std::string numberLabel(double value);

/// Formats seconds by their two largest units: "0", "0.2s", "1m30s", "2d12h".
std::vector<std::string> durationLabels(const std::vector<double>& seconds);

/// Formats times of day, dates if the times are days apart, or both if they are on several days:
/// "14:05:30", "2026-11-21", "11-21 14:05". In the local time zone.
std::vector<std::string> wallTimeLabels(const std::vector<double>& seconds);

/// Returns a date such as "2026-11-21" if all times are on that day, which wallTimeLabels() then
/// omits; else empty.
std::string commonDate(const std::vector<double>& seconds);

}  // namespace steptape::tools
