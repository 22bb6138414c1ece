// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <ctime>
#include <string>

#include "base/text.h"

namespace steptape::tools {

// Formats numbers for people.

using detail::base::counted;

/// Returns "999 B", "1.50 KiB", "12.0 MiB": three digits, in powers of 1024.
std::string humanBytes(std::uint64_t bytes);

/// Returns "15 ms", "0.4 s", "12 s", "3:25", "1:02:03", "2 d 3:00:00".
/// @param seconds Not negative.
std::string humanDuration(double seconds);

/// Seconds since 1970 that no calendar has: larger times are milliseconds, or no times.
inline constexpr double kLastCalendarTime = 1e11;

/// Converts to the local time zone.
/// @param wallTime Seconds since 1970.
std::tm localTime(double wallTime);

/// Returns "2026-11-21 14:05:30.250", in the local time zone; the number itself if no calendar has
/// it.
/// @param wallTime Seconds since 1970.
std::string humanTime(double wallTime);

/// Returns "0.3333", "12346", "1.235e+09": four digits, or all digits of an integer below ten
/// million.
std::string shortNumber(double value);

}  // namespace steptape::tools
