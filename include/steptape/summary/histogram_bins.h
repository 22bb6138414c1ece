// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <initializer_list>
#include <string>
#include <utility>
#include <variant>
#include <vector>

namespace steptape {

/// Where a histogram's bucket edges come from: a rule's name, how many of equal width, or the edges.
///
///     options.bins = "fd";
///     options.bins = 50;
///     options.bins = {-1.0, 0.0, 0.5, 1.0};
///
/// Names: "tensorflow" (default), TensorBoard's fixed limits that grow by 1.1; and numpy's rules for
/// equal widths between the least and the largest finite value: "auto", "fd", "sturges", "doane",
/// "scott", "rice", "sqrt".
///
/// @threads Thread-compatible: const methods may run concurrently.
class HistogramBins {
 public:
  HistogramBins() : HistogramBins("tensorflow") {}
  HistogramBins(const char* rule) : choice_(std::string(rule)) {}          // NOLINT(*-explicit-*)
  HistogramBins(std::string rule) : choice_(std::move(rule)) {}            // NOLINT(*-explicit-*)
  HistogramBins(int count) : choice_(count) {}                             // NOLINT(*-explicit-*)
  HistogramBins(std::vector<double> edges) : choice_(std::move(edges)) {}  // NOLINT(*-explicit-*)
  HistogramBins(std::initializer_list<double> edges) : choice_(std::vector<double>(edges)) {}

  const std::variant<std::string, int, std::vector<double>>& choice() const { return choice_; }

 private:
  std::variant<std::string, int, std::vector<double>> choice_;
};

}  // namespace steptape
