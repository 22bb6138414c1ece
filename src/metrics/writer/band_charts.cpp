// SPDX-License-Identifier: Apache-2.0
#include "metrics/writer/band_charts.h"

#include <cstddef>

#include "base/utf8.h"
#include "values/kinds/tag.h"

namespace steptape::detail::metrics {

void BandCharts::want(std::uint32_t tagId, const std::string& tag) {
  if (tagId >= isKnown_.size()) {
    isKnown_.resize(tagId + std::size_t{1});
  }
  if (isKnown_[tagId]) {
    return;
  }
  // The tag as the writer stores it: TensorBoard rejects a layout that is not UTF-8 completely.
  const std::string name = base::replaceInvalidUtf8(tag);
  added_.categories.push_back(
      {values::groupOf(name),
       {CustomScalarsChart::margin(name, {name, name + "/min", name + "/max"})}});
  isKnown_[tagId] = true;
}

void BandCharts::write(SummaryWriter& writer) {
  if (!added_.categories.empty()) {
    writer.addCustomScalars(added_);
    added_.categories.clear();
  }
}

}  // namespace steptape::detail::metrics
