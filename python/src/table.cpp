// SPDX-License-Identifier: Apache-2.0
#include "table.h"

#include <algorithm>
#include <unordered_map>

namespace steptape::python {
namespace {

/// Numbers names in the order of their first occurrence.
class Numbering {
 public:
  explicit Numbering(std::vector<std::string>* names) : names_(names) {}

  std::int32_t numberOf(const std::string& name) {
    const auto [entry, isNew] =
        numbers_.try_emplace(name, static_cast<std::int32_t>(names_->size()));
    if (isNew) {
      names_->push_back(name);
    }
    return entry->second;
  }

 private:
  std::vector<std::string>* names_;
  std::unordered_map<std::string, std::int32_t> numbers_;
};

}  // namespace

Table::Table(const std::vector<Series>& series) {
  Numbering runs(&runNames_);
  Numbering tags(&tagNames_);
  for (const Series& each : series) {
    const std::size_t size = each.points->scalars.size();
    if (each.isScalar && size > 0) {
      parts_.push_back(
          {each.points, rows_, runs.numberOf(each.run->name()), tags.numberOf(each.tag)});
      rows_ += size;
    }
  }
}

template <typename Code>
void Table::copy(std::size_t begin, std::size_t count, Columns<Code> to) const {
  const std::size_t end = std::min(begin + count, rows_);
  auto part = std::upper_bound(parts_.begin(), parts_.end(), begin,
                               [](std::size_t row, const Part& p) { return row < p.begin; });
  for (std::size_t row = begin; row < end; ++part) {
    const Part& from = *std::prev(part);
    const ScalarColumns& points = from.points->scalars;
    const std::size_t first = row - from.begin;
    const std::size_t n = std::min(points.size() - first, end - row);
    const std::size_t at = row - begin;
    std::fill_n(to.runs + at, n, static_cast<Code>(from.run));
    std::fill_n(to.tags + at, n, static_cast<Code>(from.tag));
    std::copy_n(points.steps.data() + first, n, to.steps + at);
    std::copy_n(points.wallTimes.data() + first, n, to.wallTimes + at);
    std::copy_n(points.values.data() + first, n, to.values + at);
    row += n;
  }
}

template void Table::copy(std::size_t, std::size_t, Columns<std::int8_t>) const;
template void Table::copy(std::size_t, std::size_t, Columns<std::int16_t>) const;
template void Table::copy(std::size_t, std::size_t, Columns<std::int32_t>) const;

}  // namespace steptape::python
