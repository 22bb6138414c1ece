// SPDX-License-Identifier: Apache-2.0
#include "log/writer/box_directories.h"

#include <cstddef>
#include <utility>

#include "log/writer/dead_process.h"
#include "process/blackbox/box_file.h"

namespace steptape::detail::log {

std::vector<std::string> directoriesOf(const process::BoxName& box) {
  constexpr std::size_t kMostBytes = std::size_t{1} << 30;
  std::string names;
  if (!process::readBoxFile(box, "names", kMostBytes, &names).ok()) {
    return {};
  }
  const DeadProcess named = DeadProcess::decodeNames(std::move(names), box.number);
  std::vector<std::string> directories;
  for (const auto& [id, stream] : named.streams) {
    directories.push_back(stream.named.directory);
  }
  return directories;
}

}  // namespace steptape::detail::log
