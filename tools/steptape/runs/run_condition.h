// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "tools/steptape/runs/run_columns.h"

namespace steptape::tools {

/// A condition such as "lr>0.01".
///
/// Numbers compare as numbers, also those that a hyperparameter has as text. Of a hyperparameter
/// that is a number in some runs and another text in others, <, <=, >= and > with a number compare
/// the numbers only. NaN equals NaN here. "trained" and "age" also compare with durations.
class RunCondition {
 public:
  /// @throws Error(kInvalidArgument) if the text has no comparison, names no column, or compares
  ///         with what no value of the column can be.
  RunCondition(const std::string& text, const std::vector<RunOverview>& runs);

  /// A run without the value fulfills only `!=`.
  bool holdsFor(const RunOverview& run, double now) const;

 private:
  enum class Comparison : std::uint8_t {
    kLess,
    kLessEqual,
    kEqual,
    kNotEqual,
    kGreaterEqual,
    kGreater
  };
  struct Operator;
  static const std::vector<Operator>& operators();

  void checkValue(const std::string& condition, const std::vector<RunOverview>& runs);
  bool isOrder() const {
    return comparison_ != Comparison::kEqual && comparison_ != Comparison::kNotEqual;
  }
  bool holdsForNumber(double number) const;
  bool holdsForText(const std::string& text) const;
  bool holdsForHparam(const HparamValue& value) const;
  template <typename T>
  bool compare(const T& left, const T& right) const;

  RunColumn column_;
  Comparison comparison_ = Comparison::kEqual;
  // What to compare with, as all that it may be.
  std::string text_;
  std::optional<double> number_;
  std::optional<bool> flag_;
  bool hasNumbers_ = false;  // the column
};

}  // namespace steptape::tools
