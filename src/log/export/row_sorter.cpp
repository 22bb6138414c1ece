// SPDX-License-Identifier: Apache-2.0
#include "log/export/row_sorter.h"

#include <algorithm>
#include <queue>
#include <utility>

namespace steptape::detail::log {
namespace {

constexpr std::size_t kBufferedCells = (std::size_t{64} << 10) / sizeof(Cell);

}  // namespace

RowSorter::RowSorter(std::string prefix, std::size_t maxCells)
    : file_(std::move(prefix)), maxCells_(maxCells) {}

Status RowSorter::add(const Cell& cell) {
  cells_.push_back(cell);
  return cells_.size() < maxCells_ ? Status() : spill();
}

Status RowSorter::spill() {
  std::stable_sort(cells_.begin(), cells_.end());
  Stretch stretch{0, cells_.size(), {}, 0};
  Status written = file_.append(cells_.data(), cells_.size() * sizeof(Cell), &stretch.offset);
  stretches_.push_back(std::move(stretch));
  cells_.clear();
  return written;
}

Status RowSorter::forEach(const std::function<void(const Cell&)>& take) {
  if (stretches_.empty()) {
    std::stable_sort(cells_.begin(), cells_.end());
    std::for_each(cells_.begin(), cells_.end(), take);
    cells_.clear();
    return {};
  }
  if (Status spilled = spill(); !spilled.ok()) {
    return spilled;
  }
  std::vector<Cell>().swap(cells_);
  return merge(take);
}

Status RowSorter::merge(const std::function<void(const Cell&)>& take) {
  const auto isLater = [this](std::size_t a, std::size_t b) {
    const Cell& left = stretches_[a].cells[stretches_[a].next];
    const Cell& right = stretches_[b].cells[stretches_[b].next];
    return right < left || (!(left < right) && b < a);
  };
  std::priority_queue<std::size_t, std::vector<std::size_t>, decltype(isLater)> first(isLater);
  for (std::size_t i = 0; i < stretches_.size(); ++i) {
    if (Status filled = fill(&stretches_[i]); !filled.ok()) {
      return filled;
    }
    if (!stretches_[i].cells.empty()) {
      first.push(i);
    }
  }
  while (!first.empty()) {
    const std::size_t i = first.top();
    first.pop();
    Stretch& stretch = stretches_[i];
    take(stretch.cells[stretch.next++]);
    if (stretch.next == stretch.cells.size()) {
      if (Status filled = fill(&stretch); !filled.ok()) {
        return filled;
      }
    }
    if (stretch.next < stretch.cells.size()) {
      first.push(i);
    }
  }
  stretches_.clear();
  return {};
}

/// Reads the next cells of a stretch, if it has any.
Status RowSorter::fill(Stretch* stretch) {
  stretch->cells.resize(std::min(stretch->left, kBufferedCells));
  stretch->next = 0;
  const std::size_t bytes = stretch->cells.size() * sizeof(Cell);
  Status read = bytes == 0 ? Status() : file_.read(stretch->offset, stretch->cells.data(), bytes);
  stretch->offset += bytes;
  stretch->left -= stretch->cells.size();
  return read;
}

}  // namespace steptape::detail::log
