// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "steptape/base/export.h"
#include "steptape/trace/trace.h"

namespace steptape::detail {

/// What is around each span of a trace, outermost first and joined by ';'. A backward node, and
/// what is in it, has the stack of its forward operator; detached spans have none.
///
/// @threads Thread-compatible: const methods may run concurrently.
/// @cost    Linear; memory of 4 bytes a span, and the text of each stack that occurs.
class STEPTAPE_EXPORT SpanStacks {
 public:
  enum class Frames : std::uint8_t {
    kScopes,  ///< Zones and user scopes.
    kAll,
  };

  /// @param trace Is not kept.
  explicit SpanStacks(const Trace& trace, Frames frames = Frames::kScopes);

  /// A number of the stack, less than count(); 0: nothing is around it.
  std::uint32_t of(std::size_t thread, std::size_t span) const { return stacks_[thread][span]; }
  const std::string& text(std::uint32_t stack) const { return texts_[stack]; }
  /// The stack with a span in it.
  std::string pathOf(std::uint32_t stack, const TraceName& name) const;

 private:
  void inherit(const Trace& trace, std::size_t thread, Frames frames);
  std::uint32_t push(std::uint32_t stack, std::uint32_t name, const Trace& trace);

  std::vector<std::string> texts_{std::string()};
  std::map<std::pair<std::uint32_t, std::uint32_t>, std::uint32_t> inner_;  // by stack and name
  std::vector<std::vector<std::uint32_t>> stacks_;                          // by thread and span
  std::vector<std::vector<bool>> isLinked_;  // by thread and span: has its forward operator's
};

/// The member of SpanDetails::arguments that holds a stack, as Kineto calls it.
inline constexpr std::string_view kCallStack = "\"Call stack\": ";

/// Notes the zones and scopes around operators and backward nodes as an argument of them.
STEPTAPE_EXPORT void addCallStacks(Trace* trace);

}  // namespace steptape::detail
