// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "values/charts/axis.h"

namespace steptape::figure {

/// A short text, optionally with an exponent, such as 10 and -3.
struct Label {
  std::string text;
  std::string superscript;
};

inline bool operator==(const Label& a, const Label& b) {
  return a.text == b.text && a.superscript == b.superscript;
}

/// A number with a label.
struct Tick {
  double value = 0;
  Label label;
};

/// The marks of an axis, in ascending order.
struct Ticks {
  std::vector<Tick> major;
  std::vector<double> minor;  ///< Marks without labels.
};

/// Returns round numbers from `min` to `max`, both included: multiples of 1, 2 or 5 times a power
/// of ten.
///
/// @param maxCount Maximum number of ticks, at least 2; the result has as many as possible.
/// @param minStep  Minimum distance between ticks; 1 for axes of integers.
/// @source Heckbert, "Nice Numbers for Graph Labels", Graphics Gems, 1990.
std::vector<double> linearTicks(double min, double max, int maxCount, double minStep = 0);

/// Formats numbers, all with as many decimals as the most precise one needs.
///
/// From 100,000 on, numbers have the suffix k, M, G or T. Beyond these suffixes and below one
/// thousandth, they are multiplied by a power of ten.
std::vector<Label> numberLabels(const std::vector<double>& values);

/// Returns the marks of an axis of numbers. A logarithmic axis has marks at powers of ten, with 2
/// and 5 between them if they are few, and at round numbers if there is no power of ten.
///
/// @param maxCount Maximum number of labels, at least 2.
Ticks ticksFor(const AxisRange& range, int maxCount, double minStep = 0);

}  // namespace steptape::figure
