// SPDX-License-Identifier: Apache-2.0
#include <ostream>

#include "steptape/ranks/communicator.h"

namespace steptape {
namespace {

void writeLines(std::string_view prefix, std::string_view message, std::ostream& out) {
  std::string text;
  while (true) {
    const std::size_t end = message.find('\n');
    text.append(prefix).append(message.substr(0, end)).append("\n");
    if (end == std::string_view::npos || end + 1 == message.size()) {
      break;
    }
    message.remove_prefix(end + 1);
  }
  out.write(text.data(), static_cast<std::streamsize>(text.size()));
  out.flush();
}

}  // namespace

std::string rankPrefix(const Communicator& communicator) {
  return "[rank " + std::to_string(communicator.rank()) + "/" +
         std::to_string(communicator.size()) + " " + communicator.nodeName() + "] ";
}

std::string rankAndNode(int rank, std::string_view nodeName) {
  return "rank " + std::to_string(rank) + " (" + std::string(nodeName) + ")";
}

void logFromRank(const Communicator& communicator, std::string_view message, std::ostream& out) {
  writeLines(rankPrefix(communicator), message, out);
}

void logFromRoot(const Communicator& communicator, std::string_view message, std::ostream& out) {
  if (communicator.isRoot()) {
    writeLines("", message, out);
  }
}

}  // namespace steptape
