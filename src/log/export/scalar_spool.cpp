// SPDX-License-Identifier: Apache-2.0
#include "log/export/scalar_spool.h"

#include <algorithm>
#include <utility>

namespace steptape::detail::log {

struct ScalarSpool::Series {
  struct Extent {
    std::uint64_t offset;
    std::size_t points;
  };

  std::vector<Extent> spilled;
  std::vector<Point> points;  // those after the spilled ones

  bool isEmpty() const { return spilled.empty() && points.empty(); }
};

ScalarSpool::ScalarSpool(std::string prefix, std::size_t maxPoints)
    : file_(std::move(prefix)), maxPoints_(maxPoints) {}

ScalarSpool::~ScalarSpool() = default;

ScalarSpool::Series* ScalarSpool::series(const CurveName& curve) {
  return &series_[curve];
}

Status ScalarSpool::add(Series* series, const Point& point) {
  series->points.push_back(point);
  ++heldPoints_;
  return heldPoints_ < maxPoints_ ? Status() : spill();
}

Status ScalarSpool::spill() {
  for (auto& [curve, series] : series_) {
    if (series.points.empty()) {
      continue;
    }
    Series::Extent extent{0, series.points.size()};
    Status written =
        file_.append(series.points.data(), extent.points * sizeof(Point), &extent.offset);
    if (!written.ok()) {
      return written;
    }
    series.spilled.push_back(extent);
    // Frees the memory: otherwise every series would keep a small vector.
    std::vector<Point>().swap(series.points);
  }
  heldPoints_ = 0;
  return {};
}

std::vector<CurveName> ScalarSpool::curves() const {
  std::vector<CurveName> curves;
  for (const auto& [curve, series] : series_) {
    if (!series.isEmpty()) {
      curves.push_back(curve);
    }
  }
  return curves;
}

Status ScalarSpool::forEach(const std::function<void(std::size_t)>& begin,
                            const std::function<void(const Point&)>& point) {
  constexpr std::size_t kBatch = 4096;
  std::vector<Point> batch;
  std::size_t number = 0;
  for (const auto& [curve, series] : series_) {
    if (series.isEmpty()) {
      continue;
    }
    begin(number++);
    for (Series::Extent extent : series.spilled) {
      while (extent.points > 0) {
        batch.resize(std::min(extent.points, kBatch));
        const std::size_t bytes = batch.size() * sizeof(Point);
        if (Status read = file_.read(extent.offset, batch.data(), bytes); !read.ok()) {
          return read;
        }
        std::for_each(batch.begin(), batch.end(), point);
        extent.offset += bytes;
        extent.points -= batch.size();
      }
    }
    std::for_each(series.points.begin(), series.points.end(), point);
  }
  return {};
}

}  // namespace steptape::detail::log
