// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "figure/axis.h"

namespace steptape::figure {

/// A short text, perhaps with an exponent, such as 10 and -3.
struct Label {
  std::string text;
  std::string superscript;
};

inline bool operator==(const Label& a, const Label& b) {
  return a.text == b.text && a.superscript == b.superscript;
}

/// A number that an axis names.
struct Tick {
  double value = 0;
  Label label;
};

/// The marks of an axis, ascending.
struct Ticks {
  std::vector<Tick> major;
  std::vector<double> minor;  ///< Marked, but not named.
};

/// Round numbers from `min` to `max`, both included: multiples of 1, 2 or 5 times a power of ten.
///
/// @param maxCount The most ticks, at least 2; the result has as many as possible.
/// @param minStep  Their least distance; 1 for axes that count.
/// @source Heckbert, "Nice Numbers for Graph Labels", Graphics Gems, 1990.
std::vector<double> linearTicks(double min, double max, int maxCount, double minStep = 0);

/// The numbers as people write them, all with as many decimals as the most precise needs.
///
/// From 100,000 on with k, M, G or T; where these end, and below a thousandth, times a power of
/// ten.
std::vector<Label> numberLabels(const std::vector<double>& values);

/// The marks of an axis of numbers: powers of ten on a logarithmic one, with 2 and 5 between them
/// where they are few, and round numbers where there is not even one.
///
/// @param maxCount The most labels, at least 2.
Ticks ticksFor(const AxisRange& range, int maxCount, double minStep = 0);

}  // namespace steptape::figure
