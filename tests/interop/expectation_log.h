// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <fstream>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "values/kinds/image/image.h"

/// Writes the data that a program logs, one JSON object per line, for a checker that compares it
/// with TensorBoard.
///
/// @threads Thread-safe.
class ExpectationLog {
 public:
  explicit ExpectationLog(const std::string& path);

  /// Records a run that TensorBoard lists although it holds no value.
  void run(std::string_view run);
  /// @param wallTime Given by the caller, if set; otherwise, any time during the program is valid.
  void scalar(std::string_view run, std::string_view tag, std::int64_t step, double value,
              std::optional<double> wallTime = std::nullopt);
  void names(std::string_view run, std::string_view tag, std::string_view displayName,
             std::string_view description);
  void histogram(std::string_view run, std::string_view tag, std::int64_t step,
                 const std::vector<double>& values);
  void image(std::string_view run, std::string_view tag, std::int64_t step,
             const steptape::detail::values::Pixels& pixels);
  /// @param samples Channel by channel of each frame.
  void sound(std::string_view run, std::string_view tag, std::int64_t step,
             const std::vector<std::int16_t>& samples, int channels, std::int64_t rate);
  void text(std::string_view run, std::string_view tag, std::int64_t step,
            std::string_view markdown);
  /// Records points that a later start of the run has purged, of a tag that it did not write again.
  void purged(std::string_view run, std::string_view tag, std::int64_t fromStep);

 private:
  void write(const std::string& line);

  std::mutex mutex_;
  std::ofstream file_;
};
