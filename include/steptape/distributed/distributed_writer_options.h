// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "steptape/base/export.h"
#include "steptape/writer/writer_options.h"

namespace steptape {

/// Whose calls a DistributedWriter writes, and where. Metrics given to addReduced() are averaged
/// under every policy and written once, into the job's own run.
enum class RankPolicy {
  /// The root's calls are written, those of other ranks are no-ops: one event file for the job.
  kRootOnly,
  /// Every rank's calls are written, each rank's into its own sub-run, rankRunName(): one event
  /// file per rank. For finding the rank that differs.
  kPerRank,
  /// As kRootOnly, but addScalar() means addReduced(): no rank's value is taken for the job's.
  kReduced,
};

/// The sub-run of a rank under RankPolicy::kPerRank, such as "rank_00003": its names sort by rank.
STEPTAPE_EXPORT std::string rankRunName(int rank);

/// When DistributedWriter::reduce() waits for the other ranks.
enum class ReduceMode {
  kBlocking,  ///< In the call itself: the step's points are written when it returns.
  /// In the next call: the metrics of one step travel while the next one is computed, and reduce()
  /// usually waits for nobody. Points appear, and disagreements are thrown, one step later.
  kNonBlocking,
};

/// How a DistributedWriter shares the work; `writer` is handed to each rank's SummaryWriter.
struct DistributedWriterOptions {
  RankPolicy rankPolicy = RankPolicy::kRootOnly;
  ReduceMode reduceMode = ReduceMode::kBlocking;  ///< Equal on all ranks.
  /// `enabled = false` makes all ranks' writers no-ops; reduce() stays a collective.
  WriterOptions writer = {};
};

/// Options of DistributedWriter::addImageFromRanks(). The ranks choose alike; of the rest the
/// root's counts, but for the format, which is that of the rank's own pixels.
struct ImageFromRanksOptions {
  std::optional<double> wallTime = std::nullopt;
  std::string description = {};
  std::string dataFormat = "CHW";  ///< Order of the dimensions; see imagePixels().
  std::vector<int> ranks = {};     ///< Whose images are written; empty: of all.
};

/// Options of DistributedWriter::addTextFromRanks(). The ranks choose alike; of the rest the root's
/// counts.
struct TextFromRanksOptions {
  std::optional<double> wallTime = std::nullopt;
  std::string description = {};
  std::vector<int> ranks = {};  ///< Whose texts are written; empty: of all.
};

/// Options of DistributedWriter::addReduced(): how a value counts, and what is written beside the
/// mean.
///
/// All ranks ask for the same statistics of a tag; the weights may differ, and of the rest only the
/// root's counts: wall time, name, description, which percentiles, and the band.
///
/// Sum and mean need 16 bytes of the step's allreduce, the other statistics of a single number 48.
/// Percentiles and the histogram need every rank's value, which travels beside the allreduce: 16
/// bytes from each rank to all.
struct ReducedOptions {
  std::optional<double> wallTime = std::nullopt;  ///< As in ScalarOptions; unset: when written.
  std::string displayName = {};
  std::string description = {};

  /// How much this value counts in the mean, such as the number of samples behind it; finite and
  /// >= 0. 0 says that this rank has no value.
  double weight = 1;

  bool min = false;         ///< Also writes the least value, as `<tag>/min`.
  bool max = false;         ///< Also writes the greatest value, as `<tag>/max`.
  bool std = false;         ///< Also writes the weighted standard deviation, as `<tag>/std`.
  bool argmaxRank = false;  ///< Also writes the rank that had it, as `<tag>/argmax_rank`.
  bool sum = false;         ///< Also writes the sum of weight * value, as `<tag>/sum`.

  /// Also writes these percentiles of the ranks' values, 50 as `<tag>/p50`: the least value such
  /// that the ranks with no greater one hold so many percent of the weight, which is always a value
  /// that a rank had. From 0 to 100. A NaN on any rank makes all of them NaN.
  ///
  /// @source numpy.percentile with method "inverted_cdf" and weights.
  std::vector<double> percentiles = {};

  /// Also writes how the ranks' values are distributed, as the histogram `<tag>/ranks`: each rank
  /// with a value counts once, in 30 buckets of equal width from the least to the greatest.
  bool perRankHistogram = false;

  /// Also writes minimum and maximum, and shows the mean within the band between them on
  /// TensorBoard's custom-scalars page: in the category of the tag's first part, under the tag's
  /// name. The chart joins the layout that addCustomScalars() was given.
  bool band = false;

  /// Everything above, with the percentiles 50, 90 and 99.
  STEPTAPE_EXPORT static ReducedOptions all();
};

}  // namespace steptape
