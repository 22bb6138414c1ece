// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

#include "steptape/distributed/communicator.h"

#include <ATen/core/Tensor.h>

namespace steptape::detail {

/// Names, types and shapes of a list of tensors, one per line, to compare between ranks before they
/// exchange the tensors: ranks that disagree would otherwise mix up numbers without noticing.
class TensorSchema {
 public:
  void add(const std::string& name, const at::Tensor& tensor);

  /// Collective. Costs an allgather of four bytes, and one of the whole text if ranks differ.
  ///
  /// @param who What the error begins with.
  /// @throws Error(kRankMismatch), the same on every rank, naming the lowest rank that differs from
  ///         the root and the first tensor in which it does.
  void checkSameOnAllRanks(Communicator& world, std::string_view who) const;

 private:
  std::string text_;
};

}  // namespace steptape::detail
