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
#include "steptape/profile/trace.h"

namespace steptape::detail::profile {

/// Converts a name to a frame of a stack: ';' separates frames, and line breaks separate stacks.
std::string frameOf(std::string_view name);

/// The enclosing spans of each span of a trace, outermost first and joined by ';'. A backward node
/// and its contents have the stack of the forward operator. Detached spans have none.
///
/// @threads Thread-compatible: const methods may run concurrently.
/// @cost    Linear; 4 bytes of memory per span, and the text of each distinct stack.
class STEPTAPE_EXPORT SpanStacks {
 public:
  enum class Frames : std::uint8_t {
    kScopes,  ///< Zones and user scopes.
    kAll,
  };

  /// @param trace Not kept.
  explicit SpanStacks(const Trace& trace, Frames frames = Frames::kScopes);

  /// Returns the number of the stack, less than count(); 0: no enclosing span.
  std::uint32_t of(std::size_t thread, std::size_t span) const { return stacks_[thread][span]; }
  const std::string& text(std::uint32_t stack) const { return texts_[stack]; }
  /// Returns the stack with an additional span at its end.
  std::string pathOf(std::uint32_t stack, const TraceName& name) const;

 private:
  void inherit(const Trace& trace, std::size_t thread, Frames frames);
  std::uint32_t push(std::uint32_t stack, std::uint32_t name, const Trace& trace);

  std::vector<std::string> texts_{std::string()};
  std::map<std::pair<std::uint32_t, std::uint32_t>, std::uint32_t> inner_;  // by stack and name
  std::vector<std::vector<std::uint32_t>> stacks_;                          // by thread and span
  std::vector<std::vector<bool>> isLinked_;  // by thread and span: has its forward operator's stack
};

/// Kineto's name for the stack; a member of SpanDetails::arguments.
inline constexpr std::string_view kCallStack = "\"Call stack\": ";

/// Adds the enclosing zones and scopes as an argument to operators and backward nodes.
STEPTAPE_EXPORT void addCallStacks(Trace* trace);

}  // namespace steptape::detail::profile
