// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "steptape/base/error.h"
#include "steptape/base/status.h"
#include "steptape/comm/communicator.h"
#include "steptape/distributed/distributed_writer_options.h"
#include "steptape/writer/summary_writer.h"

#include "distributed/band_charts.h"
#include "distributed/metric_reducer.h"
#include "distributed/rank_value_summaries.h"
#include "distributed/reduced_scalars.h"

namespace steptape::detail {

/// Where reduced metrics go.
struct ReducedRuns {
  SummaryWriter& job;   ///< Gets what all ranks had; not enabled on other ranks than the root.
  SummaryWriter* rank;  ///< Gets this rank's own means; null: no writer does.
};

/// What DistributedWriter does with metrics: reduces them and writes what comes out, in the same
/// call or a step later.
///
/// Always used with the same runs. Not thread-safe: one thread at a time.
class ReducedLog {
 public:
  using ErrorListener = std::function<void(const Status&)>;

  /// @param onError Null: stderr.
  ReducedLog(std::shared_ptr<Communicator> communicator, ReduceMode mode, ErrorListener onError);

  void add(std::string_view tag, double value, std::int64_t step, const ReducedOptions& options);

  // Collectives, as DistributedWriter has them.
  void reduce(std::int64_t step, const ReducedRuns& runs);
  void finish(const ReducedRuns& runs);

  /// As finish(), but no collective: where the ranks disagree, how they do is left to finish().
  Status settle(const ReducedRuns& runs);

  /// settle(), and reports what has gone wrong, or was never reduced. Never throws.
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
  std::vector<RankValue> rankValues_;  // Of one metric.
};

}  // namespace steptape::detail
