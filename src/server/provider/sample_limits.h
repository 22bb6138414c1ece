// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <map>
#include <string>
#include <string_view>

#include "steptape/events/event.h"

namespace steptape::detail::server {

/// The most points of a tag that a page gets, by plugin.
class SampleLimits {
 public:
  /// @param text As TensorBoard passes it: `scalars=500,images=all`. `all`: no limit.
  /// @throws Error(kInvalidArgument)
  static SampleLimits parse(std::string_view text);

  /// Returns the limit of a plugin; without its own, that of its kind of data: 1000 scalars, 100
  /// tensors, 10 sequences of blobs.
  std::size_t of(std::string_view plugin, event::DataClass dataClass) const;

 private:
  std::map<std::string, std::size_t, std::less<>> byPlugin_;
};

}  // namespace steptape::detail::server
