// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "steptape/distributed/rank_policy.h"
#include "steptape/writer/writer_options.h"

namespace steptape {

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

}  // namespace steptape
