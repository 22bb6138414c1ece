// SPDX-License-Identifier: Apache-2.0
#include "tools/steptape/states/stack_text.h"

#include <fmt/format.h>

namespace steptape::tools {

using steptape::detail::RankState;

std::vector<std::string> stackLines(const RankState& state) {
  std::vector<std::string> lines;
  for (std::size_t i = 0; i < state.death.frames.size(); ++i) {
    // A return address may be the first one of the next function.
    const std::uint64_t address = state.death.frames[i] - (i == 0 ? 0 : 1);
    std::string line = fmt::format("0x{:x}", state.death.frames[i]);
    for (const RankState::Module& module : state.modules) {
      if (module.begin <= address && address < module.end) {
        line = fmt::format("{}(+0x{:x})", module.path, address - module.begin + module.offset);
        break;
      }
    }
    lines.push_back(std::move(line));
  }
  return lines;
}

}  // namespace steptape::tools
