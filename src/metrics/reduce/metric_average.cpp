// SPDX-License-Identifier: Apache-2.0
#include "steptape/metrics/metric_average.h"

#include <cmath>
#include <cstring>
#include <string>
#include <string_view>
#include <vector>

#include "steptape/base/status.h"

#include "base/got_expected.h"

namespace steptape::detail::metrics {
namespace {

struct Contribution {
  double sum;
  double count;
};

Contribution decode(const std::string& bytes, std::size_t rank) {
  Contribution contribution{};
  if (bytes.size() != sizeof contribution) {
    throw Error(ErrorCode::kRankMismatch, "metricAverage: rank " + std::to_string(rank) +
                                              " is in another operation: got " +
                                              std::to_string(bytes.size()) + " bytes; expected " +
                                              std::to_string(sizeof contribution));
  }
  std::memcpy(&contribution, bytes.data(), sizeof contribution);
  return contribution;
}

}  // namespace

double metricAverage(Communicator& communicator, double sum, double count) {
  const Contribution mine{sum, count};
  const std::vector<std::string> gathered =
      communicator.allgather(std::string_view(reinterpret_cast<const char*>(&mine), sizeof mine));
  Contribution total{0, 0};
  for (std::size_t rank = 0; rank < gathered.size(); ++rank) {
    const Contribution theirs = decode(gathered[rank], rank);
    // Checked after the collective, so that every rank throws, and none is left waiting.
    if (!std::isfinite(theirs.count) || theirs.count < 0) {
      base::reject("count " + std::to_string(theirs.count), "a finite number of at least 0",
                   "metricAverage: rank " + std::to_string(rank));
    }
    total.sum += theirs.sum;
    total.count += theirs.count;
  }
  if (total.count == 0) {
    throw Error(ErrorCode::kRankMismatch, "metricAverage: got no sample on any of " +
                                              std::to_string(gathered.size()) +
                                              " ranks; expected a sum of counts above 0");
  }
  return total.sum / total.count;
}

}  // namespace steptape::detail::metrics
