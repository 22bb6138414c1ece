// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <memory>
#include <vector>

#include "steptape/ranks/collective.h"

namespace steptape::detail::ranks {

/// Arrays of one type, packed into one buffer.
class GroupedElements {
 public:
  /// @throws Error(kInvalidArgument) if the types differ, or if the data of one array is null.
  explicit GroupedElements(const std::vector<Elements>& pieces);

  Elements all() { return {packed_.data(), count_, dtype_}; }
  /// Copies the elements back to their arrays.
  void unpack() const;

 private:
  std::vector<Elements> pieces_;
  std::vector<std::byte> packed_;
  std::size_t count_ = 0;
  DType dtype_;
};

/// A collective over GroupedElements that unpacks them when it ends.
class GroupedCollective final : public PendingCollective {
 public:
  GroupedCollective(std::unique_ptr<PendingCollective> packed,
                    std::shared_ptr<GroupedElements> elements);
  bool poll() override;
  void wait() override;
  void waitForRanks() override { packed_->waitForRanks(); }

 private:
  std::unique_ptr<PendingCollective> packed_;
  std::shared_ptr<GroupedElements> elements_;
};

}  // namespace steptape::detail::ranks
