// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "steptape/trace/trace.h"

namespace steptape::detail {

/// All spans of one name that were called by the same path.
struct Call {
  std::string name;
  std::int64_t total = 0;             ///< ns of all of them.
  std::vector<std::size_t> children;  ///< Indices; the most time first.
};

/// The calls of all host threads, merged by path. The first has no name: it is all of them.
///
/// @cost A hash look-up for each span.
std::vector<Call> mergeCalls(const Trace& trace);

}  // namespace steptape::detail
