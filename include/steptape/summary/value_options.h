// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>

#include "steptape/summary/histogram_bins.h"

namespace steptape {

// Options of the calls that record one value. Plain aggregates without base classes, so that both
// forms compile:
//
//   ScalarOptions o; o.displayName = "Loss";               // C++17
//   writer.addScalar("loss", x, step, {.displayName = "Loss"});  // C++20
//
// Every field has an initializer: compilers warn of a field that is left out and has none.
//
// Three fields are the same everywhere and always come first:
//   wallTime     Seconds since 1970-01-01 UTC, kept exactly; unset: when the call is made.
//   displayName  Shown instead of the tag. TensorBoard reads it with a tag's first value only.
//   description  Markdown shown beside the chart; also with the first value only.

/// Options that every value has.
struct ValueOptions {
  std::optional<double> wallTime = std::nullopt;
  std::string displayName = {};
  std::string description = {};
};

/// Options of addScalar().
struct ScalarOptions {
  std::optional<double> wallTime = std::nullopt;
  std::string displayName = {};
  std::string description = {};
};

/// Options of addHistogram() and addHistogramRaw().
struct HistogramOptions {
  std::optional<double> wallTime = std::nullopt;
  std::string displayName = {};
  std::string description = {};
  HistogramBins bins = {};  ///< Not used by addHistogramRaw().
  /// At most this many buckets: neighbours are joined. 0: as many as `bins` gives. Not used by
  /// addHistogramRaw().
  int maxBins = 0;
};

/// Options of addImage().
struct ImageOptions {
  std::optional<double> wallTime = std::nullopt;
  std::string displayName = {};
  std::string description = {};
  std::string dataFormat = "CHW";  ///< Order of the dimensions; see imagePixels().
};

/// Options of addImages().
struct ImagesOptions {
  std::optional<double> wallTime = std::nullopt;
  std::string displayName = {};
  std::string description = {};
  std::string dataFormat = "NCHW";  ///< Order of the dimensions; see imageGrid().
};

/// Options of addText().
struct TextOptions {
  std::optional<double> wallTime = std::nullopt;
  std::string displayName = {};
  std::string description = {};
};

}  // namespace steptape
