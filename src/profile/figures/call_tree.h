// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "steptape/profile/trace.h"

namespace steptape::detail::profile {

/// All spans of one name that were called by the same path.
struct Call {
  std::string name;
  std::int64_t total = 0;             ///< Time in ns in them and in the calls inside.
  std::vector<std::size_t> children;  ///< Indices; by decreasing time.
};

/// Merges the calls of all host threads by path. The first call has no name: it contains all
/// others.
///
/// @cost One hash look-up per span.
std::vector<Call> mergeCalls(const Trace& trace);

}  // namespace steptape::detail::profile
