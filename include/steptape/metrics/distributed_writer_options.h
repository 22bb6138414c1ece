// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "steptape/base/export.h"
#include "steptape/log/writer_options.h"

namespace steptape {

/// Selects whose calls a DistributedWriter writes, and where. Metrics passed to addReduced() are
/// averaged under every policy and written once, into the job's run.
enum class RankPolicy {
  /// Writes the root's calls; the other ranks' calls are no-ops. One event file for the job.
  kRootOnly,
  /// Writes every rank's calls, each into a sub-run of its own, rankRunName(). One event file per
  /// rank. For finding the rank that differs.
  kPerRank,
  /// As kRootOnly, but addScalar() means addReduced(), so no rank's value stands for the job's.
  kReduced,
};

/// Returns the sub-run of a rank under RankPolicy::kPerRank, such as "rank_00003". Names sort by
/// rank.
STEPTAPE_EXPORT std::string rankRunName(int rank);

/// Selects when DistributedWriter::reduce() waits for the other ranks.
enum class ReduceMode {
  kBlocking,  ///< In the call itself: the step's points are written when it returns.
  /// In the next call: metrics of one step travel while the next step is computed, and reduce()
  /// usually does not wait. Points and errors appear one step later.
  kNonBlocking,
};

/// Options of DistributedWriter. `writer` is passed to each rank's SummaryWriter.
struct DistributedWriterOptions {
  RankPolicy rankPolicy = RankPolicy::kRootOnly;
  ReduceMode reduceMode = ReduceMode::kBlocking;  ///< Equal on all ranks.
  /// `enabled = false` makes the writers of all ranks no-ops; reduce() stays a collective.
  WriterOptions writer = {};
};

/// Options of DistributedWriter::addImageFromRanks(). `ranks` must be equal on all ranks. Each rank
/// uses its own `dataFormat`; the other options are the root's.
struct ImageFromRanksOptions {
  std::optional<double> wallTime = std::nullopt;
  std::string description = {};
  std::string dataFormat = "CHW";  ///< Order of the dimensions; see imagePixels().
  std::vector<int> ranks = {};     ///< Ranks whose images are written; empty: all.
};

/// Options of DistributedWriter::addTextFromRanks(). `ranks` must be equal on all ranks; the other
/// options are the root's.
struct TextFromRanksOptions {
  std::optional<double> wallTime = std::nullopt;
  std::string description = {};
  std::vector<int> ranks = {};  ///< Ranks whose texts are written; empty: all.
};

/// Options of DistributedWriter::addReduced(): the weight of a value, and the statistics to write
/// besides the mean.
///
/// All ranks must ask for the same statistics of a tag. Weights may differ. Wall time, name,
/// description, the list of percentiles and the band are the root's.
///
/// Mean and sum need 16 bytes of the step's allreduce; min, max, std and argmaxRank 48. Percentiles
/// and the histogram need every rank's value: a further 16 bytes from each rank to all.
struct ReducedOptions {
  std::optional<double> wallTime = std::nullopt;  ///< As in ScalarOptions; unset: when written.
  std::string displayName = {};
  std::string description = {};

  /// Weight of this value in the mean, such as the number of samples it averages; finite and >= 0.
  /// 0: this rank has no value.
  double weight = 1;

  bool min = false;         ///< Also writes the smallest value, as `<tag>/min`.
  bool max = false;         ///< Also writes the largest value, as `<tag>/max`.
  bool std = false;         ///< Also writes the weighted standard deviation, as `<tag>/std`.
  bool argmaxRank = false;  ///< Also writes the rank with the maximum, as `<tag>/argmax_rank`.
  bool sum = false;         ///< Also writes the sum of weight * value, as `<tag>/sum`.

  /// Also writes these percentiles of the ranks' values, from 0 to 100; 50 as `<tag>/p50`. A
  /// percentile p is the smallest rank's value v such that the ranks with values up to v hold at
  /// least p % of the weight. A NaN on any rank makes all percentiles NaN.
  ///
  /// @source numpy.percentile with method "inverted_cdf" and weights.
  std::vector<double> percentiles = {};

  /// Also writes the distribution of the ranks' values as the histogram `<tag>/ranks`. Each rank
  /// with a value counts once, in 30 buckets of equal width from the smallest to the largest value.
  bool perRankHistogram = false;

  /// Also writes minimum and maximum, and charts the mean inside that band on TensorBoard's
  /// custom-scalars page. The chart has the tag's name, in the category of the tag's first part,
  /// and is added to the layout passed to addCustomScalars().
  bool band = false;

  /// Returns options with everything above, and the percentiles 50, 90 and 99.
  STEPTAPE_EXPORT static ReducedOptions all();
};

}  // namespace steptape
