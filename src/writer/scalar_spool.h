// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "steptape/base/status.h"

namespace steptape {

/// Sorts points by series in bounded memory: points come in the order of a file, in which the
/// series are mixed, and go out series by series. What does not fit into memory lies in a temporary
/// file.
///
/// @threads Not thread-safe: one thread at a time.
class ScalarSpool {
 public:
  struct Point {
    double wallTime;
    std::int64_t step;
    double value;
  };

  /// @param path The temporary file; made when the first points spill, deleted at the end.
  /// @param maxPoints How many points to hold in memory.
  ScalarSpool(std::string path, std::size_t maxPoints);
  ~ScalarSpool();
  ScalarSpool(const ScalarSpool&) = delete;
  ScalarSpool& operator=(const ScalarSpool&) = delete;

  Status add(const std::string& series, const Point& point);

  /// Calls `begin(series)` and then `point(p)` for each of its points, for every series by name,
  /// points in the order in which they were added.
  Status forEach(const std::function<void(const std::string&)>& begin,
                 const std::function<void(const Point&)>& point);

 private:
  struct Extent {
    long offset;
    std::size_t points;
  };
  struct Series {
    std::vector<Extent> spilled;
    std::vector<Point> points;  // behind the spilled ones
  };

  Status spill();
  Status systemError(const char* what) const;

  const std::string path_;
  const std::size_t maxPoints_;
  std::size_t heldPoints_ = 0;
  std::FILE* file_ = nullptr;
  std::map<std::string, Series> series_;
};

}  // namespace steptape
