// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string>

#include "steptape/ranks/collective.h"

namespace steptape::detail::ranks {

/// Zeroed pages of this process: the memory of a node with one rank, or of ranks that are threads.
class STEPTAPE_EXPORT PrivateNodeMemory : public NodeMemory {
 public:
  /// @return null if there is not enough memory; `why` is then set to the error.
  static std::shared_ptr<PrivateNodeMemory> tryMake(std::size_t bytes, std::string& why);
  ~PrivateNodeMemory() override;

 private:
  PrivateNodeMemory(std::byte* data, std::size_t bytes) : NodeMemory(data, bytes) {}
};

}  // namespace steptape::detail::ranks
