// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

#include "steptape/base/export.h"
#include "steptape/ranks/communicator.h"

#include <ATen/core/Tensor.h>

namespace steptape::detail::train {

/// Names, types and shapes of a list of tensors, one per line. Compared between ranks before they
/// exchange the tensors, and with a checkpoint before it is restored: a mismatch would otherwise
/// mix up numbers silently.
class STEPTAPE_EXPORT TensorSchema {
 public:
  void add(const std::string& name, const at::Tensor& tensor);
  /// Adds another fact that must be equal. REQUIRES: no line break.
  void add(const std::string& line) { text_ += line + '\n'; }

  const std::string& text() const { return text_; }

  /// Collective.
  ///
  /// @cost   An allgather of four bytes, and one of the whole text if ranks differ.
  /// @param  who  Start of the error message.
  /// @param  what Owner of the tensors.
  /// @throws Error(kRankMismatch), the same on every rank, with the lowest rank that differs from
  ///         the root and the first tensor that differs.
  void checkSameOnAllRanks(Communicator& world, std::string_view who,
                           std::string_view what = "model") const;

 private:
  std::string text_;
};

/// Returns the first line in which the texts of two schemas differ: "got ...; expected ...";
/// "nothing" stands for a missing line. REQUIRES: they differ.
STEPTAPE_EXPORT std::string firstDifference(const std::string& got, const std::string& wanted);

}  // namespace steptape::detail::train
