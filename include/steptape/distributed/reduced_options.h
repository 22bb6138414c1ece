// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>

namespace steptape {

/// Options of DistributedWriter::addReduced(). All ranks give the same statistics for a tag; the
/// weights may differ, and of the rest only the root's counts.
struct ReducedOptions {
  std::optional<double> wallTime;  ///< As in ScalarOptions; unset: when reduce() is called.
  std::string displayName;
  std::string description;

  /// How much this value counts in the mean, such as the number of samples behind it; finite and
  /// >= 0. 0 says that this rank has no value.
  double weight = 1;

  bool min = false;         ///< Also writes the least value, as `<tag>/min`.
  bool max = false;         ///< Also writes the greatest value, as `<tag>/max`.
  bool std = false;         ///< Also writes the weighted standard deviation, as `<tag>/std`.
  bool argmaxRank = false;  ///< Also writes the rank that had it, as `<tag>/argmax_rank`.
};

}  // namespace steptape
