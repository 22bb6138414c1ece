// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "steptape/base/status.h"
#include "steptape/log/summary_writer.h"
#include "steptape/metrics/distributed_writer.h"
#include "steptape/ranks/communicator.h"

#include "metrics/reduce/metric_reducer.h"
#include "metrics/writer/band_charts.h"
#include "metrics/writer/rank_value_summaries.h"
#include "metrics/writer/reduced_scalars.h"

namespace steptape::detail::metrics {

/// The destinations of reduced metrics.
struct ReducedRuns {
  SummaryWriter& job;   ///< Receives the results of all ranks; enabled only on the root.
  SummaryWriter* rank;  ///< Receives this rank's own means; null: they are not written.
};

/// Reduces metrics and writes the results, in the same call or one step later. Always used with the
/// same runs.
///
/// @threads Not thread-safe: one thread at a time.
class ReducedLog {
 public:
  using ErrorListener = std::function<void(const Status&)>;

  /// @param onError Null: stderr.
  ReducedLog(std::shared_ptr<Communicator> communicator, ReduceMode mode, ErrorListener onError);

  void add(std::string_view tag, double value, std::int64_t step, const ReducedOptions& options);

  // Collectives, as in DistributedWriter.
  void reduce(std::int64_t step, const ReducedRuns& runs);
  void finish(const ReducedRuns& runs);

  /// Like finish(), but not a collective: if the ranks disagree, finish() reports how.
  Status settle(const ReducedRuns& runs);

  /// Calls settle(), and reports failures and metrics that were never reduced. Never throws.
  void end(const ReducedRuns& runs) noexcept;

 private:
  void write(const ReducedRuns& runs);
  void writeRankValues(SummaryWriter& job, const MetricTotals& totals);
  void report(const Status& status) const;

  std::shared_ptr<Communicator> communicator_;
  ReduceMode mode_;
  ErrorListener onError_;
  const Status outOfMemory_{ErrorCode::kResourceExhausted,
                            "out of memory: the metrics of a reduce() are not written yet"};
  MetricReducer reducer_;
  ReducedScalars jobScalars_{ReducedScalars::Of::kJob};
  ReducedScalars ownScalars_{ReducedScalars::Of::kRank};
  RankValueSummaries rankValueSummaries_;
  BandCharts bandCharts_;
  std::vector<RankValue> rankValues_;  // of one metric
};

}  // namespace steptape::detail::metrics
