// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "steptape/log/curve_check.h"

#include "log/writer/run_context.h"

namespace steptape::detail::log {

/// Judges the curves of a stream while they are logged, and tells the run.
///
/// If there is no memory, points are not judged; they are written nevertheless.
///
/// @threads Not thread-safe: only for the backend.
class CurveJudge {
 public:
  /// @param run    Is told; outlives this object.
  /// @param prefix Of the tags in findings: the sub-run with a slash, or nothing.
  /// @throws Error(kInvalidArgument) for wrong options.
  CurveJudge(RunContext* run, std::string prefix)
      : run_(*run), prefix_(std::move(prefix)), check_(inOrder(run->options().curveCheck)) {}

  void add(const std::string& tag, float value, std::int64_t step, double wallTime) noexcept;
  /// Tells what has been found.
  void tell() noexcept;
  /// Judges the curves as they are at the end, and tells what that shows.
  void finish() noexcept;

 private:
  void tell(std::vector<CurveFinding> findings);
  static CurveCheckOptions inOrder(CurveCheckOptions options) {
    options.assumeLogOrder = true;
    return options;
  }

  RunContext& run_;
  const std::string prefix_;
  CurveCheck check_;
  bool hasPoints_ = false;  // since the last tell()
};

}  // namespace steptape::detail::log
