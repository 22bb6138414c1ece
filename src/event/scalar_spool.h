// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "steptape/base/export.h"
#include "steptape/base/status.h"

#include "base/spool_file.h"

namespace steptape::detail {

/// Sorts points by series in bounded memory: points come in the order of a file, in which the
/// series are mixed, and go out series by series. What does not fit into memory lies in a temporary
/// file.
///
/// @threads Not thread-safe: one thread at a time.
class STEPTAPE_EXPORT ScalarSpool {
 public:
  struct Point {
    double wallTime;
    std::int64_t step;
    double value;
  };
  struct Series;

  /// @param prefix The prefix of the temporary file, as for SpoolFile.
  /// @param maxPoints How many points to hold in memory.
  ScalarSpool(std::string prefix, std::size_t maxPoints);
  ~ScalarSpool();
  ScalarSpool(const ScalarSpool&) = delete;
  ScalarSpool& operator=(const ScalarSpool&) = delete;

  /// The series `name`, new or known. Valid as long as this. One without points is left out later.
  Series* series(const std::string& name);
  Status add(Series* series, const Point& point);

  /// Calls `begin(series)` and then `point(p)` for each of its points, for every series by name,
  /// points in the order in which they were added.
  Status forEach(const std::function<void(const std::string&)>& begin,
                 const std::function<void(const Point&)>& point);

 private:
  Status spill();

  SpoolFile file_;
  const std::size_t maxPoints_;
  std::size_t heldPoints_ = 0;
  std::map<std::string, Series> series_;
};

}  // namespace steptape::detail
