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

/// Sorts points by series in bounded memory: input in the order of a file, in which series are
/// mixed; output series by series. Points that do not fit into memory are written to a temporary
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

  /// @param prefix    Prefix of the temporary file, as for SpoolFile.
  /// @param maxPoints Maximum number of points in memory.
  ScalarSpool(std::string prefix, std::size_t maxPoints);
  ~ScalarSpool();
  ScalarSpool(const ScalarSpool&) = delete;
  ScalarSpool& operator=(const ScalarSpool&) = delete;

  /// Returns the series `name`, and creates it if it is new. It is valid as long as this object.
  /// Series without points are omitted from the output.
  Series* series(const std::string& name);
  Status add(Series* series, const Point& point);

  /// For every series, by name: calls `begin(series)`, then `point(p)` for each point in the order
  /// added.
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
