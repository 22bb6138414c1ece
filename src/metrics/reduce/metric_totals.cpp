// SPDX-License-Identifier: Apache-2.0
#include "metrics/reduce/metric_totals.h"

#include <utility>

namespace steptape::detail::metrics {

std::size_t MetricTotals::bytes() const {
  return sums.size() * sizeof(double) + moments.size() * sizeof(MetricMoments) +
         wallTimes.size() * sizeof(std::optional<double>);
}

MetricTotalsPool::MetricTotalsPool() {
  spare_.reserve(kMaxSpare);
}

std::shared_ptr<MetricTotals> MetricTotalsPool::take() {
  std::unique_ptr<MetricTotals> totals;
  {
    base::MutexLock lock(mutex_);
    if (!spare_.empty()) {
      totals = std::move(spare_.back());
      spare_.pop_back();
    }
  }
  if (!totals) {
    totals = std::make_unique<MetricTotals>();
  }
  return {totals.release(), [pool = shared_from_this()](MetricTotals* used) {
            pool->giveBack(std::unique_ptr<MetricTotals>(used));
          }};
}

void MetricTotalsPool::giveBack(std::unique_ptr<MetricTotals> totals) noexcept {
  base::MutexLock lock(mutex_);
  if (spare_.size() < kMaxSpare) {
    spare_.push_back(std::move(totals));
  }
}

}  // namespace steptape::detail::metrics
