// SPDX-License-Identifier: Apache-2.0
#include "tools/steptape/states/stack_text.h"

#include <cstddef>
#include <fmt/format.h>
#include <map>
#include <string_view>

#include "tools/steptape/states/program_symbols.h"

namespace steptape::tools {
namespace {

using steptape::detail::process::RankState;

struct FramesOfFile {
  std::vector<std::size_t> frames;
  std::vector<std::uint64_t> offsets;
};

/// Shortens what libstdc++ calls a string.
std::string readable(std::string function) {
  constexpr std::string_view kLong =
      "std::__cxx11::basic_string<char, std::char_traits<char>, std::allocator<char> >";
  for (std::size_t at = function.find(kLong); at != std::string::npos; at = function.find(kLong)) {
    function.replace(at, kLong.size(), "std::string");
  }
  return function;
}

std::string lineOf(const std::string& path, const CodePlace& place) {
  if (place.function.empty()) {
    return fmt::format("{}(+0x{:x})", path, place.address);
  }
  return fmt::format("{}{}  {}(+0x{:x})", readable(place.function),
                     place.source.empty() ? std::string() : " at " + place.source,
                     path.substr(path.rfind('/') + 1), place.address);
}

}  // namespace

std::vector<std::string> stackLines(const RankState& state) {
  std::vector<std::string> lines;
  std::map<std::string, FramesOfFile> files;
  for (std::size_t i = 0; i < state.death.frames.size(); ++i) {
    // A return address may be the first one of the next function.
    const std::uint64_t address = state.death.frames[i] - (i == 0 ? 0 : 1);
    lines.push_back(fmt::format("0x{:x}", state.death.frames[i]));
    for (const RankState::Module& module : state.modules) {
      if (module.begin <= address && address < module.end) {
        files[module.path].frames.push_back(i);
        files[module.path].offsets.push_back(address - module.begin + module.offset);
        break;
      }
    }
  }
  for (const auto& [path, file] : files) {
    const std::vector<CodePlace> places = codePlaces(path, file.offsets, state.process.created);
    for (std::size_t i = 0; i < places.size(); ++i) {
      lines[file.frames[i]] = lineOf(path, places[i]);
    }
  }
  return lines;
}

}  // namespace steptape::tools
