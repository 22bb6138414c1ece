// SPDX-License-Identifier: Apache-2.0
#include "metrics/reduce/rank_values.h"

#include <algorithm>
#include <cmath>
#include <cstring>

#include "steptape/base/status.h"

namespace steptape::detail::metrics {

void appendRankValue(std::string& bytes, const MetricMoments& own) {
  const RankValue value{own.weight > 0 ? own.mean() : 0, own.weight};
  bytes.append(reinterpret_cast<const char*>(&value), sizeof value);
}

void rankValuesAt(const std::vector<std::string>& bytesByRank, std::size_t at,
                  std::vector<RankValue>& values) {
  values.clear();
  for (std::size_t rank = 0; rank < bytesByRank.size(); ++rank) {
    const std::string& bytes = bytesByRank[rank];
    if (bytes.size() < (at + 1) * sizeof(RankValue)) {
      throw Error(ErrorCode::kRankMismatch, "reduce: rank " + std::to_string(rank) + ": got " +
                                                std::to_string(bytes.size()) +
                                                " bytes of values; expected at least " +
                                                std::to_string((at + 1) * sizeof(RankValue)));
    }
    RankValue value{};
    std::memcpy(&value, bytes.data() + at * sizeof value, sizeof value);
    if (value.weight > 0) {
      values.push_back(value);
    }
  }
  std::sort(values.begin(), values.end(), [](const RankValue& a, const RankValue& b) {
    return a.value < b.value || (std::isnan(b.value) && !std::isnan(a.value));
  });
}

double percentileOf(const std::vector<RankValue>& values, double percent) {
  if (std::isnan(values.back().value)) {
    return values.back().value;
  }
  double total = 0;
  for (const RankValue& value : values) {
    total += value.weight;
  }
  double below = 0;
  for (const RankValue& value : values) {
    below += value.weight;
    // Multiplied instead of divided: a quotient would be rounded, and 90 % of ten ranks would need
    // the tenth.
    if (below * 100 >= percent * total) {
      return value.value;
    }
  }
  return values.back().value;
}

}  // namespace steptape::detail::metrics
