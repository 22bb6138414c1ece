// SPDX-License-Identifier: Apache-2.0
#include "steptape/trainer/run_description.h"

#include <map>

#include "steptape/base/version.h"

#include <ATen/Parallel.h>
#include <torch/version.h>

namespace steptape {
namespace {

/// Such as "alpha (2 ranks), beta (2 ranks)".
std::string hostList(const std::vector<std::string>& hostOfRank) {
  std::map<std::string, int> ranksOnHost;
  for (const std::string& host : hostOfRank) {
    ++ranksOnHost[host];
  }
  std::string text;
  for (const auto& [host, ranks] : ranksOnHost) {
    text += (text.empty() ? "" : ", ") + host + " (" + std::to_string(ranks) +
            (ranks == 1 ? " rank)" : " ranks)");
  }
  return text;
}

std::string escaped(const std::string& text) {
  std::string result;
  for (const char c : text) {
    result += c == '|' ? "\\|" : c == '\n' ? " " : std::string(1, c);
  }
  return result;
}

}  // namespace

DescriptionRows describeRun(Communicator& world) {
  return {{"ranks", std::to_string(world.size())},
          {"hosts", hostList(world.allgather(world.nodeName()))},
          {"threads per rank", std::to_string(at::get_num_threads())},
          {"LibTorch", TORCH_VERSION},
          {"Steptape", STEPTAPE_VERSION},
          {"compiler", __VERSION__}};
}

std::string markdownTable(const DescriptionRows& rows) {
  std::string table = "| name | value |\n|---|---|\n";
  for (const auto& [name, value] : rows) {
    table += "| " + escaped(name) + " | " + escaped(value) + " |\n";
  }
  return table;
}

}  // namespace steptape
