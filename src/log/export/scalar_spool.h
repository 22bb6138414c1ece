// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "steptape/base/status.h"

#include "base/spool_file.h"
#include "log/export/curve_names.h"

namespace steptape::detail::log {

/// Sorts points by series in bounded memory: input in the order of a file, in which series are
/// mixed; output series by series. Points that do not fit into memory are written to a temporary
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
  struct Series;

  /// @param prefix    Prefix of the temporary file, as for SpoolFile.
  /// @param maxPoints Maximum number of points in memory.
  ScalarSpool(std::string prefix, std::size_t maxPoints);
  ~ScalarSpool();
  ScalarSpool(const ScalarSpool&) = delete;
  ScalarSpool& operator=(const ScalarSpool&) = delete;

  /// Returns the series of a curve, and creates it if it is new. It is valid as long as this
  /// object. Series without points are omitted from the output.
  Series* series(const CurveName& curve);
  Status add(Series* series, const Point& point);

  /// Returns the curves with points, in the order of the output: ascending.
  std::vector<CurveName> curves() const;

  /// For every series, in order: calls `begin(number)` with an index into curves(), then `point(p)`
  /// for each point in the order added.
  Status forEach(const std::function<void(std::size_t)>& begin,
                 const std::function<void(const Point&)>& point);

 private:
  Status spill();

  base::SpoolFile file_;
  const std::size_t maxPoints_;
  std::size_t heldPoints_ = 0;
  std::map<CurveName, Series> series_;
};

}  // namespace steptape::detail::log
