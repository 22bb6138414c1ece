// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

#include "steptape/base/export.h"
#include "steptape/comm/communicator.h"

#include <ATen/core/Tensor.h>

namespace steptape::detail {

/// Names, types and shapes of a list of tensors, one per line, to compare between ranks before they
/// exchange the tensors, and with a checkpoint before it is restored: who disagrees would otherwise
/// mix up numbers without noticing.
class STEPTAPE_EXPORT TensorSchema {
 public:
  void add(const std::string& name, const at::Tensor& tensor);
  /// Something else that must be the same. REQUIRES: no line break.
  void add(const std::string& line) { text_ += line + '\n'; }

  const std::string& text() const { return text_; }

  /// Collective. Costs an allgather of four bytes, and one of the whole text if ranks differ.
  ///
  /// @param who  What the error begins with.
  /// @param what What the tensors belong to.
  /// @throws Error(kRankMismatch), the same on every rank, naming the lowest rank that differs from
  ///         the root and the first tensor in which it does.
  void checkSameOnAllRanks(Communicator& world, std::string_view who,
                           std::string_view what = "model") const;

 private:
  std::string text_;
};

/// The first line in which the texts of two schemas differ: "got ...; expected ..."; a schema that
/// has no such line has "nothing" there. REQUIRES: they differ.
STEPTAPE_EXPORT std::string firstDifference(const std::string& got, const std::string& wanted);

}  // namespace steptape::detail
