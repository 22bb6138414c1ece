// SPDX-License-Identifier: Apache-2.0
#include "writer/scalar_spool.h"

#include <algorithm>
#include <cerrno>
#include <system_error>
#include <utility>

namespace steptape {

ScalarSpool::ScalarSpool(std::string path, std::size_t maxPoints)
    : path_(std::move(path)), maxPoints_(maxPoints) {}

ScalarSpool::~ScalarSpool() {
  if (file_ != nullptr) {
    std::fclose(file_);
    std::remove(path_.c_str());
  }
}

Status ScalarSpool::systemError(const char* what) const {
  return {ErrorCode::kIoError, std::string(what) + " the temporary file " + path_ + ": " +
                                   std::generic_category().message(errno)};
}

Status ScalarSpool::add(const std::string& series, const Point& point) {
  series_[series].points.push_back(point);
  ++heldPoints_;
  return heldPoints_ < maxPoints_ ? Status() : spill();
}

Status ScalarSpool::spill() {
  if (file_ == nullptr) {
    file_ = std::fopen(path_.c_str(), "w+b");
    if (file_ == nullptr) {
      return systemError("cannot create");
    }
  }
  for (auto& [name, series] : series_) {
    if (series.points.empty()) {
      continue;
    }
    series.spilled.push_back({std::ftell(file_), series.points.size()});
    if (std::fwrite(series.points.data(), sizeof(Point), series.points.size(), file_) !=
        series.points.size()) {
      return systemError("cannot write");
    }
    // Gives the memory back: as many small vectors as there are series would keep it.
    std::vector<Point>().swap(series.points);
  }
  heldPoints_ = 0;
  return {};
}

Status ScalarSpool::forEach(const std::function<void(const std::string&)>& begin,
                            const std::function<void(const Point&)>& point) {
  constexpr std::size_t kBatch = 4096;
  std::vector<Point> batch;
  for (const auto& [name, series] : series_) {
    begin(name);
    for (const Extent& extent : series.spilled) {
      if (std::fseek(file_, extent.offset, SEEK_SET) != 0) {
        return systemError("cannot read");
      }
      for (std::size_t left = extent.points; left > 0; left -= batch.size()) {
        batch.resize(std::min(left, kBatch));
        if (std::fread(batch.data(), sizeof(Point), batch.size(), file_) != batch.size()) {
          return systemError("cannot read");
        }
        std::for_each(batch.begin(), batch.end(), point);
      }
    }
    std::for_each(series.points.begin(), series.points.end(), point);
  }
  return {};
}

}  // namespace steptape
